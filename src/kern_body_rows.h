/* Plain work on rows: dot products, sums, transpose, dropout, and the AdamW step. */

/* s + a w, at columns j .. */
PN_INLINE V dot_step(const float *a, const float *w, size_t j, V s) {
  return v_fma(v_load(a + j), v_load(w + j), s);
}
PN_INLINE V4 dot_step4(const float *a, const float *w, size_t j, V4 s) {
  return (V4){dot_step(a, w, j, s.a), dot_step(a, w, j + PN_LANES, s.b), dot_step(a, w, j + 2 * PN_LANES, s.c),
              dot_step(a, w, j + 3 * PN_LANES, s.d)};
}
/* the same where only k columns exist */
PN_INLINE V dot_last(const float *a, const float *w, size_t j, size_t k, V s) {
  if (j >= k) return s;
  const M lanes = v_head(k - j < PN_W ? k - j : PN_W);
  return v_fma(v_load_part(a + j, lanes), v_load_part(w + j, lanes), s);
}

/* Four vectors in turn, for a single chain of sums would wait at every step. */
PN_INLINE float row_dot(size_t k, const float *a, const float *w) {
  V4 s[PN_PARTS];
  V sum[PN_PARTS];
  v4_clear(s);
  size_t j = 0;
  for (; j + 4 * PN_LANES <= k; j += 4 * PN_LANES) PN_EACH_PART(s[q] = dot_step4(a, w, j + q * PN_W, s[q]));
  for (; j + PN_LANES <= k; j += PN_LANES) PN_EACH_PART(s[q].a = dot_step(a, w, j + q * PN_W, s[q].a));
  PN_EACH_PART(s[q].b = dot_last(a, w, j + q * PN_W, k, s[q].b));
  PN_EACH_PART(sum[q] = v4_sum(s[q]));
  return v_total(sum);
}

PN_KERNEL void row_dots(size_t m, size_t k, const float *a, size_t lda, const float *w, float *out, size_t ldo) {
  for (size_t i = 0; i < m; i++) out[i * ldo] = row_dot(k, a + i * lda, w);
}

/* Where the rows of a sum stand: at member[q] when `member` is given, else one after the other. */
PN_INLINE const float *summand(const float *from, size_t ld, const uint32_t *member, size_t q) {
  return from + (member ? member[q] : q) * ld;
}

/* sum over q in first .. end - 1 of one vector of the rows */
PN_INLINE V rows_sum(size_t first, size_t end, const float *from, size_t ld, const uint32_t *member, int part,
                     M lanes) {
  V s = v_set(0.0f);
  for (size_t q = first; q < end; q++) s = v_add(s, v_load_if(summand(from, ld, member, q), part, lanes));
  return s;
}

/* out[j] = or += (when `add`) sum of the rows first .. end - 1, for n columns; four vectors at a time */
PN_INLINE void sum_rows(size_t n, size_t first, size_t end, const float *from, size_t ld, const uint32_t *member,
                        float *out, int add) {
  const M all = v_head(PN_W);
  size_t j = 0;
  for (; j + 4 * PN_W <= n; j += 4 * PN_W) {
    V s0 = v_set(0.0f), s1 = s0, s2 = s0, s3 = s0;
    for (size_t q = first; q < end; q++) {
      const float *row = summand(from, ld, member, q) + j;
      s0 = v_add(s0, v_load(row));
      s1 = v_add(s1, v_load(row + PN_W));
      s2 = v_add(s2, v_load(row + 2 * PN_W));
      s3 = v_add(s3, v_load(row + 3 * PN_W));
    }
    v_store(out + j, add ? v_add(v_load(out + j), s0) : s0);
    v_store(out + j + PN_W, add ? v_add(v_load(out + j + PN_W), s1) : s1);
    v_store(out + j + 2 * PN_W, add ? v_add(v_load(out + j + 2 * PN_W), s2) : s2);
    v_store(out + j + 3 * PN_W, add ? v_add(v_load(out + j + 3 * PN_W), s3) : s3);
  }
  for (; j + PN_W <= n; j += PN_W) {
    const V s = rows_sum(first, end, from + j, ld, member, 0, all);
    v_store(out + j, add ? v_add(v_load(out + j), s) : s);
  }
  if (j < n) {
    const M lanes = v_head(n - j);
    const V s = rows_sum(first, end, from + j, ld, member, 1, lanes);
    v_store_part(out + j, add ? v_add(v_load_part(out + j, lanes), s) : s, lanes);
  }
}

PN_KERNEL void column_sums(size_t m, size_t n, const float *a, size_t lda, float *out) {
  sum_rows(n, 0, m, a, lda, NULL, out, 1);
}

PN_KERNEL void segment_sum(size_t n, size_t h, const uint32_t *start, const uint32_t *member, const float *from,
                           size_t ldf, float *out) {
  for (size_t c = 0; c < n; c++) sum_rows(h, start[c], start[c + 1], from, ldf, member, out + c * h, 0);
}

PN_KERNEL void transpose(size_t rows, size_t cols, const float *from, size_t ld_from, float *to, size_t ld_to) {
  const size_t whole_rows = rows - rows % PN_BLOCK, whole_cols = cols - cols % PN_BLOCK;
  for (size_t i = 0; i < whole_rows; i += PN_BLOCK)
    for (size_t j = 0; j < whole_cols; j += PN_BLOCK)
      v_transpose_block(from + i * ld_from + j, ld_from, to + j * ld_to + i, ld_to);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = i < whole_rows ? whole_cols : 0; j < cols; j++) to[j * ld_to + i] = from[i * ld_from + j];
}

PN_KERNEL void add_rows(size_t m, size_t h, const float *from, float *to, size_t ldt) {
  for (size_t r = 0; r < m; r++, from += h, to += ldt) {
    size_t j = 0;
    for (; j + PN_W <= h; j += PN_W) v_store(to + j, v_add(v_load(to + j), v_load(from + j)));
    if (j < h) {
      const M lanes = v_head(h - j);
      v_store_part(to + j, v_add(v_load_part(to + j, lanes), v_load_part(from + j, lanes)), lanes);
    }
  }
}

PN_INLINE U dropout_mix(U x) {
  x = u_mul(u_fold16(x), u_set(0x7FEB352Du));
  x = u_mul(u_fold15(x), u_set(0x846CA68Bu));
  return u_fold16(x);
}

PN_INLINE uint32_t dropout_mix_one(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

PN_KERNEL void dropout(size_t m, size_t h, float *v, size_t ldv, const uint32_t *row, uint32_t key, float p) {
  const uint32_t unit = 0x85EBCA77u;
  const V bound = v_set(p * 16777216.0f), scale = v_set(1.0f / (1.0f - p));
  const U stride = u_set(unit * PN_W), lane = u_mul(u_lanes(), u_set(unit));
  for (size_t i = 0; i < m; i++, v += ldv) {
    U counter = u_add(u_set(dropout_mix_one(key ^ (row[i] * 0x9E3779B1u))), lane);
    size_t j = 0;
    for (; j + PN_W <= h; j += PN_W, counter = u_add(counter, stride)) {
      const M drop = v_less(v_from_top24(dropout_mix(counter)), bound);
      v_store(v + j, v_select(drop, v_set(0.0f), v_mul(v_load(v + j), scale)));
    }
    if (j < h) {
      const M lanes = v_head(h - j), drop = v_less(v_from_top24(dropout_mix(counter)), bound);
      v_store_part(v + j, v_select(drop, v_set(0.0f), v_mul(v_load_part(v + j, lanes), scale)), lanes);
    }
  }
}

/* The constants of one AdamW step, one copy per lane. */
typedef struct {
  V shrink, beta1, rest1, beta2, rest2, eps, step, inv_root;
} adamw_constants;

PN_INLINE void adamw_step(float *p, const float *g, float *m, float *v, const adamw_constants *k, int part, M lanes) {
  const V grad = v_load_if(g, part, lanes), value = v_load_if(p, part, lanes);
  const V mean = v_fma(k->beta1, v_load_if(m, part, lanes), v_mul(k->rest1, grad));
  const V square = v_fma(k->beta2, v_load_if(v, part, lanes), v_mul(k->rest2, v_mul(grad, grad)));
  const V root = v_fma(v_sqrt(square), k->inv_root, k->eps);
  /* decay and step are summed first: either alone may be too small to change the parameter */
  const V change = v_fma(k->shrink, value, v_div(v_mul(k->step, mean), root));
  v_store_if(m, mean, part, lanes);
  v_store_if(v, square, part, lanes);
  v_store_if(p, v_sub(value, change), part, lanes);
}

PN_KERNEL void adamw(size_t n, float *p, const float *g, float *m, float *v, float lr, float decay, float beta1,
                     float beta2, float eps, float step, float inv_root) {
  const adamw_constants k = {v_set(lr * decay),   v_set(beta1), v_set(1.0f - beta1), v_set(beta2),
                             v_set(1.0f - beta2), v_set(eps),   v_set(step),         v_set(inv_root)};
  const M all = v_head(PN_W);
  size_t j = 0;
  for (; j + PN_W <= n; j += PN_W) adamw_step(p + j, g + j, m + j, v + j, &k, 0, all);
  if (j < n) adamw_step(p + j, g + j, m + j, v + j, &k, 1, v_head(n - j));
}
