/* Prototype activation, forward and backward, a vector of values at a time and four prototypes in step.
 *
 * With d_j = |x - center_j| and d = min_j d_j, the softmax weights are e_j / sum e with
 * e_j = 2^((d - d_j) (d + d_j) inv_temp log2(e)): the difference of squares as a product, because at low temperature
 * the factor inv_temp would magnify the rounding of the squares. For the same reason the backward pass measures every
 * line f_j = slope_j x + intercept_j from the line of the nearest prototype.
 */

/* The prototypes of one feature and what the temperature makes of distances. */
typedef struct {
  size_t t;
  const float *center, *slope, *intercept;
  V scale;    /* inv_temp * log2(e) */
  int sparse; /* so cold that most weights vanish: it pays to look before computing them */
} prototypes;

PN_INLINE prototypes proto_view(size_t t, const float *center, const float *slope, const float *intercept,
                                float inv_temp) {
  const float scale = inv_temp * 1.44269504f;
  /* infinity times the nearest prototype's zero would be NaN */
  return (prototypes){t, center, slope, intercept, v_set(scale < 3.0e38f ? scale : 3.0e38f), inv_temp > 300.0f};
}

PN_INLINE V proto_distance(const prototypes *proto, size_t j, V x) {
  return v_abs(v_sub(x, v_set(proto->center[j])));
}
PN_INLINE V4 proto_distance4(const prototypes *proto, size_t j, V x) {
  return v4_abs(v4_sub(v4_all(x), v4_spread(proto->center + j)));
}
PN_INLINE V proto_line(const prototypes *proto, size_t j, V x) {
  return v_fma(v_set(proto->slope[j]), x, v_set(proto->intercept[j]));
}
PN_INLINE V4 proto_line4(const prototypes *proto, size_t j, V x) {
  return v4_fma(v4_spread(proto->slope + j), v4_all(x), v4_spread(proto->intercept + j));
}

PN_INLINE V proto_nearest(const prototypes *proto, V x) {
  V nearest = proto_distance(proto, 0, x);
  size_t j = 0;
  for (; j + 4 <= proto->t; j += 4) nearest = v_min(v4_least(proto_distance4(proto, j, x)), nearest);
  for (; j < proto->t; j++) nearest = v_min(proto_distance(proto, j, x), nearest);
  return nearest;
}

/* log2 of e_j for four distances d_j, given the least one */
PN_INLINE V4 proto_log2(const prototypes *proto, V4 d, V nearest) {
  const V4 sum = v4_fma(d, v4_all(proto->scale), v4_all(v_mul(nearest, proto->scale)));
  return v4_mul(v4_sub(v4_all(nearest), d), sum);
}

/* whether any of the weights with these logarithms is above zero */
PN_INLINE int proto_alive(const prototypes *proto, V4 log2) {
  return !proto->sparse || v_any(v_less(v_set(PN_EXP2_BOTTOM), v4_greatest(log2)));
}

/* e_j of one prototype */
PN_INLINE V proto_weight(const prototypes *proto, size_t j, V x, V nearest) {
  return v4_exp2(proto_log2(proto, v4_all(proto_distance(proto, j, x)), nearest)).a;
}

PN_INLINE V proto_soft(const prototypes *proto, V x) {
  const V nearest = proto_nearest(proto, x);
  V sum = v_set(0.0f), out = sum;
  size_t j = 0;
  for (; j + 4 <= proto->t; j += 4) {
    const V4 log2 = proto_log2(proto, proto_distance4(proto, j, x), nearest);
    if (!proto_alive(proto, log2)) continue;
    const V4 e = v4_exp2(log2);
    sum = v_add(sum, v4_sum(e));
    out = v_add(out, v4_dot(e, proto_line4(proto, j, x)));
  }
  for (; j < proto->t; j++) {
    const V e = proto_weight(proto, j, x, nearest);
    sum = v_add(sum, e);
    out = v_fma(e, proto_line(proto, j, x), out);
  }
  return v_div(out, sum);
}

/* The limit of low temperature: the mean over the prototypes at exactly the least distance. */
PN_INLINE V proto_hard(const prototypes *proto, V x) {
  const V nearest = proto_nearest(proto, x);
  V count = v_set(0.0f), out = count;
  for (size_t j = 0; j < proto->t; j++) {
    const M acts = v_equal(proto_distance(proto, j, x), nearest);
    count = v_add(count, v_keep(acts, v_set(1.0f)));
    out = v_add(out, v_keep(acts, proto_line(proto, j, x)));
  }
  return v_div(out, count);
}

PN_KERNEL void proto_forward(size_t n, size_t t, const float *x, const float *center, const float *slope,
                             const float *intercept, float inv_temp, float *out, size_t ldo) {
  const prototypes proto = proto_view(t, center, slope, intercept, inv_temp);
  const int hard = !(inv_temp <= 3.402823466e38f);
  for (size_t i = 0; i < n; i += PN_W) {
    const size_t count = n - i < PN_W ? n - i : PN_W;
    const V value = v_load_part(x + i, v_head(count));
    float result[PN_W];
    v_store(result, hard ? proto_hard(&proto, value) : proto_soft(&proto, value));
    for (size_t l = 0; l < count; l++) out[(i + l) * ldo] = result[l];
  }
}

#define PN_PROTO_BLOCK 128 /* most values the backward pass takes at once, a multiple of PN_LANES */
#define PN_PROTO_KEEP 4096 /* weights e_j it keeps for them; with more prototypes it computes them again */

/* What the backward pass knows of each value of a block; lanes beyond the block's values have weight 0. */
typedef struct {
  size_t n; /* values and padding, a multiple of PN_LANES */
  int kept; /* whether e holds the weights */
  float x[PN_PROTO_BLOCK];
  float nearest[PN_PROTO_BLOCK];
  float line[PN_PROTO_BLOCK];   /* the nearest prototype's line at x */
  float mean[PN_PROTO_BLOCK];   /* sum_j p_j f_j - line */
  float weight[PN_PROTO_BLOCK]; /* dout / sum_j e_j */
  float e[PN_PROTO_KEEP];       /* [t x n] */
} proto_block;

/* Values per block: as many as the kept weights allow. */
PN_INLINE size_t proto_block_size(size_t t) {
  const size_t fit = PN_PROTO_KEEP / t / PN_LANES * PN_LANES;
  return fit == 0 || fit > PN_PROTO_BLOCK ? PN_PROTO_BLOCK : fit;
}

PN_INLINE void proto_block_keep(proto_block *block, size_t j, size_t i, V e) {
  if (block->kept) v_store(block->e + j * block->n + i, e);
}
PN_INLINE void proto_block_keep4(proto_block *block, size_t j, size_t i, V4 e) {
  proto_block_keep(block, j, i, e.a);
  proto_block_keep(block, j + 1, i, e.b);
  proto_block_keep(block, j + 2, i, e.c);
  proto_block_keep(block, j + 3, i, e.d);
}

/* Distance to the nearest prototype and its line, for the values at i. */
PN_INLINE void proto_block_nearest(proto_block *block, size_t i, const prototypes *proto) {
  const V x = v_load(block->x + i);
  V nearest = proto_distance(proto, 0, x), line = proto_line(proto, 0, x);
  for (size_t j = 1; j < proto->t; j++) {
    const V d = proto_distance(proto, j, x);
    line = v_select(v_less(d, nearest), proto_line(proto, j, x), line);
    nearest = v_min(d, nearest);
  }
  v_store(block->nearest + i, nearest);
  v_store(block->line + i, line);
}

/* Weights of the prototypes, their mean line, and dout / sum e (given dout), for the values at i. */
PN_INLINE void proto_block_sums(proto_block *block, size_t i, const prototypes *proto) {
  const V x = v_load(block->x + i), nearest = v_load(block->nearest + i), line = v_load(block->line + i);
  V sum = v_set(0.0f), mean = sum;
  size_t j = 0;
  for (; j + 4 <= proto->t; j += 4) {
    const V4 log2 = proto_log2(proto, proto_distance4(proto, j, x), nearest);
    if (!proto_alive(proto, log2)) {
      proto_block_keep4(block, j, i, v4_set(0.0f));
      continue;
    }
    const V4 e = v4_exp2(log2);
    sum = v_add(sum, v4_sum(e));
    mean = v_add(mean, v4_dot(e, v4_sub(proto_line4(proto, j, x), v4_all(line))));
    proto_block_keep4(block, j, i, e);
  }
  for (; j < proto->t; j++) {
    const V e = proto_weight(proto, j, x, nearest);
    sum = v_add(sum, e);
    mean = v_fma(e, v_sub(proto_line(proto, j, x), line), mean);
    proto_block_keep(block, j, i, e);
  }
  v_store(block->mean + i, v_div(mean, sum));
  v_store(block->weight + i, v_div(v_load(block->weight + i), sum));
}

/* The values at i: the sums of prototype j's gradient grow, those of the center (a), the slope (b), the intercept (c). */
PN_INLINE void proto_gradient_step(const proto_block *block, size_t i, size_t j, const prototypes *proto, int kept,
                                   V4 *sum) {
  const V x = v_load(block->x + i);
  const V e = kept ? v_load(block->e + j * block->n + i) : proto_weight(proto, j, x, v_load(block->nearest + i));
  if (proto->sparse && !v_any(v_less(v_set(0.0f), e))) return;
  const V w = v_mul(v_load(block->weight + i), e);
  const V excess = v_sub(v_sub(proto_line(proto, j, x), v_load(block->line + i)), v_load(block->mean + i));
  sum->a = v_fma(v_mul(w, excess), v_sub(x, v_set(proto->center[j])), sum->a);
  sum->b = v_fma(w, x, sum->b);
  sum->c = v_add(sum->c, w);
}

/* The block's part of prototype j's gradient: sums[3] = center (without 2 inv_temp), slope, intercept. */
PN_INLINE void proto_block_gradient(const proto_block *block, size_t j, const prototypes *proto, int kept,
                                    float *sums) {
  V4 sum[PN_PARTS];
  v4_clear(sum);
  for (size_t first = 0; first < block->n; first += PN_LANES) {
    PN_EACH_PART(proto_gradient_step(block, first + q * PN_W, j, proto, kept, sum + q));
  }
  q_store(sums, v4_sums(sum));
}

PN_KERNEL void proto_backward(size_t n, size_t t, const float *x, const float *center, const float *slope,
                              const float *intercept, float inv_temp, const float *dout, size_t ldd, float *dcenter,
                              float *dslope, float *dintercept) {
  const prototypes proto = proto_view(t, center, slope, intercept, inv_temp);
  const size_t step = proto_block_size(t);
  proto_block block;
  block.kept = t * step <= PN_PROTO_KEEP;
  for (size_t first = 0; first < n; first += step) {
    const size_t count = n - first < step ? n - first : step;
    block.n = (count + PN_LANES - 1) / PN_LANES * PN_LANES;
    for (size_t i = 0; i < block.n; i++) {
      block.x[i] = i < count ? x[first + i] : x[first];
      block.weight[i] = i < count ? dout[(first + i) * ldd] : 0.0f;
    }
    for (size_t i = 0; i < block.n; i += PN_W) {
      proto_block_nearest(&block, i, &proto);
      proto_block_sums(&block, i, &proto);
    }
    for (size_t j = 0; j < t; j++) {
      float sums[4];
      if (block.kept)
        proto_block_gradient(&block, j, &proto, 1, sums);
      else
        proto_block_gradient(&block, j, &proto, 0, sums);
      dcenter[j] = f_fma(sums[0], 2.0f * inv_temp, dcenter[j]);
      dslope[j] += sums[1];
      dintercept[j] += sums[2];
    }
  }
}
