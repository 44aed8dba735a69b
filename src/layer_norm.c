/* Normalisation, dropout and relu; see layer_norm.h.
 *
 * Backward of batch norm with weights n_r (N = h sum n_r): dv_r is the gradient at a cell, summed over its n_r rows, so
 *   dz_r = gain rstd (dy_r - n_r (sum dy) / N - n_r xhat_r (sum dy xhat) / N),  dy = dv where the relu passed.
 */
#include "layer_norm.h"

#include <math.h>

#define PN_EPS 1e-5
#define PN_MOMENTUM 0.1

static void apply_dropout(const pn_kernels *kern, size_t n, size_t h, float *v, size_t ldv, pn_dropout drop) {
  if (drop.p > 0) kern->dropout(n, h, v, ldv, drop.row, drop.key, drop.p);
}

void pn_layernorm_forward(const pn_kernels *kern, size_t n, size_t h, float *z, float *rstd) {
  kern->norm_forward(n, h, z, rstd);
}

void pn_relu_forward(const pn_kernels *kern, size_t n, size_t h, const float *xhat, const float *gain,
                     const float *offset, pn_dropout drop, float *v, size_t ldv) {
  kern->affine_relu(n, h, xhat, gain, offset, v, ldv);
  apply_dropout(kern, n, h, v, ldv, drop);
}

void pn_layernorm_relu_backward(const pn_kernels *kern, size_t n, size_t h, const float *xhat, const float *rstd,
                                const float *gain, const float *offset, pn_dropout drop, float *dv, float *dgain,
                                float *doffset) {
  apply_dropout(kern, n, h, dv, h, drop);
  kern->relu_norm_backward(n, h, xhat, rstd, gain, offset, dv, dgain, doffset);
}

/* sum over rows of weight * sum over units of (z - center)^power, power 1 or 2 */
static double weighted_moment(size_t n, size_t h, const float *weight, const float *z, double center, int power) {
  double total = 0;
  for (size_t r = 0; r < n; ++r) {
    double sum = 0;
    for (size_t j = 0; j < h; ++j) {
      const double away = z[r * h + j] - center;
      sum += power == 1 ? away : away * away;
    }
    total += weight[r] * sum;
  }
  return total;
}

void pn_batchnorm_forward(size_t n, size_t h, const float *weight, int training, float *running, float *z,
                          float *rstd) {
  double mean = running[0], variance = running[1];
  if (training) {
    double count = 0;
    for (size_t r = 0; r < n; ++r) count += weight[r];
    count *= (double)h;
    mean = weighted_moment(n, h, weight, z, 0.0, 1) / count;
    variance = weighted_moment(n, h, weight, z, mean, 2) / count;
    const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
    running[0] += (float)(PN_MOMENTUM * (mean - running[0]));
    running[1] += (float)(PN_MOMENTUM * (unbiased - running[1]));
  }
  const float scale = (float)(1 / sqrt(variance + PN_EPS)), center = (float)mean;
  for (size_t q = 0; q < n * h; ++q) z[q] = (z[q] - center) * scale;
  *rstd = scale;
}

void pn_batch_relu_forward(const pn_kernels *kern, size_t n, size_t h, const float *xhat, float gain, float offset,
                           pn_dropout drop, float *v, size_t ldv) {
  for (size_t r = 0; r < n; ++r) {
    for (size_t j = 0; j < h; ++j) {
      const float y = gain * xhat[r * h + j] + offset;
      v[r * ldv + j] = y > 0 ? y : 0.0f;
    }
  }
  apply_dropout(kern, n, h, v, ldv, drop);
}

void pn_batchnorm_relu_backward(const pn_kernels *kern, size_t n, size_t h, const float *weight, const float *xhat,
                                float rstd, float gain, float offset, pn_dropout drop, float *dv, float *dgain,
                                float *doffset) {
  apply_dropout(kern, n, h, dv, h, drop);
  double count = 0, sum = 0, sum_xhat = 0;
  for (size_t r = 0; r < n; ++r) {
    double row_sum = 0, row_xhat = 0;
    for (size_t q = r * h; q < (r + 1) * h; ++q) {
      if (!(gain * xhat[q] + offset > 0)) dv[q] = 0.0f;
      row_sum += dv[q];
      row_xhat += (double)dv[q] * xhat[q];
    }
    sum += row_sum;
    sum_xhat += row_xhat;
    count += weight[r];
  }
  count *= (double)h;
  *dgain += (float)sum_xhat;
  *doffset += (float)sum;
  const float mean = (float)(sum / count), mean_xhat = (float)(sum_xhat / count), scale = gain * rstd;
  for (size_t r = 0; r < n; ++r) {
    for (size_t q = r * h; q < (r + 1) * h; ++q) {
      dv[q] = scale * (dv[q] - weight[r] * (mean + xhat[q] * mean_xhat));
    }
  }
}
