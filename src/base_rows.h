/* Sums of scaled rows in double precision, the inner loops of layer 0's algebra.
 *
 * Every element goes through the same additions and multiplications, none of them fused, whatever the processor: wider
 * registers change the time, never a bit.
 */
#ifndef PN_BASE_ROWS_H
#define PN_BASE_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* y[n] += sum over k < m of f[k * step] x[k * ld ..][n]; y must not be one of the rows. */
void pn_rows_add(size_t n, size_t m, const double *f, size_t step, const double *x, size_t ld, double *y);

/* y[n] -= the same. */
void pn_rows_subtract(size_t n, size_t m, const double *f, size_t step, const double *x, size_t ld, double *y);

/* For n rows: tile[a[r], b[r]][4 x 4] += x[r][4] other[r][4]', tiles side by side, `cells` of them for each a. */
void pn_rows_tiles(size_t n, const uint32_t *a, const double *x, const uint32_t *b, const double *const *other,
                   size_t cells, double *tile);

/* Chooses by the processor; called once when the package loads. */
void pn_rows_init(void);

#endif
