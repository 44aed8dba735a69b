/* Layer 0's fit; see train_smooth.h.
 *
 * With X the centred columns of all terms behind a column of ones, W and z the weights and working response of an IRLS
 * step, H = X'WX + sum_j lambda_j S_j and V = H^-1, the coefficients are beta = V X'Wz and the strengths minimise
 *   2 REML = sum over outputs ( D / phi + n log(phi) + log |H| ) - sum_j rank_j log lambda_j
 *   D = z'Wz - beta'X'Wz, the penalised residual sum; phi = D / (n - 1) for a gaussian, else 1
 * by Newton steps in rho = log lambda:
 *   gradient_j = lambda_j beta'S_j beta / phi + lambda_j tr(V S_j) - rank_j
 *   hessian_jk = [j = k] (gradient_j + rank_j) - 2 lambda_j lambda_k beta'S_j V S_k beta / phi
 *                - lambda_j lambda_k tr(V S_j V S_k)
 * X'WX never sees X (train_smooth_sums.c). A spline's constant is out of X and of both its penalties; the penalty
 * (mu'beta)^2 fixes it and changes nothing else.
 */
#include <math.h>
#include <string.h>

#include "base_cholesky.h"
#include "base_size.h"
#include "train_smooth_parts.h"

#define PN_HALVINGS 12  /* of a weighted fit's step at most */
#define PN_SLACK 0.5    /* how much worse than the best a state may be, in units of a deviance: noise */
#define PN_SHORTER 0.25 /* what is left of a step of the strengths that was taken back */
#define PN_RETREATS 8   /* then the best strengths stay */
#define PN_SETTLED 0.1  /* change of a log strength that no longer matters */

/* Coefficients of block q to values at the knots, centred, and the intercept. */
static void store_block(pn_smooth_fitter *fit, size_t q) {
  pn_smooth *smooth = fit->smooth;
  const double *beta = fit->beta + q * fit->P;
  smooth->intercept[q] = beta[0];
  for (size_t i = 0; i < smooth->terms; ++i) {
    const pn_smooth_term *term = &smooth->term[i];
    double *value = smooth->value + smooth->first[i] * fit->blocks + q;
    if (pn_smooth_columns(term) == 0) continue;
    const double mean = pn_sum_product(fit->term[i].mean, beta + fit->term[i].at, term->knots);
    for (size_t k = 0; k < pn_smooth_columns(term); ++k) {
      value[k * fit->blocks] = beta[fit->term[i].at + k] - (k < term->knots ? mean : 0);
    }
  }
}

/* Softmax does not see what all classes have in common. */
static void center_classes(pn_smooth_fitter *fit) {
  const size_t o = fit->config->outputs, P = fit->P;
  if (fit->config->family != PN_MULTINOMIAL) return;
  for (size_t u = 0; u < fit->config->tasks; ++u) {
    double *first = fit->beta + u * o * P;
    for (size_t c = 0; c < P; ++c) {
      double mean = 0;
      for (size_t k = 0; k < o; ++k) mean += first[k * P + c] / (double)o;
      for (size_t k = 0; k < o; ++k) first[k * P + c] -= mean;
    }
  }
}

static void predict(pn_smooth_fitter *fit, double *eta) {
  for (size_t q = 0; q < fit->blocks; ++q) store_block(fit, q);
  pn_smooth_predict(fit->smooth, fit->data, eta, fit->table, fit->scratch);
}

/* Does the user want anything instead of what was found? */
static int has_factors(const pn_smooth_fitter *fit) {
  for (size_t j = 0; j < fit->penalties; ++j) {
    if (fit->penalty[j].factor != 1) return 1;
  }
  return 0;
}

static void apply_factors(const pn_smooth_fitter *fit, double *lambda) {
  for (size_t j = 0; j < fit->penalties; ++j) {
    const pn_smooth_penalty *penalty = &fit->penalty[j];
    if (penalty->factor != 1) lambda[j] = fmax(lambda[j] * penalty->factor, penalty->scale * exp(penalty->low));
  }
}

/* Halves the step from `before` until the penalised deviance does not grow. *deviance_now: at the old coefficients,
 * then at the new ones. Returns how much the penalised deviance fell. */
static double take_step(pn_smooth_fitter *fit, const double *net, double *eta, double *deviance_now) {
  const double from = *deviance_now + pn_smooth_penalty_value(fit, fit->before, fit->lambda);
  double to = INFINITY;
  for (int halving = 0; halving < PN_HALVINGS; ++halving) {
    if (halving > 0) {
      for (size_t k = 0; k < fit->blocks * fit->P; ++k) fit->beta[k] = (fit->beta[k] + fit->before[k]) / 2;
      predict(fit, eta);
    }
    *deviance_now = pn_smooth_deviance(fit, net, eta, fit->scratch);
    to = *deviance_now + pn_smooth_penalty_value(fit, fit->beta, fit->lambda);
    if (to <= from + 1e-9 * fabs(from)) break;
  }
  return fabs(from - to);
}

/* Twice the Laplace approximation of the marginal likelihood at coefficients `beta`, whose deviance is given, and
 * fit->lambda; fit->factor holds the Cholesky factors of H at these coefficients. */
static double laplace(const pn_smooth_fitter *fit, const double *beta, double deviance) {
  const size_t P = fit->P;
  double total = deviance + pn_smooth_penalty_value(fit, beta, fit->lambda);
  for (size_t q = 0; q < fit->blocks; ++q) {
    if (fit->rows[q] > 0) total += pn_cholesky_logdet(fit->factor + q * P * P, P);
  }
  for (size_t j = 0; j < fit->penalties; ++j) {
    total -= (double)fit->blocks * fit->penalty[j].rank * log(fit->lambda[j]);
  }
  return total;
}

/* Sums over rows at the present coefficients and predictions, and the coefficients that follow from them; the present
 * ones to fit->before. */
static double weighted_fit(pn_smooth_fitter *fit, const double *net, const pn_smooth_options *options, int found,
                           int fresh, const double *eta) {
  memcpy(fit->before, fit->beta, fit->blocks * fit->P * sizeof(double));
  for (size_t q = 0; q < fit->blocks; ++q) pn_smooth_sum(fit, net, eta, q, fresh);
  if (!fit->gram_ready) pn_smooth_scales(fit);
  fit->gram_ready = 1;
  for (size_t j = 0; j < fit->penalties; ++j) fit->trial[j] = fit->penalty[j].rho;
  pn_smooth_lambda(fit, fit->trial, options->straight, fit->lambda);
  if (found) apply_factors(fit, fit->lambda);
  return pn_smooth_solve(fit, fit->lambda);
}

/* Back to the best coefficients and `share` of the way from the best strengths to the present ones. */
static void retreat(pn_smooth_fitter *fit, double share, const double *net, double *eta, double *now) {
  memcpy(fit->beta, fit->best_beta, fit->blocks * fit->P * sizeof(double));
  for (size_t j = 0; j < fit->penalties; ++j) {
    fit->penalty[j].rho = fit->best_rho[j] + share * (fit->penalty[j].rho - fit->best_rho[j]);
  }
  predict(fit, eta);
  *now = pn_smooth_deviance(fit, net, eta, fit->scratch);
}

/* A gaussian response: the weights stay, one fit is enough. */
static pn_status train_gaussian(pn_smooth_fitter *fit, const double *net, const pn_smooth_options *options,
                                double *eta) {
  fit->iterations = 1;
  double criterion = weighted_fit(fit, net, options, 0, 1, eta);
  for (size_t step = 0; step < options->newton && fit->penalties > 0 && !pn_smooth_stops(fit); ++step) {
    if (pn_smooth_newton(fit, options, &criterion) < 1e-3) break;
  }
  if (fit->stopped) return PN_STOPPED;
  if (has_factors(fit)) {
    apply_factors(fit, fit->lambda);
    pn_smooth_solve(fit, fit->lambda);
  }
  predict(fit, eta);
  return PN_OK;
}

/* Other responses: weighted fits, each with one step of the strengths unless they are found already. Such a step trusts
 * weights that its own effect may change beyond recognition (few events, a sparse tail), so every state is judged by
 * the Laplace criterion with the weights that it has, and one that is worse than the best so far is taken back and its
 * step shortened. */
static pn_status train_weighted(pn_smooth_fitter *fit, const double *net, const pn_smooth_options *options, int found,
                                double *eta) {
  const size_t wait = fit->gram_ready ? 0 : 2; /* for weights that mean something */
  int moves = options->newton > 0 && fit->penalties > 0 && fit->kept == NULL && !found;
  double now = pn_smooth_deviance(fit, net, eta, fit->scratch), best = INFINITY;
  size_t retreats = 0;
  double moved = 0;
  int fresh = 1; /* a fit's first Gram matrix does not depend on the fits before */
  for (size_t steps = 0; steps < options->irls || moves;) {
    double criterion = weighted_fit(fit, net, options, found, fresh, eta);
    fresh = options->irls > 1; /* a single fit's own step is judged with weights that are nearly its own */
    if (fit->stopped) return PN_STOPPED;
    if (moves) {
      const double value = laplace(fit, fit->before, now);
      if (!(value <= best + PN_SLACK)) {
        moves = ++retreats < PN_RETREATS && steps < options->irls;
        retreat(fit, moves ? PN_SHORTER : 0, net, eta, &now);
        continue;
      }
      if (value < best) {
        best = value;
        memcpy(fit->best_beta, fit->before, fit->blocks * fit->P * sizeof(double));
        for (size_t j = 0; j < fit->penalties; ++j) fit->best_rho[j] = fit->penalty[j].rho;
      }
      if (steps >= options->irls) {
        memcpy(fit->beta, fit->before, fit->blocks * fit->P * sizeof(double));
        break;
      }
      if (steps >= wait) moved = pn_smooth_newton(fit, options, &criterion);
    }
    center_classes(fit);
    predict(fit, eta);
    const double change = take_step(fit, net, eta, &now);
    if (!isfinite(now)) return PN_DIVERGED;
    ++fit->iterations;
    const int settled = !moves || moved < PN_SETTLED;
    if (steps++ >= wait && settled && change < options->tolerance * (fabs(now) + 0.1)) break;
  }
  return PN_OK;
}

pn_status pn_smooth_train(pn_smooth_fitter *fit, const double *net, const pn_smooth_options *options, double *eta) {
  pn_smooth_predict(fit->smooth, fit->data, eta, fit->table, fit->scratch);
  fit->iterations = 0;
  if (fit->config->family == PN_GAUSSIAN) return train_gaussian(fit, net, options, eta);
  pn_status status = train_weighted(fit, net, options, 0, eta);
  if (status == PN_OK && has_factors(fit)) status = train_weighted(fit, net, options, 1, eta);
  return status;
}

size_t pn_smooth_state(pn_smooth_fitter *fit, unsigned char *to, const unsigned char *from) {
  const size_t beta = fit->blocks * fit->P * sizeof(double), rho = sizeof(double);
  if (to != NULL) memcpy(to, fit->beta, beta);
  if (from != NULL) memcpy(fit->beta, from, beta);
  for (size_t j = 0; j < fit->penalties; ++j) {
    if (to != NULL) memcpy(to + beta + j * rho, &fit->penalty[j].rho, rho);
    if (from != NULL) memcpy(&fit->penalty[j].rho, from + beta + j * rho, rho);
  }
  for (size_t q = 0; from != NULL && q < fit->blocks; ++q) store_block(fit, q);
  return beta + fit->penalties * rho;
}

void pn_smooth_predictions(pn_smooth_fitter *fit, double *eta) {
  pn_smooth_predict(fit->smooth, fit->data, eta, fit->table, fit->scratch);
}

void pn_smooth_watch(pn_smooth_fitter *fit, int (*poll)(void *context), void *context) {
  fit->poll = poll;
  fit->context = context;
}

void pn_smooth_fix(pn_smooth_fitter *fit, const double *strength) {
  fit->kept = strength;
}

size_t pn_smooth_penalties(const pn_smooth_fitter *fit) {
  return fit->penalties;
}

/* What is needed to add the uncertainty of the strengths to a covariance. */
typedef struct {
  double *strengths; /* [penalties x penalties] their covariance, on the log scale */
  double *d, *dv;    /* [columns x penalties] */
} uncertainty;

/* cov[c x c] of the values of terms i .. end - 1, those of a feature, for the output q that is prepared: phi V and, to
 * first order, what the uncertainty of the strengths adds. */
static void covariance(const pn_smooth_fitter *fit, size_t i, size_t end, size_t q, size_t c, const uncertainty *of,
                       double *cov) {
  const size_t first = fit->term[i].at, M = fit->penalties;
  pn_smooth_sensitivity(fit, first, c, of->d);
  for (size_t k = 0; k < c; ++k) {
    for (size_t j = 0; j < M; ++j) of->dv[k * M + j] = pn_sum_product(of->d + k * M, of->strengths + j * M, M);
  }
  for (size_t k = 0; k < c; ++k) {
    for (size_t j = 0; j < c; ++j) {
      cov[j * c + k] = fit->phi[q] * fit->inverse[(first + k) * fit->P + first + j] +
                       pn_sum_product(of->dv + k * M, of->d + j * M, M);
    }
  }
  /* A V A' with A = I - 1 mu' on a term's knots: centred values */
  for (; i < end; ++i) {
    const size_t at = fit->term[i].at - first, m = fit->smooth->term[i].knots;
    for (int side = 0; side < 2; ++side) {
      const size_t along = side == 0 ? c : 1, across = side == 0 ? 1 : c;
      for (size_t k = 0; k < c; ++k) {
        double mean = 0;
        for (size_t j = at; j < at + m; ++j) mean += fit->term[i].mean[j - at] * cov[j * along + k * across];
        for (size_t j = at; j < at + m; ++j) cov[j * along + k * across] -= mean;
      }
    }
  }
}

/* The first term that is not of the same feature as term i, and the columns up to there. */
static size_t end_of_feature(const pn_smooth_fitter *fit, size_t i, size_t *columns) {
  const pn_smooth *smooth = fit->smooth;
  size_t end = i;
  for (*columns = 0; end < smooth->terms && smooth->term[end].feature == smooth->term[i].feature; ++end) {
    *columns += fit->term[end].columns;
  }
  return end;
}

/* Effective degrees of freedom of term i for output q; fit->inverse is V. */
static double freedom(const pn_smooth_fitter *fit, size_t i, size_t q) {
  const pn_design_term *term = &fit->term[i];
  const size_t P = fit->P;
  const double *gram = fit->gram + q * P * P;
  double sum = 0;
  for (size_t c = term->at; c < term->at + term->columns; ++c) {
    for (size_t k = 0; k < P; ++k) sum += fit->inverse[c * P + k] * (k < c ? gram[k * P + c] : gram[c * P + k]);
  }
  return sum;
}

pn_status pn_smooth_keep(const pn_smooth_fitter *fit, pn_smooth_result *result, pn_arena *arena) {
  const pn_smooth *from = fit->smooth;
  const size_t K = fit->config->columns, B = fit->blocks, rows = from->first[from->terms];
  pn_status status = pn_smooth_init(&result->smooth, from->term, from->terms, B, arena);
  result->edf = pn_arena_alloc(arena, K, sizeof(double));
  result->dispersion = pn_arena_alloc(arena, B, sizeof(double));
  result->information = pn_arena_alloc(arena, B, sizeof(double));
  result->covariance = pn_arena_alloc(arena, K, sizeof(double *));
  result->columns = pn_arena_alloc(arena, K, sizeof(size_t));
  result->penalty = pn_arena_alloc(arena, fit->penalties, sizeof(pn_smooth_penalty));
  if (status != PN_OK || arena->failed) return PN_NO_MEMORY;
  memcpy(result->smooth.value, from->value, rows * B * sizeof(double));
  memcpy(result->smooth.intercept, from->intercept, B * sizeof(double));
  memcpy(result->dispersion, fit->phi, B * sizeof(double));
  for (size_t q = 0; q < B; ++q) {
    result->information[q] = fit->rows[q] > 0 ? fit->gram[q * fit->P * fit->P] / fit->rows[q] : 1;
  }
  memcpy(result->penalty, fit->penalty, fit->penalties * sizeof(pn_smooth_penalty));
  result->penalties = fit->penalties;
  result->iterations = fit->iterations;
  size_t c = 0, most = 0;
  for (size_t i = 0; i < from->terms; i = end_of_feature(fit, i, &c)) {
    end_of_feature(fit, i, &c);
    most = c > most ? c : most;
    result->columns[from->term[i].feature] = c;
    result->covariance[from->term[i].feature] = pn_arena_alloc(arena, PN_SIZE(c, c, B), sizeof(double));
  }
  const size_t M = fit->penalties;
  const uncertainty of = {
      pn_arena_alloc(arena, pn_size_add(PN_SIZE(M, M), 1), sizeof(double)),
      pn_arena_alloc(arena, pn_size_add(PN_SIZE(most, M), 1), sizeof(double)),
      pn_arena_alloc(arena, pn_size_add(PN_SIZE(most, M), 1), sizeof(double)),
  };
  if (arena->failed) return PN_NO_MEMORY;
  pn_smooth_uncertainty(fit, of.strengths);
  for (size_t q = 0; q < B; ++q) {
    pn_smooth_prepare(fit, q);
    for (size_t i = 0, end; i < from->terms; i = end) {
      end = end_of_feature(fit, i, &c);
      covariance(fit, i, end, q, c, &of, result->covariance[from->term[i].feature] + q * c * c);
    }
    for (size_t i = 0; i < from->terms && fit->rows[q] > 0; ++i) {
      result->edf[from->term[i].feature] += freedom(fit, i, q);
    }
  }
  return PN_OK;
}
