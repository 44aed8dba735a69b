/* Four vectors in step, for chains of dependent operations: one chain alone would wait at every step. */

typedef struct {
  V a, b, c, d;
} V4;

#define PN_LIFT1(op, x) ((V4){op((x).a), op((x).b), op((x).c), op((x).d)})
#define PN_LIFT2(op, x, y) ((V4){op((x).a, (y).a), op((x).b, (y).b), op((x).c, (y).c), op((x).d, (y).d)})
#define PN_LIFT3(op, x, y, z)                                                                                          \
  ((V4){op((x).a, (y).a, (z).a), op((x).b, (y).b, (z).b), op((x).c, (y).c, (z).c), op((x).d, (y).d, (z).d)})

PN_INLINE V4 v4_all(V x) {
  return (V4){x, x, x, x};
}
PN_INLINE V4 v4_set(float x) {
  return v4_all(v_set(x));
}
PN_INLINE void v4_clear(V4 *x) {
  PN_EACH_PART(x[q] = v4_set(0.0f));
}
PN_INLINE V4 v4_spread(const float *p) {
  return (V4){v_set(p[0]), v_set(p[1]), v_set(p[2]), v_set(p[3])};
}
PN_INLINE V4 v4_from(Q x) {
  return (V4){v_all_a(x), v_all_b(x), v_all_c(x), v_all_d(x)};
}
/* the sums of four rows' lanes, from all parts */
PN_INLINE Q v4_sums(const V4 *x) {
  S part[PN_PARTS];
  PN_EACH_PART(part[q] = s_sums(x[q].a, x[q].b, x[q].c, x[q].d));
  return q_join(part);
}
PN_INLINE V4 v4_abs(V4 x) {
  return PN_LIFT1(v_abs, x);
}
PN_INLINE V4 v4_add(V4 x, V4 y) {
  return PN_LIFT2(v_add, x, y);
}
PN_INLINE V4 v4_sub(V4 x, V4 y) {
  return PN_LIFT2(v_sub, x, y);
}
PN_INLINE V4 v4_mul(V4 x, V4 y) {
  return PN_LIFT2(v_mul, x, y);
}
PN_INLINE V4 v4_max(V4 x, V4 y) {
  return PN_LIFT2(v_max, x, y);
}
PN_INLINE V4 v4_fma(V4 x, V4 y, V4 z) {
  return PN_LIFT3(v_fma, x, y, z);
}
PN_INLINE V4 v4_keep(M lanes, V4 x) {
  return (V4){v_keep(lanes, x.a), v_keep(lanes, x.b), v_keep(lanes, x.c), v_keep(lanes, x.d)};
}
PN_INLINE V v4_sum(V4 x) {
  return v_add(v_add(x.a, x.b), v_add(x.c, x.d));
}
PN_INLINE V v4_least(V4 x) {
  return v_min(v_min(x.a, x.b), v_min(x.c, x.d));
}
PN_INLINE V v4_greatest(V4 x) {
  return v_max(v_max(x.a, x.b), v_max(x.c, x.d));
}
/* sum of the four products */
PN_INLINE V v4_dot(V4 x, V4 y) {
  return v_add(v_fma(x.a, y.a, v_mul(x.b, y.b)), v_fma(x.c, y.c, v_mul(x.d, y.d)));
}

#define PN_EXP2_BOTTOM -126.0f

/* 2^z of one vector from its parts, see v4_exp2 */
PN_INLINE V exp2_join(V z, V q, V biased) {
  return v_keep(v_less(v_set(PN_EXP2_BOTTOM), z), v_scale2(q, biased));
}

/* 2^z for z <= 0 with a relative error below 1.6e-7; 0 from PN_EXP2_BOTTOM down. z = n + r with n an integer (adding
 * 1.5 * 2^23 rounds to it), and 2^r is a minimax polynomial on [-1/2, 1/2] with error 9.2e-8. */
PN_INLINE V4 v4_exp2(V4 z) {
  const V4 biased = v4_add(z, v4_set(12582912.0f)), r = v4_sub(z, v4_sub(biased, v4_set(12582912.0f)));
  V4 q = v4_fma(v4_set(1.326472720e-03f), r, v4_set(9.671512640e-03f));
  q = v4_fma(q, r, v4_set(5.550733743e-02f));
  q = v4_fma(q, r, v4_set(2.402224209e-01f));
  q = v4_fma(q, r, v4_set(6.931469776e-01f));
  q = v4_fma(q, r, v4_set(1.0f));
  return PN_LIFT3(exp2_join, z, q, biased);
}
