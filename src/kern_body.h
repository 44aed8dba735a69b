/* The kernels, written once over a vector layer.
 *
 * kern_scalar.c, kern_avx2.c and kern_avx512.c each include one kern_vec_*.h and then this file, which leaves the
 * table `PN_TABLE`. A row is walked in whole vectors; the rest goes through the same step with a lane mask, so no
 * kernel reads or writes beyond its row, and an element's result does not depend on which of the two handled it.
 *
 * All levels give the same bits. The operations of a vector layer are rounded alike, products are never fused with sums
 * except where v_fma() says so (base_rounding.h), and sums along a row have one order (kern_body_walk.h).
 */
#include "kern.h"

PN_INLINE V v_load_if(const float *p, int part, M lanes) {
  return part ? v_load_part(p, lanes) : v_load(p);
}
PN_INLINE void v_store_if(float *p, V v, int part, M lanes) {
  if (part)
    v_store_part(p, v, lanes);
  else
    v_store(p, v);
}

#include "kern_body_walk.h"
#include "kern_body_four.h"
#include "kern_body_norm.h"
#include "kern_body_product.h"
#include "kern_body_proto.h"
#include "kern_body_rows.h"
#include "kern_body_tail.h"
#include "kern_body_pair.h"

const pn_kernels PN_TABLE = {
    .name = PN_LEVEL_NAME,
    .product = product,
    .row_dots = row_dots,
    .column_sums = column_sums,
    .transpose = transpose,
    .proto_forward = proto_forward,
    .proto_backward = proto_backward,
    .norm_forward = norm_forward,
    .affine_relu = affine_relu,
    .relu_norm_backward = relu_norm_backward,
    .dropout = dropout,
    .join_norm = join_norm,
    .relu_dots = relu_dots,
    .relu_dots_backward = relu_dots_backward,
    .center_rows = center_rows,
    .pair_dots = pair_dots,
    .pair_dots_backward = pair_dots_backward,
    .add_rows = add_rows,
    .segment_sum = segment_sum,
    .adamw = adamw,
};
