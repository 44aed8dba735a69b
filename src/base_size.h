/* Products and sums of sizes that cannot wrap: what does not fit becomes PN_SIZE_TOO_LARGE, which pn_arena_alloc()
 * refuses. Every size that is multiplied goes through here before anything is allocated or compared with it. */
#ifndef PN_BASE_SIZE_H
#define PN_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

#define PN_SIZE_TOO_LARGE SIZE_MAX

static inline size_t pn_size_add(size_t a, size_t b) {
  return a > SIZE_MAX - b ? PN_SIZE_TOO_LARGE : a + b;
}

static inline size_t pn_size_product(const size_t *factor, size_t n) {
  size_t product = 1;
  for (size_t i = 0; i < n; ++i) {
    if (factor[i] == 0) return 0;
    product = product > SIZE_MAX / factor[i] ? PN_SIZE_TOO_LARGE : product * factor[i];
  }
  return product;
}

/* Product of any number of sizes. */
#define PN_SIZE(...)                                                                                                   \
  pn_size_product((const size_t[]){__VA_ARGS__}, sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

#endif
