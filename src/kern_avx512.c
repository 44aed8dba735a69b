/* The kernels for AVX-512F, sixteen values at a time. Called only after the processor was asked. */
#include "base_rounding.h"

#include "kern_tables.h"

#if PN_HAVE_AVX
#include "kern_vec_avx512.h"

#define PN_TABLE pn_kernels_avx512
#include "kern_body.h"
#endif
