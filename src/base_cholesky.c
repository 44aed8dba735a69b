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

/* y -= f[0] x0 + f[1] x1 + f[2] x2 + f[3] x3: four rows at a time, so that y is read and written once. */
static void subtract_four(size_t n, const double *f, const double *restrict x0, const double *restrict x1,
                          const double *restrict x2, const double *restrict x3, double *restrict y) {
  const double f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3];
  size_t j = 0;
  for (; j + 2 <= n; j += 2) {
    const double a = f0 * x0[j] + f1 * x1[j] + (f2 * x2[j] + f3 * x3[j]);
    const double b = f0 * x0[j + 1] + f1 * x1[j + 1] + (f2 * x2[j + 1] + f3 * x3[j + 1]);
    y[j] -= a;
    y[j + 1] -= b;
  }
  for (; j < n; ++j) y[j] -= f0 * x0[j] + f1 * x1[j] + (f2 * x2[j] + f3 * x3[j]);
}

/* y[0 .. n - 1] -= sum over rows k in from .. to - 1 of f[k * step] x[k * ld ..]. */
static void subtract_rows(size_t n, size_t from, size_t to, const double *f, size_t step, const double *x, size_t ld,
                          double *y) {
  size_t k = from;
  for (; k + 4 <= to; k += 4) {
    const double four[] = {f[k * step], f[(k + 1) * step], f[(k + 2) * step], f[(k + 3) * step]};
    subtract_four(n, four, x + k * ld, x + (k + 1) * ld, x + (k + 2) * ld, x + (k + 3) * ld, y);
  }
  for (; k < to; ++k) subtract(n, f[k * step], x + k * ld, y);
}

size_t pn_cholesky(double *a, size_t n) {
  size_t replaced = 0;
  for (size_t i = 0; i < n; ++i) {
    double *row = a + i * n;
    const double before = row[i];
    subtract_rows(n - i, 0, i, a + i, n, a + i, n, row + i);
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
    subtract_rows(n - i - 1, i + 1, n, u + i * n, 1, work + i + 1, n, row + i + 1);
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
    subtract_rows(n - i, i, n, work + i, n, work + i, n, row + i);
    for (size_t j = i; j < n; ++j) row[j] = -row[j];
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) inverse[i * n + j] = inverse[j * n + i];
  }
}
