/* The second half of a two-layer predictor with one output, fused: join features and normalise, then gain, relu and
 * dot product in one go, and the way back. Order 1 and components of more than two features use these.
 */

/* One vector of r = 1 or 4 joined rows: the bias and k parts, at offset `at` of each. */
PN_INLINE V4 join_step(size_t r, size_t k, size_t h, const float *const *part, size_t at, const float *bias, int tail,
                       M lanes) {
  V4 s = bias ? v4_all(v_load_if(bias, tail, lanes)) : v4_set(0.0f);
  for (size_t q = 0; q < k; q++) s = v4_add(s, rows_load(r, part[q] + at, h, tail, lanes));
  return s;
}

/* r = 1 or 4 joined rows from offset `at` into z, and their means */
PN_INLINE void join_rows(size_t r, size_t k, size_t h, float inv_h, const float *const *part, size_t at,
                         const float *bias, float *z, float *mean) {
  V4 sum[PN_PARTS];
  v4_clear(sum);
  PN_WALK(h, const V4 s = join_step(r, k, h, part, at + j, bias ? bias + j : NULL, tail, lanes);
          rows_store(r, z + j, h, s, tail, lanes); sum[q] = v4_add(sum[q], s));
  rows_put(r, mean, q_scale(v4_sums(sum), inv_h));
}

/* k and bias constants at the usual calls, so that order 1 needs no inner loop */
PN_INLINE void join_all(size_t m, size_t k, size_t h, const float *const *part, const float *bias, float *xhat,
                        float *rstd) {
  const float inv_h = 1.0f / (float)h;
  for (size_t first = 0; first < m; first += PN_NORM_BLOCK) {
    const size_t rows = m - first < PN_NORM_BLOCK ? m - first : PN_NORM_BLOCK, at = first * h;
    float mean[PN_NORM_BLOCK], *z = xhat + at;
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) join_rows(4, k, h, inv_h, part, at + i * h, bias, z + i * h, mean + i);
    for (; i < rows; i++) join_rows(1, k, h, inv_h, part, at + i * h, bias, z + i * h, mean + i);
    norm_finish(rows, h, inv_h, z, mean, rstd + first);
  }
}

PN_KERNEL void join_norm(size_t m, size_t k, size_t h, const float *const *part, const float *bias, float *xhat,
                         float *rstd) {
  if (k == 1 && bias)
    join_all(m, 1, h, part, bias, xhat, rstd);
  else
    join_all(m, k, h, part, bias, xhat, rstd);
}

/* Columns j .. of r = 1 or 4 rows: the dot product with relu(gain * xhat + offset) grows. */
PN_INLINE void relu_dots_step(size_t r, size_t h, size_t j, const float *xhat, const float *gain, const float *offset,
                              const float *w, V4 *s, int tail, M lanes) {
  const V g = v_load_if(gain + j, tail, lanes), o = v_load_if(offset + j, tail, lanes);
  const V weight = v_load_if(w + j, tail, lanes), zero = v_set(0.0f);
  s->a = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + j, tail, lanes), o), zero), s->a);
  if (r == 4) {
    s->b = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + h + j, tail, lanes), o), zero), s->b);
    s->c = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + 2 * h + j, tail, lanes), o), zero), s->c);
    s->d = v_fma(weight, v_max(v_fma(g, v_load_if(xhat + 3 * h + j, tail, lanes), o), zero), s->d);
  }
}

PN_INLINE void relu_dots_rows(size_t r, size_t h, const float *xhat, const float *gain, const float *offset,
                              const float *w, float bias, float *out) {
  V4 sum[PN_PARTS];
  float dots[4];
  v4_clear(sum);
  PN_WALK(h, relu_dots_step(r, h, j, xhat, gain, offset, w, sum + q, tail, lanes));
  q_store(dots, v4_sums(sum));
  for (size_t i = 0; i < r; i++) out[i] = dots[i] + bias;
}

PN_KERNEL void relu_dots(size_t m, size_t h, const float *xhat, const float *gain, const float *offset, const float *w,
                         float bias, float *out) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4) relu_dots_rows(4, h, xhat + i * h, gain, offset, w, bias, out + i);
  for (; i < m; i++) relu_dots_rows(1, h, xhat + i * h, gain, offset, w, bias, out + i);
}

/* What the columns at hand share between rows on the way back. With the mask k = [y > 0], every gradient of these
 * columns follows from two sums over the rows: of k dr and of k dr xhat. */
typedef struct {
  V gain, offset, slope; /* slope = w * gain */
  V dr, drx;
} tail_columns;

/* One row at the columns at hand: g / dr = k w gain goes to ds; the sums along the row and down the columns grow. */
PN_INLINE void tail_back_gain(const float *xhat, const float *dr, float *ds, tail_columns *col, V *sum_g, V *sum_gx,
                              int tail, M lanes) {
  const V x = v_load_if(xhat, tail, lanes);
  const M passed = v_less(v_set(0.0f), v_fma(col->gain, x, col->offset));
  const V g = v_keep(passed, col->slope), d = v_keep(passed, v_set(*dr));
  col->dr = v_add(col->dr, d);
  col->drx = v_fma(d, x, col->drx);
  *sum_g = v_add(*sum_g, g);
  *sum_gx = v_fma(g, x, *sum_gx);
  v_store_if(ds, g, tail, lanes);
}

/* What the way back reads and writes beside its sums along the rows. */
typedef struct {
  size_t h;
  const float *xhat, *dr;         /* of the rows at hand */
  const float *gain, *offset, *w; /* [h] */
  float *ds;
  float *dgain, *doffset, *dw; /* [h] */
} tail_back;

/* dw, dgain and doffset of the columns j .. */
PN_INLINE void tail_back_columns(const tail_back *at, size_t j, const tail_columns *col, V weight, int tail, M lanes) {
  float *dgain = at->dgain + j, *doffset = at->doffset + j, *dw = at->dw + j;
  const V dweight = v_fma(col->gain, col->drx, v_mul(col->offset, col->dr));
  v_store_if(dw, v_add(v_load_if(dw, tail, lanes), dweight), tail, lanes);
  v_store_if(dgain, v_fma(weight, col->drx, v_load_if(dgain, tail, lanes)), tail, lanes);
  v_store_if(doffset, v_fma(weight, col->dr, v_load_if(doffset, tail, lanes)), tail, lanes);
}

/* Columns j .. of r = 1 or 4 rows. */
PN_INLINE void tail_back_step(size_t r, const tail_back *at, size_t j, V4 *g, V4 *gx, int tail, M lanes) {
  const size_t h = at->h;
  const float *x = at->xhat + j, *dr = at->dr;
  float *ds = at->ds + j;
  const V zero = v_set(0.0f), weight = v_load_if(at->w + j, tail, lanes), slope = v_load_if(at->gain + j, tail, lanes);
  tail_columns col = {slope, v_load_if(at->offset + j, tail, lanes), v_mul(slope, weight), zero, zero};
  tail_back_gain(x, dr, ds, &col, &g->a, &gx->a, tail, lanes);
  if (r == 4) {
    tail_back_gain(x + h, dr + 1, ds + h, &col, &g->b, &gx->b, tail, lanes);
    tail_back_gain(x + 2 * h, dr + 2, ds + 2 * h, &col, &g->c, &gx->c, tail, lanes);
    tail_back_gain(x + 3 * h, dr + 3, ds + 3 * h, &col, &g->d, &gx->d, tail, lanes);
  }
  tail_back_columns(at, j, &col, weight, tail, lanes);
}

/* r = 1 or 4 rows: g / dr into ds, the sums along the rows into sum_g and sum_gx */
PN_INLINE void tail_back_rows(size_t r, const tail_back *at, float *sum_g, float *sum_gx) {
  const size_t h = at->h;
  V4 g[PN_PARTS], gx[PN_PARTS];
  v4_clear(g);
  v4_clear(gx);
  PN_WALK(h, tail_back_step(r, at, j, g + q, gx + q, tail, lanes));
  rows_put(r, sum_g, v4_sums(g));
  rows_put(r, sum_gx, v4_sums(gx));
}

PN_KERNEL void relu_dots_backward(size_t m, size_t h, const float *xhat, const float *rstd, const float *gain,
                                  const float *offset, const float *w, const float *dr, float *ds, float *dgain,
                                  float *doffset, float *dw) {
  const float inv_h = 1.0f / (float)h;
  for (size_t first = 0; first < m; first += PN_NORM_BLOCK) {
    const size_t rows = m - first < PN_NORM_BLOCK ? m - first : PN_NORM_BLOCK;
    const float *x = xhat + first * h, *d = dr + first;
    float sum_g[PN_NORM_BLOCK], sum_gx[PN_NORM_BLOCK], *to = ds + first * h;
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      const tail_back four = {h, x + i * h, d + i, gain, offset, w, to + i * h, dgain, doffset, dw};
      tail_back_rows(4, &four, sum_g + i, sum_gx + i);
    }
    for (; i < rows; i++) {
      const tail_back one = {h, x + i * h, d + i, gain, offset, w, to + i * h, dgain, doffset, dw};
      tail_back_rows(1, &one, sum_g + i, sum_gx + i);
    }
    for (i = 0; i < rows; i++)
      norm_back_row(h, inv_h, x + i * h, rstd[first + i] * d[i], sum_g[i], sum_gx[i], to + i * h);
  }
}
