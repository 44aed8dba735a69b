/* Distinct values of a column: a sorted table of what occurs and, per row, where in the table its value stands.
 *
 * Everything that is costly per value (scaling, transforming, the network itself) then runs on the table alone, so
 * reading a column must cost little. Whole numbers within a short range (ages, codes, factors) are looked up directly;
 * other values enter a hash table, and only the distinct ones are sorted; columns where nearly every row differs are
 * sorted whole, which is quicker than missing the cache at every row. -0 equals 0. NaN (any payload, R's NA included)
 * is one value and comes last.
 */
#ifndef PN_BASE_DISTINCT_H
#define PN_BASE_DISTINCT_H

#include <stddef.h>
#include <stdint.h>

#include "base_arena.h"
#include "base_status.h"

/* A column of n doubles or of n ints (exactly one pointer is set). In ints, INT_MIN is missing, as in R. */
typedef struct {
  const double *number;
  const int *integer;
  size_t n; /* below 2^32 */
} pn_column;

typedef struct {
  size_t n_values;
  double *value; /* [n_values] ascending, NaN last */
  double *count; /* [n_values] sum of the rows' weights */
  uint32_t *id;  /* [n] a number for the row's value; its place in the table is rank[id] */
  uint32_t *rank;
  int width; /* bytes per code, the smallest of 1, 2, 4 that can hold n_values - 1 */
} pn_distinct;

/* Finds the distinct values; weight[n] or NULL for all 1. What `distinct` points to is owned by the arena. */
pn_status pn_distinct_find(pn_distinct *distinct, const pn_column *column, const double *weight, pn_arena *arena);

/* Writes each row's place in the table as `width` bytes, native byte order, into code[n * width]. */
void pn_distinct_write(const pn_distinct *distinct, size_t n, unsigned char *code);

#endif
