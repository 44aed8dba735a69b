/* Open addressing on order-preserving 64-bit keys, then a radix sort of the distinct ones; see base_distinct.h. */
#include "base_distinct.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define PN_EMPTY UINT32_MAX
#define PN_KEY_NAN UINT64_MAX

/* Slots of the hash table hold the order of appearance; keys lie apart, in that order, ready to be sorted. */
typedef struct {
  uint32_t *slot;
  size_t n_slots; /* a power of two, at most half full */
  uint64_t *key;
  size_t n_keys;
} pn_table;

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

static inline double pn_column_get(const pn_column *column, size_t i) {
  if (column->number != NULL) return column->number[i];
  return column->integer[i] == INT_MIN ? NAN : (double)column->integer[i];
}

/* Multiply and fold: the low bits of round decimals are mostly zero, the high bits of the product are not. */
static inline size_t pn_hash(uint64_t key, size_t n_slots) {
  key *= UINT64_C(0x9E3779B97F4A7C15);
  key ^= key >> 32;
  return (size_t)key & (n_slots - 1);
}

/* An empty table with room for n_slots / 2 keys, filled with those of `old` if there is one. */
static pn_status pn_table_init(pn_table *table, size_t n_slots, const pn_table *old, pn_arena *arena) {
  table->n_slots = n_slots;
  table->n_keys = 0;
  table->slot = pn_arena_alloc(arena, n_slots, sizeof *table->slot);
  table->key = pn_arena_alloc(arena, n_slots / 2, sizeof *table->key);
  if (arena->failed) return PN_NO_MEMORY;
  memset(table->slot, 0xff, n_slots * sizeof *table->slot);
  if (old != NULL) {
    memcpy(table->key, old->key, old->n_keys * sizeof *table->key);
    table->n_keys = old->n_keys;
    for (size_t i = 0; i < old->n_keys; i++) {
      size_t at = pn_hash(old->key[i], n_slots);
      while (table->slot[at] != PN_EMPTY) at = (at + 1) & (n_slots - 1);
      table->slot[at] = (uint32_t)i;
    }
  }
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

/* Fills position[] with orders of appearance and `table` with the distinct keys. Returns through `done` how many rows
 * were read: fewer than n when most values turn out to differ, for then the caller sorts the column instead. */
static pn_status pn_distinct_hash(pn_table *table, const pn_column *column, uint32_t *position, size_t *done,
                                  pn_arena *arena) {
  const size_t patience = 65536; /* distinct values before the share of repeats is looked at */
  if (pn_table_init(table, 1024, NULL, arena) != PN_OK) return PN_NO_MEMORY;
  size_t i;
  for (i = 0; i < column->n; i++) {
    const uint64_t key = pn_key(pn_column_get(column, i));
    size_t at = pn_hash(key, table->n_slots);
    while (table->slot[at] != PN_EMPTY && table->key[table->slot[at]] != key) at = (at + 1) & (table->n_slots - 1);
    if (table->slot[at] == PN_EMPTY) {
      if (table->n_keys >= patience && table->n_keys > i / 4) break;
      if (table->n_keys == table->n_slots / 2) {
        const pn_table old = *table;
        if (pn_table_init(table, 4 * old.n_slots, &old, arena) != PN_OK) return PN_NO_MEMORY;
        at = pn_hash(key, table->n_slots);
        while (table->slot[at] != PN_EMPTY) at = (at + 1) & (table->n_slots - 1);
      }
      table->slot[at] = (uint32_t)table->n_keys;
      table->key[table->n_keys++] = key;
    }
    position[i] = table->slot[at];
  }
  *done = i;
  return PN_OK;
}

pn_status pn_distinct_find(pn_distinct *distinct, const pn_column *column, const double *weight, pn_arena *arena) {
  const size_t n = column->n;
  uint32_t *position = pn_arena_alloc(arena, n, sizeof *position);
  pn_table table;
  size_t done;
  if (arena->failed || pn_distinct_hash(&table, column, position, &done, arena) != PN_OK) return PN_NO_MEMORY;

  const int hashed = done == n;
  const size_t m = hashed ? table.n_keys : n; /* items to sort */
  pn_item *item = pn_arena_alloc(arena, m, sizeof *item);
  pn_item *spare = pn_arena_alloc(arena, m, sizeof *spare);
  distinct->value = pn_arena_alloc(arena, m, sizeof *distinct->value);
  distinct->count = pn_arena_alloc(arena, m, sizeof *distinct->count);
  uint32_t *rank = hashed ? pn_arena_alloc(arena, m, sizeof *rank) : position;
  if (arena->failed) return PN_NO_MEMORY;

  for (size_t i = 0; i < m; i++) {
    item[i].key = hashed ? table.key[i] : pn_key(pn_column_get(column, i));
    item[i].from = i;
  }
  if (m > 0) item = pn_items_sort(item, m, spare);
  size_t n_values = 0;
  for (size_t i = 0; i < m; i++) {
    if (i == 0 || item[i].key != item[i - 1].key) distinct->value[n_values++] = pn_key_value(item[i].key);
    rank[item[i].from] = (uint32_t)(n_values - 1);
  }
  for (size_t i = 0; i < n; i++) {
    if (hashed) position[i] = rank[position[i]];
    distinct->count[position[i]] += weight == NULL ? 1.0 : weight[i];
  }
  distinct->position = position;
  distinct->n_values = n_values;
  distinct->width = n_values <= 256 ? 1 : n_values <= 65536 ? 2 : 4;
  return PN_OK;
}

void pn_distinct_write(const pn_distinct *distinct, size_t n, unsigned char *code) {
  for (size_t i = 0; i < n; i++) {
    const uint32_t position = distinct->position[i];
    if (distinct->width == 1) {
      code[i] = (unsigned char)position;
    } else if (distinct->width == 2) {
      const uint16_t narrow = (uint16_t)position;
      memcpy(code + 2 * i, &narrow, sizeof narrow);
    } else {
      memcpy(code + 4 * i, &position, sizeof position);
    }
  }
}
