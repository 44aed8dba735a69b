/* What the AVX2 and AVX-512 layers write alike: four numbers in one register, and the transpose of an 8 x 8 block. */
#ifndef PN_KERN_VEC_AVX_H
#define PN_KERN_VEC_AVX_H

typedef __m128 Q;

PN_INLINE Q q_scale(Q x, float y) {
  return _mm_mul_ps(x, _mm_set1_ps(y));
}
PN_INLINE Q q_inv_root(Q x, float scale, float shift) {
  const Q y = _mm_fmadd_ps(x, _mm_set1_ps(scale), _mm_set1_ps(shift));
  return _mm_div_ps(_mm_set1_ps(1.0f), _mm_sqrt_ps(y));
}
PN_INLINE void q_store(float *p, Q x) {
  _mm_storeu_ps(p, x);
}
PN_INLINE float q_first(Q x) {
  return _mm_cvtss_f32(x);
}
/* a b + c, rounded once */
PN_INLINE float f_fma(float a, float b, float c) {
  return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
}
/* the sum of the four, (0 + 2) + (1 + 3) */
PN_INLINE float q_total(Q x) {
  const Q s = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
PN_INLINE Q q_b(Q x) {
  return _mm_shuffle_ps(x, x, 0x55);
}
PN_INLINE Q q_c(Q x) {
  return _mm_shuffle_ps(x, x, 0xAA);
}
PN_INLINE Q q_d(Q x) {
  return _mm_shuffle_ps(x, x, 0xFF);
}

#define PN_BLOCK 8
PN_INLINE void v_transpose_block(const float *from, size_t ld_from, float *to, size_t ld_to) {
  __m256 r0 = _mm256_loadu_ps(from), r1 = _mm256_loadu_ps(from + ld_from);
  __m256 r2 = _mm256_loadu_ps(from + 2 * ld_from), r3 = _mm256_loadu_ps(from + 3 * ld_from);
  __m256 r4 = _mm256_loadu_ps(from + 4 * ld_from), r5 = _mm256_loadu_ps(from + 5 * ld_from);
  __m256 r6 = _mm256_loadu_ps(from + 6 * ld_from), r7 = _mm256_loadu_ps(from + 7 * ld_from);
  /* pairs of rows interleaved, then fours, then the two halves of the registers exchanged */
  __m256 a0 = _mm256_unpacklo_ps(r0, r1), a1 = _mm256_unpackhi_ps(r0, r1);
  __m256 a2 = _mm256_unpacklo_ps(r2, r3), a3 = _mm256_unpackhi_ps(r2, r3);
  __m256 a4 = _mm256_unpacklo_ps(r4, r5), a5 = _mm256_unpackhi_ps(r4, r5);
  __m256 a6 = _mm256_unpacklo_ps(r6, r7), a7 = _mm256_unpackhi_ps(r6, r7);
  __m256 b0 = _mm256_shuffle_ps(a0, a2, 0x44), b1 = _mm256_shuffle_ps(a0, a2, 0xEE);
  __m256 b2 = _mm256_shuffle_ps(a1, a3, 0x44), b3 = _mm256_shuffle_ps(a1, a3, 0xEE);
  __m256 b4 = _mm256_shuffle_ps(a4, a6, 0x44), b5 = _mm256_shuffle_ps(a4, a6, 0xEE);
  __m256 b6 = _mm256_shuffle_ps(a5, a7, 0x44), b7 = _mm256_shuffle_ps(a5, a7, 0xEE);
  _mm256_storeu_ps(to, _mm256_permute2f128_ps(b0, b4, 0x20));
  _mm256_storeu_ps(to + ld_to, _mm256_permute2f128_ps(b1, b5, 0x20));
  _mm256_storeu_ps(to + 2 * ld_to, _mm256_permute2f128_ps(b2, b6, 0x20));
  _mm256_storeu_ps(to + 3 * ld_to, _mm256_permute2f128_ps(b3, b7, 0x20));
  _mm256_storeu_ps(to + 4 * ld_to, _mm256_permute2f128_ps(b0, b4, 0x31));
  _mm256_storeu_ps(to + 5 * ld_to, _mm256_permute2f128_ps(b1, b5, 0x31));
  _mm256_storeu_ps(to + 6 * ld_to, _mm256_permute2f128_ps(b2, b6, 0x31));
  _mm256_storeu_ps(to + 7 * ld_to, _mm256_permute2f128_ps(b3, b7, 0x31));
}

#endif
