/* Second half of a two-layer predictor, on n rows: r = P2 relu(drop(layernorm(s))) + p2. */
#ifndef PN_LAYER_PREDICTOR_H
#define PN_LAYER_PREDICTOR_H

#include "kern.h"
#include "layer_norm.h"

typedef struct {
  size_t h, o;
  float *gain, *offset; /* [h] */
  float *weight;        /* [o x h] */
  float *bias;          /* [o] */
} pn_tail;

/* r[n x o] from shat[n x h], the layer norm of s. q[n x h] is scratch. */
void pn_tail_forward(const pn_kernels *kern, size_t n, pn_tail tail, pn_dropout drop, const float *shat, float *q,
                     float *r);

/* From dr[n x o] to ds[n x h], back through the layer norm with scale rstd[n]; adds to `grad`. q[n x h] is scratch. */
void pn_tail_backward(const pn_kernels *kern, size_t n, pn_tail tail, pn_dropout drop, const float *shat,
                      const float *rstd, const float *dr, float *q, float *ds, pn_tail grad);

#endif
