/* Prototype activation: kernels for the numbers, the missing value here. See layer_proto.h for the formula. */
#include "layer_proto.h"

void pn_proto_forward(const pn_kernels *kern, size_t n, const float *x, const unsigned char *is_missing, pn_proto proto,
                      float inv_temp, float *out, size_t ldo) {
  if (proto.t > 0) {
    kern->proto_forward(n, proto.t, x, proto.center, proto.slope, proto.intercept, inv_temp, out, ldo);
  } else {
    for (size_t i = 0; i < n; ++i) out[i * ldo] = x[i];
  }
  for (size_t i = 0; i < n; ++i) {
    if (is_missing[i]) out[i * ldo] = *proto.missing;
  }
}

void pn_proto_backward(const pn_kernels *kern, size_t n, const float *x, const unsigned char *is_missing,
                       pn_proto proto, float inv_temp, float *dout, pn_proto grad) {
  for (size_t i = 0; i < n; ++i) {
    if (!is_missing[i]) continue;
    *grad.missing += dout[i];
    dout[i] = 0.0f; /* the prototypes had no part in it */
  }
  if (proto.t > 0) {
    kern->proto_backward(n, proto.t, x, proto.center, proto.slope, proto.intercept, inv_temp, dout, 1, grad.center,
                         grad.slope, grad.intercept);
  }
}
