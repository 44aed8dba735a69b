/* Cholesky factorisation by rows; see base_cholesky.h. Inner loops run along rows. */
#include "base_cholesky.h"

#include <math.h>
#include <string.h>

#include "base_rows.h"

#define PN_PIVOT_FLOOR 1e-13 /* of the diagonal element before elimination */
#define PN_PIVOT_HUGE 1e30
#define PN_GROUP 16 /* rows of a triangle taken together */

size_t pn_cholesky(double *a, size_t n) {
  size_t replaced = 0;
  for (size_t i = 0; i < n; ++i) {
    double *row = a + i * n;
    const double before = row[i];
    pn_rows_subtract(n - i, i, a + i, n, a + i, n, row + i);
    double pivot = row[i];
    if (!(pivot > PN_PIVOT_FLOOR * fabs(before)) || !(pivot > 0)) {
      memset(row + i, 0, (n - i) * sizeof(double));
      pivot = PN_PIVOT_HUGE;
      ++replaced;
    }
    const double root = sqrt(pivot), inverse = 1 / root;
    row[i] = root;
    for (size_t j = i + 1; j < n; ++j) row[j] *= inverse;
  }
  return replaced;
}

double pn_cholesky_logdet(const double *u, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += log(u[i * n + i]);
  return 2 * sum;
}

void pn_cholesky_solve(const double *u, size_t n, double *x) {
  for (size_t i = 0; i < n; ++i) {
    x[i] /= u[i * n + i];
    pn_rows_subtract(n - i - 1, 1, x + i, 0, u + i * n + i + 1, n, x + i + 1);
  }
  for (size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (size_t j = i + 1; j < n; ++j) sum -= u[i * n + j] * x[j];
    x[i] = sum / u[i * n + i];
  }
}

void pn_cholesky_inverse(const double *u, size_t n, double *inverse, double *work) {
  /* work = U^-1, upper triangular, row i from the rows below it: U W = I */
  for (size_t i = n; i-- > 0;) {
    double *row = work + i * n;
    memset(row, 0, n * sizeof(double));
    row[i] = 1;
    for (size_t k = i + 1; k < n; k += PN_GROUP) { /* row k begins at column k */
      const size_t rows = n - k < PN_GROUP ? n - k : PN_GROUP;
      pn_rows_subtract(n - k, rows, u + i * n + k, 1, work + k * n + k, n, row + k);
    }
    const double scale = 1 / u[i * n + i];
    for (size_t j = i; j < n; ++j) row[j] *= scale;
  }
  /* inverse = W W', row by row: row i is the sum over k of W[i, k] times column k of W. Columns become rows first; what
   * stands above their end is zero. */
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      work[j * n + i] = work[i * n + j];
      work[i * n + j] = 0;
    }
  }
  memset(inverse, 0, n * n * sizeof(double));
  for (size_t i = 0; i < n; ++i) {
    double *row = inverse + i * n;
    for (size_t k = i; k < n; k += PN_GROUP) { /* row k ends at column k */
      const size_t rows = n - k < PN_GROUP ? n - k : PN_GROUP;
      pn_rows_add(k + rows - i, rows, work + k * n + i, n, work + k * n + i, n, row + i);
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) inverse[i * n + j] = inverse[j * n + i];
  }
}
