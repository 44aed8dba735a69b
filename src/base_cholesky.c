/* Cholesky factorisation by rows; see base_cholesky.h. Inner loops run along rows, four elements at a time. */
#include "base_cholesky.h"

#include <math.h>
#include <string.h>

#define PN_PIVOT_FLOOR 1e-13 /* of the diagonal element before elimination */
#define PN_PIVOT_HUGE 1e30

/* y -= f x */
static void subtract(size_t n, double f, const double *restrict x, double *restrict y) {
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    y[j] -= f * x[j];
    y[j + 1] -= f * x[j + 1];
    y[j + 2] -= f * x[j + 2];
    y[j + 3] -= f * x[j + 3];
  }
  for (; j < n; ++j) y[j] -= f * x[j];
}

size_t pn_cholesky(double *a, size_t n) {
  size_t replaced = 0;
  for (size_t i = 0; i < n; ++i) {
    double *row = a + i * n;
    const double before = row[i];
    for (size_t k = 0; k < i; ++k) subtract(n - i, a[k * n + i], a + k * n + i, row + i);
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
    subtract(n - i - 1, x[i], u + i * n + i + 1, x + i + 1);
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
    for (size_t k = i + 1; k < n; ++k) subtract(n - k, u[i * n + k], work + k * n + k, row + k);
    const double scale = 1 / u[i * n + i];
    for (size_t j = i; j < n; ++j) row[j] *= scale;
  }
  /* inverse = W W': element (i, j), i <= j, sums over columns from j on. By columns of W' this is an update per column;
   * W is transposed into the lower triangle first so that both factors run along rows. */
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) work[j * n + i] = work[i * n + j];
  }
  memset(inverse, 0, n * n * sizeof(double));
  for (size_t k = 0; k < n; ++k) {
    const double *column = work + k * n; /* W[0..k, k], along a row after the transposition */
    for (size_t i = 0; i <= k; ++i) subtract(k + 1 - i, -column[i], column + i, inverse + i * n + i);
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) inverse[i * n + j] = inverse[j * n + i];
  }
}
