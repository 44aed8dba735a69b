/* Losses by family.
 *
 * A new family is an entry here, working weights for layer 0 (train_smooth_sums.c), a score where none of those below
 * will do (train_score.c), a name in r_parse.c and a description in R.
 *
 *   gaussian     (eta - y)^2                      score: mean squared error
 *   binomial     log(1 + e^eta) - y eta           score: area under the ROC curve, log-loss if one class is absent
 *   multinomial  log(sum_k e^eta_k) - eta_y       score: log-loss
 *   poisson      e^eta - y eta                    score: mean deviance
 */
#ifndef PN_LAYER_LOSS_H
#define PN_LAYER_LOSS_H

#include <stddef.h>

typedef enum { PN_GAUSSIAN, PN_BINOMIAL, PN_MULTINOMIAL, PN_POISSON } pn_family;
typedef enum { PN_SCORE_MSE, PN_SCORE_AUC, PN_SCORE_LOGLOSS, PN_SCORE_DEVIANCE } pn_score_kind;

typedef struct {
  const char *name;
  /* Loss of one observation y at the link values eta[o]; its derivative goes to deta[o]. */
  double (*loss)(const double *eta, double y, size_t o, double *deta);
  pn_score_kind score;
} pn_loss;

const pn_loss *pn_loss_get(pn_family family);

#endif
