/* Vector layer of sixteen lanes: AVX-512F. Names and meanings as in kern_vec_scalar.h. */
#ifndef PN_KERN_VEC_AVX512_H
#define PN_KERN_VEC_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kern_vec_windows.h"

#define PN_W 16
#define PN_TILE_ROWS 6 /* 24 of the 32 registers hold sums, and a row of 64 is one tile wide */
#define PN_TILE_COLS 4
#define PN_TARGET __attribute__((target("avx512f,avx2,fma")))
#define PN_INLINE static inline __attribute__((always_inline)) PN_TARGET
#define PN_KERNEL static PN_TARGET
#define PN_LEVEL_NAME "avx512"

typedef __m512 V;
typedef __mmask16 M;
typedef __m512i U;
typedef __m512 S; /* sums of four lanes each of four rows: of the lanes 0 .. 3, of 4 .. 7, ... */

#include "kern_vec_avx.h"

PN_INLINE M v_head(size_t n) {
  return (__mmask16)((1u << n) - 1u);
}
PN_INLINE V v_set(float x) {
  return _mm512_set1_ps(x);
}
PN_INLINE V v_load(const float *p) {
  return _mm512_loadu_ps(p);
}
PN_INLINE V v_load_part(const float *p, M lanes) {
  return _mm512_maskz_loadu_ps(lanes, p);
}
PN_INLINE void v_store(float *p, V v) {
  _mm512_storeu_ps(p, v);
}
PN_INLINE void v_store_part(float *p, V v, M lanes) {
  _mm512_mask_storeu_ps(p, lanes, v);
}

PN_INLINE V v_add(V a, V b) {
  return _mm512_add_ps(a, b);
}
PN_INLINE V v_sub(V a, V b) {
  return _mm512_sub_ps(a, b);
}
PN_INLINE V v_mul(V a, V b) {
  return _mm512_mul_ps(a, b);
}
PN_INLINE V v_div(V a, V b) {
  return _mm512_div_ps(a, b);
}
PN_INLINE V v_sqrt(V a) {
  return _mm512_sqrt_ps(a);
}
PN_INLINE V v_abs(V a) {
  return _mm512_abs_ps(a);
}
PN_INLINE V v_min(V a, V b) {
  return _mm512_min_ps(a, b);
}
PN_INLINE V v_max(V a, V b) {
  return _mm512_max_ps(a, b);
}
PN_INLINE V v_fma(V a, V b, V c) {
  return _mm512_fmadd_ps(a, b, c);
}
PN_INLINE V v_fnma(V a, V b, V c) {
  return _mm512_fnmadd_ps(a, b, c);
}
PN_INLINE V v_fms(V a, V b, V c) {
  return _mm512_fmsub_ps(a, b, c);
}

PN_INLINE M v_less(V a, V b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
PN_INLINE M v_equal(V a, V b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
PN_INLINE int v_any(M lanes) {
  return lanes != 0;
}
PN_INLINE V v_keep(M lanes, V a) {
  return _mm512_maskz_mov_ps(lanes, a);
}
PN_INLINE V v_select(M lanes, V a, V b) {
  return _mm512_mask_blend_ps(lanes, b, a);
}

/* the two halves added, eight lanes */
PN_INLINE __m256 v_halves(V a) {
  __m256d high = _mm512_extractf64x4_pd(_mm512_castps_pd(a), 1);
  return _mm256_add_ps(_mm512_castps512_ps256(a), _mm256_castpd_ps(high));
}
PN_INLINE float v_total(const V *part) {
  __m256 h = v_halves(part[0]);
  return q_total(_mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1)));
}

PN_INLINE S s_sums(V a, V b, V c, V d) {
  __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)); /* a02 b02 a13 b13, four times */
  __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  return _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xEE));
}
PN_INLINE Q q_join(const S *part) {
  __m256 s = v_halves(part[0]);
  return _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
}
PN_INLINE V v_all_a(Q x) {
  return _mm512_broadcastss_ps(x);
}
PN_INLINE V v_all_b(Q x) {
  return _mm512_broadcastss_ps(q_b(x));
}
PN_INLINE V v_all_c(Q x) {
  return _mm512_broadcastss_ps(q_c(x));
}
PN_INLINE V v_all_d(Q x) {
  return _mm512_broadcastss_ps(q_d(x));
}

PN_INLINE V v_scale2(V a, V biased) {
  __m512i n = _mm512_slli_epi32(_mm512_castps_si512(biased), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), n));
}

PN_INLINE U u_set(uint32_t x) {
  return _mm512_set1_epi32((int32_t)x);
}
PN_INLINE U u_lanes(void) {
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
PN_INLINE U u_add(U a, U b) {
  return _mm512_add_epi32(a, b);
}
PN_INLINE U u_mul(U a, U b) {
  return _mm512_mullo_epi32(a, b);
}
PN_INLINE U u_fold15(U a) {
  return _mm512_xor_si512(a, _mm512_srli_epi32(a, 15));
}
PN_INLINE U u_fold16(U a) {
  return _mm512_xor_si512(a, _mm512_srli_epi32(a, 16));
}
PN_INLINE V v_from_top24(U a) {
  return _mm512_cvtepi32_ps(_mm512_srli_epi32(a, 8));
}

#endif
