/* Vector layer of eight lanes: AVX2 with FMA. Names and meanings as in kern_vec_scalar.h. */
#ifndef PN_KERN_VEC_AVX2_H
#define PN_KERN_VEC_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kern_vec_windows.h"

#define PN_W 8
#define PN_TILE_ROWS 6 /* 12 of the 16 registers hold sums */
#define PN_TILE_COLS 2
#define PN_TARGET __attribute__((target("avx2,fma")))
#define PN_INLINE static inline __attribute__((always_inline)) PN_TARGET
#define PN_KERNEL static PN_TARGET
#define PN_LEVEL_NAME "avx2"

typedef __m256 V;
typedef __m256i M; /* all bits of a lane set or clear */
typedef __m256i U;
typedef __m256 S; /* sums of four lanes each of four rows: of the lanes 0 .. 3, then of 4 .. 7 */

#include "kern_vec_avx.h"

/* the first n lanes, n = 0 .. 8: a window on eight set and eight clear lanes */
PN_INLINE M v_head(size_t n) {
  static const int32_t window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const __m256i *)(const void *)(window + 8 - n));
}
PN_INLINE V v_set(float x) {
  return _mm256_set1_ps(x);
}
PN_INLINE V v_load(const float *p) {
  return _mm256_loadu_ps(p);
}
PN_INLINE V v_load_part(const float *p, M lanes) {
  return _mm256_maskload_ps(p, lanes);
}
PN_INLINE void v_store(float *p, V v) {
  _mm256_storeu_ps(p, v);
}
PN_INLINE void v_store_part(float *p, V v, M lanes) {
  _mm256_maskstore_ps(p, lanes, v);
}

PN_INLINE V v_add(V a, V b) {
  return _mm256_add_ps(a, b);
}
PN_INLINE V v_sub(V a, V b) {
  return _mm256_sub_ps(a, b);
}
PN_INLINE V v_mul(V a, V b) {
  return _mm256_mul_ps(a, b);
}
PN_INLINE V v_div(V a, V b) {
  return _mm256_div_ps(a, b);
}
PN_INLINE V v_sqrt(V a) {
  return _mm256_sqrt_ps(a);
}
PN_INLINE V v_abs(V a) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
PN_INLINE V v_min(V a, V b) {
  return _mm256_min_ps(a, b);
}
PN_INLINE V v_max(V a, V b) {
  return _mm256_max_ps(a, b);
}
PN_INLINE V v_fma(V a, V b, V c) {
  return _mm256_fmadd_ps(a, b, c);
}
PN_INLINE V v_fnma(V a, V b, V c) {
  return _mm256_fnmadd_ps(a, b, c);
}
PN_INLINE V v_fms(V a, V b, V c) {
  return _mm256_fmsub_ps(a, b, c);
}

PN_INLINE M v_less(V a, V b) {
  return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
PN_INLINE M v_equal(V a, V b) {
  return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
PN_INLINE int v_any(M lanes) {
  return _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) != 0;
}
PN_INLINE V v_keep(M lanes, V a) {
  return _mm256_and_ps(_mm256_castsi256_ps(lanes), a);
}
PN_INLINE V v_select(M lanes, V a, V b) {
  return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(lanes));
}

PN_INLINE float v_total(const V *part) {
  __m256 h = _mm256_add_ps(part[0], part[1]);
  return q_total(_mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1)));
}

PN_INLINE S s_sums(V a, V b, V c, V d) {
  __m256 ab = _mm256_add_ps(_mm256_blend_ps(a, b, 0xCC), _mm256_shuffle_ps(a, b, 0x4E)); /* a02 a13 b02 b13, twice */
  __m256 cd = _mm256_add_ps(_mm256_blend_ps(c, d, 0xCC), _mm256_shuffle_ps(c, d, 0x4E));
  return _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x88), _mm256_shuffle_ps(ab, cd, 0xDD));
}
PN_INLINE Q q_join(const S *part) {
  __m256 s = _mm256_add_ps(part[0], part[1]);
  return _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
}
PN_INLINE V v_all_a(Q x) {
  return _mm256_broadcastss_ps(x);
}
PN_INLINE V v_all_b(Q x) {
  return _mm256_broadcastss_ps(q_b(x));
}
PN_INLINE V v_all_c(Q x) {
  return _mm256_broadcastss_ps(q_c(x));
}
PN_INLINE V v_all_d(Q x) {
  return _mm256_broadcastss_ps(q_d(x));
}

PN_INLINE V v_scale2(V a, V biased) {
  __m256i n = _mm256_slli_epi32(_mm256_castps_si256(biased), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), n));
}

PN_INLINE U u_set(uint32_t x) {
  return _mm256_set1_epi32((int32_t)x);
}
PN_INLINE U u_lanes(void) {
  return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}
PN_INLINE U u_add(U a, U b) {
  return _mm256_add_epi32(a, b);
}
PN_INLINE U u_mul(U a, U b) {
  return _mm256_mullo_epi32(a, b);
}
PN_INLINE U u_fold15(U a) {
  return _mm256_xor_si256(a, _mm256_srli_epi32(a, 15));
}
PN_INLINE U u_fold16(U a) {
  return _mm256_xor_si256(a, _mm256_srli_epi32(a, 16));
}
PN_INLINE V v_from_top24(U a) {
  return _mm256_cvtepi32_ps(_mm256_srli_epi32(a, 8));
}

#endif
