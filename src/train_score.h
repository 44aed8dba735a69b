/* Scores of held-out predictions, by which the best epoch is chosen. Case weights count. */
#ifndef PN_TRAIN_SCORE_H
#define PN_TRAIN_SCORE_H

#include "base_arena.h"
#include "base_status.h"
#include "model_batch.h"
#include "model_config.h"

typedef struct {
  pn_score_kind kind;
  double *eta;    /* [n x s o] final link predictions, filled by the caller, offset not added */
  void *ranked;   /* [n] scratch for sorting (AUC) */
  double *buffer; /* [2 o] */
} pn_scorer;

/* Chooses the kind of score (log-loss instead of AUC when some response has one class only) and reserves memory. */
pn_status pn_scorer_init(pn_scorer *scorer, const pn_config *config, const pn_data *data, pn_arena *arena);

/* The score of scorer->eta; several responses: the mean of their scores. */
double pn_score(pn_scorer *scorer, const pn_config *config, const pn_data *data);

/* Whether score a is better than b; any number is better than NaN. */
int pn_score_better(pn_score_kind kind, double a, double b);

const char *pn_score_name(pn_score_kind kind);

#endif
