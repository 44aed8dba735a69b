/* Sums over rows for layer 0's fit; see train_smooth.c.
 *
 * A row adds the product of its numbers in two terms to the tile of the two cells that it stands in: four or sixteen
 * numbers side by side. Tiles are spread over the extended columns once per block of rows.
 */
#include <math.h>
#include <string.h>

#include "base_rows.h"
#include "train_smooth_parts.h"

#define PN_WEIGHT_FLOOR 1e-5 /* of a working weight, relative to the case weight */

#define PN_DRIFT 0.05   /* of the working weights, on average: the Gram matrix is that of others until then */
#define PN_TOGETHER 256 /* rows whose places are looked up together */

/* Adds the block's n rows of a term and of term b to the tiles, both splines. */
static void add_spline_tiles(const pn_smooth_fitter *fit, size_t n, const pn_design_term *b,
                             const pn_feature *feature) {
  uint32_t cell[PN_TOGETHER];
  const double *x[PN_TOGETHER];
  for (size_t begin = 0; begin < n; begin += PN_TOGETHER) {
    const size_t count = n - begin < PN_TOGETHER ? n - begin : PN_TOGETHER;
    for (size_t r = 0; r < count; ++r) {
      const pn_place *place = &b->place[pn_feature_code(feature, fit->row[begin + r])];
      cell[r] = place->cell;
      x[r] = place->x;
    }
    pn_rows_tiles(count, fit->row_at + begin, fit->row_x + 4 * begin, cell, x, b->cells, fit->tile);
  }
}

/* The same when one of them has levels, one number a cell. */
static void add_level_tiles(const pn_smooth_fitter *fit, size_t n, const pn_design_term *a, const pn_design_term *b,
                            const pn_feature *feature) {
  const size_t wa = a->width, wb = b->width;
  for (size_t r = 0; r < n; ++r) {
    const pn_place *place = &b->place[pn_feature_code(feature, fit->row[r])];
    double *to = fit->tile + (fit->row_at[r] * b->cells + place->cell) * wa * wb;
    const double *x = fit->row_x + r * wa;
    for (size_t p = 0; p < wa; ++p) {
      for (size_t q = 0; q < wb; ++q) to[p * wb + q] += x[p] * place->x[q];
    }
  }
}

/* Adds one number of the tiles of all cells of a term, `stride` apart, to its columns. Number k of a spline's cell c
 * belongs to value c + k, or to curvature c + k - 2; behind these cells stand those of the missing value and of nothing. */
static void spread_cells(const pn_smooth_term *term, const pn_design_term *own, size_t k, const double *tile,
                         size_t stride, double *to) {
  const size_t main = own->cells - 2;
  if (term->kind == PN_SMOOTH_SPLINE) {
    double *first = to + (k < 2 ? k : term->knots + k - 2);
    for (size_t c = 0; c < main; ++c) first[c] += tile[c * stride];
  } else if (k == 0) {
    for (size_t c = 0; c < main; ++c) to[c] += tile[c * stride];
  }
  if (k == 0 && term->missing) to[own->extended - 1] += tile[main * stride];
}

/* Tiles of terms i and j to the extended Gram matrix. */
static void spread_tiles(pn_smooth_fitter *fit, size_t i, size_t j) {
  const pn_design_term *a = &fit->term[i], *b = &fit->term[j];
  const size_t size = a->width * b->width;
  for (size_t c = 0; c < a->cells; ++c) {
    for (size_t p = 0; p < a->width; ++p) {
      const long up = pn_design_column(&fit->smooth->term[i], c, p);
      if (up < 0) continue;
      double *to = fit->ext + (a->extended_at + (size_t)up) * fit->E + b->extended_at;
      const double *tile = fit->tile + c * b->cells * size + p * b->width;
      for (size_t q = 0; q < b->width; ++q) spread_cells(&fit->smooth->term[j], b, q, tile + q, size, to);
    }
  }
}

/* The block's n rows in order of their cells of a term, and these cells. The tiles that follow each other are then near
 * each other in memory, too; rows of a tile keep their order, so sums have the same bits. */
static void sort_rows(pn_smooth_fitter *fit, const pn_design_term *a, const pn_feature *feature, size_t n) {
  uint32_t *begin = fit->cell_begin;
  memset(begin, 0, (a->cells + 1) * sizeof(*begin));
  for (size_t r = 0; r < n; ++r) ++begin[a->place[pn_feature_code(feature, fit->used[r])].cell + 1];
  for (size_t c = 0; c < a->cells; ++c) begin[c + 1] += begin[c];
  for (size_t r = 0; r < n; ++r) {
    const uint32_t cell = a->place[pn_feature_code(feature, fit->used[r])].cell, to = begin[cell]++;
    fit->row[to] = fit->used[r];
    fit->row_at[to] = cell;
  }
}

/* Weighted numbers of term i for the block's n rows, and their sums: with w z alone, or with w, too. */
static void expand_term(pn_smooth_fitter *fit, size_t i, size_t n, int gram) {
  const pn_design_term *a = &fit->term[i];
  const pn_feature *feature = &fit->data->column[fit->smooth->term[i].feature];
  double *sums = fit->tile;
  memset(sums, 0, 2 * a->cells * a->width * sizeof(double));
  sort_rows(fit, a, feature, n);
  for (size_t r = 0; r < n; ++r) {
    const size_t row = fit->row[r];
    const pn_place *place = &a->place[pn_feature_code(feature, row)];
    double *to = sums + 2 * place->cell * a->width;
    for (size_t p = 0; p < a->width; ++p) {
      const double x = fit->w[row] * place->x[p];
      fit->row_x[r * a->width + p] = x;
      to[2 * p] += x;
      to[2 * p + 1] += fit->wz[row] * place->x[p];
    }
  }
  for (size_t c = 0; c < a->cells; ++c) {
    for (size_t p = 0; p < a->width; ++p) {
      const long at = pn_design_column(&fit->smooth->term[i], c, p);
      if (at < 0) continue;
      if (gram) fit->ext[a->extended_at + (size_t)at] += sums[2 * (c * a->width + p)];
      fit->ext_rhs[a->extended_at + (size_t)at] += sums[2 * (c * a->width + p) + 1];
    }
  }
}

/* Extended Gram matrix (upper blocks), if asked for, and right-hand side of rows with weights w and products w z. */
static void sum_rows(pn_smooth_fitter *fit, int gram) {
  const size_t K = fit->smooth->terms, rows = fit->data->n;
  if (gram) memset(fit->ext, 0, fit->E * fit->E * sizeof(double));
  memset(fit->ext_rhs, 0, fit->E * sizeof(double));
  for (size_t begin = 0; begin < rows && !pn_smooth_stops(fit); begin += fit->row_block) {
    const size_t end = rows - begin < fit->row_block ? rows : begin + fit->row_block;
    size_t n = 0;
    for (size_t r = begin; r < end; ++r) {
      if (fit->w[r] == 0) continue;
      fit->used[n++] = (uint32_t)r;
      if (gram) fit->ext[0] += fit->w[r];
      fit->ext_rhs[0] += fit->wz[r];
    }
    for (size_t i = 0; i < K; ++i) {
      const pn_design_term *a = &fit->term[i];
      if (a->place == NULL) continue;
      expand_term(fit, i, n, gram);
      for (size_t j = i; gram && j < K; ++j) {
        const pn_design_term *b = &fit->term[j];
        const pn_feature *feature = &fit->data->column[fit->smooth->term[j].feature];
        if (b->place == NULL) continue;
        memset(fit->tile, 0, a->cells * a->width * b->cells * b->width * sizeof(double));
        if (a->width == 4 && b->width == 4) {
          add_spline_tiles(fit, n, b, feature);
        } else {
          add_level_tiles(fit, n, a, b, feature);
        }
        spread_tiles(fit, i, j);
      }
    }
  }
}

static void gram_from_extended(pn_smooth_fitter *fit, double *gram) {
  const size_t K = fit->smooth->terms, P = fit->P, E = fit->E;
  const double *ext = fit->ext;
  gram[0] = ext[0];
  for (size_t j = 0; j < K; ++j) {
    const pn_design_term *b = &fit->term[j];
    for (size_t k = 0; k < b->columns; ++k) {
      gram[b->at + k] = pn_sum_product(b->project + k * b->extended, ext + b->extended_at, b->extended);
    }
  }
  for (size_t i = 0; i < K; ++i) {
    const pn_design_term *a = &fit->term[i];
    if (a->columns == 0) continue;
    for (size_t j = i; j < K; ++j) {
      const pn_design_term *b = &fit->term[j];
      if (b->columns == 0) continue;
      const double *block = ext + a->extended_at * E + b->extended_at;
      for (size_t k = 0; k < a->columns; ++k) { /* row k of D_i block D_j' */
        double *row = fit->temporary, *to = gram + (a->at + k) * P + b->at;
        memset(row, 0, b->extended * sizeof(double));
        memset(to, 0, b->columns * sizeof(double));
        pn_rows_add(b->extended, a->extended, a->project + k * a->extended, 1, block, E, row);
        pn_rows_add(b->columns, b->extended, row, 1, b->transposed, b->columns, to);
      }
    }
  }
}

static void rhs_from_extended(const pn_smooth_fitter *fit, double *rhs) {
  rhs[0] = fit->ext_rhs[0];
  for (size_t i = 0; i < fit->smooth->terms; ++i) {
    const pn_design_term *a = &fit->term[i];
    for (size_t k = 0; k < a->columns; ++k) {
      rhs[a->at + k] = pn_sum_product(a->project + k * a->extended, fit->ext_rhs + a->extended_at, a->extended);
    }
  }
}

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

/* Prior and working weights of block q at layer 0's present predictions, to fit->w, and scores w (z - eta), z the working
 * response on layer 0's own scale, to fit->wz. Sums weights and, per unit of weight, squared scores. */
static void working(pn_smooth_fitter *fit, const double *net, const double *eta, size_t q) {
  const pn_config *config = fit->config;
  const size_t o = config->outputs, B = fit->blocks;
  double square = 0, rows = 0;
  for (size_t r = 0; r < fit->data->n; ++r) {
    double y = 0;
    const double weight = row_weight(fit, r, q, &y), own = eta[r * B + q];
    const double shift = weight > 0 ? row_shift(fit, net, r, q) : 0;
    double w = weight, score = 0;
    if (weight > 0 && config->family == PN_GAUSSIAN) {
      score = weight * (y - shift - own);
      square += score * (y - shift - own);
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
      w = weight * variance;
      score = weight * (target - mean);
      square += score * (target - mean) / variance;
    }
    rows += weight;
    fit->w[r] = w;
    fit->wz[r] = score;
  }
  fit->square[q] = square;
  fit->rows[q] = rows;
}

/* Scores to products w z, and z'Wz. */
static void add_predictions(pn_smooth_fitter *fit, const double *eta, size_t q) {
  double square = 0;
  for (size_t r = 0; r < fit->data->n; ++r) {
    if (fit->w[r] == 0) continue;
    const double score = fit->wz[r], own = eta[r * fit->blocks + q];
    fit->wz[r] = score + fit->w[r] * own;
    square += fit->wz[r] * (own + score / fit->w[r]);
  }
  fit->square[q] = square;
}

/* Do weights differ from those of the Gram matrix? */
static int has_drifted(const pn_smooth_fitter *fit, const double *kept) {
  double change = 0, total = 0;
  for (size_t r = 0; r < fit->data->n; ++r) {
    change += fabs(fit->w[r] - kept[r]);
    total += kept[r];
  }
  return !(change <= PN_DRIFT * total);
}

/* Sums of scores to right-hand sides: X'Wz and z'Wz as they would be with the weights of the Gram matrix. */
static void add_gram_predictions(pn_smooth_fitter *fit, size_t q) {
  const size_t P = fit->P;
  const double *gram = fit->gram + q * P * P, *beta = fit->beta + q * P;
  double *rhs = fit->rhs + q * P, *fitted = fit->work;
  for (size_t k = 0; k < P; ++k) { /* the upper triangle is there */
    fitted[k] = pn_sum_product(gram + k * P + k, beta + k, P - k);
    for (size_t j = 0; j < k; ++j) fitted[k] += gram[j * P + k] * beta[j];
  }
  fit->square[q] += 2 * pn_sum_product(beta, rhs, P) + pn_sum_product(beta, fitted, P);
  for (size_t k = 0; k < P; ++k) rhs[k] += fitted[k];
}

double pn_smooth_deviance(const pn_smooth_fitter *fit, const double *net, const double *eta, double *shifted) {
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

void pn_smooth_sum(pn_smooth_fitter *fit, const double *net, const double *eta, size_t q, int fresh) {
  const size_t n = fit->data->n;
  double *kept = fit->gram_w + q * n;
  working(fit, net, eta, q);
  const int gaussian = fit->config->family == PN_GAUSSIAN;
  const int gram = !fit->gram_ready || (!gaussian && (fresh || has_drifted(fit, kept)));
  if (gram || gaussian) add_predictions(fit, eta, q);
  sum_rows(fit, gram);
  rhs_from_extended(fit, fit->rhs + q * fit->P);
  if (gram) {
    gram_from_extended(fit, fit->gram + q * fit->P * fit->P);
    memcpy(kept, fit->w, n * sizeof(double));
  } else if (!gaussian) {
    add_gram_predictions(fit, q);
  }
}
