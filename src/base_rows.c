/* Sums of scaled rows; see base_rows.h. The bodies are compiled twice, for any processor and for AVX2 without fused
 * multiply-add. */
#include "base_rounding.h"

#include "base_rows.h"

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

#define LOAD(p) (*(const four *)(const void *)(p))
#define STORE(p) (*(four *)(void *)(p))

/* y += sign (f0 x0 + f1 x1 + (f2 x2 + f3 x3)), then what is left of m rows by ones */
#define ROWS_BODY(OP)                                                                                                  \
  size_t k = 0;                                                                                                        \
  for (; k + 4 <= m; k += 4) {                                                                                         \
    const double f0 = f[k * step], f1 = f[(k + 1) * step], f2 = f[(k + 2) * step], f3 = f[(k + 3) * step];             \
    const double *x0 = x + k * ld, *x1 = x0 + ld, *x2 = x1 + ld, *x3 = x2 + ld;                                        \
    size_t j = 0;                                                                                                      \
    for (; j + 4 <= n; j += 4) {                                                                                       \
      STORE(y + j) OP(f0 *LOAD(x0 + j) + f1 * LOAD(x1 + j)) + (f2 * LOAD(x2 + j) + f3 * LOAD(x3 + j));                 \
    }                                                                                                                  \
    for (; j < n; ++j) y[j] OP(f0 *x0[j] + f1 * x1[j]) + (f2 * x2[j] + f3 * x3[j]);                                    \
  }                                                                                                                    \
  for (; k < m; ++k) {                                                                                                 \
    const double f0 = f[k * step], *x0 = x + k * ld;                                                                   \
    size_t j = 0;                                                                                                      \
    for (; j + 4 <= n; j += 4) STORE(y + j) OP f0 *LOAD(x0 + j);                                                       \
    for (; j < n; ++j) y[j] OP f0 *x0[j];                                                                              \
  }

#define TILES_BODY                                                                                                     \
  for (size_t r = 0; r < n; ++r) {                                                                                     \
    double *to = tile + (a[r] * cells + b[r]) * 16;                                                                    \
    const four v = LOAD(other[r]);                                                                                     \
    for (size_t p = 0; p < 4; ++p) STORE(to + 4 * p) += x[4 * r + p] * v;                                              \
  }

#define DEFINE(SUFFIX, TARGET)                                                                                         \
  TARGET static void add_##SUFFIX(size_t n, size_t m, const double *f, size_t step, const double *x, size_t ld,        \
                                  double *y){                                                                          \
      ROWS_BODY(+=)} TARGET static void subtract_##SUFFIX(size_t n, size_t m, const double *f, size_t step,            \
                                                          const double *x, size_t ld, double *y){ROWS_BODY(            \
      -=)} TARGET static void tiles_##SUFFIX(size_t n, const uint32_t *a, const double *x, const uint32_t *b,          \
                                             const double *const *other, size_t cells, double *tile) {                 \
    TILES_BODY                                                                                                         \
  }

DEFINE(any, )

typedef void rows_function(size_t, size_t, const double *, size_t, const double *, size_t, double *);
typedef void tiles_function(size_t, const uint32_t *, const double *, const uint32_t *, const double *const *, size_t,
                            double *);

static rows_function *add = add_any, *subtract = subtract_any;
static tiles_function *tiles = tiles_any;

#if defined(__x86_64__)
DEFINE(avx2, __attribute__((target("avx2"))))

void pn_rows_init(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return;
  add = add_avx2;
  subtract = subtract_avx2;
  tiles = tiles_avx2;
}
#else
void pn_rows_init(void) {}
#endif

void pn_rows_add(size_t n, size_t m, const double *f, size_t step, const double *x, size_t ld, double *y) {
  add(n, m, f, step, x, ld, y);
}

void pn_rows_subtract(size_t n, size_t m, const double *f, size_t step, const double *x, size_t ld, double *y) {
  subtract(n, m, f, step, x, ld, y);
}

void pn_rows_tiles(size_t n, const uint32_t *a, const double *x, const uint32_t *b, const double *const *other,
                   size_t cells, double *tile) {
  tiles(n, a, x, b, other, cells, tile);
}
