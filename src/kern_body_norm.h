/* Layer norm, gain and relu, forward and backward.
 *
 * Four rows are summed together: their sums finish with one set of shuffles. A block of rows passes through one stage
 * after the other, so that no row waits for its own sums. Rows left over go one by one through the same steps in the
 * same order: a row's result does not depend on its place.
 */

#define PN_NORM_EPS 1e-5f
#define PN_NORM_BLOCK 16 /* rows per block, a multiple of 4; a few kilobytes, well inside the first-level cache */

/* one vector of r = 1 or 4 rows, ld floats apart */
PN_INLINE V4 rows_load(size_t r, const float *p, size_t ld, int part, M lanes) {
  if (r == 1) return (V4){v_load_if(p, part, lanes), v_set(0.0f), v_set(0.0f), v_set(0.0f)};
  return (V4){v_load_if(p, part, lanes), v_load_if(p + ld, part, lanes), v_load_if(p + 2 * ld, part, lanes),
              v_load_if(p + 3 * ld, part, lanes)};
}
PN_INLINE void rows_store(size_t r, float *p, size_t ld, V4 x, int part, M lanes) {
  v_store_if(p, x.a, part, lanes);
  if (r == 1) return;
  v_store_if(p + ld, x.b, part, lanes);
  v_store_if(p + 2 * ld, x.c, part, lanes);
  v_store_if(p + 3 * ld, x.d, part, lanes);
}

/* s + (z - mean)^2 */
PN_INLINE V4 rows_square(V4 z, V4 mean, V4 s) {
  const V4 d = v4_sub(z, mean);
  return v4_fma(d, d, s);
}

/* sums of squares about the means of r rows of length h */
PN_INLINE Q rows_squares(size_t r, size_t h, const float *z, V4 mean) {
  V4 s[PN_PARTS];
  v4_clear(s);
  PN_WALK(h, s[q] = rows_square(rows_load(r, z + j, h, tail, lanes), tail ? v4_keep(lanes, mean) : mean, s[q]));
  return v4_sums(s);
}

PN_INLINE void rows_put(size_t r, float *p, Q x) {
  if (r == 4)
    q_store(p, x);
  else
    *p = q_first(x);
}

/* one number for each of r rows, in every lane */
PN_INLINE V4 rows_spread(size_t r, const float *p) {
  return r == 4 ? v4_spread(p) : v4_all(v_set(*p));
}

/* means of r rows */
PN_INLINE void norm_means(size_t r, size_t h, float inv_h, const float *z, float *mean) {
  V4 sum[PN_PARTS];
  v4_clear(sum);
  PN_WALK(h, sum[q] = v4_add(sum[q], rows_load(r, z + j, h, tail, lanes)));
  rows_put(r, mean, q_scale(v4_sums(sum), inv_h));
}

/* z becomes (z - mean) * rstd, for r rows */
PN_INLINE void norm_apply(size_t r, size_t h, float *z, V4 mean, V4 rstd) {
  const M all = v_head(PN_W);
  size_t j = 0;
  for (; j + PN_W <= h; j += PN_W)
    rows_store(r, z + j, h, v4_mul(v4_sub(rows_load(r, z + j, h, 0, all), mean), rstd), 0, all);
  if (j < h) {
    const M lanes = v_head(h - j);
    rows_store(r, z + j, h, v4_mul(v4_sub(rows_load(r, z + j, h, 1, lanes), mean), rstd), 1, lanes);
  }
}

/* Layer norm of m <= PN_NORM_BLOCK rows whose means are known. */
PN_INLINE void norm_finish(size_t m, size_t h, float inv_h, float *z, const float *mean, float *rstd) {
  for (size_t i = 0, r; i < m; i += r) {
    r = m - i < 4 ? 1 : 4;
    const Q squares = r == 4 ? rows_squares(4, h, z + i * h, rows_spread(4, mean + i))
                             : rows_squares(1, h, z + i * h, rows_spread(1, mean + i));
    rows_put(r, rstd + i, q_inv_root(squares, inv_h, PN_NORM_EPS));
  }
  size_t i = 0;
  for (; i + 4 <= m; i += 4) norm_apply(4, h, z + i * h, rows_spread(4, mean + i), rows_spread(4, rstd + i));
  for (; i < m; i++) norm_apply(1, h, z + i * h, rows_spread(1, mean + i), rows_spread(1, rstd + i));
}

PN_KERNEL void norm_forward(size_t m, size_t h, float *z, float *rstd) {
  const float inv_h = 1.0f / (float)h;
  for (size_t first = 0; first < m; first += PN_NORM_BLOCK) {
    const size_t rows = m - first < PN_NORM_BLOCK ? m - first : PN_NORM_BLOCK;
    float mean[PN_NORM_BLOCK], *block = z + first * h;
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) norm_means(4, h, inv_h, block + i * h, mean + i);
    for (; i < rows; i++) norm_means(1, h, inv_h, block + i * h, mean + i);
    norm_finish(rows, h, inv_h, block, mean, rstd + first);
  }
}

/* Columns j .. of r = 1 or 4 rows. */
PN_INLINE void affine_relu_step(size_t r, size_t h, size_t j, const float *xhat, const float *gain, const float *offset,
                                float *v, size_t ldv, int part, M lanes) {
  const V4 g = v4_all(v_load_if(gain + j, part, lanes)), o = v4_all(v_load_if(offset + j, part, lanes));
  const V4 y = v4_fma(g, rows_load(r, xhat + j, h, part, lanes), o);
  rows_store(r, v + j, ldv, v4_max(y, v4_set(0.0f)), part, lanes);
}

PN_INLINE void affine_relu_rows(size_t r, size_t h, const float *xhat, const float *gain, const float *offset, float *v,
                                size_t ldv) {
  const M all = v_head(PN_W);
  size_t j = 0;
  for (; j + PN_W <= h; j += PN_W) affine_relu_step(r, h, j, xhat, gain, offset, v, ldv, 0, all);
  if (j < h) affine_relu_step(r, h, j, xhat, gain, offset, v, ldv, 1, v_head(h - j));
}

PN_KERNEL void affine_relu(size_t m, size_t h, const float *xhat, const float *gain, const float *offset, float *v,
                           size_t ldv) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4) affine_relu_rows(4, h, xhat + i * h, gain, offset, v + i * ldv, ldv);
  for (; i < m; i++) affine_relu_rows(1, h, xhat + i * h, gain, offset, v + i * ldv, ldv);
}

/* What the columns at hand share between rows. */
typedef struct {
  V gain, offset, dgain, doffset;
} norm_columns;

/* One row at the columns at hand: dv becomes g; the sums along the row and down the columns grow. */
PN_INLINE void norm_back_gain(const float *xhat, float *dv, norm_columns *col, V *sum_g, V *sum_gx, int part, M lanes) {
  const V x = v_load_if(xhat, part, lanes);
  const M passed = v_less(v_set(0.0f), v_fma(col->gain, x, col->offset));
  const V dy = v_keep(passed, v_load_if(dv, part, lanes));
  const V g = v_mul(dy, col->gain);
  col->dgain = v_fma(dy, x, col->dgain);
  col->doffset = v_add(col->doffset, dy);
  *sum_g = v_add(*sum_g, g);
  *sum_gx = v_fma(g, x, *sum_gx);
  v_store_if(dv, g, part, lanes);
}

/* What the way back reads and writes beside its sums along the rows. */
typedef struct {
  size_t h;
  const float *xhat;          /* of the rows at hand */
  const float *gain, *offset; /* [h] */
  float *dv;
  float *dgain, *doffset; /* [h] */
} norm_back;

/* Columns j .. of r = 1 or 4 rows; along them grow the sums of g, the gradient at xhat, and of g * xhat. */
PN_INLINE void norm_back_step(size_t r, const norm_back *at, size_t j, V4 *g, V4 *gx, int part, M lanes) {
  const size_t h = at->h;
  const float *x = at->xhat + j;
  float *dv = at->dv + j, *dgain = at->dgain + j, *doffset = at->doffset + j;
  norm_columns col = {v_load_if(at->gain + j, part, lanes), v_load_if(at->offset + j, part, lanes),
                      v_load_if(dgain, part, lanes), v_load_if(doffset, part, lanes)};
  norm_back_gain(x, dv, &col, &g->a, &gx->a, part, lanes);
  if (r == 4) {
    norm_back_gain(x + h, dv + h, &col, &g->b, &gx->b, part, lanes);
    norm_back_gain(x + 2 * h, dv + 2 * h, &col, &g->c, &gx->c, part, lanes);
    norm_back_gain(x + 3 * h, dv + 3 * h, &col, &g->d, &gx->d, part, lanes);
  }
  v_store_if(dgain, col.dgain, part, lanes);
  v_store_if(doffset, col.doffset, part, lanes);
}

/* r = 1 or 4 rows: g into dv, the sums along the rows into sum_g and sum_gx */
PN_INLINE void norm_back_rows(size_t r, const norm_back *at, float *sum_g, float *sum_gx) {
  const size_t h = at->h;
  V4 g[PN_PARTS], gx[PN_PARTS];
  v4_clear(g);
  v4_clear(gx);
  PN_WALK(h, norm_back_step(r, at, j, g + q, gx + q, tail, lanes));
  rows_put(r, sum_g, v4_sums(g));
  rows_put(r, sum_gx, v4_sums(gx));
}

/* dz = scale * (g - mean(g) - xhat * mean(g * xhat)) for one row, g given in dz */
PN_INLINE void norm_back_row(size_t h, float inv_h, const float *xhat, float scale, float sum_g, float sum_gx,
                             float *dz) {
  const V factor = v_set(scale), shift = v_set(scale * (sum_g * inv_h)), slope = v_set(scale * (sum_gx * inv_h));
  size_t j = 0;
  for (; j + PN_W <= h; j += PN_W) {
    const V centred = v_fms(v_load(dz + j), factor, shift);
    v_store(dz + j, v_fnma(v_load(xhat + j), slope, centred));
  }
  if (j < h) {
    const M lanes = v_head(h - j);
    const V centred = v_fms(v_load_part(dz + j, lanes), factor, shift);
    v_store_part(dz + j, v_fnma(v_load_part(xhat + j, lanes), slope, centred), lanes);
  }
}

PN_KERNEL void relu_norm_backward(size_t m, size_t h, const float *xhat, const float *rstd, const float *gain,
                                  const float *offset, float *dv, float *dgain, float *doffset) {
  const float inv_h = 1.0f / (float)h;
  for (size_t first = 0; first < m; first += PN_NORM_BLOCK) {
    const size_t rows = m - first < PN_NORM_BLOCK ? m - first : PN_NORM_BLOCK;
    const float *x = xhat + first * h;
    float sum_g[PN_NORM_BLOCK], sum_gx[PN_NORM_BLOCK], *dz = dv + first * h;
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      const norm_back four = {h, x + i * h, gain, offset, dz + i * h, dgain, doffset};
      norm_back_rows(4, &four, sum_g + i, sum_gx + i);
    }
    for (; i < rows; i++) {
      const norm_back one = {h, x + i * h, gain, offset, dz + i * h, dgain, doffset};
      norm_back_rows(1, &one, sum_g + i, sum_gx + i);
    }
    for (i = 0; i < rows; i++) norm_back_row(h, inv_h, x + i * h, rstd[first + i], sum_g[i], sum_gx[i], dz + i * h);
  }
}
