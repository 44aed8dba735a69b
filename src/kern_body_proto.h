/* Prototype activation, forward and backward, a vector of values at a time.
 *
 * With d_j = |x - center_j| and d = min_j d_j, the softmax weights are e_j / sum e with
 * e_j = 2^((d - d_j) (d + d_j) inv_temp log2(e)): the difference of squares as a product, because at low temperature
 * the factor inv_temp would magnify the rounding of the squares. For the same reason the backward pass measures every
 * line f_j = slope_j x + intercept_j from the line of the nearest prototype.
 */

/* 2^z for z <= 0, within 1 ulp; 0 below -126. z = n + r with n an integer, 2^r by a minimax polynomial on
 * [-1/2, 1/2] (relative error 2e-9). */
PN_INLINE V v_exp2(V z) {
  const V bottom = v_set(-126.0f), round = v_set(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer */
  const M dead = v_less(z, bottom);
  const V biased = v_add(v_max(z, bottom), round);
  const V r = v_sub(v_max(z, bottom), v_sub(biased, round));
  V q = v_set(1.535336192e-04f);
  q = v_fma(q, r, v_set(1.339887441e-03f));
  q = v_fma(q, r, v_set(9.618437358e-03f));
  q = v_fma(q, r, v_set(5.550332471e-02f));
  q = v_fma(q, r, v_set(2.402264791e-01f));
  q = v_fma(q, r, v_set(6.931472029e-01f));
  q = v_fma(q, r, v_set(1.0f));
  return v_select(dead, v_set(0.0f), v_scale2(q, biased));
}

/* e_j, given x - center_j, the least distance and inv_temp * log2(e) */
PN_INLINE V proto_weight(V offset, V nearest, V scale) {
  const V d = v_abs(offset);
  return v_exp2(v_mul(v_mul(v_sub(nearest, d), v_add(nearest, d)), scale));
}

PN_INLINE V proto_nearest(size_t t, V x, const float *center) {
  V nearest = v_abs(v_sub(x, v_set(center[0])));
  for (size_t j = 1; j < t; j++) nearest = v_min(v_abs(v_sub(x, v_set(center[j]))), nearest);
  return nearest;
}

PN_INLINE float proto_scale(float inv_temp) {
  const float scale = inv_temp * 1.44269504f;
  return scale < 3.0e38f ? scale : 3.0e38f; /* infinity times the nearest prototype's zero would be NaN */
}

PN_INLINE V proto_soft(size_t t, V x, const float *center, const float *slope, const float *intercept, V scale) {
  const V nearest = proto_nearest(t, x, center);
  V sum = v_set(0.0f), out = sum;
  for (size_t j = 0; j < t; j++) {
    const V e = proto_weight(v_sub(x, v_set(center[j])), nearest, scale);
    sum = v_add(sum, e);
    out = v_fma(e, v_fma(v_set(slope[j]), x, v_set(intercept[j])), out);
  }
  return v_div(out, sum);
}

/* The limit of low temperature: the mean over the prototypes at exactly the least distance. */
PN_INLINE V proto_hard(size_t t, V x, const float *center, const float *slope, const float *intercept) {
  const V nearest = proto_nearest(t, x, center);
  V count = v_set(0.0f), out = count;
  for (size_t j = 0; j < t; j++) {
    const M acts = v_equal(v_abs(v_sub(x, v_set(center[j]))), nearest);
    count = v_add(count, v_keep(acts, v_set(1.0f)));
    out = v_add(out, v_keep(acts, v_fma(v_set(slope[j]), x, v_set(intercept[j]))));
  }
  return v_div(out, count);
}

PN_KERNEL void proto_forward(size_t n, size_t t, const float *x, const float *center, const float *slope,
                             const float *intercept, float inv_temp, float *out, size_t ldo) {
  const V scale = v_set(proto_scale(inv_temp));
  const int hard = !(inv_temp <= 3.402823466e38f);
  for (size_t i = 0; i < n; i += PN_W) {
    const size_t count = n - i < PN_W ? n - i : PN_W;
    const V value = v_load_part(x + i, v_head(count));
    float result[PN_W];
    v_store(result, hard ? proto_hard(t, value, center, slope, intercept)
                         : proto_soft(t, value, center, slope, intercept, scale));
    for (size_t l = 0; l < count; l++) out[(i + l) * ldo] = result[l];
  }
}

#define PN_PROTO_BLOCK 128 /* values per block of the backward pass; a multiple of every PN_W */

/* What the backward pass knows of each value of a block; lanes beyond the block's values have weight 0. */
typedef struct {
  float x[PN_PROTO_BLOCK];
  float nearest[PN_PROTO_BLOCK];
  float line[PN_PROTO_BLOCK];   /* the nearest prototype's line at x */
  float mean[PN_PROTO_BLOCK];   /* sum_j p_j f_j - line */
  float weight[PN_PROTO_BLOCK]; /* dout / sum_j e_j */
} proto_block;

/* Fills in line, mean and weight (given as dout) for the values at i. */
PN_INLINE void proto_block_sums(proto_block *block, size_t i, size_t t, const float *center, const float *slope,
                                const float *intercept, V scale) {
  const V x = v_load(block->x + i);
  V nearest = v_abs(v_sub(x, v_set(center[0])));
  V line = v_fma(v_set(slope[0]), x, v_set(intercept[0]));
  for (size_t j = 1; j < t; j++) {
    const V d = v_abs(v_sub(x, v_set(center[j])));
    const M closer = v_less(d, nearest);
    line = v_select(closer, v_fma(v_set(slope[j]), x, v_set(intercept[j])), line);
    nearest = v_min(d, nearest);
  }
  V sum = v_set(0.0f), mean = sum;
  for (size_t j = 0; j < t; j++) {
    const V e = proto_weight(v_sub(x, v_set(center[j])), nearest, scale);
    sum = v_add(sum, e);
    mean = v_fma(e, v_sub(v_fma(v_set(slope[j]), x, v_set(intercept[j])), line), mean);
  }
  v_store(block->nearest + i, nearest);
  v_store(block->line + i, line);
  v_store(block->mean + i, v_div(mean, sum));
  v_store(block->weight + i, v_div(v_load(block->weight + i), sum));
}

PN_KERNEL void proto_backward(size_t n, size_t t, const float *x, const float *center, const float *slope,
                              const float *intercept, float inv_temp, const float *dout, size_t ldd, float *dcenter,
                              float *dslope, float *dintercept) {
  const V scale = v_set(proto_scale(inv_temp));
  for (size_t first = 0; first < n; first += PN_PROTO_BLOCK) {
    const size_t count = n - first < PN_PROTO_BLOCK ? n - first : PN_PROTO_BLOCK;
    const size_t padded = (count + PN_W - 1) / PN_W * PN_W;
    proto_block block;
    for (size_t i = 0; i < padded; i++) {
      block.x[i] = i < count ? x[first + i] : x[first];
      block.weight[i] = i < count ? dout[(first + i) * ldd] : 0.0f;
    }
    for (size_t i = 0; i < padded; i += PN_W) proto_block_sums(&block, i, t, center, slope, intercept, scale);
    for (size_t j = 0; j < t; j++) {
      const V c = v_set(center[j]), a = v_set(slope[j]), b = v_set(intercept[j]);
      V dc = v_set(0.0f), da = dc, db = dc;
      float sums[4];
      for (size_t i = 0; i < padded; i += PN_W) {
        const V value = v_load(block.x + i), offset = v_sub(value, c);
        const V w = v_mul(v_load(block.weight + i), proto_weight(offset, v_load(block.nearest + i), scale));
        const V excess = v_sub(v_sub(v_fma(a, value, b), v_load(block.line + i)), v_load(block.mean + i));
        db = v_add(db, w);
        da = v_fma(w, value, da);
        dc = v_fma(v_mul(w, excess), offset, dc);
      }
      v_sum4(dc, da, db, db, sums);
      dcenter[j] += sums[0] * (2.0f * inv_temp);
      dslope[j] += sums[1];
      dintercept[j] += sums[2];
    }
  }
}
