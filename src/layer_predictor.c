/* Second half of a two-layer predictor; see layer_predictor.h. */
#include "layer_predictor.h"

void pn_tail_forward(const pn_kernels *kern, size_t n, pn_tail tail, pn_dropout drop, float *s, float *rstd, float *q,
                     float *r) {
  const size_t h = tail.h, o = tail.o;
  pn_layernorm_forward(kern, n, h, s, rstd);
  pn_relu_forward(kern, n, h, s, tail.gain, tail.offset, drop, q, h);
  for (size_t k = 0; k < o; ++k) {
    kern->row_dots(n, h, q, h, tail.weight + k * h, r + k, o);
    for (size_t i = 0; i < n; ++i) r[i * o + k] += tail.bias[k];
  }
}

void pn_tail_backward(const pn_kernels *kern, size_t n, pn_tail tail, pn_dropout drop, const float *shat,
                      const float *rstd, const float *dr, float *q, float *ds, pn_tail grad) {
  const size_t h = tail.h, o = tail.o;
  pn_relu_forward(kern, n, h, shat, tail.gain, tail.offset, drop, q, h);
  kern->product(o, h, n, dr, 1, o, q, h, grad.weight, h, 1);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < o; ++k) grad.bias[k] += dr[i * o + k];
  }
  kern->product(n, h, o, dr, o, 1, tail.weight, h, ds, h, 0);
  pn_layernorm_relu_backward(kern, n, h, shat, rstd, tail.gain, tail.offset, drop, ds, grad.gain, grad.offset);
}
