/* Dense layer z = x W on row-major blocks. A bias is a row of W that meets a column of ones in x. */
#ifndef PN_LAYER_DENSE_H
#define PN_LAYER_DENSE_H

#include "kern.h"

/* z[n x out] (+)= x[n x in] w[in x out] */
void pn_dense_forward(const pn_kernels *kern, size_t n, size_t in, size_t out, const float *x, size_t ldx,
                      const float *w, float *z, int accumulate);

/* dw[in x out] += x' dz;  dx[n x dx_in] (+)= dz wt, where wt[out x dx_in] is the transposed weight of the first dx_in
 * inputs. dx = NULL when the inputs need no gradient. */
void pn_dense_backward(const pn_kernels *kern, size_t n, size_t in, size_t out, const float *x, size_t ldx,
                       const float *dz, float *dw, const float *wt, size_t dx_in, float *dx, int accumulate);

#endif
