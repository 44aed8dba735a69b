/* The portable kernels: plain C, one value at a time. */
#include "base_rounding.h"

#include "kern_tables.h"
#include "kern_vec_scalar.h"

#define PN_TABLE pn_kernels_scalar
#include "kern_body.h"
