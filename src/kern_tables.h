/* The tables of the kernel builds. Internal to kern_*; everything else goes through kern.h. */
#ifndef PN_KERN_TABLES_H
#define PN_KERN_TABLES_H

#include "kern.h"

/* gcc and clang on x86-64 compile single functions for newer processors; elsewhere only the scalar table exists */
#if defined(__GNUC__) && defined(__x86_64__)
#define PN_HAVE_AVX 1
#else
#define PN_HAVE_AVX 0
#endif

extern const pn_kernels pn_kernels_scalar;
#if PN_HAVE_AVX
extern const pn_kernels pn_kernels_avx2, pn_kernels_avx512;
#endif

#endif
