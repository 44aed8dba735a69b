/* Layer 0's design: where a value stands, how columns are centred, what is penalised; see train_smooth.c. */
#include <math.h>
#include <string.h>

#include "base_size.h"
#include "layer_spline.h"
#include "train_smooth_parts.h"

#define PN_ROWS 8192 /* rows that are summed together */

static size_t extended_columns(const pn_smooth_term *term) {
  return (term->kind == PN_SMOOTH_SPLINE ? 2 * term->knots : term->knots) + (term->missing != 0);
}

static int is_single(const pn_smooth_term *term) {
  return term->kind == PN_SMOOTH_SPLINE && term->knots == 2;
}

/* Cells beside the missing value's and that of nothing. */
static size_t main_cells(const pn_smooth_term *term) {
  return term->kind == PN_SMOOTH_SPLINE ? term->knots - 1 : term->knots;
}

long pn_design_column(const pn_smooth_term *term, size_t cell, size_t k) {
  const size_t cells = main_cells(term);
  if (cell == cells && k == 0 && term->missing) return (long)extended_columns(term) - 1;
  if (cell >= cells) return -1;
  if (term->kind != PN_SMOOTH_SPLINE) return k == 0 ? (long)cell : -1;
  return (long)(k < 2 ? cell + k : term->knots + cell + k - 2);
}

static pn_place find_place(const pn_smooth_term *term, float value) {
  const uint32_t cells = (uint32_t)main_cells(term);
  const pn_place one = {{1, 0, 0, 0}, cells}, nothing = {{0, 0, 0, 0}, cells + 1};
  if (isnan(value)) return term->missing ? one : nothing;
  if (term->kind == PN_SMOOTH_NONE) return nothing;
  if (term->kind != PN_SMOOTH_SPLINE) {
    const size_t at = pn_smooth_level(term, value);
    const pn_place level = {{1, 0, 0, 0}, (uint32_t)at};
    return at < term->knots ? level : nothing;
  }
  const pn_spline_place at = pn_spline_locate(term->knots, term->knot, value);
  const pn_place between = {{at.low, at.high, at.curve_low, at.curve_high}, (uint32_t)at.interval};
  return between;
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

static void add_part(pn_smooth_fitter *fit, size_t term, size_t penalty, size_t at, size_t n, const double *s,
                     const double *line) {
  const pn_penalty_part one = {term, penalty, at, n, s, line};
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
  const pn_feature *feature = &data->column[term->feature];
  pn_design_term *own = &fit->term[i];
  const size_t m = term->knots, c = own->columns, e = own->extended, at = own->at;
  if (c == 0) return PN_OK;
  pn_place *place = pn_arena_alloc(arena, feature->n_values, sizeof(*place));
  double *project = pn_arena_alloc(arena, PN_SIZE(c, e), sizeof(double)),
         *transposed = pn_arena_alloc(arena, PN_SIZE(c, e), sizeof(double)),
         *mean = pn_arena_alloc(arena, m, sizeof(double));
  double *f = pn_arena_alloc(arena, PN_SIZE(m, m), sizeof(double)),
         *s = pn_arena_alloc(arena, PN_SIZE(m, m), sizeof(double));
  double *line = pn_arena_alloc(arena, PN_SIZE(m, m), sizeof(double)), *one = pn_arena_alloc(arena, 1, sizeof(double));
  double *work = pn_arena_alloc(arena, PN_SIZE(2, m + 1, m + 1), sizeof(double));
  double *sums = pn_arena_alloc(arena, e, sizeof(double)), *slope = pn_arena_alloc(arena, m, sizeof(double));
  if (arena->failed) return PN_NO_MEMORY;
  for (size_t v = 0; v < feature->n_values; ++v) place[v] = find_place(term, feature->value[v]);
  for (size_t r = 0; r < data->n; ++r) {
    const pn_place *row = &place[pn_feature_code(feature, r)];
    const double weight = pn_data_weight(data, r);
    for (size_t k = 0; k < own->width; ++k) {
      const long to = pn_design_column(term, row->cell, k);
      if (to >= 0) sums[to] += weight * row->x[k];
    }
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
    add_part(fit, i, pool, at + m, 1, one, one);
    fit->penalty[pool].rank += 1;
  }
  for (size_t k = 0; k < c; ++k) {
    for (size_t j = 0; j < e; ++j) transposed[j * c + k] = project[k * e + j];
  }
  own->place = place;
  own->project = project;
  own->transposed = transposed;
  own->mean = mean;
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
      add_part(fit, i, pool, at, m, line, slope);
      fit->penalty[pool].rank += 1;
    } else {
      add_part(fit, i, add_penalty(fit, term->feature, 1, (double)m - 2, handle_factor(handle)), at, m, s, NULL);
      add_part(fit, i, add_penalty(fit, term->feature, 0, 1, handle > 1 ? handle : 1), at, m, line, slope);
    }
  } else {
    for (size_t k = 0; k < m; ++k) line[k * m + k] = 1;
    add_part(fit, i, add_penalty(fit, term->feature, 0, (double)m, handle * handle), at, m, line, NULL);
  }
  return PN_OK;
}

pn_status pn_smooth_fitter_init(pn_smooth_fitter **out, pn_smooth *smooth, const pn_config *config, const pn_data *data,
                                const double *handle, pn_arena *arena) {
  const size_t K = smooth->terms;
  pn_smooth_fitter *fit = pn_arena_alloc(arena, 1, sizeof(*fit));
  if (fit == NULL) return PN_NO_MEMORY;
  fit->smooth = smooth;
  fit->config = config;
  fit->data = data;
  fit->blocks = config->tasks * config->outputs;
  fit->term = pn_arena_alloc(arena, K, sizeof(*fit->term));
  fit->penalty = pn_arena_alloc(arena, 2 * K + 1, sizeof(*fit->penalty));
  fit->parts = pn_arena_alloc(arena, 3 * K + 1, sizeof(*fit->parts));
  if (arena->failed) return PN_NO_MEMORY;
  size_t most_extended = 1, most_tile = 1;
  fit->P = fit->E = 1;
  for (size_t i = 0; i < K; ++i) {
    const pn_smooth_term *term = &smooth->term[i];
    pn_design_term *own = &fit->term[i];
    own->columns = pn_smooth_columns(term);
    own->extended = extended_columns(term);
    own->at = fit->P;
    own->extended_at = fit->E;
    own->cells = main_cells(term) + 2;
    own->width = term->kind == PN_SMOOTH_SPLINE ? 4 : 1;
    fit->P += own->columns;
    fit->E += own->extended;
    most_extended = own->extended > most_extended ? own->extended : most_extended;
    most_tile = own->cells * own->width > most_tile ? own->cells * own->width : most_tile;
    if (term->knots > fit->most_knots) fit->most_knots = term->knots;
    if (data->column[term->feature].n_values > fit->most_values)
      fit->most_values = data->column[term->feature].n_values;
  }
  int pooled = 0;
  for (size_t i = 0; i < K; ++i) pooled |= is_single(&smooth->term[i]) || smooth->term[i].missing;
  const size_t pool = pooled ? add_penalty(fit, config->columns, 0, 0, 1) : 0;
  for (size_t i = 0; i < K; ++i) {
    const pn_status status = init_term(fit, i, handle == NULL ? 1 : handle[smooth->term[i].feature], pool, arena);
    if (status != PN_OK) return status;
  }
  const size_t P = fit->P, E = fit->E, B = fit->blocks, M = fit->penalties, n = data->n;
  const size_t square = (P > M ? P : M) * (P > M ? P : M);
  fit->gram = pn_arena_alloc(arena, PN_SIZE(B, P, P), sizeof(double));
  fit->factor = pn_arena_alloc(arena, PN_SIZE(B, P, P), sizeof(double));
  fit->rhs = pn_arena_alloc(arena, PN_SIZE(B, P), sizeof(double));
  fit->beta = pn_arena_alloc(arena, PN_SIZE(B, P), sizeof(double));
  fit->before = pn_arena_alloc(arena, PN_SIZE(B, P), sizeof(double));
  fit->best_beta = pn_arena_alloc(arena, PN_SIZE(B, P), sizeof(double));
  fit->best_rho = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->ridge = pn_arena_alloc(arena, PN_SIZE(P, P), sizeof(double));
  fit->phi = pn_arena_alloc(arena, B, sizeof(double));
  fit->square = pn_arena_alloc(arena, B, sizeof(double));
  fit->rows = pn_arena_alloc(arena, B, sizeof(double));
  fit->ext = pn_arena_alloc(arena, PN_SIZE(E, E), sizeof(double));
  fit->ext_rhs = pn_arena_alloc(arena, E, sizeof(double));
  fit->inverse = pn_arena_alloc(arena, PN_SIZE(P, P), sizeof(double));
  fit->work = pn_arena_alloc(arena, square, sizeof(double));
  fit->temporary = pn_arena_alloc(arena, pn_size_add(PN_SIZE(2, most_extended, most_extended), 2), sizeof(double));
  fit->row_block = n < PN_ROWS ? n : PN_ROWS;
  fit->tile = pn_arena_alloc(arena, PN_SIZE(most_tile, most_tile), sizeof(double));
  fit->row_x = pn_arena_alloc(arena, PN_SIZE(4, fit->row_block), sizeof(double));
  fit->used = pn_arena_alloc(arena, fit->row_block, sizeof(uint32_t));
  fit->cell_begin = pn_arena_alloc(arena, most_tile + 1, sizeof(uint32_t));
  fit->row = pn_arena_alloc(arena, fit->row_block, sizeof(uint32_t));
  fit->row_at = pn_arena_alloc(arena, fit->row_block, sizeof(uint32_t));
  fit->lambda = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->trial = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->gradient = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->hessian = pn_arena_alloc(arena, pn_size_add(PN_SIZE(M, M), 1), sizeof(double));
  fit->step = pn_arena_alloc(arena, M + 1, sizeof(double));
  fit->half = pn_arena_alloc(arena, PN_SIZE(fit->n_parts + 1, fit->most_knots + 1), sizeof(double));
  fit->w = pn_arena_alloc(arena, n, sizeof(double));
  fit->wz = pn_arena_alloc(arena, n, sizeof(double));
  fit->gram_w = pn_arena_alloc(arena, PN_SIZE(B, n), sizeof(double));
  fit->table = pn_arena_alloc(arena, PN_SIZE(fit->most_values, B), sizeof(double));
  fit->scratch = pn_arena_alloc(arena, 2 * (fit->most_knots + config->outputs) + 2, sizeof(double));
  *out = fit;
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}
