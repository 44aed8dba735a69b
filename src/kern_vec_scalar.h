/* Vector layer of width one: the portable build and the oracle of the others.
 *
 * Every layer offers the same names: V (floats), M (which lanes), U (32-bit unsigned integers), PN_W lanes each.
 * PN_INLINE marks helpers, PN_KERNEL the functions that go into the table.
 *
 * All layers give the same bits: each operation is rounded alike, a fused multiply-add once, and a sum along a row is
 * that of a vector of PN_LANES lanes, in PN_LANES / PN_W parts where registers are shorter (see kern_body.h).
 */
#ifndef PN_KERN_VEC_SCALAR_H
#define PN_KERN_VEC_SCALAR_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PN_W 1
#define PN_TILE_ROWS 4 /* register block of the product: rows x vectors */
#define PN_TILE_COLS 4
#if defined(__GNUC__)
#define PN_INLINE static inline __attribute__((always_inline))
#else
#define PN_INLINE static inline
#endif
#define PN_KERNEL static
#define PN_LEVEL_NAME "scalar"

typedef float V;
typedef int M;
typedef uint32_t U;
typedef struct {
  float a, b, c, d;
} Q;         /* four floats, one of each of four rows */
typedef Q S; /* a part's share of four rows' sums */

/* a b + c, rounded once. Without the instruction: in double precision the product is exact, and rounding the sum again to
 * single precision goes wrong only where it lies half way between two floats, or near zero, where floats are sparser.
 * There the sum is first moved off the middle by its error e (Knuth's two-sum, exact): rounded to odd. */
PN_INLINE float f_fma(float a, float b, float c) {
#if defined(__FP_FAST_FMAF) || (defined(__GNUC__) && defined(__aarch64__))
  return fmaf(a, b, c);
#else
  const double p = (double)a * (double)b, z = (double)c;
  double s = p + z;
  int64_t bits;
  memcpy(&bits, &s, sizeof bits);
  if ((bits & 0x1FFFFFFF) != 0x10000000 && fabs(s) >= FLT_MIN) return (float)s;
  const double t = s - p, e = (p - (s - t)) + (z - t);
  const int64_t away = (e > 0) - (e < 0); /* 0 when exact, infinite or not a number */
  bits += (s < 0 ? -away : away) * (~bits & 1);
  memcpy(&s, &bits, sizeof s);
  return (float)s;
#endif
}

PN_INLINE M v_head(size_t n) {
  return n > 0;
}
PN_INLINE V v_set(float x) {
  return x;
}
PN_INLINE V v_load(const float *p) {
  return *p;
}
PN_INLINE V v_load_part(const float *p, M lanes) {
  return lanes ? *p : 0.0f;
}
PN_INLINE void v_store(float *p, V v) {
  *p = v;
}
PN_INLINE void v_store_part(float *p, V v, M lanes) {
  if (lanes) *p = v;
}

PN_INLINE V v_add(V a, V b) {
  return a + b;
}
PN_INLINE V v_sub(V a, V b) {
  return a - b;
}
PN_INLINE V v_mul(V a, V b) {
  return a * b;
}
PN_INLINE V v_div(V a, V b) {
  return a / b;
}
PN_INLINE V v_sqrt(V a) {
  return sqrtf(a);
}
PN_INLINE V v_abs(V a) {
  return fabsf(a);
}
PN_INLINE V v_min(V a, V b) {
  return a < b ? a : b;
}
PN_INLINE V v_max(V a, V b) {
  return a > b ? a : b;
}
PN_INLINE V v_fma(V a, V b, V c) {
  return f_fma(a, b, c);
} /* a b + c */
PN_INLINE V v_fnma(V a, V b, V c) {
  return f_fma(-a, b, c);
} /* c - a b */
PN_INLINE V v_fms(V a, V b, V c) {
  return f_fma(a, b, -c);
} /* a b - c */

PN_INLINE M v_less(V a, V b) {
  return a < b;
}
PN_INLINE M v_equal(V a, V b) {
  return a == b;
}
PN_INLINE int v_any(M lanes) {
  return lanes;
}
PN_INLINE V v_keep(M lanes, V a) {
  return lanes ? a : 0.0f;
}
PN_INLINE V v_select(M lanes, V a, V b) {
  return lanes ? a : b;
}

/* The sum of all lanes, halves first: 16 become 8, 4, 2 and 1. */
PN_INLINE float v_total(const V *part) {
  float half[4];
  for (size_t l = 0; l < 4; l++) half[l] = (part[l] + part[l + 8]) + (part[l + 4] + part[l + 12]);
  return (half[0] + half[2]) + (half[1] + half[3]);
}

/* What a part adds to the sums of four rows' lanes; the sums from all parts: every four lanes as (0 + 2) + (1 + 3), then
 * these four the same way. */
PN_INLINE S s_sums(V a, V b, V c, V d) {
  return (S){a, b, c, d};
}
PN_INLINE Q q_add(Q x, Q y) {
  return (Q){x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
}
PN_INLINE Q q_crosswise(const Q *x) {
  return q_add(q_add(x[0], x[2]), q_add(x[1], x[3]));
}
PN_INLINE Q q_join(const S *part) {
  const Q four[4] = {q_crosswise(part), q_crosswise(part + 4), q_crosswise(part + 8), q_crosswise(part + 12)};
  return q_crosswise(four);
}
PN_INLINE Q q_scale(Q x, float y) {
  return (Q){x.a * y, x.b * y, x.c * y, x.d * y};
}
PN_INLINE float q_inv_root1(float x, float scale, float shift) {
  return 1.0f / sqrtf(f_fma(x, scale, shift));
}
PN_INLINE Q q_inv_root(Q x, float scale, float shift) { /* 1 / sqrt(x * scale + shift) */
  return (Q){q_inv_root1(x.a, scale, shift), q_inv_root1(x.b, scale, shift), q_inv_root1(x.c, scale, shift),
             q_inv_root1(x.d, scale, shift)};
}
PN_INLINE void q_store(float *p, Q x) {
  p[0] = x.a;
  p[1] = x.b;
  p[2] = x.c;
  p[3] = x.d;
}
PN_INLINE float q_first(Q x) {
  return x.a;
}
PN_INLINE V v_all_a(Q x) {
  return x.a;
} /* one of the four in every lane */
PN_INLINE V v_all_b(Q x) {
  return x.b;
}
PN_INLINE V v_all_c(Q x) {
  return x.c;
}
PN_INLINE V v_all_d(Q x) {
  return x.d;
}

/* a * 2^n, where n is the integer that `biased` = n + 1.5 * 2^23 carries in its low bits */
PN_INLINE V v_scale2(V a, V biased) {
  uint32_t x, n;
  memcpy(&x, &a, sizeof x);
  memcpy(&n, &biased, sizeof n);
  x += n << 23;
  memcpy(&a, &x, sizeof a);
  return a;
}

PN_INLINE U u_set(uint32_t x) {
  return x;
}
PN_INLINE U u_lanes(void) {
  return 0;
} /* 0, 1, ..., PN_W - 1 */
PN_INLINE U u_add(U a, U b) {
  return a + b;
}
PN_INLINE U u_mul(U a, U b) {
  return a * b;
}
PN_INLINE U u_fold15(U a) {
  return a ^ (a >> 15);
}
PN_INLINE U u_fold16(U a) {
  return a ^ (a >> 16);
}
PN_INLINE V v_from_top24(U a) {
  return (float)(a >> 8);
}

/* to[j, i] = from[i, j] for a square of PN_BLOCK x PN_BLOCK */
#define PN_BLOCK 1
PN_INLINE void v_transpose_block(const float *from, size_t ld_from, float *to, size_t ld_to) {
  (void)ld_from;
  (void)ld_to;
  *to = *from;
}

#endif
