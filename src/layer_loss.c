/* The table of losses; see layer_loss.h for the formulas. */
#include "layer_loss.h"

#include <math.h>

static double gaussian(const double *eta, double y, size_t o, double *deta) {
  (void)o;
  const double residual = eta[0] - y;
  deta[0] = 2 * residual;
  return residual * residual;
}

static double binomial(const double *eta, double y, size_t o, double *deta) {
  (void)o;
  /* With e = exp(-|eta|) <= 1 nothing overflows and nothing cancels. */
  const double e = exp(-fabs(eta[0]));
  const double p = eta[0] >= 0 ? 1 / (1 + e) : e / (1 + e);
  deta[0] = p - y;
  return (eta[0] > 0 ? eta[0] : 0) + log1p(e) - y * eta[0];
}

static double multinomial(const double *eta, double y, size_t o, double *deta) {
  double top = eta[0], sum = 0;
  for (size_t k = 1; k < o; ++k) top = eta[k] > top ? eta[k] : top;
  for (size_t k = 0; k < o; ++k) {
    deta[k] = exp(eta[k] - top);
    sum += deta[k];
  }
  const size_t label = (size_t)y;
  for (size_t k = 0; k < o; ++k) deta[k] = deta[k] / sum - (k == label);
  return log(sum) + top - eta[label];
}

static double poisson(const double *eta, double y, size_t o, double *deta) {
  (void)o;
  const double mean = exp(eta[0]);
  deta[0] = mean - y;
  return mean - y * eta[0];
}

static const pn_loss losses[] = {
    [PN_GAUSSIAN] = {"gaussian", gaussian, PN_SCORE_MSE},
    [PN_BINOMIAL] = {"binomial", binomial, PN_SCORE_AUC},
    [PN_MULTINOMIAL] = {"multinomial", multinomial, PN_SCORE_LOGLOSS},
    [PN_POISSON] = {"poisson", poisson, PN_SCORE_DEVIANCE},
};

const pn_loss *pn_loss_get(pn_family family) {
  return &losses[family];
}
