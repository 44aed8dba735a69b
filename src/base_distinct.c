/* Direct lookup, hashing or sorting, whichever suits the column; see base_distinct.h. */
#include "base_distinct.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base_size.h"

#define PN_EMPTY UINT32_MAX
#define PN_KEY_NAN UINT64_MAX
#define PN_DIRECT_RANGE 65536 /* whole numbers that far apart are looked up directly */
#define PN_PATIENCE 65536     /* distinct values before the share of repeats decides between hashing and sorting */

static inline double pn_column_get(const pn_column *column, size_t i) {
  if (column->number != NULL) return column->number[i];
  return column->integer[i] == INT_MIN ? NAN : (double)column->integer[i];
}

static int pn_code_width(size_t n_values) {
  return n_values <= 256 ? 1 : n_values <= 65536 ? 2 : 4;
}

/* ---- whole numbers within a short range ---- */

/* Whether all values are whole numbers (or missing) within PN_DIRECT_RANGE; low is then the smallest, range > 0. */
static int pn_column_is_short(const pn_column *column, double *low, size_t *range) {
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < column->n; i++) {
    const double x = pn_column_get(column, i);
    if (isnan(x)) continue;
    if (!(fabs(x) < INT_MAX) || x != (double)(int)x) return 0;
    if (x < least) least = x;
    if (x > most) most = x;
    if (most - least >= PN_DIRECT_RANGE) return 0;
  }
  *low = least > most ? 0.0 : least;
  *range = least > most ? 1 : (size_t)(most - least) + 1;
  return 1;
}

static pn_status pn_distinct_direct(pn_distinct *distinct, const pn_column *column, const double *weight, double low,
                                    size_t range, pn_arena *arena) {
  const size_t n = column->n, slots = range + 1; /* the last one holds the missing value */
  double *sum = pn_arena_alloc(arena, slots, sizeof *sum);
  unsigned char *seen = pn_arena_alloc(arena, slots, 1);
  distinct->rank = pn_arena_alloc(arena, slots, sizeof *distinct->rank);
  distinct->value = pn_arena_alloc(arena, slots, sizeof *distinct->value);
  distinct->count = pn_arena_alloc(arena, slots, sizeof *distinct->count);
  if (arena->failed) return PN_NO_MEMORY;
  for (size_t i = 0; i < n; i++) {
    const double x = pn_column_get(column, i);
    const size_t at = isnan(x) ? range : (size_t)(x - low);
    distinct->id[i] = (uint32_t)at;
    seen[at] = 1;
    sum[at] += weight == NULL ? 1.0 : weight[i];
  }
  size_t m = 0;
  for (size_t at = 0; at < slots; at++) {
    if (!seen[at]) continue;
    distinct->value[m] = at == range ? NAN : low + (double)at;
    distinct->count[m] = sum[at];
    distinct->rank[at] = (uint32_t)m++;
  }
  distinct->n_values = m;
  return PN_OK;
}

/* ---- any numbers ---- */

/* Unsigned order of keys = order of doubles: negative numbers have all bits flipped, others the sign bit. */
static inline uint64_t pn_key(double x) {
  if (isnan(x)) return PN_KEY_NAN;
  x += 0.0; /* -0 becomes 0 */
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bits >> 63) ? ~bits : bits | ((uint64_t)1 << 63);
}

static inline double pn_key_value(uint64_t key) {
  if (key == PN_KEY_NAN) return NAN;
  const uint64_t bits = (key >> 63) ? key & ~((uint64_t)1 << 63) : ~key;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* A hash table whose slots hold the order of appearance; keys lie apart, in that order, ready to be sorted. */
typedef struct {
  uint32_t *slot;
  size_t n_slots; /* a power of two, at most half full */
  uint64_t *key;
  size_t n_keys;
} pn_table;

/* Multiply and fold: the low bits of round decimals are mostly zero, the high bits of the product are not. */
static inline size_t pn_hash(uint64_t key, size_t n_slots) {
  key *= UINT64_C(0x9E3779B97F4A7C15);
  key ^= key >> 32;
  return (size_t)key & (n_slots - 1);
}

/* The slot of a key: where it stands, or the empty one where it belongs. */
static inline size_t pn_table_slot(const pn_table *table, uint64_t key) {
  size_t at = pn_hash(key, table->n_slots);
  while (table->slot[at] != PN_EMPTY && table->key[table->slot[at]] != key) at = (at + 1) & (table->n_slots - 1);
  return at;
}

/* An empty table with room for n_slots / 2 keys, filled with those of `old` if there is one. */
static pn_status pn_table_init(pn_table *table, size_t n_slots, const pn_table *old, pn_arena *arena) {
  table->n_slots = n_slots;
  table->n_keys = 0;
  table->slot = pn_arena_alloc(arena, n_slots, sizeof *table->slot);
  table->key = pn_arena_alloc(arena, n_slots / 2, sizeof *table->key);
  if (arena->failed) return PN_NO_MEMORY;
  memset(table->slot, 0xff, n_slots * sizeof *table->slot);
  for (size_t i = 0; old != NULL && i < old->n_keys; i++) {
    table->slot[pn_table_slot(table, old->key[i])] = (uint32_t)i;
    table->key[table->n_keys++] = old->key[i];
  }
  return PN_OK;
}

/* Fills id[] with orders of appearance and `table` with the distinct keys. `done` is how many rows were read: fewer
 * than n when most values turn out to differ, for then the caller sorts the column instead. */
static pn_status pn_distinct_hash(pn_table *table, const pn_column *column, uint32_t *id, size_t *done,
                                  pn_arena *arena) {
  if (pn_table_init(table, 1024, NULL, arena) != PN_OK) return PN_NO_MEMORY;
  size_t i;
  for (i = 0; i < column->n; i++) {
    const uint64_t key = pn_key(pn_column_get(column, i));
    size_t at = pn_table_slot(table, key);
    if (table->slot[at] == PN_EMPTY) {
      if (table->n_keys >= PN_PATIENCE && table->n_keys > i / 4) break;
      if (table->n_keys == table->n_slots / 2) {
        const pn_table old = *table;
        if (pn_table_init(table, PN_SIZE(4, old.n_slots), &old, arena) != PN_OK) return PN_NO_MEMORY;
        at = pn_table_slot(table, key);
      }
      table->slot[at] = (uint32_t)table->n_keys;
      table->key[table->n_keys++] = key;
    }
    id[i] = table->slot[at];
  }
  *done = i;
  return PN_OK;
}

/* One value and where it came from: its row, or its order of appearance. */
typedef struct {
  uint64_t key;
  uint64_t from;
} pn_item;

/* Sorts item[m] by key, 11 bits at a time from the lowest; digits that are the same in all keys are skipped, so columns
 * of round numbers need few passes. spare[m] is scratch; returns the one of the two where the result lies. */
static pn_item *pn_items_sort(pn_item *item, size_t m, pn_item *spare) {
  enum { BITS = 11, DIGITS = 1 << BITS };
  for (int shift = 0; shift < 64; shift += BITS) {
    size_t start[DIGITS + 1] = {0};
    for (size_t i = 0; i < m; i++) start[((item[i].key >> shift) & (DIGITS - 1)) + 1]++;
    if (start[((item[0].key >> shift) & (DIGITS - 1)) + 1] == m) continue;
    for (int b = 0; b < DIGITS; b++) start[b + 1] += start[b];
    for (size_t i = 0; i < m; i++) spare[start[(item[i].key >> shift) & (DIGITS - 1)]++] = item[i];
    pn_item *swap = item;
    item = spare;
    spare = swap;
  }
  return item;
}

/* Hashes the column and sorts the distinct keys, or sorts all rows; then every row is its own id. */
static pn_status pn_distinct_general(pn_distinct *distinct, const pn_column *column, const double *weight,
                                     pn_arena *arena) {
  const size_t n = column->n;
  pn_table table;
  size_t done;
  if (pn_distinct_hash(&table, column, distinct->id, &done, arena) != PN_OK) return PN_NO_MEMORY;
  const int hashed = done == n;
  const size_t m = hashed ? table.n_keys : n;
  pn_item *item = pn_arena_alloc(arena, m, sizeof *item);
  pn_item *spare = pn_arena_alloc(arena, m, sizeof *spare);
  distinct->value = pn_arena_alloc(arena, m, sizeof *distinct->value);
  distinct->count = pn_arena_alloc(arena, m, sizeof *distinct->count);
  distinct->rank = pn_arena_alloc(arena, m, sizeof *distinct->rank);
  if (arena->failed) return PN_NO_MEMORY;
  for (size_t i = 0; i < m; i++) {
    item[i].key = hashed ? table.key[i] : pn_key(pn_column_get(column, i));
    item[i].from = i;
  }
  if (m > 0) item = pn_items_sort(item, m, spare);
  size_t n_values = 0;
  for (size_t i = 0; i < m; i++) {
    if (i == 0 || item[i].key != item[i - 1].key) distinct->value[n_values++] = pn_key_value(item[i].key);
    distinct->rank[item[i].from] = (uint32_t)(n_values - 1);
  }
  for (size_t i = 0; i < n; i++) {
    if (!hashed) distinct->id[i] = (uint32_t)i;
    distinct->count[distinct->rank[distinct->id[i]]] += weight == NULL ? 1.0 : weight[i];
  }
  distinct->n_values = n_values;
  return PN_OK;
}

pn_status pn_distinct_find(pn_distinct *distinct, const pn_column *column, const double *weight, pn_arena *arena) {
  double low;
  size_t range;
  distinct->id = pn_arena_alloc(arena, column->n, sizeof *distinct->id);
  if (arena->failed) return PN_NO_MEMORY;
  const pn_status status = pn_column_is_short(column, &low, &range)
                               ? pn_distinct_direct(distinct, column, weight, low, range, arena)
                               : pn_distinct_general(distinct, column, weight, arena);
  if (status == PN_OK) distinct->width = pn_code_width(distinct->n_values);
  return status;
}

void pn_distinct_write(const pn_distinct *distinct, size_t n, unsigned char *code) {
  for (size_t i = 0; i < n; i++) {
    const uint32_t place = distinct->rank[distinct->id[i]];
    if (distinct->width == 1) {
      code[i] = (unsigned char)place;
    } else if (distinct->width == 2) {
      const uint16_t narrow = (uint16_t)place;
      memcpy(code + 2 * i, &narrow, sizeof narrow);
    } else {
      memcpy(code + 4 * i, &place, sizeof place);
    }
  }
}
