/* Dense layer: products in their three forms; see layer_dense.h. */
#include "layer_dense.h"

void pn_dense_forward(const pn_kernels *kern, size_t n, size_t in, size_t out, const float *x, size_t ldx,
                      const float *w, float *z, int accumulate) {
  if (out == 1 && !accumulate) {
    kern->row_dots(n, in, x, ldx, w, z, 1);
  } else {
    kern->product(n, out, in, x, ldx, 1, w, out, z, out, accumulate);
  }
}

void pn_dense_backward(const pn_kernels *kern, size_t n, size_t in, size_t out, const float *x, size_t ldx,
                       const float *dz, float *dw, const float *wt, size_t dx_in, float *dx, int accumulate) {
  kern->product(in, out, n, x, 1, ldx, dz, out, dw, out, 1);
  if (dx != NULL) kern->product(n, dx_in, out, dz, out, 1, wt, dx_in, dx, dx_in, accumulate);
}
