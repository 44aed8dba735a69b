/* Matrix product: a register block of PN_TILE_ROWS rows by PN_TILE_COLS vectors stays in registers while k runs.
 *
 * The tile sizes are compile-time constants through macros, because at -O2 the compiler would keep an array of sums in
 * memory. Neither operand is packed: the matrices here are small (n, k near 64), so b stays in the first-level cache.
 */

/* DO(i, 0) .. DO(i, n - 1) over the columns of row i; DO(0, n) .. over rows of n columns */
#define PN_EACH_COL_1(DO, i) DO(i, 0)
#define PN_EACH_COL_2(DO, i) PN_EACH_COL_1(DO, i) DO(i, 1)
#define PN_EACH_COL_3(DO, i) PN_EACH_COL_2(DO, i) DO(i, 2)
#define PN_EACH_COL_4(DO, i) PN_EACH_COL_3(DO, i) DO(i, 3)
#define PN_EACH_ROW_1(DO, n) DO(0, n)
#define PN_EACH_ROW_2(DO, n) PN_EACH_ROW_1(DO, n) DO(1, n)
#define PN_EACH_ROW_3(DO, n) PN_EACH_ROW_2(DO, n) DO(2, n)
#define PN_EACH_ROW_4(DO, n) PN_EACH_ROW_3(DO, n) DO(3, n)
#define PN_EACH_ROW_5(DO, n) PN_EACH_ROW_4(DO, n) DO(4, n)
#define PN_EACH_ROW_6(DO, n) PN_EACH_ROW_5(DO, n) DO(5, n)

#define PN_SUM_ZERO(i, j) V s##i##_##j = v_set(0.0f);
#define PN_SUM_FMA(i, j) s##i##_##j = v_fma(x, b##j, s##i##_##j);
#define PN_SUM_STORE(i, j) tile_store(c + i * ldc + j * PN_W, s##i##_##j, accumulate, part && j == last, lanes);
#define PN_B_LOAD(i, j) const V b##j = v_load_if(b + j * PN_W, part && j == last, lanes);
#define PN_ROW_ZERO(i, n) PN_EACH_COL_##n(PN_SUM_ZERO, i)
#define PN_ROW_STORE(i, n) PN_EACH_COL_##n(PN_SUM_STORE, i)
#define PN_ROW_FMA(i, n)                                                                                               \
  {                                                                                                                    \
    const V x = v_set(a[i * a_row]);                                                                                   \
    PN_EACH_COL_##n(PN_SUM_FMA, i)                                                                                     \
  }

PN_INLINE void tile_store(float *c, V sum, int accumulate, int part, M lanes) {
  if (accumulate) sum = v_add(v_load_if(c, part, lanes), sum);
  v_store_if(c, sum, part, lanes);
}

/* c[r x n vectors] (+)= a[r x k] b[k x n vectors]; with `part` the last vector has only `lanes` */
#define PN_TILE(r, n)                                                                                                  \
  PN_INLINE void tile_any_##r##_##n(size_t k, const float *a, size_t a_row, size_t a_col, const float *b, size_t ldb,  \
                                    float *c, size_t ldc, int accumulate, int part, M lanes) {                         \
    enum { last = n - 1 };                                                                                             \
    PN_EACH_ROW_##r(PN_ROW_ZERO, n);                                                                                   \
    for (size_t p = 0; p < k; p++) {                                                                                   \
      PN_EACH_COL_##n(PN_B_LOAD, 0);                                                                                   \
      PN_EACH_ROW_##r(PN_ROW_FMA, n);                                                                                  \
      a += a_col;                                                                                                      \
      b += ldb;                                                                                                        \
    }                                                                                                                  \
    PN_EACH_ROW_##r(PN_ROW_STORE, n);                                                                                  \
  }                                                                                                                    \
  PN_KERNEL void tile_##r##_##n(size_t k, const float *a, size_t a_row, size_t a_col, const float *b, size_t ldb,      \
                                float *c, size_t ldc, int accumulate, int part, M lanes) {                             \
    if (part)                                                                                                          \
      tile_any_##r##_##n(k, a, a_row, a_col, b, ldb, c, ldc, accumulate, 1, lanes);                                    \
    else                                                                                                               \
      tile_any_##r##_##n(k, a, a_row, a_col, b, ldb, c, ldc, accumulate, 0, lanes);                                    \
  }

typedef void (*tile_fn)(size_t k, const float *a, size_t a_row, size_t a_col, const float *b, size_t ldb, float *c,
                        size_t ldc, int accumulate, int part, M lanes);

#if PN_TILE_COLS == 2
#define PN_TILES_OF(r) PN_TILE(r, 1) PN_TILE(r, 2)
#define PN_TILE_NAMES(r)                                                                                               \
  { tile_##r##_1, tile_##r##_2 }
#else
#define PN_TILES_OF(r) PN_TILE(r, 1) PN_TILE(r, 2) PN_TILE(r, 3) PN_TILE(r, 4)
#define PN_TILE_NAMES(r)                                                                                               \
  { tile_##r##_1, tile_##r##_2, tile_##r##_3, tile_##r##_4 }
#endif

PN_TILES_OF(1)
PN_TILES_OF(2)
PN_TILES_OF(3)
PN_TILES_OF(4)
#if PN_TILE_ROWS == 6
PN_TILES_OF(5)
PN_TILES_OF(6)
#endif

static const tile_fn tiles[PN_TILE_ROWS][PN_TILE_COLS] = {
    PN_TILE_NAMES(1), PN_TILE_NAMES(2), PN_TILE_NAMES(3), PN_TILE_NAMES(4),
#if PN_TILE_ROWS == 6
    PN_TILE_NAMES(5), PN_TILE_NAMES(6),
#endif
};

/* Rows of the next tile: full tiles, the rest in two near halves, for a tile of one or two rows starves the units. */
PN_INLINE size_t tile_rows(size_t left) {
  if (left <= PN_TILE_ROWS) return left;
  return left < 2 * PN_TILE_ROWS ? (left + 1) / 2 : PN_TILE_ROWS;
}

#define PN_PRODUCT_DEPTH 256 /* steps of k per sweep, so that the rows of b in use stay in cache */

PN_KERNEL void product(size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_col, const float *b,
                       size_t ldb, float *c, size_t ldc, int accumulate) {
  const size_t width = PN_TILE_COLS * PN_W;
  const size_t rest = n % width;                     /* columns beyond the full tiles */
  const size_t rest_cols = (rest + PN_W - 1) / PN_W; /* in vectors */
  const int part = rest % PN_W != 0;
  const M lanes = v_head(part ? rest % PN_W : PN_W);
  size_t p = 0;
  do { /* once even when k = 0: c must become zero */
    const size_t depth = k - p < PN_PRODUCT_DEPTH ? k - p : PN_PRODUCT_DEPTH;
    const float *ap = a + p * a_col, *bp = b + p * ldb;
    for (size_t i = 0, r; i < m; i += r) {
      r = tile_rows(m - i);
      const tile_fn *tile = tiles[r - 1];
      size_t j = 0;
      for (; j + width <= n; j += width)
        tile[PN_TILE_COLS - 1](depth, ap + i * a_row, a_row, a_col, bp + j, ldb, c + i * ldc + j, ldc, accumulate, 0,
                               lanes);
      if (rest)
        tile[rest_cols - 1](depth, ap + i * a_row, a_row, a_col, bp + j, ldb, c + i * ldc + j, ldc, accumulate, part,
                            lanes);
    }
    p += depth;
    accumulate = 1;
  } while (p < k);
}
