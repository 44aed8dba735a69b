/* Prototype activation of one feature in one layer.
 *
 *   A(x) = sum_j softmax_j(-(x - center_j)^2 / T) (slope_j x + intercept_j);  T -> 0: the nearest prototype alone
 *   A(missing) = a learned value of its own;  without prototypes A(x) = x
 */
#ifndef PN_LAYER_PROTO_H
#define PN_LAYER_PROTO_H

#include "kern.h"

typedef struct {
  size_t t;                          /* number of prototypes; 0: the activation is the value itself */
  float *center, *slope, *intercept; /* [t] */
  float *missing;                    /* [1] */
} pn_proto;

/* out[i * ldo] = A(x[i]), for n values, of which is_missing[n] are missing. inv_temp = 1 / T, INFINITY in the limit. */
void pn_proto_forward(const pn_kernels *kern, size_t n, const float *x, const unsigned char *is_missing, pn_proto proto,
                      float inv_temp, float *out, size_t ldo);

/* Adds the gradient to `grad`, given dout[n] (which is used up). */
void pn_proto_backward(const pn_kernels *kern, size_t n, const float *x, const unsigned char *is_missing,
                       pn_proto proto, float inv_temp, float *dout, pn_proto grad);

#endif
