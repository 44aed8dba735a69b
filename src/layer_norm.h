/* Normalisation, dropout and relu, in this order, as one layer: v = relu(drop(gain * xhat + offset)).
 *
 *   layer norm: xhat = (z - mean) / sqrt(var + eps) over the h units of each row; gain and offset [h]
 *   batch norm: the same over all rows and units of a feature together, rows weighted; one gain and offset
 * Dropout scales what it keeps by 1 / (1 - p) > 0, so applying it after relu is the same and needs no second buffer.
 * Only xhat and the scale are kept for the backward pass; v is computed again from them.
 */
#ifndef PN_LAYER_NORM_H
#define PN_LAYER_NORM_H

#include "kern.h"

typedef struct {
  float p;             /* 0: none */
  uint32_t key;        /* of this step, layer and feature or component */
  const uint32_t *row; /* [n] row numbers that the mask depends on */
} pn_dropout;

/* z[n x h] becomes xhat, rstd[n] its scale. */
void pn_layernorm_forward(const pn_kernels *kern, size_t n, size_t h, float *z, float *rstd);

/* v[n x h] (row distance ldv) from xhat[n x h]; gain and offset [h]. */
void pn_relu_forward(const pn_kernels *kern, size_t n, size_t h, const float *xhat, const float *gain,
                     const float *offset, pn_dropout drop, float *v, size_t ldv);

/* dv[n x h] becomes dz; adds to dgain and doffset [h]. */
void pn_layernorm_relu_backward(const pn_kernels *kern, size_t n, size_t h, const float *xhat, const float *rstd,
                                const float *gain, const float *offset, pn_dropout drop, float *dv, float *dgain,
                                float *doffset);

/* Batch norm of one feature: z[n x h] becomes xhat. weight[n] counts how often a row stands in the batch.
 * Training: statistics of the batch, `*rstd` keeps the scale, running[2] (mean, unbiased variance) moves by 0.1.
 * Prediction (training = 0): statistics from running. */
void pn_batchnorm_forward(size_t n, size_t h, const float *weight, int training, float *running, float *z, float *rstd);

/* v from xhat with one gain and offset for all units. */
void pn_batch_relu_forward(const pn_kernels *kern, size_t n, size_t h, const float *xhat, float gain, float offset,
                           pn_dropout drop, float *v, size_t ldv);

/* dv[n x h] becomes dz; adds to dgain[1] and doffset[1]. */
void pn_batchnorm_relu_backward(const pn_kernels *kern, size_t n, size_t h, const float *weight, const float *xhat,
                                float rstd, float gain, float offset, pn_dropout drop, float *dv, float *dgain,
                                float *doffset);

#endif
