/* Kernels: the inner loops, one table of functions per instruction set.
 *
 * Everything above this layer computes through `pn_kernels_get()`. Each table is complete, so a caller never asks
 * which instruction set it runs on. All matrices are row-major single precision; `ld*` is the distance in floats
 * between rows. Pointers need no alignment and, unless said otherwise, must not overlap. No kernel allocates, spawns
 * threads or touches R. The result depends on the arguments alone: every table gives the same bits, on any thread.
 *
 * Shapes stand in brackets: a[m x k].
 */
#ifndef PN_KERN_H
#define PN_KERN_H

#include <stddef.h>
#include <stdint.h>

typedef enum { PN_KERN_SCALAR = 0, PN_KERN_AVX2 = 1, PN_KERN_AVX512 = 2 } pn_kern_level;

typedef struct {
  const char *name; /* "scalar", "avx2", "avx512" */

  /* c[m x n] = a[m x k] b[k x n], or += when `accumulate`. a(i, p) = a[i * a_row + p * a_col], so a transposed view
   * costs nothing. */
  void (*product)(size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_col, const float *b, size_t ldb,
                  float *c, size_t ldc, int accumulate);

  /* out[i * ldo] = sum_p a[i, p] w[p] */
  void (*row_dots)(size_t m, size_t k, const float *a, size_t lda, const float *w, float *out, size_t ldo);

  /* out[j] += sum_i a[i, j] */
  void (*column_sums)(size_t m, size_t n, const float *a, size_t lda, float *out);

  /* to[cols x rows] = transpose of from[rows x cols] */
  void (*transpose)(size_t rows, size_t cols, const float *from, size_t ld_from, float *to, size_t ld_to);

  /* Prototype activation of n values: out[i * ldo] = sum_j p_j (slope_j x_i + intercept_j), where
   * p = softmax_j(-(x_i - center_j)^2 * inv_temp). inv_temp = INFINITY: the nearest prototype acts alone (exact ties
   * share equally, the limit of the softmax). */
  void (*proto_forward)(size_t n, size_t t, const float *x, const float *center, const float *slope,
                        const float *intercept, float inv_temp, float *out, size_t ldo);

  /* Its gradient for a finite inv_temp, given dout[i * ldd]; adds to dcenter, dslope, dintercept [t]. */
  void (*proto_backward)(size_t n, size_t t, const float *x, const float *center, const float *slope,
                         const float *intercept, float inv_temp, const float *dout, size_t ldd, float *dcenter,
                         float *dslope, float *dintercept);

  /* Layer norm without gain: z[m x h] becomes (z - mean) * rstd, row by row; rstd[m] = 1 / sqrt(var + 1e-5), biased
   * variance about the mean (two passes, no cancellation). */
  void (*norm_forward)(size_t m, size_t h, float *z, float *rstd);

  /* v[i * ldv + j] = max(0, gain[j] * xhat[i, j] + offset[j]), xhat[m x h] */
  void (*affine_relu)(size_t m, size_t h, const float *xhat, const float *gain, const float *offset, float *v,
                      size_t ldv);

  /* Backward through relu, gain/offset and layer norm at once. dv[m x h] becomes dz[m x h]; adds to dgain, doffset [h].
   * The relu passed where gain * xhat + offset > 0. */
  void (*relu_norm_backward)(size_t m, size_t h, const float *xhat, const float *rstd, const float *gain,
                             const float *offset, float *dv, float *dgain, float *doffset);

  /* Dropout in place: v[i * ldv + j] *= keep ? 1 / (1 - p) : 0, the same mask for the same (key, row[i], j, p).
   * keep: (mix(mix(key ^ row * 0x9E3779B1) + j * 0x85EBCA77) >> 8) * 2^-24 >= p, with 32-bit arithmetic and
   * mix(x): x ^= x >> 16; x *= 0x7FEB352D; x ^= x >> 15; x *= 0x846CA68B; x ^= x >> 16. */
  void (*dropout)(size_t m, size_t h, float *v, size_t ldv, const uint32_t *row, uint32_t key, float p);

  /* Layer norm of joined rows: xhat[m x h] and rstd[m] of bias[h] + sum_{j<k} part[j][m x h]. xhat may be a part;
   * bias may be NULL for none. */
  void (*join_norm)(size_t m, size_t k, size_t h, const float *const *part, const float *bias, float *xhat,
                    float *rstd);

  /* out[i] = bias + sum_j w[j] max(0, gain[j] xhat[i, j] + offset[j]) */
  void (*relu_dots)(size_t m, size_t h, const float *xhat, const float *gain, const float *offset, const float *w,
                    float bias, float *out);

  /* Backward through relu_dots and the layer norm before it, given dr[m]: ds[m x h]; adds to dgain, doffset, dw [h]. */
  void (*relu_dots_backward)(size_t m, size_t h, const float *xhat, const float *rstd, const float *gain,
                             const float *offset, const float *w, const float *dr, float *ds, float *dgain,
                             float *doffset, float *dw);

  /* z[m x h] becomes z - mean + shift[h], the mean by row */
  void (*center_rows)(size_t m, size_t h, float *z, const float *shift);

  /* A component of two features whose rows a, b[m x h] have mean zero, with xhat = layer norm of a + b:
   * out[i] = bias + sum_j w[j] max(0, gain[j] xhat[i, j] + offset[j]), and rstd[m] for the way back. */
  void (*pair_dots)(size_t m, size_t h, const float *a, const float *b, const float *gain, const float *offset,
                    const float *w, float bias, float *out, float *rstd);

  /* Its gradient, given dr[m] and rstd[m]: adds to da and db[m x h], which may be the same; ds[m x h] is scratch. With
   * k[i, j] = 1 where the relu passed, adds sum_i k dr to through[h] and sum_i k dr xhat to through_x[h]: the gradients
   * are w through_x for the gain, w through for the offset, gain through_x + offset through for w. */
  void (*pair_dots_backward)(size_t m, size_t h, const float *a, const float *b, const float *rstd, const float *gain,
                             const float *offset, const float *w, const float *dr, float *ds, float *da, float *db,
                             float *through, float *through_x);

  /* to[r * ldt + :] += from[r, :], for m rows of length h */
  void (*add_rows)(size_t m, size_t h, const float *from, float *to, size_t ldt);

  /* out[c, :] = sum over q in start[c] .. start[c + 1] - 1 of from[member[q] * ldf + :], for n segments of length h */
  void (*segment_sum)(size_t n, size_t h, const uint32_t *start, const uint32_t *member, const float *from, size_t ldf,
                      float *out);

  /* One AdamW step on n parameters: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
   * p = p - lr * decay * p - step * m / (sqrt(v) * inv_root + eps), where step = lr / (1 - b1^t) and
   * inv_root = 1 / sqrt(1 - b2^t). Every element's result is independent of where a call's range starts or ends. */
  void (*adamw)(size_t n, float *p, const float *g, float *m, float *v, float lr, float decay, float beta1, float beta2,
                float eps, float step, float inv_root);
} pn_kernels;

/* The table in use: the best one the processor has, unless another was forced. Main thread only for set. */
const pn_kernels *pn_kernels_get(void);

/* Forces a level. Returns 0, or -1 when this processor or build lacks it (the table in use stays). */
int pn_kernels_set(pn_kern_level level);

/* The best level available here; called once when the package loads, before any other function of this header. */
pn_kern_level pn_kernels_init(void);

#endif
