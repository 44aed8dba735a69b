/* Layer norm, gain and relu, forward and backward.
 *
 * Rows are independent, so the processor overlaps them by itself; sums along a row run in four chains to hide the
 * latency of addition.
 */

#define PN_NORM_EPS 1e-5f

/* sum of a row of length h */
PN_INLINE float row_sum(size_t h, const float *z) {
  V s0 = v_set(0.0f), s1 = s0, s2 = s0, s3 = s0;
  size_t j = 0;
  for (; j + 4 * PN_W <= h; j += 4 * PN_W) {
    s0 = v_add(s0, v_load(z + j));
    s1 = v_add(s1, v_load(z + j + PN_W));
    s2 = v_add(s2, v_load(z + j + 2 * PN_W));
    s3 = v_add(s3, v_load(z + j + 3 * PN_W));
  }
  for (; j + PN_W <= h; j += PN_W) s0 = v_add(s0, v_load(z + j));
  if (j < h) s1 = v_add(s1, v_load_part(z + j, v_head(h - j)));
  return v_sum(v_add(v_add(s0, s1), v_add(s2, s3)));
}

/* s + (z - mean)^2 */
PN_INLINE V square_about(V z, V mean, V s) {
  const V d = v_sub(z, mean);
  return v_fma(d, d, s);
}

/* sum of squares about the mean of a row of length h */
PN_INLINE float row_squares(size_t h, const float *z, V mean) {
  V s0 = v_set(0.0f), s1 = s0, s2 = s0, s3 = s0;
  size_t j = 0;
  for (; j + 4 * PN_W <= h; j += 4 * PN_W) {
    s0 = square_about(v_load(z + j), mean, s0);
    s1 = square_about(v_load(z + j + PN_W), mean, s1);
    s2 = square_about(v_load(z + j + 2 * PN_W), mean, s2);
    s3 = square_about(v_load(z + j + 3 * PN_W), mean, s3);
  }
  for (; j + PN_W <= h; j += PN_W) s0 = square_about(v_load(z + j), mean, s0);
  if (j < h) {
    const M lanes = v_head(h - j);
    const V d = v_keep(lanes, v_sub(v_load_part(z + j, lanes), mean));
    s1 = v_fma(d, d, s1);
  }
  return v_sum(v_add(v_add(s0, s1), v_add(s2, s3)));
}

PN_KERNEL void norm_forward(size_t m, size_t h, float *z, float *rstd) {
  const float inv_h = 1.0f / (float)h;
  for (size_t i = 0; i < m; i++, z += h) {
    const V mean = v_set(row_sum(h, z) * inv_h);
    const V var = v_set(row_squares(h, z, mean) * inv_h + PN_NORM_EPS);
    const V scale = v_div(v_set(1.0f), v_sqrt(var));
    size_t j = 0;
    for (; j + PN_W <= h; j += PN_W) v_store(z + j, v_mul(v_sub(v_load(z + j), mean), scale));
    if (j < h) {
      const M lanes = v_head(h - j);
      v_store_part(z + j, v_mul(v_sub(v_load_part(z + j, lanes), mean), scale), lanes);
    }
    rstd[i] = v_first(scale);
  }
}

/* Columns j .. of r = 1 or 4 rows, so that gain and offset are read once for all of them. */
PN_INLINE void affine_relu_step(size_t r, size_t h, size_t j, const float *xhat, const float *gain, const float *offset,
                                float *v, size_t ldv, int part, M lanes) {
  const V g = v_load_if(gain + j, part, lanes), o = v_load_if(offset + j, part, lanes);
  for (size_t i = 0; i < r; i++) {
    const V x = v_load_if(xhat + i * h + j, part, lanes);
    v_store_if(v + i * ldv + j, v_max(v_fma(g, x, o), v_set(0.0f)), part, lanes);
  }
}

PN_KERNEL void affine_relu(size_t m, size_t h, const float *xhat, const float *gain, const float *offset, float *v,
                           size_t ldv) {
  const M all = v_head(PN_W);
  for (size_t i = 0, r; i < m; i += r, xhat += r * h, v += r * ldv) {
    r = m - i < 4 ? 1 : 4;
    size_t j = 0;
    for (; j + PN_W <= h; j += PN_W) affine_relu_step(r, h, j, xhat, gain, offset, v, ldv, 0, all);
    if (j < h) affine_relu_step(r, h, j, xhat, gain, offset, v, ldv, 1, v_head(h - j));
  }
}

/* sums a backward pass keeps along one row: of g and of g * xhat, where g = gain * dy */
typedef struct {
  V g, gx;
} norm_sums;

/* What the columns at hand share between rows. */
typedef struct {
  V gain, offset, dgain, doffset;
} norm_columns;

/* One row at the columns at hand: dv becomes g; the sums along the row and down the columns grow. */
PN_INLINE void norm_back_gain(const float *xhat, float *dv, norm_columns *col, norm_sums *sum, int part, M lanes) {
  const V x = v_load_if(xhat, part, lanes);
  const M passed = v_less(v_set(0.0f), v_fma(col->gain, x, col->offset));
  const V dy = v_keep(passed, v_load_if(dv, part, lanes));
  const V g = v_mul(dy, col->gain);
  col->dgain = v_fma(dy, x, col->dgain);
  col->doffset = v_add(col->doffset, dy);
  sum->g = v_add(sum->g, g);
  sum->gx = v_fma(g, x, sum->gx);
  v_store_if(dv, g, part, lanes);
}

/* Columns j .. of r = 1 or 4 rows. */
PN_INLINE void norm_back_step(size_t r, size_t h, size_t j, const float *xhat, const float *gain, const float *offset,
                              float *dv, float *dgain, float *doffset, norm_sums *s0, norm_sums *s1, norm_sums *s2,
                              norm_sums *s3, int part, M lanes) {
  norm_columns col = {v_load_if(gain + j, part, lanes), v_load_if(offset + j, part, lanes),
                      v_load_if(dgain + j, part, lanes), v_load_if(doffset + j, part, lanes)};
  norm_back_gain(xhat + j, dv + j, &col, s0, part, lanes);
  if (r == 4) {
    norm_back_gain(xhat + h + j, dv + h + j, &col, s1, part, lanes);
    norm_back_gain(xhat + 2 * h + j, dv + 2 * h + j, &col, s2, part, lanes);
    norm_back_gain(xhat + 3 * h + j, dv + 3 * h + j, &col, s3, part, lanes);
  }
  v_store_if(dgain + j, col.dgain, part, lanes);
  v_store_if(doffset + j, col.doffset, part, lanes);
}

/* dz = rstd * (g - mean(g) - xhat * mean(g * xhat)), g given in dv */
PN_INLINE void norm_back_row(size_t h, const float *xhat, float rstd, float sum_g, float sum_gx, float *dv) {
  const float inv_h = 1.0f / (float)h;
  const V scale = v_set(rstd), shift = v_set(rstd * (sum_g * inv_h)), slope = v_set(rstd * (sum_gx * inv_h));
  size_t j = 0;
  for (; j + PN_W <= h; j += PN_W) {
    const V centred = v_sub(v_mul(v_load(dv + j), scale), shift);
    v_store(dv + j, v_fnma(v_load(xhat + j), slope, centred));
  }
  if (j < h) {
    const M lanes = v_head(h - j);
    const V centred = v_sub(v_mul(v_load_part(dv + j, lanes), scale), shift);
    v_store_part(dv + j, v_fnma(v_load_part(xhat + j, lanes), slope, centred), lanes);
  }
}

/* r = 1 or 4 rows */
PN_INLINE void norm_back_rows(size_t r, size_t h, const float *xhat, const float *rstd, const float *gain,
                              const float *offset, float *dv, float *dgain, float *doffset) {
  const norm_sums zero = {v_set(0.0f), v_set(0.0f)};
  norm_sums s0 = zero, s1 = zero, s2 = zero, s3 = zero;
  float sum_g[4], sum_gx[4];
  const M all = v_head(PN_W);
  size_t j = 0;
  for (; j + PN_W <= h; j += PN_W)
    norm_back_step(r, h, j, xhat, gain, offset, dv, dgain, doffset, &s0, &s1, &s2, &s3, 0, all);
  if (j < h)
    norm_back_step(r, h, j, xhat, gain, offset, dv, dgain, doffset, &s0, &s1, &s2, &s3, 1, v_head(h - j));
  v_sum4(s0.g, s1.g, s2.g, s3.g, sum_g);
  v_sum4(s0.gx, s1.gx, s2.gx, s3.gx, sum_gx);
  for (size_t i = 0; i < r; i++) norm_back_row(h, xhat + i * h, rstd[i], sum_g[i], sum_gx[i], dv + i * h);
}

PN_KERNEL void relu_norm_backward(size_t m, size_t h, const float *xhat, const float *rstd, const float *gain,
                                  const float *offset, float *dv, float *dgain, float *doffset) {
  size_t i = 0;
  for (; i + 4 <= m; i += 4) norm_back_rows(4, h, xhat + i * h, rstd + i, gain, offset, dv + i * h, dgain, doffset);
  for (; i < m; i++) norm_back_rows(1, h, xhat + i * h, rstd + i, gain, offset, dv + i * h, dgain, doffset);
}
