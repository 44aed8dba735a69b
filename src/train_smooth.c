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
 * X'WX never sees X: a spline's row has four numbers different from zero in terms of values and curvatures at its knots
 * (layer_spline.h), so rows are summed in these extended columns and brought to X by D_i = [I - mu 1' | F'] per term. A
 * spline's constant is out of X and of both its penalties; the penalty (mu'beta)^2 fixes it and changes nothing else.
 */
#include "train_smooth.h"

#include <math.h>
#include <string.h>

#include "base_cholesky.h"
#include "base_size.h"
#include "layer_spline.h"

#define PN_ROWS 512       /* rows whose codes are looked up together */
#define PN_RHO_RANGE 18.0 /* strengths stay within exp(+-) of their scale */
#define PN_STEP_MOST 4.0  /* longest step of a log strength */
#define PN_NEWTON_IRLS 1  /* steps of the strengths per weighted fit while the weights still move */
#define PN_PRIOR_SD 20.0 /* effects are not expected to spread beyond (link scale): they stay finite under separation */
#define PN_CURVED 20.0   /* a curve, which rows can pin down where they are, may have this much more */
#define PN_WEIGHT_FLOOR 1e-5 /* of a working weight, relative to the case weight */
#define PN_HALVINGS 12       /* of a weighted fit's step at most */
#define PN_RIDGE 1e-9        /* of the mean diagonal: keeps what nothing determines at zero */

/* What one value of a feature puts into the extended columns. */
typedef struct {
  uint32_t at[4];
  double x[4];
  uint32_t n;
} entries;

/* A block of a penalty's matrix, at consecutive columns. */
typedef struct {
  size_t penalty, at, n;
  const double *s;    /* [n x n] */
  const double *line; /* [n] with s = line line', or NULL */
} part;

struct pn_smooth_fitter {
  pn_smooth *smooth;
  const pn_config *config;
  const pn_data *data;
  size_t blocks, P, E, most_values, most_knots;
  size_t *column, *extended; /* [features + 1]; the intercept is column 0 of both */
  const entries **place;     /* [features] [n_values] */
  const double **project;    /* [features] D_i [columns x extended columns] */
  const double **mean;       /* [features] mu [knots] */
  pn_smooth_penalty *penalty;
  size_t penalties;
  part *parts;
  size_t n_parts;
  double *gram, *rhs, *factor, *beta; /* [blocks x ..] */
  double *before;                     /* [blocks x P] coefficients before a step */
  double *ridge;                      /* [P x P] what is always added to the Gram matrix, upper triangle */
  double *phi, *square, *rows, *edf;
  double *ext, *ext_rhs, *inverse, *work, *temporary;
  const double *kept; /* strengths given from outside */
  double *lambda, *trial, *gradient, *hessian, *step;
  double *half;   /* [n_parts x most part] S beta */
  double *w, *wz; /* [n] */
  double *table, *scratch;
  int gram_ready; /* a gaussian's Gram matrices do not change */
  size_t iterations;
};

static size_t extended_columns(const pn_smooth_term *term) {
  return (term->kind == PN_SMOOTH_SPLINE ? 2 * term->knots : term->knots) + (term->missing != 0);
}

static int is_single(const pn_smooth_term *term) {
  return term->kind == PN_SMOOTH_SPLINE && term->knots == 2;
}

/* ---- the design, once ---- */

static entries find_entries(const pn_smooth_term *term, float value) {
  entries out = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0};
  const size_t m = term->knots;
  if (isnan(value)) {
    if (term->missing) out.at[0] = (uint32_t)(extended_columns(term) - 1), out.x[0] = 1, out.n = 1;
  } else if (term->kind == PN_SMOOTH_SPLINE) {
    const pn_spline_place at = pn_spline_locate(m, term->knot, value);
    const uint32_t j = (uint32_t)at.interval;
    const entries full = {
        {j, j + 1, (uint32_t)m + j, (uint32_t)m + j + 1}, {at.low, at.high, at.curve_low, at.curve_high}, 4};
    out = full;
  } else if (term->kind == PN_SMOOTH_LEVELS) {
    out.at[0] = (uint32_t)pn_smooth_level(term, value), out.x[0] = 1, out.n = 1;
  }
  return out;
}

/* Mean of the columns over the training rows that are not missing, given the extended columns' sums. */
static void column_means(const pn_smooth_term *term, const double *sums, const double *f, double *mean) {
  const size_t m = term->knots;
  double total = 0;
  for (size_t k = 0; k < m; ++k) total += sums[k]; /* hats and levels add up to one */
  for (size_t k = 0; k < m; ++k) {
    mean[k] = sums[k];
    if (f != NULL) {
      for (size_t j = 0; j < m; ++j) mean[k] += f[j * m + k] * sums[m + j];
    }
    mean[k] = total > 0 ? mean[k] / total : 1 / (double)m;
  }
}

static void add_part(pn_smooth_fitter *fit, size_t penalty, size_t at, size_t n, const double *s, const double *line) {
  const part one = {penalty, at, n, s, line};
  fit->parts[fit->n_parts++] = one;
}

static size_t add_penalty(pn_smooth_fitter *fit, size_t feature, int curvature, double rank, double handle) {
  const pn_smooth_penalty one = {feature, curvature, rank, 1, -PN_RHO_RANGE, handle, 0};
  fit->penalty[fit->penalties] = one;
  return fit->penalties++;
}

/* How much more a penalty counts when the user wants `handle` times fewer degrees of freedom: those of a cubic spline
 * fall with about the fourth root of its strength. */
static double handle_factor(double handle) {
  return handle * handle * handle * handle;
}

static pn_status init_term(pn_smooth_fitter *fit, size_t i, double handle, size_t pool, pn_arena *arena) {
  const pn_smooth_term *term = &fit->smooth->term[i];
  const pn_data *data = fit->data;
  const pn_feature *feature = &data->column[i];
  const size_t m = term->knots, c = pn_smooth_columns(term), e = extended_columns(term), at = fit->column[i];
  if (c == 0) return PN_OK;
  entries *place = pn_arena_alloc(arena, feature->n_values, sizeof(entries));
  double *project = pn_arena_alloc(arena, PN_SIZE(c, e), sizeof(double)),
         *mean = pn_arena_alloc(arena, m, sizeof(double));
  double *f = pn_arena_alloc(arena, PN_SIZE(m, m), sizeof(double)),
         *s = pn_arena_alloc(arena, PN_SIZE(m, m), sizeof(double));
  double *line = pn_arena_alloc(arena, PN_SIZE(m, m), sizeof(double)), *one = pn_arena_alloc(arena, 1, sizeof(double));
  double *work = pn_arena_alloc(arena, PN_SIZE(2, m + 1, m + 1), sizeof(double));
  double *sums = pn_arena_alloc(arena, e, sizeof(double)), *slope = pn_arena_alloc(arena, m, sizeof(double));
  if (arena->failed) return PN_NO_MEMORY;
  for (size_t v = 0; v < feature->n_values; ++v) place[v] = find_entries(term, feature->value[v]);
  for (size_t r = 0; r < data->n; ++r) {
    const entries *row = &place[pn_feature_code(feature, r)];
    const double weight = pn_data_weight(data, r);
    for (uint32_t q = 0; q < row->n; ++q) sums[row->at[q]] += weight * row->x[q];
  }
  const int spline = term->kind == PN_SMOOTH_SPLINE;
  if (spline) pn_spline_matrices(m, term->knot, f, s, work);
  column_means(term, sums, spline ? f : NULL, mean);
  for (size_t k = 0; k < m; ++k) {
    for (size_t j = 0; j < m; ++j) {
      project[k * e + j] = (k == j) - mean[k];
      if (spline) project[k * e + m + j] = f[j * m + k];
    }
  }
  if (term->missing) {
    project[m * e + e - 1] = 1;
    one[0] = 1;
    add_part(fit, pool, at + m, 1, one, one);
    fit->penalty[pool].rank += 1;
  }
  fit->place[i] = place;
  fit->project[i] = project;
  fit->mean[i] = mean;
  if (spline) {
    /* the centred straight line, scaled to unit length, as a functional that does not see constants */
    double middle = 0, length = 0, sum = 0;
    for (size_t k = 0; k < m; ++k) middle += mean[k] * term->knot[k];
    for (size_t k = 0; k < m; ++k) length += (term->knot[k] - middle) * (term->knot[k] - middle);
    length = sqrt(length);
    for (size_t k = 0; k < m; ++k) sum += (term->knot[k] - middle) / length;
    for (size_t k = 0; k < m; ++k) slope[k] = (term->knot[k] - middle) / length - mean[k] * sum;
    for (size_t k = 0; k < m; ++k) {
      for (size_t j = 0; j < m; ++j) line[k * m + j] = slope[k] * slope[j];
    }
    if (is_single(term)) {
      add_part(fit, pool, at, m, line, slope);
      fit->penalty[pool].rank += 1;
    } else {
      add_part(fit, add_penalty(fit, i, 1, (double)m - 2, handle_factor(handle)), at, m, s, NULL);
      add_part(fit, add_penalty(fit, i, 0, 1, handle > 1 ? handle : 1), at, m, line, slope);
    }
  } else {
    for (size_t k = 0; k < m; ++k) line[k * m + k] = 1;
    add_part(fit, add_penalty(fit, i, 0, (double)m, handle * handle), at, m, line, NULL);
  }
  return PN_OK;
}

/* ---- sums over rows ---- */

/* Extended Gram matrix (upper blocks) and right-hand side of rows with weights w and products w z. NULL ext: the
 * right-hand side alone. */
static void sum_rows(pn_smooth_fitter *fit, const double *w, const double *wz, double *ext, double *ext_rhs) {
  const pn_data *data = fit->data;
  const size_t K = fit->smooth->features, E = fit->E;
  const entries *row[PN_ROWS], *other[PN_ROWS];
  if (ext != NULL) memset(ext, 0, E * E * sizeof(double));
  memset(ext_rhs, 0, E * sizeof(double));
  for (size_t begin = 0; begin < data->n; begin += PN_ROWS) {
    const size_t n = data->n - begin < PN_ROWS ? data->n - begin : PN_ROWS;
    for (size_t r = 0; r < n; ++r) {
      if (ext != NULL) ext[0] += w[begin + r];
      ext_rhs[0] += wz[begin + r];
    }
    for (size_t i = 0; i < K; ++i) {
      if (fit->place[i] == NULL) continue;
      const size_t at = fit->extended[i];
      for (size_t r = 0; r < n; ++r) {
        row[r] = &fit->place[i][pn_feature_code(&data->column[i], begin + r)];
        for (uint32_t q = 0; q < row[r]->n; ++q) {
          ext_rhs[at + row[r]->at[q]] += wz[begin + r] * row[r]->x[q];
          if (ext != NULL) ext[at + row[r]->at[q]] += w[begin + r] * row[r]->x[q];
        }
      }
      if (ext == NULL) continue;
      for (size_t j = i; j < K; ++j) {
        if (fit->place[j] == NULL) continue;
        double *block = ext + at * E + fit->extended[j];
        for (size_t r = 0; r < n; ++r) {
          other[r] = &fit->place[j][pn_feature_code(&data->column[j], begin + r)];
        }
        for (size_t r = 0; r < n; ++r) {
          const entries *a = row[r], *b = other[r];
          const double weight = w[begin + r];
          if (weight == 0) continue;
          for (uint32_t p = 0; p < a->n; ++p) {
            const double x = weight * a->x[p];
            double *to = block + a->at[p] * E;
            for (uint32_t q = 0; q < b->n; ++q) to[b->at[q]] += x * b->x[q];
          }
        }
      }
    }
  }
}

/* out[c x e_j] = D T for a block T of the extended matrix (rows e_i, leading dimension E). */
static void project_block(const double *d, size_t c, size_t e, const double *t, size_t ld, size_t columns,
                          double *out) {
  memset(out, 0, c * columns * sizeof(double));
  for (size_t k = 0; k < c; ++k) {
    for (size_t a = 0; a < e; ++a) {
      const double x = d[k * e + a];
      if (x == 0) continue;
      for (size_t b = 0; b < columns; ++b) out[k * columns + b] += x * t[a * ld + b];
    }
  }
}

static void gram_from_extended(pn_smooth_fitter *fit, const double *ext, double *gram) {
  const pn_smooth *smooth = fit->smooth;
  const size_t K = smooth->features, P = fit->P, E = fit->E;
  gram[0] = ext[0];
  for (size_t j = 0; j < K; ++j) {
    const size_t c = pn_smooth_columns(&smooth->term[j]), e = extended_columns(&smooth->term[j]);
    for (size_t k = 0; k < c; ++k) {
      double sum = 0;
      for (size_t b = 0; b < e; ++b) sum += fit->project[j][k * e + b] * ext[fit->extended[j] + b];
      gram[fit->column[j] + k] = sum;
    }
  }
  for (size_t i = 0; i < K; ++i) {
    const size_t ci = pn_smooth_columns(&smooth->term[i]), ei = extended_columns(&smooth->term[i]);
    if (ci == 0) continue;
    for (size_t j = i; j < K; ++j) {
      const size_t cj = pn_smooth_columns(&smooth->term[j]), ej = extended_columns(&smooth->term[j]);
      if (cj == 0) continue;
      project_block(fit->project[i], ci, ei, ext + fit->extended[i] * E + fit->extended[j], E, ej, fit->temporary);
      for (size_t k = 0; k < ci; ++k) {
        double *to = gram + (fit->column[i] + k) * P + fit->column[j];
        const double *from = fit->temporary + k * ej;
        for (size_t b = 0; b < cj; ++b) {
          const double *d = fit->project[j] + b * ej;
          double sum = 0;
          for (size_t a = 0; a < ej; ++a) sum += from[a] * d[a];
          to[b] = sum;
        }
      }
    }
  }
}

static void rhs_from_extended(const pn_smooth_fitter *fit, const double *ext_rhs, double *rhs) {
  const pn_smooth *smooth = fit->smooth;
  rhs[0] = ext_rhs[0];
  for (size_t i = 0; i < smooth->features; ++i) {
    const size_t c = pn_smooth_columns(&smooth->term[i]), e = extended_columns(&smooth->term[i]);
    for (size_t k = 0; k < c; ++k) {
      double sum = 0;
      for (size_t a = 0; a < e; ++a) sum += fit->project[i][k * e + a] * ext_rhs[fit->extended[i] + a];
      rhs[fit->column[i] + k] = sum;
    }
  }
}

/* ---- working response ---- */

/* Prior weight of row r for output block q (0: no part of it) and its label. */
static double row_weight(const pn_smooth_fitter *fit, size_t r, size_t q, double *y) {
  const pn_config *config = fit->config;
  const pn_data *data = fit->data;
  const size_t u = q / config->outputs;
  if (config->task_kind == PN_TASK_GROUP && (size_t)data->task[r] - 1 != u) return 0;
  *y = data->y[(config->task_kind == PN_TASK_RESPONSE ? u : 0) * data->n + r];
  return isnan(*y) ? 0 : pn_data_weight(data, r);
}

static double row_shift(const pn_smooth_fitter *fit, const double *net, size_t r, size_t q) {
  const double offset = fit->data->offset == NULL ? 0 : fit->data->offset[r];
  return offset + (net == NULL ? 0 : net[r * fit->blocks + q]);
}

/* Weights and w z of block q at layer 0's present predictions; z is on layer 0's own scale. Sums z'Wz and weights. */
static void working(pn_smooth_fitter *fit, const double *net, const double *eta, size_t q) {
  const pn_config *config = fit->config;
  const size_t o = config->outputs, B = fit->blocks;
  double square = 0, rows = 0;
  for (size_t r = 0; r < fit->data->n; ++r) {
    double y = 0;
    const double weight = row_weight(fit, r, q, &y), own = eta[r * B + q];
    const double shift = weight > 0 ? row_shift(fit, net, r, q) : 0;
    double w = weight, wz = 0;
    if (weight > 0 && config->family == PN_GAUSSIAN) {
      wz = weight * (y - shift);
      square += wz * (y - shift);
    } else if (weight > 0) {
      double mean, variance, target = y;
      if (config->family == PN_POISSON) {
        const double link = shift + own;
        mean = variance = exp(link > 30 ? 30 : link);
      } else if (config->family == PN_BINOMIAL) {
        mean = 1 / (1 + exp(-(shift + own)));
        variance = mean * (1 - mean);
      } else {
        const size_t first = q / o * o;
        double sum = 0, top = -INFINITY;
        for (size_t k = first; k < first + o; ++k) {
          const double link = row_shift(fit, net, r, k) + eta[r * B + k];
          top = link > top ? link : top;
        }
        for (size_t k = first; k < first + o; ++k) sum += exp(row_shift(fit, net, r, k) + eta[r * B + k] - top);
        mean = exp(shift + own - top) / sum;
        variance = mean * (1 - mean);
        target = (size_t)y == q % o;
      }
      variance = variance > PN_WEIGHT_FLOOR ? variance : PN_WEIGHT_FLOOR;
      const double z = own + (target - mean) / variance;
      w = weight * variance;
      wz = w * z;
      square += wz * z;
    }
    rows += weight;
    fit->w[r] = w;
    fit->wz[r] = wz;
  }
  fit->square[q] = square;
  fit->rows[q] = rows;
}

/* Twice the negative log likelihood, without its constant, at layer 0's predictions eta. */
static double deviance(const pn_smooth_fitter *fit, const double *net, const double *eta, double *shifted) {
  const pn_config *config = fit->config;
  const pn_loss *family = pn_loss_get(config->family);
  const size_t o = config->outputs;
  double total = 0;
  for (size_t r = 0; r < fit->data->n; ++r) {
    for (size_t u = 0; u < config->tasks; ++u) {
      double y = 0;
      const double weight = row_weight(fit, r, u * o, &y);
      if (weight == 0) continue;
      for (size_t k = 0; k < o; ++k) {
        shifted[k] = row_shift(fit, net, r, u * o + k) + eta[r * fit->blocks + u * o + k];
      }
      total += weight * family->loss(shifted, y, o, shifted + o);
    }
  }
  return config->family == PN_GAUSSIAN ? total : 2 * total;
}

/* ---- strengths and coefficients for given sums ---- */

static void set_strengths(const pn_smooth_fitter *fit, const double *rho, int straight, double *lambda) {
  if (fit->kept != NULL) {
    memcpy(lambda, fit->kept, fit->penalties * sizeof(double));
    return;
  }
  for (size_t j = 0; j < fit->penalties; ++j) {
    const pn_smooth_penalty *penalty = &fit->penalty[j];
    lambda[j] = penalty->scale * exp(straight && penalty->curvature ? PN_RHO_RANGE : rho[j]);
  }
}

/* What the user wants instead of what was found. Returns whether anything changed. */
static int apply_factors(const pn_smooth_fitter *fit, double *lambda) {
  int changed = 0;
  for (size_t j = 0; j < fit->penalties; ++j) {
    const pn_smooth_penalty *penalty = &fit->penalty[j];
    const double used = fmax(lambda[j] * penalty->factor, penalty->scale * exp(penalty->low));
    changed |= penalty->factor != 1;
    if (penalty->factor != 1) lambda[j] = used;
  }
  return changed;
}

/* Factorises block q's penalised Gram matrix and solves for its coefficients; returns its part of the criterion. */
static double solve_block(pn_smooth_fitter *fit, size_t q, const double *lambda) {
  const size_t P = fit->P;
  double *h = fit->factor + q * P * P, *beta = fit->beta + q * P;
  const double *rhs = fit->rhs + q * P;
  memcpy(h, fit->gram + q * P * P, P * P * sizeof(double));
  for (size_t k = 0; k < P * P; ++k) h[k] += fit->ridge[k];
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const part *at = &fit->parts[p];
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

static double solve_all(pn_smooth_fitter *fit, const double *lambda) {
  double total = 0;
  for (size_t q = 0; q < fit->blocks; ++q) total += fit->rows[q] > 0 ? solve_block(fit, q, lambda) : 0;
  for (size_t j = 0; j < fit->penalties; ++j) total -= (double)fit->blocks * fit->penalty[j].rank * log(lambda[j]);
  return total;
}

static double sum_product(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/* sum over elements of (V_pq S_q) * (V_qp S_p)': the trace of V S_p V S_q for two parts. */
static double trace_of_parts(const pn_smooth_fitter *fit, const part *p, const part *q) {
  const size_t P = fit->P;
  if (p->line != NULL || q->line != NULL) { /* a form in the one line, x'S x with x = V line */
    const part *rank1 = p->line != NULL ? p : q, *other = p->line != NULL ? q : p;
    double *x = fit->temporary, form = 0;
    for (size_t a = 0; a < other->n; ++a) {
      x[a] = sum_product(rank1->line, fit->inverse + (other->at + a) * P + rank1->at, rank1->n);
    }
    if (other->line != NULL) {
      const double product = sum_product(other->line, x, other->n);
      return product * product;
    }
    for (size_t a = 0; a < other->n; ++a) form += x[a] * sum_product(other->s + a * other->n, x, other->n);
    return form;
  }
  double *left = fit->temporary, *right = left + p->n * q->n, total = 0;
  for (size_t a = 0; a < p->n; ++a) { /* left = V[p, q] S_q, right = S_p V[p, q] */
    const double *v = fit->inverse + (p->at + a) * P + q->at;
    for (size_t b = 0; b < q->n; ++b) {
      double sum = 0;
      for (size_t k = 0; k < q->n; ++k) sum += v[k] * q->s[k * q->n + b];
      left[a * q->n + b] = sum;
    }
  }
  memset(right, 0, p->n * q->n * sizeof(double));
  for (size_t a = 0; a < p->n; ++a) {
    for (size_t k = 0; k < p->n; ++k) {
      const double x = p->s[a * p->n + k], *v = fit->inverse + (p->at + k) * P + q->at;
      if (x == 0) continue;
      for (size_t b = 0; b < q->n; ++b) right[a * q->n + b] += x * v[b];
    }
  }
  for (size_t k = 0; k < p->n * q->n; ++k) total += left[k] * right[k];
  return total;
}

/* Adds block q's part to gradient and Hessian; half[part] = S beta. */
static void add_derivatives(pn_smooth_fitter *fit, size_t q, const double *lambda) {
  const size_t P = fit->P, M = fit->penalties;
  const double *beta = fit->beta + q * P;
  const size_t most = fit->most_knots + 1;
  pn_cholesky_inverse(fit->factor + q * P * P, P, fit->inverse, fit->work);
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const part *at = &fit->parts[p];
    double *half = fit->half + p * most, trace = 0;
    for (size_t a = 0; a < at->n; ++a) {
      half[a] = sum_product(at->s + a * at->n, beta + at->at, at->n);
      trace += sum_product(at->s + a * at->n, fit->inverse + (at->at + a) * P + at->at, at->n);
    }
    const double value = lambda[at->penalty] * (sum_product(half, beta + at->at, at->n) / fit->phi[q] + trace);
    fit->gradient[at->penalty] += value;
    fit->hessian[at->penalty * M + at->penalty] += value;
  }
  for (size_t j = 0; j < M; ++j) fit->gradient[j] -= fit->penalty[j].rank;
  for (size_t p = 0; p < fit->n_parts; ++p) {
    const part *a = &fit->parts[p];
    for (size_t k = p; k < fit->n_parts; ++k) {
      const part *b = &fit->parts[k];
      double cross = 0;
      for (size_t x = 0; x < a->n; ++x) {
        cross +=
            fit->half[p * most + x] * sum_product(fit->half + k * most, fit->inverse + (a->at + x) * P + b->at, b->n);
      }
      const double value =
          lambda[a->penalty] * lambda[b->penalty] * (2 * cross / fit->phi[q] + trace_of_parts(fit, a, b));
      fit->hessian[a->penalty * M + b->penalty] -= value;
      if (k != p) fit->hessian[b->penalty * M + a->penalty] -= value;
    }
  }
}

/* One Newton step of the log strengths, halved until the criterion falls. Returns the largest change, 0 at the end. */
static double newton_step(pn_smooth_fitter *fit, const pn_smooth_options *options, double *criterion) {
  const size_t M = fit->penalties;
  memset(fit->gradient, 0, M * sizeof(double));
  memset(fit->hessian, 0, M * M * sizeof(double));
  for (size_t q = 0; q < fit->blocks; ++q) {
    if (fit->rows[q] > 0) add_derivatives(fit, q, fit->lambda);
  }
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
  for (int halving = 0; halving < 5; ++halving) {
    double change = 0;
    for (size_t j = 0; j < M; ++j) {
      const pn_smooth_penalty *penalty = &fit->penalty[j];
      fit->trial[j] = fmin(PN_RHO_RANGE, fmax(penalty->low, penalty->rho + fit->step[j]));
      change = fmax(change, fabs(fit->trial[j] - penalty->rho) * fmin(1, fabs(fit->gradient[j])));
    }
    set_strengths(fit, fit->trial, options->straight, fit->lambda);
    const double next = solve_all(fit, fit->lambda);
    if (next <= *criterion + 1e-9 * fabs(*criterion)) {
      *criterion = next;
      for (size_t j = 0; j < M; ++j) fit->penalty[j].rho = fit->trial[j];
      return change;
    }
    for (size_t j = 0; j < M; ++j) fit->step[j] /= 4;
  }
  for (size_t j = 0; j < M; ++j) fit->trial[j] = fit->penalty[j].rho;
  set_strengths(fit, fit->trial, options->straight, fit->lambda);
  *criterion = solve_all(fit, fit->lambda);
  return 0;
}

/* ---- the fit ---- */

/* Coefficients of block q to values at the knots, centred, and the intercept. */
static void store_block(pn_smooth_fitter *fit, size_t q) {
  pn_smooth *smooth = fit->smooth;
  const double *beta = fit->beta + q * fit->P;
  smooth->intercept[q] = beta[0];
  for (size_t i = 0; i < smooth->features; ++i) {
    const pn_smooth_term *term = &smooth->term[i];
    double *value = smooth->value + smooth->first[i] * fit->blocks + q;
    if (pn_smooth_columns(term) == 0) continue;
    const double mean = sum_product(fit->mean[i], beta + fit->column[i], term->knots);
    for (size_t k = 0; k < pn_smooth_columns(term); ++k) {
      value[k * fit->blocks] = beta[fit->column[i] + k] - (k < term->knots ? mean : 0);
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

/* Variance over the rows of a spline's curved part under its prior, per unit of 1 / lambda. */
static double curved_variance(pn_smooth_fitter *fit, const part *at, const double *mean, const double *line,
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

/* Natural units of the penalties, the ridge, and the least strengths, from the first sums over rows. */
static void set_scales(pn_smooth_fitter *fit) {
  const size_t P = fit->P;
  double mean = 0;
  for (size_t k = 0; k < P; ++k) mean += fit->gram[k * P + k] / (double)P;
  mean = mean > 0 ? mean : 1;
  for (size_t k = 0; k < P; ++k) fit->ridge[k * P + k] = k == 0 ? 0 : PN_RIDGE * mean;
  for (size_t i = 0; i < fit->smooth->features; ++i) {
    const pn_smooth_term *term = &fit->smooth->term[i];
    if (term->kind != PN_SMOOTH_SPLINE) continue;
    const size_t at = fit->column[i], m = term->knots;
    double own = 0;
    for (size_t k = 0; k < m; ++k) own += fit->gram[(at + k) * P + at + k];
    own = own > 0 ? own : 1;
    for (size_t a = 0; a < m; ++a) {
      for (size_t b = a; b < m; ++b) fit->ridge[(at + a) * P + at + b] += own * fit->mean[i][a] * fit->mean[i][b];
    }
  }
  for (size_t j = 0; j < fit->penalties; ++j) {
    pn_smooth_penalty *penalty = &fit->penalty[j];
    double information = 0, size = 0;
    for (size_t p = 0; p < fit->n_parts; ++p) {
      const part *at = &fit->parts[p];
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
        least *= 1 / (PN_CURVED * PN_CURVED) *
                 curved_variance(fit, &fit->parts[p], fit->mean[penalty->feature], fit->parts[p + 1].s, fit->gram[0]);
      }
    }
    penalty->low = fmin(0, fmax(-PN_RHO_RANGE, log(least / penalty->scale)));
  }
}

static void sum_block(pn_smooth_fitter *fit, const double *net, const double *eta, size_t q) {
  const size_t P = fit->P;
  const int again = !(fit->gram_ready && fit->config->family == PN_GAUSSIAN);
  working(fit, net, eta, q);
  sum_rows(fit, fit->w, fit->wz, again ? fit->ext : NULL, fit->ext_rhs);
  if (again) gram_from_extended(fit, fit->ext, fit->gram + q * P * P);
  rhs_from_extended(fit, fit->ext_rhs, fit->rhs + q * P);
}

static double penalty_value(const pn_smooth_fitter *fit, const double *all, const double *lambda) {
  double total = 0;
  for (size_t q = 0; q < fit->blocks; ++q) {
    const double *beta = all + q * fit->P;
    for (size_t p = 0; p < fit->n_parts; ++p) {
      const part *at = &fit->parts[p];
      for (size_t a = 0; a < at->n; ++a) {
        total += lambda[at->penalty] * beta[at->at + a] * sum_product(at->s + a * at->n, beta + at->at, at->n);
      }
    }
  }
  return total;
}

static void set_freedom(pn_smooth_fitter *fit) {
  const pn_smooth *smooth = fit->smooth;
  const size_t P = fit->P;
  memset(fit->edf, 0, smooth->features * sizeof(double));
  for (size_t q = 0; q < fit->blocks; ++q) {
    if (!(fit->rows[q] > 0)) continue;
    pn_cholesky_inverse(fit->factor + q * P * P, P, fit->inverse, fit->work);
    const double *gram = fit->gram + q * P * P;
    for (size_t i = 0; i < smooth->features; ++i) {
      for (size_t c = fit->column[i]; c < fit->column[i] + pn_smooth_columns(&smooth->term[i]); ++c) {
        for (size_t k = 0; k < P; ++k) {
          fit->edf[i] += fit->inverse[c * P + k] * (k < c ? gram[k * P + c] : gram[c * P + k]);
        }
      }
    }
  }
}

/* Halves the step from `before` until the penalised deviance does not grow. *deviance_now: at the old coefficients, then
 * at the new ones. Returns how much the penalised deviance fell. */
static double take_step(pn_smooth_fitter *fit, const double *net, double *eta, double *deviance_now) {
  const double from = *deviance_now + penalty_value(fit, fit->before, fit->lambda);
  double to = INFINITY;
  for (int halving = 0; halving < PN_HALVINGS; ++halving) {
    if (halving > 0) {
      for (size_t k = 0; k < fit->blocks * fit->P; ++k) fit->beta[k] = (fit->beta[k] + fit->before[k]) / 2;
      predict(fit, eta);
    }
    *deviance_now = deviance(fit, net, eta, fit->scratch);
    to = *deviance_now + penalty_value(fit, fit->beta, fit->lambda);
    if (to <= from + 1e-9 * fabs(from)) break;
  }
  return fabs(from - to);
}

pn_status pn_smooth_train(pn_smooth_fitter *fit, const double *net, const pn_smooth_options *options, double *eta) {
  const size_t B = fit->blocks;
  const int gaussian = fit->config->family == PN_GAUSSIAN;
  pn_smooth_predict(fit->smooth, fit->data, eta, fit->table, fit->scratch);
  double now = gaussian ? 0 : deviance(fit, net, eta, fit->scratch);
  fit->iterations = 0;
  const size_t wait = fit->gram_ready ? 0 : 2;
  for (size_t iteration = 0; iteration < (gaussian ? 1 : options->irls); ++iteration) {
    ++fit->iterations;
    memcpy(fit->before, fit->beta, B * fit->P * sizeof(double));
    for (size_t q = 0; q < B; ++q) sum_block(fit, net, eta, q);
    if (!fit->gram_ready) set_scales(fit);
    fit->gram_ready = 1;
    for (size_t j = 0; j < fit->penalties; ++j) fit->trial[j] = fit->penalty[j].rho;
    set_strengths(fit, fit->trial, options->straight, fit->lambda);
    double criterion = solve_all(fit, fit->lambda);
    /* the strengths wait for weights that mean something, and do not run ahead of them */
    const size_t steps = gaussian ? options->newton : iteration < wait ? 0 : PN_NEWTON_IRLS;
    for (size_t step = 0; step < steps && step < options->newton; ++step) {
      if (fit->penalties == 0 || newton_step(fit, options, &criterion) < 1e-3) break;
    }
    if (apply_factors(fit, fit->lambda)) solve_all(fit, fit->lambda);
    center_classes(fit);
    predict(fit, eta);
    if (gaussian) break;
    const double change = take_step(fit, net, eta, &now);
    if (!isfinite(now)) return PN_DIVERGED;
    if (iteration >= wait && change < options->tolerance * (fabs(now) + 0.1)) break;
  }
  set_freedom(fit);
  return PN_OK;
}

pn_status pn_smooth_fitter_init(pn_smooth_fitter **out, pn_smooth *smooth, const pn_config *config, const pn_data *data,
                                const double *handle, pn_arena *arena) {
  const size_t K = smooth->features;
  pn_smooth_fitter *fit = pn_arena_alloc(arena, 1, sizeof(*fit));
  if (fit == NULL) return PN_NO_MEMORY;
  fit->smooth = smooth;
  fit->config = config;
  fit->data = data;
  fit->blocks = config->tasks * config->outputs;
  fit->column = pn_arena_alloc(arena, K + 1, sizeof(size_t));
  fit->extended = pn_arena_alloc(arena, K + 1, sizeof(size_t));
  fit->place = pn_arena_alloc(arena, K, sizeof(*fit->place));
  fit->project = pn_arena_alloc(arena, K, sizeof(*fit->project));
  fit->mean = pn_arena_alloc(arena, K, sizeof(*fit->mean));
  fit->penalty = pn_arena_alloc(arena, 2 * K + 1, sizeof(*fit->penalty));
  fit->parts = pn_arena_alloc(arena, 3 * K + 1, sizeof(*fit->parts));
  if (arena->failed) return PN_NO_MEMORY;
  size_t most_extended = 1;
  fit->column[0] = fit->extended[0] = 1;
  for (size_t i = 0; i < K; ++i) {
    const size_t e = extended_columns(&smooth->term[i]);
    fit->column[i + 1] = fit->column[i] + pn_smooth_columns(&smooth->term[i]);
    fit->extended[i + 1] = fit->extended[i] + e;
    most_extended = e > most_extended ? e : most_extended;
    if (smooth->term[i].knots > fit->most_knots) fit->most_knots = smooth->term[i].knots;
    if (data->column[i].n_values > fit->most_values) fit->most_values = data->column[i].n_values;
  }
  fit->P = fit->column[K];
  fit->E = fit->extended[K];
  int pooled = 0;
  for (size_t i = 0; i < K; ++i) pooled |= is_single(&smooth->term[i]) || smooth->term[i].missing;
  const size_t pool = pooled ? add_penalty(fit, K, 0, 0, 1) : 0;
  for (size_t i = 0; i < K; ++i) {
    const pn_status status = init_term(fit, i, handle == NULL ? 1 : handle[i], pool, arena);
    if (status != PN_OK) return status;
  }
  const size_t P = fit->P, E = fit->E, B = fit->blocks, M = fit->penalties, n = data->n;
  const size_t square = (P > M ? P : M) * (P > M ? P : M);
  fit->gram = pn_arena_alloc(arena, PN_SIZE(B, P, P), sizeof(double));
  fit->factor = pn_arena_alloc(arena, PN_SIZE(B, P, P), sizeof(double));
  fit->rhs = pn_arena_alloc(arena, PN_SIZE(B, P), sizeof(double));
  fit->beta = pn_arena_alloc(arena, PN_SIZE(B, P), sizeof(double));
  fit->before = pn_arena_alloc(arena, PN_SIZE(B, P), sizeof(double));
  fit->ridge = pn_arena_alloc(arena, PN_SIZE(P, P), sizeof(double));
  fit->phi = pn_arena_alloc(arena, B, sizeof(double));
  fit->square = pn_arena_alloc(arena, B, sizeof(double));
  fit->rows = pn_arena_alloc(arena, B, sizeof(double));
  fit->edf = pn_arena_alloc(arena, K, sizeof(double));
  fit->ext = pn_arena_alloc(arena, PN_SIZE(E, E), sizeof(double));
  fit->ext_rhs = pn_arena_alloc(arena, E, sizeof(double));
  fit->inverse = pn_arena_alloc(arena, PN_SIZE(P, P), sizeof(double));
  fit->work = pn_arena_alloc(arena, square, sizeof(double));
  fit->temporary = pn_arena_alloc(arena, pn_size_add(PN_SIZE(2, most_extended, most_extended), 2), sizeof(double));
  fit->lambda = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->trial = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->gradient = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->hessian = pn_arena_alloc(arena, pn_size_add(PN_SIZE(M, M), 1), sizeof(double));
  fit->step = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->half = pn_arena_alloc(arena, PN_SIZE(fit->n_parts + 1, fit->most_knots + 1), sizeof(double));
  fit->w = pn_arena_alloc(arena, n, sizeof(double));
  fit->wz = pn_arena_alloc(arena, n, sizeof(double));
  fit->table = pn_arena_alloc(arena, PN_SIZE(fit->most_values, B), sizeof(double));
  fit->scratch = pn_arena_alloc(arena, 2 * (fit->most_knots + config->outputs) + 2, sizeof(double));
  *out = fit;
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}

void pn_smooth_fix(pn_smooth_fitter *fit, const double *strength) {
  fit->kept = strength;
}

size_t pn_smooth_penalties(const pn_smooth_fitter *fit) {
  return fit->penalties;
}

/* cov[c x c] of feature i's values (knots, then missing) for output q. */
static void covariance(const pn_smooth_fitter *fit, size_t i, size_t q, double *cov) {
  const pn_smooth_term *term = &fit->smooth->term[i];
  const size_t c = pn_smooth_columns(term), m = term->knots, P = fit->P, at = fit->column[i];
  for (size_t k = 0; k < c; ++k) {
    /* column at + k of V, by solving */
    double *x = fit->work;
    memset(x, 0, P * sizeof(double));
    x[at + k] = 1;
    pn_cholesky_solve(fit->factor + q * P * P, P, x);
    for (size_t j = 0; j < c; ++j) cov[j * c + k] = fit->phi[q] * x[at + j];
  }
  /* A V A' with A = I - 1 mu' on the knots: centred values */
  for (int side = 0; side < 2; ++side) {
    for (size_t k = 0; k < c; ++k) {
      double mean = 0;
      const size_t along = side == 0 ? c : 1, across = side == 0 ? 1 : c;
      for (size_t j = 0; j < m; ++j) mean += fit->mean[i] ? fit->mean[i][j] * cov[j * along + k * across] : 0;
      for (size_t j = 0; j < m; ++j) cov[j * along + k * across] -= mean;
    }
  }
}

pn_status pn_smooth_keep(const pn_smooth_fitter *fit, pn_smooth_result *result, pn_arena *arena) {
  const pn_smooth *from = fit->smooth;
  const size_t K = from->features, B = fit->blocks, rows = from->first[K];
  pn_status status = pn_smooth_init(&result->smooth, from->term, K, B, arena);
  result->edf = pn_arena_alloc(arena, K, sizeof(double));
  result->dispersion = pn_arena_alloc(arena, B, sizeof(double));
  result->information = pn_arena_alloc(arena, B, sizeof(double));
  result->covariance = pn_arena_alloc(arena, K, sizeof(double *));
  result->penalty = pn_arena_alloc(arena, fit->penalties, sizeof(pn_smooth_penalty));
  if (status != PN_OK || arena->failed) return PN_NO_MEMORY;
  memcpy(result->smooth.value, from->value, rows * B * sizeof(double));
  memcpy(result->smooth.intercept, from->intercept, B * sizeof(double));
  memcpy(result->edf, fit->edf, K * sizeof(double));
  memcpy(result->dispersion, fit->phi, B * sizeof(double));
  for (size_t q = 0; q < B; ++q) {
    result->information[q] = fit->rows[q] > 0 ? fit->gram[q * fit->P * fit->P] / fit->rows[q] : 1;
  }
  memcpy(result->penalty, fit->penalty, fit->penalties * sizeof(pn_smooth_penalty));
  result->penalties = fit->penalties;
  result->iterations = fit->iterations;
  for (size_t i = 0; i < K; ++i) {
    const size_t c = pn_smooth_columns(&from->term[i]);
    result->covariance[i] = pn_arena_alloc(arena, PN_SIZE(c, c, B), sizeof(double));
    if (arena->failed) return PN_NO_MEMORY;
    for (size_t q = 0; q < B; ++q) covariance(fit, i, q, result->covariance[i] + q * c * c);
  }
  return PN_OK;
}
