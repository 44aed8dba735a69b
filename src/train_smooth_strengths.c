/* Strengths and coefficients of layer 0 for given sums over rows: restricted maximum likelihood; see train_smooth.c. */
#include <math.h>
#include <string.h>

#include "base_cholesky.h"
#include "base_rows.h"
#include "train_smooth_parts.h"

#define PN_STEP_MOST 4.0 /* longest step of a log strength */
#define PN_PRIOR_SD 20.0 /* effects are not expected to spread beyond (link scale): they stay finite under separation */
#define PN_CURVED 20.0   /* a curve, which rows can pin down where they are, may have this much more */
#define PN_PRIOR_PRECISION 0.1 /* of a log strength, where the rows have no information on it */
#define PN_RIDGE 1e-9          /* of the mean diagonal: keeps what nothing determines at zero */

/* Variance over the rows of a spline's curved part under its prior, per unit of 1 / lambda. */
static double curved_variance(pn_smooth_fitter *fit, const pn_penalty_part *at, const double *mean, const double *line,
                              double rows) {
  const size_t m = at->n, P = fit->P;
  double *a = fit->inverse, *inverse = fit->work, *work = fit->factor, size = 0, total = 0;
  for (size_t k = 0; k < m; ++k) size += at->s[k * m + k];
  for (size_t k = 0; k < m * m; ++k) a[k] = at->s[k] + size * 1e3 * (mean[k / m] * mean[k % m] + line[k]);
  pn_cholesky(a, m);
  pn_cholesky_inverse(a, m, inverse, work);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < m; ++j) {
      const size_t low = i < j ? i : j, high = i < j ? j : i;
      total += inverse[i * m + j] * fit->gram[(at->at + low) * P + at->at + high];
    }
  }
  return total / rows;
}

void pn_smooth_scales(pn_smooth_fitter *fit) {
  const size_t P = fit->P;
  double mean = 0;
  for (size_t k = 0; k < P; ++k) mean += fit->gram[k * P + k] / (double)P;
  mean = mean > 0 ? mean : 1;
  for (size_t k = 0; k < P; ++k) fit->ridge[k * P + k] = k == 0 ? 0 : PN_RIDGE * mean;
  for (size_t i = 0; i < fit->smooth->terms; ++i) {
    const pn_smooth_term *term = &fit->smooth->term[i];
    if (term->kind != PN_SMOOTH_SPLINE) continue;
    const size_t at = fit->term[i].at, m = term->knots;
    double own = 0;
    for (size_t k = 0; k < m; ++k) own += fit->gram[(at + k) * P + at + k];
    own = own > 0 ? own : 1;
    for (size_t a = 0; a < m; ++a) {
      for (size_t b = a; b < m; ++b)
        fit->ridge[(at + a) * P + at + b] += own * fit->term[i].mean[a] * fit->term[i].mean[b];
    }
  }
  for (size_t j = 0; j < fit->penalties; ++j) {
    pn_smooth_penalty *penalty = &fit->penalty[j];
    double information = 0, size = 0;
    for (size_t p = 0; p < fit->n_parts; ++p) {
      const pn_penalty_part *at = &fit->parts[p];
      if (at->penalty != j) continue;
      for (size_t a = 0; a < at->n; ++a) {
        information += fit->gram[(at->at + a) * P + at->at + a];
        size += at->s[a * at->n + a];
      }
    }
    penalty->scale = information > 0 && size > 0 ? information / size : mean;
    /* prior precision 1 / sd^2, times the dispersion: a gaussian's may be small */
    double least = 1 / (PN_PRIOR_SD * PN_PRIOR_SD) * (fit->config->family == PN_GAUSSIAN ? 0.05 : 1);
    for (size_t p = 0; penalty->curvature && p + 1 < fit->n_parts; ++p) { /* its line stands behind it */
      if (fit->parts[p].penalty == j) {
        least *=
            1 / (PN_CURVED * PN_CURVED) *
            curved_variance(fit, &fit->parts[p], fit->term[fit->parts[p].term].mean, fit->parts[p + 1].s, fit->gram[0]);
      }
    }
    penalty->low = fmin(0, fmax(-PN_RHO_RANGE, log(least / penalty->scale)));
  }
}

void pn_smooth_lambda(const pn_smooth_fitter *fit, const double *rho, int straight, double *lambda) {
  if (fit->kept != NULL) {
    memcpy(lambda, fit->kept, fit->penalties * sizeof(double));
    return;
  }
  for (size_t j = 0; j < fit->penalties; ++j) {
    const pn_smooth_penalty *penalty = &fit->penalty[j];
    lambda[j] = penalty->scale * exp(straight && penalty->curvature ? PN_RHO_RANGE : rho[j]);
  }
}

/* Factorises block q's penalised Gram matrix and solves for its coefficients; returns its part of the criterion. */
static double solve_block(pn_smooth_fitter *fit, size_t q, const double *lambda) {
  const size_t P = fit->P;
  double *h = fit->factor + q * P * P, *beta = fit->beta + q * P;
  const double *rhs = fit->rhs + q * P;
  memcpy(h, fit->gram + q * P * P, P * P * sizeof(double));
  for (size_t k = 0; k < P * P; ++k) h[k] += fit->ridge[k];
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const pn_penalty_part *at = &fit->parts[p];
    for (size_t a = 0; a < at->n; ++a) {
      for (size_t b = a; b < at->n; ++b) {
        h[(at->at + a) * P + at->at + b] += lambda[at->penalty] * at->s[a * at->n + b];
      }
    }
  }
  pn_cholesky(h, P);
  memcpy(beta, rhs, P * sizeof(double));
  pn_cholesky_solve(h, P, beta);
  double left = fit->square[q];
  for (size_t k = 0; k < P; ++k) left -= beta[k] * rhs[k];
  const double floor = 1e-10 * fit->square[q] + 1e-300;
  left = left > floor ? left : floor;
  const int gaussian = fit->config->family == PN_GAUSSIAN;
  const double freedom = fit->rows[q] > 2 ? fit->rows[q] - 1 : 1;
  fit->phi[q] = gaussian ? left / freedom : 1;
  return left / fit->phi[q] + (gaussian ? freedom * log(fit->phi[q]) : 0) + pn_cholesky_logdet(h, P);
}

double pn_smooth_solve(pn_smooth_fitter *fit, const double *lambda) {
  double total = 0;
  for (size_t q = 0; q < fit->blocks; ++q) total += fit->rows[q] > 0 ? solve_block(fit, q, lambda) : 0;
  for (size_t j = 0; j < fit->penalties; ++j) total -= (double)fit->blocks * fit->penalty[j].rank * log(lambda[j]);
  return total;
}

/* sum over elements of (V_pq S_q) * (V_qp S_p)': the trace of V S_p V S_q for two parts. */
static double trace_of_parts(const pn_smooth_fitter *fit, const pn_penalty_part *p, const pn_penalty_part *q) {
  const size_t P = fit->P;
  if (p->line != NULL || q->line != NULL) { /* a form in the one line, x'S x with x = V line */
    const pn_penalty_part *rank1 = p->line != NULL ? p : q, *other = p->line != NULL ? q : p;
    double *x = fit->temporary, form = 0;
    for (size_t a = 0; a < other->n; ++a) {
      x[a] = pn_sum_product(rank1->line, fit->inverse + (other->at + a) * P + rank1->at, rank1->n);
    }
    if (other->line != NULL) {
      const double product = pn_sum_product(other->line, x, other->n);
      return product * product;
    }
    for (size_t a = 0; a < other->n; ++a) form += x[a] * pn_sum_product(other->s + a * other->n, x, other->n);
    return form;
  }
  double *left = fit->temporary, *right = left + p->n * q->n, total = 0;
  memset(left, 0, 2 * p->n * q->n * sizeof(double));
  for (size_t a = 0; a < p->n; ++a) { /* left = V[p, q] S_q, right = S_p V[p, q] */
    const double *v = fit->inverse + (p->at + a) * P + q->at;
    pn_rows_add(q->n, q->n, v, 1, q->s, q->n, left + a * q->n);
  }
  for (size_t a = 0; a < p->n; ++a) {
    pn_rows_add(q->n, p->n, p->s + a * p->n, 1, fit->inverse + p->at * P + q->at, P, right + a * q->n);
  }
  for (size_t k = 0; k < p->n * q->n; ++k) total += left[k] * right[k];
  return total;
}

void pn_smooth_prepare(const pn_smooth_fitter *fit, size_t q) {
  const size_t P = fit->P;
  const double *beta = fit->beta + q * P;
  pn_cholesky_inverse(fit->factor + q * P * P, P, fit->inverse, fit->work);
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const pn_penalty_part *at = &fit->parts[p];
    double *half = fit->half + p * (fit->most_knots + 1);
    for (size_t a = 0; a < at->n; ++a) half[a] = pn_sum_product(at->s + a * at->n, beta + at->at, at->n);
  }
}

/* Adds block q's part to gradient and Hessian. */
static void add_derivatives(const pn_smooth_fitter *fit, size_t q, const double *lambda) {
  const size_t P = fit->P, M = fit->penalties;
  const double *beta = fit->beta + q * P;
  const size_t most = fit->most_knots + 1;
  pn_smooth_prepare(fit, q);
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const pn_penalty_part *at = &fit->parts[p];
    double *half = fit->half + p * most, trace = 0;
    for (size_t a = 0; a < at->n; ++a) {
      trace += pn_sum_product(at->s + a * at->n, fit->inverse + (at->at + a) * P + at->at, at->n);
    }
    const double value = lambda[at->penalty] * (pn_sum_product(half, beta + at->at, at->n) / fit->phi[q] + trace);
    fit->gradient[at->penalty] += value;
    fit->hessian[at->penalty * M + at->penalty] += value;
  }
  for (size_t j = 0; j < M; ++j) fit->gradient[j] -= fit->penalty[j].rank;
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const pn_penalty_part *a = &fit->parts[p];
    for (size_t k = p; k < fit->n_parts; ++k) {
      const pn_penalty_part *b = &fit->parts[k];
      double cross = 0;
      for (size_t x = 0; x < a->n; ++x) {
        cross += fit->half[p * most + x] *
                 pn_sum_product(fit->half + k * most, fit->inverse + (a->at + x) * P + b->at, b->n);
      }
      const double value =
          lambda[a->penalty] * lambda[b->penalty] * (2 * cross / fit->phi[q] + trace_of_parts(fit, a, b));
      fit->hessian[a->penalty * M + b->penalty] -= value;
      if (k != p) fit->hessian[b->penalty * M + a->penalty] -= value;
    }
  }
}

/* Gradient and Hessian of twice the criterion at fit->lambda. */
static void sum_derivatives(const pn_smooth_fitter *fit) {
  const size_t M = fit->penalties;
  memset(fit->gradient, 0, M * sizeof(double));
  memset(fit->hessian, 0, M * M * sizeof(double));
  for (size_t q = 0; q < fit->blocks; ++q) {
    if (fit->rows[q] > 0) add_derivatives(fit, q, fit->lambda);
  }
}

void pn_smooth_uncertainty(const pn_smooth_fitter *fit, double *covariance) {
  const size_t M = fit->penalties;
  memset(covariance, 0, M * M * sizeof(double));
  if (fit->kept != NULL || M == 0) return;
  sum_derivatives(fit);
  for (size_t k = 0; k < M * M; ++k) fit->hessian[k] /= 2;
  for (size_t j = 0; j < M; ++j) {
    double *own = &fit->hessian[j * M + j];
    *own = fmax(*own, 0) + PN_PRIOR_PRECISION;
  }
  pn_cholesky(fit->hessian, M);
  pn_cholesky_inverse(fit->hessian, M, covariance, fit->work);
}

void pn_smooth_sensitivity(const pn_smooth_fitter *fit, size_t first, size_t c, double *d) {
  const size_t P = fit->P, M = fit->penalties;
  memset(d, 0, c * M * sizeof(double));
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const pn_penalty_part *at = &fit->parts[p];
    const double *half = fit->half + p * (fit->most_knots + 1);
    for (size_t a = 0; a < c; ++a) {
      d[a * M + at->penalty] -=
          fit->lambda[at->penalty] * pn_sum_product(half, fit->inverse + (first + a) * P + at->at, at->n);
    }
  }
}

/* Goes fit->step or less far from the present strengths, until the criterion falls. Returns the largest change of a
 * strength that matters; negative where nothing was found. */
static double search(pn_smooth_fitter *fit, const pn_smooth_options *options, int shorter, double *criterion) {
  const size_t M = fit->penalties;
  for (int attempt = 0; attempt <= shorter; ++attempt) {
    double change = 0;
    for (size_t j = 0; j < M; ++j) {
      const pn_smooth_penalty *penalty = &fit->penalty[j];
      fit->trial[j] = fmin(PN_RHO_RANGE, fmax(penalty->low, penalty->rho + fit->step[j]));
      change = fmax(change, fabs(fit->trial[j] - penalty->rho) * fmin(1, fabs(fit->gradient[j])));
    }
    pn_smooth_lambda(fit, fit->trial, options->straight, fit->lambda);
    const double next = pn_smooth_solve(fit, fit->lambda);
    if (next <= *criterion + 1e-9 * fabs(*criterion)) {
      *criterion = next;
      for (size_t j = 0; j < M; ++j) fit->penalty[j].rho = fit->trial[j];
      return change;
    }
    for (size_t j = 0; j < M; ++j) fit->step[j] /= 4;
  }
  return -1;
}

double pn_smooth_newton(pn_smooth_fitter *fit, const pn_smooth_options *options, double *criterion) {
  const size_t M = fit->penalties;
  sum_derivatives(fit);
  /* strengths at a bound, of another kind of fit, or set by the user's factor stay out of the system */
  double diagonal = 1e-6;
  for (size_t j = 0; j < M; ++j) diagonal = fmax(diagonal, fabs(fit->hessian[j * M + j]));
  for (size_t j = 0; j < M; ++j) {
    const pn_smooth_penalty *penalty = &fit->penalty[j];
    const int at_top = penalty->rho >= PN_RHO_RANGE && fit->gradient[j] < 0;
    const int at_bottom = penalty->rho <= penalty->low && fit->gradient[j] > 0;
    if (at_top || at_bottom || (options->straight && penalty->curvature)) {
      for (size_t k = 0; k < M; ++k) fit->hessian[j * M + k] = fit->hessian[k * M + j] = 0;
      fit->hessian[j * M + j] = diagonal;
      fit->gradient[j] = 0;
    }
    /* far from the optimum curvature can be negative or vanish */
    double *own = &fit->hessian[j * M + j];
    const double least = 0.1 * fabs(fit->gradient[j]) + 1e-4;
    if (*own < least) *own = least;
  }
  memcpy(fit->work, fit->hessian, M * M * sizeof(double));
  double damping = 0;
  for (int attempt = 0; attempt < 12; ++attempt) {
    memcpy(fit->hessian, fit->work, M * M * sizeof(double));
    for (size_t j = 0; j < M; ++j) fit->hessian[j * M + j] += damping;
    if (pn_cholesky(fit->hessian, M) == 0) break;
    damping = damping == 0 ? 1e-3 * diagonal : 4 * damping;
  }
  for (size_t j = 0; j < M; ++j) fit->step[j] = -fit->gradient[j];
  pn_cholesky_solve(fit->hessian, M, fit->step);
  for (size_t j = 0; j < M; ++j) fit->step[j] = fmax(-PN_STEP_MOST, fmin(PN_STEP_MOST, fit->step[j]));
  double change = search(fit, options, 3, criterion);
  if (change >= 0) return change;
  /* cut off at its longest, Newton's step may lead uphill; downhill each by itself always does not */
  for (size_t j = 0; j < M; ++j) {
    const double slope = fit->gradient[j];
    fit->step[j] = -slope / (fit->work[j * M + j] + fabs(slope));
  }
  change = search(fit, options, 6, criterion);
  if (change >= 0) return change;
  for (size_t j = 0; j < M; ++j) fit->trial[j] = fit->penalty[j].rho;
  pn_smooth_lambda(fit, fit->trial, options->straight, fit->lambda);
  *criterion = pn_smooth_solve(fit, fit->lambda);
  return 0;
}

double pn_smooth_penalty_value(const pn_smooth_fitter *fit, const double *all, const double *lambda) {
  double total = 0;
  for (size_t q = 0; q < fit->blocks; ++q) {
    const double *beta = all + q * fit->P;
    for (size_t p = 0; p < fit->n_parts; ++p) {
      const pn_penalty_part *at = &fit->parts[p];
      for (size_t a = 0; a < at->n; ++a) {
        total += lambda[at->penalty] * beta[at->at + a] * pn_sum_product(at->s + a * at->n, beta + at->at, at->n);
      }
    }
  }
  return total;
}
