/* Chooses the table of kernels: the best the processor runs, unless a test or the user forced another. */
#include "kern_tables.h"

static const pn_kernels *current = &pn_kernels_scalar;

/* the table of a level, or NULL when this processor or build lacks it */
static const pn_kernels *table_find(pn_kern_level level) {
  if (level == PN_KERN_SCALAR) return &pn_kernels_scalar;
#if PN_HAVE_AVX
  __builtin_cpu_init();
  const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (level == PN_KERN_AVX2 && avx2) return &pn_kernels_avx2;
  if (level == PN_KERN_AVX512 && avx2 && __builtin_cpu_supports("avx512f")) return &pn_kernels_avx512;
#endif
  return NULL;
}

const pn_kernels *pn_kernels_get(void) {
  return current;
}

int pn_kernels_set(pn_kern_level level) {
  const pn_kernels *table = table_find(level);
  if (!table) return -1;
  current = table;
  return 0;
}

pn_kern_level pn_kernels_init(void) {
  pn_kern_level level = PN_KERN_AVX512;
  while (pn_kernels_set(level) != 0) level = (pn_kern_level)(level - 1);
  return level;
}
