/* The fixed-order Cholesky against the textbook in long double, and wide registers against narrow ones, bit by bit. */
#include "base_cholesky.h"
#include "test.h"

#include <math.h>
#include <string.h>

#define MOST 67

static const size_t sizes[] = {1, 2, 3, 8, 15, 16, 17, 33, 48, MOST};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* What the narrow registers gave: factor, inverse and solution by size. */
static double narrow[N_SIZES][2 * MOST * MOST + MOST];

/* a = B'B + I with B random */
static void fill_matrix(double *a, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = i == j;
      for (size_t k = 0; k < n; ++k) sum += normal(n, k * n + i) * normal(n, k * n + j);
      a[i * n + j] = sum;
    }
  }
}

/* u'u = a, row by row */
static void reference_factor(const double *a, size_t n, long double *u) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) {
      long double sum = a[i * n + j];
      for (size_t k = 0; k < i; ++k) sum -= u[k * n + i] * u[k * n + j];
      u[i * n + j] = j == i ? sqrtl(sum) : sum / u[i * n + i];
    }
  }
}

static void test_size(size_t s, int wide) {
  static double a[MOST * MOST], u[MOST * MOST], inverse[MOST * MOST], work[MOST * MOST], x[MOST];
  static long double reference[MOST * MOST];
  const size_t n = sizes[s];
  fill_matrix(a, n);
  memcpy(u, a, n * n * sizeof(double));
  CHECK(pn_cholesky(u, n) == 0, "a matrix of %zu rows was taken for singular", n);
  reference_factor(a, n, reference);
  double factor_gap = 0, largest = 0, logdet = 0;
  for (size_t i = 0; i < n; ++i) {
    logdet += 2 * (double)logl(reference[i * n + i]);
    for (size_t j = i; j < n; ++j) {
      factor_gap = fmax(factor_gap, fabs(u[i * n + j] - (double)reference[i * n + j]));
      largest = fmax(largest, fabs(u[i * n + j]));
    }
  }
  CHECK(factor_gap < 1e-12 * largest, "the factor of %zu rows is off by %g", n, factor_gap);
  CHECK(fabs(pn_cholesky_logdet(u, n) - logdet) < 1e-12 * (1 + fabs(logdet)), "log determinant of %zu rows", n);

  for (size_t i = 0; i < n; ++i) {
    x[i] = 0;
    for (size_t j = 0; j < n; ++j) x[i] += a[i * n + j] * (double)(j + 1);
  }
  pn_cholesky_solve(u, n, x);
  double solution_gap = 0, inverse_gap = 0;
  for (size_t i = 0; i < n; ++i) solution_gap = fmax(solution_gap, fabs(x[i] / (double)(i + 1) - 1));
  CHECK(solution_gap < 1e-9, "the solution for %zu rows is off by %g", n, solution_gap);

  pn_cholesky_inverse(u, n, inverse, work);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += a[i * n + k] * inverse[k * n + j];
      inverse_gap = fmax(inverse_gap, fabs(sum - (i == j)));
    }
  }
  CHECK(inverse_gap < 1e-10, "the inverse of %zu rows is off by %g", n, inverse_gap);

  double *kept = narrow[s];
  if (!wide) {
    memcpy(kept, u, n * n * sizeof(double));
    memcpy(kept + n * n, inverse, n * n * sizeof(double));
    memcpy(kept + 2 * n * n, x, n * sizeof(double));
    return;
  }
  CHECK(memcmp(kept, u, n * n * sizeof(double)) == 0 && memcmp(kept + n * n, inverse, n * n * sizeof(double)) == 0 &&
            memcmp(kept + 2 * n * n, x, n * sizeof(double)) == 0,
        "wide registers give other bits for %zu rows", n);
}

void test_cholesky(int wide) {
  for (size_t s = 0; s < N_SIZES; ++s) test_size(s, wide);
  /* rank 1: all directions but one get a coefficient of zero */
  double a[9] = {1, 2, 3, 2, 4, 6, 3, 6, 9}, x[3] = {1, 2, 3};
  CHECK(pn_cholesky(a, 3) == 2, "a matrix of rank 1 needs two pivots replaced");
  pn_cholesky_solve(a, 3, x);
  CHECK(fabs(x[0] - 1) < 1e-9 && fabs(x[1]) < 1e-9 && fabs(x[2]) < 1e-9, "rank 1: %g %g %g", x[0], x[1], x[2]);
}
