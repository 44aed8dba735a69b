/* Batches and their equal values; see model_batch.h.
 *
 * One pass over a feature's codes finds the cells in order of first appearance (a stamp per table entry says whether
 * this batch has seen it), a counting sort then lists each cell's rows. Ordered batches rank the tables' values once,
 * mark the ranks of their cells in a set of bits and read it in order. Features are independent, so they are the unit
 * of parallel work and the result does not depend on the number of threads.
 */
#include "model_batch.h"

#include <math.h>
#include <string.h>

#include "base_distinct.h"
#include "base_omp.h"
#include "base_size.h"

#define PN_COPY_ROWS 4096 /* rows copied feature by feature while they stay in cache */
#define PN_CELLS_ALIGN 16 /* a feature's cells begin on vector boundaries */

pn_status pn_data_by_rows(pn_data *data, size_t features, pn_arena *arena) {
  size_t stride = 0;
  for (size_t i = 0; i < features; ++i) stride += (size_t)data->feature[i].width;
  pn_feature *feature = pn_arena_alloc(arena, features, sizeof(*feature));
  unsigned char *rows = pn_arena_alloc(arena, PN_SIZE(data->n, stride), 1);
  if (arena->failed) return PN_NO_MEMORY;
  if (arena->measuring) return PN_OK;
  for (size_t first = 0; first < data->n; first += PN_COPY_ROWS) {
    const size_t end = data->n - first < PN_COPY_ROWS ? data->n : first + PN_COPY_ROWS;
    unsigned char *to = rows + first * stride;
    for (size_t i = 0; i < features; to += data->feature[i].width, ++i) {
      const pn_feature *from = &data->feature[i];
      for (size_t r = first; r < end; ++r) {
        memcpy(to + (r - first) * stride, from->code + r * from->stride, (size_t)from->width);
      }
    }
  }
  size_t at = 0;
  for (size_t i = 0; i < features; ++i) {
    feature[i] = data->feature[i];
    feature[i].code = rows + at;
    feature[i].stride = stride;
    at += (size_t)feature[i].width;
  }
  data->feature = feature;
  return PN_OK;
}

/* Whether a table's values ascend, the missing one last, so that codes are ranks. */
static int is_ascending(const pn_feature *feature) {
  size_t n = feature->n_values;
  if (n > 0 && isnan(feature->value[n - 1])) --n;
  for (size_t v = 0; v + 1 < n; ++v) {
    if (!(feature->value[v] < feature->value[v + 1])) return 0;
  }
  return n == 0 || !isnan(feature->value[0]);
}

/* Ranks of a table's values: the missing one last, equal ones (two raw values may be processed to the same) alike. */
static pn_status rank_values(const pn_feature *feature, uint32_t *rank) {
  pn_arena own;
  pn_arena_init(&own);
  double *value = pn_arena_alloc(&own, feature->n_values, sizeof(double));
  pn_status status = value == NULL ? PN_NO_MEMORY : PN_OK;
  if (status == PN_OK) {
    pn_distinct table;
    const pn_column column = {value, NULL, feature->n_values};
    for (size_t v = 0; v < feature->n_values; ++v) value[v] = feature->value[v];
    status = pn_distinct_find(&table, &column, NULL, &own);
    for (size_t v = 0; status == PN_OK && v < feature->n_values; ++v) rank[v] = table.rank[table.id[v]];
  }
  pn_arena_free(&own);
  return status;
}

static pn_status init_order(pn_batch *batch, const pn_data *data, pn_arena *arena) {
  const size_t K = batch->features;
  batch->sorted = pn_arena_alloc(arena, PN_SIZE(K, batch->capacity), sizeof(uint32_t));
  batch->n_sorted = pn_arena_alloc(arena, K, sizeof(uint32_t));
  batch->rank = pn_arena_alloc(arena, K, sizeof(uint32_t *));
  batch->bits_start = pn_arena_alloc(arena, K + 1, sizeof(size_t));
  if (arena->failed) return PN_NO_MEMORY;
  for (size_t i = 0; i < K; ++i) {
    const pn_feature *feature = &data->feature[i];
    batch->bits_start[i + 1] = batch->bits_start[i] + (feature->n_values + 63) / 64;
    if (is_ascending(feature)) continue;
    batch->rank[i] = pn_arena_alloc(arena, feature->n_values, sizeof(uint32_t));
    if (batch->rank[i] == NULL || rank_values(feature, batch->rank[i]) != PN_OK) return PN_NO_MEMORY;
  }
  batch->bits = pn_arena_alloc(arena, batch->bits_start[K], sizeof(uint64_t));
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}

/* Cells that a feature can have in a batch. */
static size_t cells_of(const pn_feature *feature, size_t capacity, int equal_values) {
  const size_t cells = equal_values && feature->n_values < capacity ? feature->n_values : capacity;
  return PN_SIZE(cells / PN_CELLS_ALIGN + (cells % PN_CELLS_ALIGN > 0), PN_CELLS_ALIGN);
}

pn_status pn_batch_init(pn_batch *batch, const pn_data *data, size_t features, size_t capacity, int equal_values,
                        int ordered, pn_arena *arena) {
  const size_t rows = PN_SIZE(features, capacity);
  size_t cells = 0, values = 0;
  for (size_t i = 0; i < features; ++i) {
    cells = pn_size_add(cells, cells_of(&data->feature[i], capacity, equal_values));
    values = pn_size_add(values, data->feature[i].n_values);
  }
  memset(batch, 0, sizeof(*batch));
  batch->capacity = capacity;
  batch->features = features;
  batch->cells_most = cells;
  batch->equal_values = equal_values;
  batch->cells = pn_arena_alloc(arena, features, sizeof(uint32_t));
  batch->first = pn_arena_alloc(arena, features + 1, sizeof(size_t));
  batch->value = pn_arena_alloc(arena, cells, sizeof(float));
  batch->missing = pn_arena_alloc(arena, cells, 1);
  batch->weight = pn_arena_alloc(arena, cells, sizeof(float));
  batch->cell = pn_arena_alloc(arena, rows, sizeof(uint32_t));
  batch->segment = pn_arena_alloc(arena, pn_size_add(rows, features), sizeof(uint32_t));
  batch->member = pn_arena_alloc(arena, rows, sizeof(uint32_t));
  batch->range = pn_arena_alloc(arena, capacity, sizeof(uint32_t));
  batch->table_start = pn_arena_alloc(arena, features + 1, sizeof(size_t));
  batch->seen = pn_arena_alloc(arena, values, sizeof(uint32_t));
  batch->local = pn_arena_alloc(arena, values, sizeof(uint32_t));
  if (arena->failed) return PN_NO_MEMORY;
  if (arena->measuring) return PN_OK;
  for (size_t i = 0; i < features; ++i) {
    batch->first[i + 1] = batch->first[i] + cells_of(&data->feature[i], capacity, equal_values);
    batch->table_start[i + 1] = batch->table_start[i] + data->feature[i].n_values;
  }
  return ordered ? init_order(batch, data, arena) : PN_OK;
}

/* Cells of feature i in order of first appearance. The value table's index of each cell goes to code_of. */
static void find_cells(pn_batch *batch, const pn_feature *feature, size_t i, uint32_t *code_of) {
  const int equal_values = batch->equal_values;
  uint32_t *cell = batch->cell + i * batch->capacity;
  uint32_t *seen = batch->seen + batch->table_start[i], *local = batch->local + batch->table_start[i];
  const uint32_t *rank = batch->rank == NULL ? NULL : batch->rank[i];
  uint32_t cells = 0;
  for (size_t r = 0; r < batch->rows; ++r) {
    const uint32_t code = pn_feature_code(feature, batch->id[r]), at = rank == NULL ? code : rank[code];
    if (!equal_values || seen[at] != batch->stamp) {
      seen[at] = batch->stamp;
      local[at] = cells;
      code_of[cells] = code;
      ++cells;
    }
    cell[r] = equal_values ? local[at] : (uint32_t)r;
  }
  batch->cells[i] = cells;
}

/* Lists the rows of feature i cell by cell (counting sort). */
static void list_members(pn_batch *batch, size_t i) {
  const size_t cells = batch->cells[i];
  const uint32_t *cell = batch->cell + i * batch->capacity;
  uint32_t *member = batch->member + i * batch->capacity, *segment = batch->segment + i * (batch->capacity + 1);
  memset(segment, 0, (cells + 1) * sizeof(*segment));
  for (size_t r = 0; r < batch->rows; ++r) ++segment[cell[r] + 1];
  for (size_t c = 0; c < cells; ++c) segment[c + 1] += segment[c];
  for (size_t r = batch->rows; r-- > 0;) member[--segment[cell[r] + 1]] = (uint32_t)r;
  /* The loop above moved every end to its start: segment[c + 1] is now where cell c begins. */
  memmove(segment, segment + 1, cells * sizeof(*segment));
  segment[cells] = (uint32_t)batch->rows;
}

/* Lists the cells of feature i by value: their ranks are marked in a set of bits, which is then read in order. */
static void sort_cells(pn_batch *batch, size_t i, const uint32_t *code_of) {
  const uint32_t *rank = batch->rank[i], *local = batch->local + batch->table_start[i];
  const unsigned char *missing = batch->missing + batch->first[i];
  const size_t words = batch->bits_start[i + 1] - batch->bits_start[i];
  uint32_t *sorted = batch->sorted + i * batch->capacity, n = 0;
  uint64_t *bits = batch->bits + batch->bits_start[i];
  for (uint32_t c = 0; c < batch->cells[i]; ++c) {
    const uint32_t at = rank == NULL ? code_of[c] : rank[code_of[c]];
    bits[at / 64] |= (uint64_t)!missing[c] << at % 64;
  }
  for (size_t w = 0; w < words; ++w) {
    for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
      sorted[n++] = local[64 * w + (size_t)__builtin_ctzll(left)];
    }
    bits[w] = 0;
  }
  batch->n_sorted[i] = n;
}

static void fill_feature(pn_batch *batch, const pn_data *data, size_t i) {
  const size_t begin = batch->first[i];
  uint32_t *code_of = batch->member + i * batch->capacity; /* free until the members are listed */
  find_cells(batch, &data->feature[i], i, code_of);
  for (size_t c = 0; c < batch->cells[i]; ++c) {
    const float value = data->feature[i].value[code_of[c]];
    batch->missing[begin + c] = (unsigned char)(isnan(value) != 0);
    batch->value[begin + c] = isnan(value) ? 0.0f : value;
  }
  if (batch->sorted != NULL) sort_cells(batch, i, code_of);
  list_members(batch, i);
  const uint32_t *segment = pn_batch_segment(batch, i), *member = pn_batch_member(batch, i);
  for (size_t c = 0; c < batch->cells[i]; ++c) {
    double sum = (double)(segment[c + 1] - segment[c]);
    if (data->weight != NULL) {
      sum = 0;
      for (uint32_t q = segment[c]; q < segment[c + 1]; ++q) sum += data->weight[batch->id[member[q]]];
    }
    batch->weight[begin + c] = (float)sum;
  }
}

static void sum_weights(pn_batch *batch, const pn_data *data) {
  double weight_sum = 0, label_sum = 0;
  for (size_t r = 0; r < batch->rows; ++r) {
    const uint32_t row = batch->id[r];
    const double weight = data->weight == NULL ? 1.0 : data->weight[row];
    weight_sum += weight;
    for (size_t u = 0; u < data->y_columns; ++u) {
      if (!isnan(data->y[u * data->n + row])) label_sum += weight;
    }
  }
  batch->weight_sum = weight_sum;
  batch->label_sum = label_sum;
}

void pn_batch_fill(pn_batch *batch, const pn_data *data, const uint32_t *id, size_t n, int threads) {
  const size_t features = batch->features;
  batch->rows = n;
  batch->id = id;
  ++batch->stamp;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads)
#endif
  for (size_t i = 0; i < features; ++i) fill_feature(batch, data, i);
  sum_weights(batch, data);
  (void)threads;
}

void pn_batch_fill_range(pn_batch *batch, const pn_data *data, size_t begin, size_t n, int threads) {
  for (size_t r = 0; r < n; ++r) batch->range[r] = (uint32_t)(begin + r);
  pn_batch_fill(batch, data, batch->range, n, threads);
}
