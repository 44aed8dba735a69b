/* Components of two features, fused: where order 2 spends its time.
 *
 * Rows of both parts have mean zero (center_rows), so their sum s has mean zero too and its layer norm is s * rstd:
 * no pass over the row for its mean, and nothing of a component's size is written on the way forward. On the way back
 * the gradient of a normalised row has mean zero as well, so centring needs no backward step of its own.
 */

/* one vector of r = 1 or 4 rows of the sum */
PN_INLINE V4 pair_load(size_t r, size_t h, const float *a, const float *b, int tail, M lanes) {
  return v4_add(rows_load(r, a, h, tail, lanes), rows_load(r, b, h, tail, lanes));
}

/* rstd of r rows */
PN_INLINE void pair_scales(size_t r, size_t h, float inv_h, const float *a, const float *b, float *rstd) {
  V4 squares[PN_PARTS];
  v4_clear(squares);
  PN_WALK(h, const V4 s = pair_load(r, h, a + j, b + j, tail, lanes); squares[q] = v4_fma(s, s, squares[q]));
  rows_put(r, rstd, q_inv_root(v4_sums(squares), inv_h, PN_NORM_EPS));
}

/* What pair_dots reads. */
typedef struct {
  size_t h;
  const float *a, *b, *rstd;      /* of the rows at hand */
  const float *gain, *offset, *w; /* [h] */
} pair_input;

/* Columns j .. of r rows: the dot product with relu(gain * xhat + offset) grows. */
PN_INLINE V4 pair_dots_step(size_t r, const pair_input *in, size_t j, V4 rstd, V4 sum, int tail, M lanes) {
  const V4 g = v4_all(v_load_if(in->gain + j, tail, lanes)), o = v4_all(v_load_if(in->offset + j, tail, lanes));
  const V4 weight = v4_all(v_load_if(in->w + j, tail, lanes));
  const V4 xhat = v4_mul(pair_load(r, in->h, in->a + j, in->b + j, tail, lanes), rstd);
  return v4_fma(weight, v4_max(v4_fma(g, xhat, o), v4_set(0.0f)), sum);
}

PN_INLINE void pair_dots_rows(size_t r, const pair_input *in, float bias, float *out) {
  const size_t h = in->h;
  const V4 scale = rows_spread(r, in->rstd);
  V4 sum[PN_PARTS];
  float dots[4];
  v4_clear(sum);
  PN_WALK(h, sum[q] = pair_dots_step(r, in, j, scale, sum[q], tail, lanes));
  q_store(dots, v4_sums(sum));
  for (size_t i = 0; i < r; i++) out[i] = dots[i] + bias;
}

PN_KERNEL void pair_dots(size_t m, size_t h, const float *a, const float *b, const float *gain, const float *offset,
                         const float *w, float bias, float *out, float *rstd) {
  const float inv_h = 1.0f / (float)h;
  size_t i = 0;
  for (; i + 4 <= m; i += 4) pair_scales(4, h, inv_h, a + i * h, b + i * h, rstd + i);
  for (; i < m; i++) pair_scales(1, h, inv_h, a + i * h, b + i * h, rstd + i);
  for (i = 0; i + 4 <= m; i += 4) {
    const pair_input in = {h, a + i * h, b + i * h, rstd + i, gain, offset, w};
    pair_dots_rows(4, &in, bias, out + i);
  }
  for (; i < m; i++) {
    const pair_input in = {h, a + i * h, b + i * h, rstd + i, gain, offset, w};
    pair_dots_rows(1, &in, bias, out + i);
  }
}

/* One row at the columns at hand: g / dr into ds; the sums along the row and down the columns grow. */
PN_INLINE void pair_back_gain(V s, V rstd, V dr, float *ds, tail_columns *col, V *sum_g, V *sum_gs, int tail, M lanes) {
  const M passed = v_less(v_set(0.0f), v_fma(col->gain, v_mul(s, rstd), col->offset));
  const V g = v_keep(passed, col->slope), d = v_keep(passed, dr);
  col->dr = v_add(col->dr, d);
  col->drx = v_fma(d, v_mul(s, rstd), col->drx);
  *sum_g = v_add(*sum_g, g);
  *sum_gs = v_fma(g, s, *sum_gs);
  v_store_if(ds, g, tail, lanes);
}

/* What the way back reads and writes beside its sums along the rows. */
typedef struct {
  pair_input in;
  const float *dr; /* of the rows at hand */
  float *ds;
  float *through, *through_x; /* [h] */
} pair_back;

/* Columns j .. of r rows. */
PN_INLINE void pair_back_step(size_t r, const pair_back *at, size_t j, V4 *g, V4 *gx, int tail, M lanes) {
  const pair_input *in = &at->in;
  const size_t h = in->h;
  const float *rstd = in->rstd, *dr = at->dr;
  float *ds = at->ds + j;
  const V slope = v_load_if(in->gain + j, tail, lanes), weight = v_load_if(in->w + j, tail, lanes);
  const V4 s = pair_load(r, h, in->a + j, in->b + j, tail, lanes);
  tail_columns col = {slope, v_load_if(in->offset + j, tail, lanes), v_mul(slope, weight),
                      v_load_if(at->through + j, tail, lanes), v_load_if(at->through_x + j, tail, lanes)};
  pair_back_gain(s.a, v_set(rstd[0]), v_set(dr[0]), ds, &col, &g->a, &gx->a, tail, lanes);
  if (r == 4) {
    pair_back_gain(s.b, v_set(rstd[1]), v_set(dr[1]), ds + h, &col, &g->b, &gx->b, tail, lanes);
    pair_back_gain(s.c, v_set(rstd[2]), v_set(dr[2]), ds + 2 * h, &col, &g->c, &gx->c, tail, lanes);
    pair_back_gain(s.d, v_set(rstd[3]), v_set(dr[3]), ds + 3 * h, &col, &g->d, &gx->d, tail, lanes);
  }
  v_store_if(at->through + j, col.dr, tail, lanes);
  v_store_if(at->through_x + j, col.drx, tail, lanes);
}

/* r rows: g / dr into ds, the sums of g and g * s along the rows into sum_g and sum_gs */
PN_INLINE void pair_back_rows(size_t r, const pair_back *at, float *sum_g, float *sum_gs) {
  const size_t h = at->in.h;
  V4 g[PN_PARTS], gx[PN_PARTS];
  v4_clear(g);
  v4_clear(gx);
  PN_WALK(h, pair_back_step(r, at, j, g + q, gx + q, tail, lanes));
  rows_put(r, sum_g, v4_sums(g));
  rows_put(r, sum_gs, v4_sums(gx));
}

/* The same of the rows from `row` on. */
PN_INLINE pair_back pair_back_from(const pair_back *all, size_t row) {
  pair_back at = *all;
  at.in.a += row * at.in.h;
  at.in.b += row * at.in.h;
  at.in.rstd += row;
  at.dr += row;
  at.ds += row * at.in.h;
  return at;
}

/* One vector of a row's gradient, factor * g - shift - slope * s, added to that of both parts (maybe the same one) */
PN_INLINE void pair_back_add(const float *a, const float *b, const float *g, V factor, V shift, V slope, float *da,
                             float *db, int tail, M lanes) {
  const V s = v_add(v_load_if(a, tail, lanes), v_load_if(b, tail, lanes));
  const V ds = v_fnma(slope, s, v_fms(factor, v_load_if(g, tail, lanes), shift));
  v_store_if(da, v_add(v_load_if(da, tail, lanes), ds), tail, lanes);
  v_store_if(db, v_add(v_load_if(db, tail, lanes), ds), tail, lanes);
}

PN_KERNEL void pair_dots_backward(size_t m, size_t h, const float *a, const float *b, const float *rstd,
                                  const float *gain, const float *offset, const float *w, const float *dr, float *ds,
                                  float *da, float *db, float *through, float *through_x) {
  const float inv_h = 1.0f / (float)h;
  const M all = v_head(PN_W);
  const pair_back whole = {{h, a, b, rstd, gain, offset, w}, dr, ds, through, through_x};
  for (size_t first = 0; first < m; first += PN_NORM_BLOCK) {
    const size_t rows = m - first < PN_NORM_BLOCK ? m - first : PN_NORM_BLOCK, at = first * h;
    float sum_g[PN_NORM_BLOCK], sum_gs[PN_NORM_BLOCK];
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      const pair_back four = pair_back_from(&whole, first + i);
      pair_back_rows(4, &four, sum_g + i, sum_gs + i);
    }
    for (; i < rows; i++) {
      const pair_back one = pair_back_from(&whole, first + i);
      pair_back_rows(1, &one, sum_g + i, sum_gs + i);
    }
    for (i = 0; i < rows; i++) {
      const float scale = rstd[first + i], factor = scale * dr[first + i];
      const V f = v_set(factor), shift = v_set(factor * (sum_g[i] * inv_h));
      const V slope = v_set(factor * (scale * scale) * (sum_gs[i] * inv_h));
      const size_t row = at + i * h;
      size_t j = 0;
      for (; j + PN_W <= h; j += PN_W)
        pair_back_add(a + row + j, b + row + j, ds + row + j, f, shift, slope, da + row + j, db + row + j, 0, all);
      if (j < h)
        pair_back_add(a + row + j, b + row + j, ds + row + j, f, shift, slope, da + row + j, db + row + j, 1,
                      v_head(h - j));
    }
  }
}

PN_KERNEL void center_rows(size_t m, size_t h, float *z, const float *shift) {
  const float inv_h = 1.0f / (float)h;
  for (size_t i = 0; i < m; i++, z += h) {
    float mean;
    norm_means(1, h, inv_h, z, &mean);
    const V centre = v_set(mean);
    size_t j = 0;
    for (; j + PN_W <= h; j += PN_W) v_store(z + j, v_add(v_sub(v_load(z + j), centre), v_load(shift + j)));
    if (j < h) {
      const M lanes = v_head(h - j);
      v_store_part(z + j, v_add(v_sub(v_load_part(z + j, lanes), centre), v_load_part(shift + j, lanes)), lanes);
    }
  }
}
