/* Encoded data and the batches drawn from it, with equal values found once.
 *
 * A data set keeps, per feature, a table of distinct processed values and a code per row. A batch keeps, per feature,
 * its cells: the distinct values among the batch's rows. Encoders (and in order 1 the predictors) work on cells; `cell`
 * leads from a row to its cell and the segment lists lead back. With dropout every row is a cell of its own, because
 * rows of equal value then have different masks.
 */
#ifndef PN_MODEL_BATCH_H
#define PN_MODEL_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base_arena.h"
#include "base_status.h"
#include "model_config.h"

typedef struct {
  size_t n_values;
  const float *value;        /* [n_values]; NaN marks the missing value */
  const unsigned char *code; /* n codes of `width` bytes, native byte order, into value; row r's at code + r * stride */
  int width;                 /* 1, 2 or 4 */
  size_t stride;             /* width when the feature's codes stand together, more when a row's do */
} pn_feature;

/* The code of a row. */
static inline uint32_t pn_feature_code(const pn_feature *feature, size_t row) {
  const unsigned char *from = feature->code + row * feature->stride;
  if (feature->width == 1) return *from;
  if (feature->width == 2) {
    uint16_t code;
    memcpy(&code, from, sizeof(code));
    return code;
  }
  uint32_t code;
  memcpy(&code, from, sizeof(code));
  return code;
}

typedef struct {
  size_t n;
  const pn_feature *feature; /* [K] features of the prototype layers */
  const pn_feature *column;  /* [all features] those of layer 0; the prototype layers have some of them */
  const double *y;           /* column-major [n x y_columns], NULL when only predicting; NaN = unobserved */
  size_t y_columns;
  const int *task;      /* [n], from 1, or NULL */
  const double *weight; /* [n] or NULL for all 1 */
  const double *offset; /* [n] on the link scale, or NULL for all 0 */
  const double *base;   /* [n x s o] layer 0's predictions, or NULL for all 0 */
  const int *fold;      /* [n], or NULL: rows of fold `skip` are no part of the training */
  int skip;
} pn_data;

/* Does the row take part in training? */
static inline int pn_data_used(const pn_data *data, size_t row) {
  return data->fold == NULL || data->fold[row] != data->skip;
}

/* Case weight of a row, 0 when it is skipped. */
static inline double pn_data_weight(const pn_data *data, size_t row) {
  if (!pn_data_used(data, row)) return 0;
  return data->weight == NULL ? 1.0 : data->weight[row];
}

typedef struct {
  size_t capacity;    /* rows at most */
  size_t rows;        /* B */
  size_t features;    /* K */
  size_t cells_most;  /* first[K] */
  int equal_values;   /* 0: every row is a cell of its own */
  const uint32_t *id; /* [B] row numbers in the data set */
  double weight_sum;  /* of the case weights of its rows */
  double label_sum;   /* of the case weights of its observed (row, response) pairs */

  /* Feature i has cells[i] cells, numbered from first[i] in whatever is kept per cell: room for as many as it has
   * values or the batch has rows, whichever is less. */
  uint32_t *cells;        /* [K] */
  size_t *first;          /* [K + 1]; first[K] cells at most in all */
  float *value;           /* [first[K]], 0 for the missing value */
  unsigned char *missing; /* [first[K]] */
  float *weight;          /* [first[K]] sum of its rows' case weights */
  uint32_t *cell;         /* [K x capacity]: row r of feature i is in cell first[i] + cell[i * capacity + r] */
  uint32_t *segment;      /* [K x (capacity + 1)]: where a feature's cells begin in its list of members */
  uint32_t *member;       /* [K x capacity] rows, cell by cell */

  /* Of ordered batches, NULL in others: one cell per distinct non-missing value of a feature, values ascending. */
  uint32_t *sorted;   /* [K x capacity] cells, within the feature */
  uint32_t *n_sorted; /* [K] */

  uint32_t *range; /* [capacity] ids of a contiguous batch */
  uint32_t *seen;  /* per value of every feature (by code, or by rank where there are ranks): the stamp of the batch
                      that saw it last, and its cell there */
  uint32_t *local;
  size_t *table_start; /* [K + 1] where a feature's part of seen and local begins */

  /* Of ordered batches, NULL in others. */
  uint32_t **rank;    /* [K] per value: its place among the feature's distinct values; NULL where that is its code */
  uint64_t *bits;     /* a bit per distinct value, all 0 between fills */
  size_t *bits_start; /* [K + 1] where a feature's bits begin */

  uint32_t stamp;
} pn_batch;

/* Copies the codes so that those of a row stand together: rows drawn at random then cost a cache line each instead of
 * one per feature. */
pn_status pn_data_by_rows(pn_data *data, size_t features, pn_arena *arena);

/* Reserves a batch of at most `capacity` rows for `data`. equal_values = 0: one cell per row. ordered: it also lists
 * its cells by value. */
pn_status pn_batch_init(pn_batch *batch, const pn_data *data, size_t features, size_t capacity, int equal_values,
                        int ordered, pn_arena *arena);

/* Fills the batch with rows id[n] (id outlives the batch's use). */
void pn_batch_fill(pn_batch *batch, const pn_data *data, const uint32_t *id, size_t n, int threads);

/* The same for rows begin .. begin + n - 1. */
void pn_batch_fill_range(pn_batch *batch, const pn_data *data, size_t begin, size_t n, int threads);

/* Rows of feature i's cell c: member[q] of the feature's list, for q in segment[c] .. segment[c + 1] - 1. */
static inline const uint32_t *pn_batch_segment(const pn_batch *batch, size_t i) {
  return batch->segment + i * (batch->capacity + 1);
}

static inline const uint32_t *pn_batch_member(const pn_batch *batch, size_t i) {
  return batch->member + i * batch->capacity;
}

/* Cells of feature i by value, within the feature; there are n_sorted[i]. */
static inline const uint32_t *pn_batch_sorted(const pn_batch *batch, size_t i) {
  return batch->sorted + i * batch->capacity;
}

/* The cell of each row, within feature i. */
static inline const uint32_t *pn_batch_cell(const pn_batch *batch, size_t i) {
  return batch->cell + i * batch->capacity;
}

#endif
