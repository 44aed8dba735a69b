/* The second half of a two-layer predictor with one output, fused: join features and normalise, then gain, relu and
 * dot product in one go, and the way back. Components of order > 1 spend their time here, so rows of 4 or 8 vectors
 * (h = 32 or 64) stay in registers while they are normalised.
 */

/* One row of N vectors held in registers; EACH(X) is X(0) ... X(N - 1). */
#define PN_JOIN_LOAD(q) V s##q = v_load(bias + q * PN_W);
#define PN_JOIN_ADD(q) s##q = v_add(s##q, v_load(from + q * PN_W));
#define PN_JOIN_CENTER(q) s##q = v_sub(s##q, mean);
#define PN_JOIN_STORE(q) v_store(out + q * PN_W, v_mul(s##q, scale));
#define PN_EACH4(X) X(0) X(1) X(2) X(3)
#define PN_EACH8(X) PN_EACH4(X) X(4) X(5) X(6) X(7)
#define PN_SUM4(a, b, c, d) v_add(v_add(a, b), v_add(c, d))
#define PN_SQUARES4(a, b, c, d) v_add(v_fma(a, a, v_mul(b, b)), v_fma(c, c, v_mul(d, d)))

#define PN_JOIN_ROWS(EACH, SUM, SQUARES)                                                      \
  for (size_t i = 0; i < m; i++) {                                                            \
    float *out = xhat + i * h;                                                                \
    EACH(PN_JOIN_LOAD)                                                                        \
    for (size_t j = 0; j < k; j++) {                                                          \
      const float *from = part[j] + i * h;                                                    \
      EACH(PN_JOIN_ADD)                                                                       \
    }                                                                                         \
    const V mean = v_set(v_sum(SUM) * inv_h);                                                 \
    EACH(PN_JOIN_CENTER)                                                                      \
    const V scale = v_div(v_set(1.0f), v_sqrt(v_set(v_sum(SQUARES) * inv_h + PN_NORM_EPS))); \
    EACH(PN_JOIN_STORE)                                                                       \
    rstd[i] = v_first(scale);                                                                 \
  }

PN_INLINE void join_rows4(size_t m, size_t k, size_t h, const float *const *part, const float *bias, float *xhat,
                          float *rstd) {
  const float inv_h = 1.0f / (float)h;
  PN_JOIN_ROWS(PN_EACH4, PN_SUM4(s0, s1, s2, s3), PN_SQUARES4(s0, s1, s2, s3))
}

PN_INLINE void join_rows8(size_t m, size_t k, size_t h, const float *const *part, const float *bias, float *xhat,
                          float *rstd) {
  const float inv_h = 1.0f / (float)h;
  PN_JOIN_ROWS(PN_EACH8, v_add(PN_SUM4(s0, s1, s2, s3), PN_SUM4(s4, s5, s6, s7)),
               v_add(PN_SQUARES4(s0, s1, s2, s3), PN_SQUARES4(s4, s5, s6, s7)))
}

PN_INLINE void join_step(size_t k, const float *const *part, size_t at, const float *bias, float *out, int tail,
                         M lanes) {
  V s = v_load_if(bias, tail, lanes);
  for (size_t j = 0; j < k; j++) s = v_add(s, v_load_if(part[j] + at, tail, lanes));
  v_store_if(out, s, tail, lanes);
}

PN_KERNEL void join_norm(size_t m, size_t k, size_t h, const float *const *part, const float *bias, float *xhat,
                         float *rstd) {
  if (h == 4 * PN_W) {
    join_rows4(m, k, h, part, bias, xhat, rstd);
  } else if (h == 8 * PN_W) {
    join_rows8(m, k, h, part, bias, xhat, rstd);
  } else {
    const M all = v_head(PN_W);
    for (size_t i = 0; i < m; i++) {
      size_t j = 0;
      for (; j + PN_W <= h; j += PN_W) join_step(k, part, i * h + j, bias + j, xhat + i * h + j, 0, all);
      if (j < h) join_step(k, part, i * h + j, bias + j, xhat + i * h + j, 1, v_head(h - j));
    }
    norm_forward(m, h, xhat, rstd);
  }
}

/* Columns j .. of r = 1 or 4 rows: the dot product with relu(gain * xhat + offset) grows. */
PN_INLINE void relu_dots_step(size_t r, size_t h, size_t j, const float *xhat, const float *gain, const float *offset,
                              const float *w, V *s, int tail, M lanes) {
  const V g = v_load_if(gain + j, tail, lanes), o = v_load_if(offset + j, tail, lanes);
  const V weight = v_load_if(w + j, tail, lanes), zero = v_set(0.0f);
  s[0] = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + j, tail, lanes), o), zero), s[0]);
  if (r == 4) {
    s[1] = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + h + j, tail, lanes), o), zero), s[1]);
    s[2] = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + 2 * h + j, tail, lanes), o), zero), s[2]);
    s[3] = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + 3 * h + j, tail, lanes), o), zero), s[3]);
  }
}

PN_INLINE void relu_dots_rows(size_t r, size_t h, const float *xhat, const float *gain, const float *offset,
                              const float *w, float bias, float *out) {
  const M all = v_head(PN_W);
  V s[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};
  float dots[4];
  size_t j = 0;
  for (; j + PN_W <= h; j += PN_W) relu_dots_step(r, h, j, xhat, gain, offset, w, s, 0, all);
  if (j < h) relu_dots_step(r, h, j, xhat, gain, offset, w, s, 1, v_head(h - j));
  v_sum4(s[0], s[1], s[2], s[3], dots);
  for (size_t i = 0; i < r; i++) out[i] = dots[i] + bias;
}

PN_KERNEL void relu_dots(size_t m, size_t h, const float *xhat, const float *gain, const float *offset, const float *w,
                         float bias, float *out) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4) relu_dots_rows(4, h, xhat + i * h, gain, offset, w, bias, out + i);
  for (; i < m; i++) relu_dots_rows(1, h, xhat + i * h, gain, offset, w, bias, out + i);
}

/* What the columns at hand share between rows on the way back. */
typedef struct {
  V gain, offset, weight, dgain, doffset, dweight;
} tail_columns;

/* One row at the columns at hand: g = gain * dy goes to ds; sums along the row and down the columns grow. */
PN_INLINE void tail_back_gain(const float *xhat, V dr, float *ds, tail_columns *col, norm_sums *sum, int tail,
                              M lanes) {
  const V x = v_load_if(xhat, tail, lanes), y = v_fma(col->gain, x, col->offset), zero = v_set(0.0f);
  const V dy = v_keep(v_less(zero, y), v_mul(dr, col->weight)), g = v_mul(dy, col->gain);
  col->dweight = v_fma(dr, v_max(y, zero), col->dweight);
  col->dgain = v_fma(dy, x, col->dgain);
  col->doffset = v_add(col->doffset, dy);
  sum->g = v_add(sum->g, g);
  sum->gx = v_fma(g, x, sum->gx);
  v_store_if(ds, g, tail, lanes);
}

PN_INLINE void tail_back_step(size_t r, size_t h, size_t j, const float *xhat, const V *dr, const float *gain,
                              const float *offset, const float *w, float *ds, float *dgain, float *doffset, float *dw,
                              norm_sums *sum, int tail, M lanes) {
  tail_columns col = {v_load_if(gain + j, tail, lanes),  v_load_if(offset + j, tail, lanes),
                      v_load_if(w + j, tail, lanes),     v_load_if(dgain + j, tail, lanes),
                      v_load_if(doffset + j, tail, lanes), v_load_if(dw + j, tail, lanes)};
  tail_back_gain(xhat + j, dr[0], ds + j, &col, &sum[0], tail, lanes);
  if (r == 4) {
    tail_back_gain(xhat + h + j, dr[1], ds + h + j, &col, &sum[1], tail, lanes);
    tail_back_gain(xhat + 2 * h + j, dr[2], ds + 2 * h + j, &col, &sum[2], tail, lanes);
    tail_back_gain(xhat + 3 * h + j, dr[3], ds + 3 * h + j, &col, &sum[3], tail, lanes);
  }
  v_store_if(dgain + j, col.dgain, tail, lanes);
  v_store_if(doffset + j, col.doffset, tail, lanes);
  v_store_if(dw + j, col.dweight, tail, lanes);
}

PN_INLINE void tail_back_rows(size_t r, size_t h, const float *xhat, const float *rstd, const float *gain,
                              const float *offset, const float *w, const float *dr, float *ds, float *dgain,
                              float *doffset, float *dw) {
  const norm_sums none = {v_set(0.0f), v_set(0.0f)};
  norm_sums sum[4] = {none, none, none, none};
  const M all = v_head(PN_W);
  const V spread[4] = {v_set(dr[0]), v_set(r == 4 ? dr[1] : 0.0f), v_set(r == 4 ? dr[2] : 0.0f),
                       v_set(r == 4 ? dr[3] : 0.0f)};
  float sum_g[4], sum_gx[4];
  size_t j = 0;
  for (; j + PN_W <= h; j += PN_W)
    tail_back_step(r, h, j, xhat, spread, gain, offset, w, ds, dgain, doffset, dw, sum, 0, all);
  if (j < h) tail_back_step(r, h, j, xhat, spread, gain, offset, w, ds, dgain, doffset, dw, sum, 1, v_head(h - j));
  v_sum4(sum[0].g, sum[1].g, sum[2].g, sum[3].g, sum_g);
  v_sum4(sum[0].gx, sum[1].gx, sum[2].gx, sum[3].gx, sum_gx);
  for (size_t i = 0; i < r; i++) norm_back_row(h, xhat + i * h, rstd[i], sum_g[i], sum_gx[i], ds + i * h);
}

PN_KERNEL void relu_dots_backward(size_t m, size_t h, const float *xhat, const float *rstd, const float *gain,
                                  const float *offset, const float *w, const float *dr, float *ds, float *dgain,
                                  float *doffset, float *dw) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4)
    tail_back_rows(4, h, xhat + i * h, rstd + i, gain, offset, w, dr + i, ds + i * h, dgain, doffset, dw);
  for (; i < m; i++)
    tail_back_rows(1, h, xhat + i * h, rstd + i, gain, offset, w, dr + i, ds + i * h, dgain, doffset, dw);
}
