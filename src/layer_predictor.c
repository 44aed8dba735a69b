/* Second half of a two-layer predictor; see layer_predictor.h. */
#include "layer_predictor.h"

/* One output and no dropout, by far the most common: fused kernels without the activated units in between. */
static int is_plain(pn_tail tail, pn_dropout drop) {
  return tail.o == 1 && drop.p <= 0;
}

void pn_tail_forward(const pn_kernels *kern, size_t n, pn_tail tail, pn_dropout drop, const float *shat, float *q,
                     float *r) {
  const size_t h = tail.h, o = tail.o;
  if (is_plain(tail, drop)) {
    kern->relu_dots(n, h, shat, tail.gain, tail.offset, tail.weight, tail.bias[0], r);
    return;
  }
  pn_relu_forward(kern, n, h, shat, tail.gain, tail.offset, drop, q, h);
  for (size_t k = 0; k < o; ++k) {
    kern->row_dots(n, h, q, h, tail.weight + k * h, r + k, o);
    for (size_t i = 0; i < n; ++i) r[i * o + k] += tail.bias[k];
  }
}

void pn_tail_backward(const pn_kernels *kern, size_t n, pn_tail tail, pn_dropout drop, const float *shat,
                      const float *rstd, const float *dr, float *q, float *ds, pn_tail grad) {
  const size_t h = tail.h, o = tail.o;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < o; ++k) grad.bias[k] += dr[i * o + k];
  }
  if (is_plain(tail, drop)) {
    kern->relu_dots_backward(n, h, shat, rstd, tail.gain, tail.offset, tail.weight, dr, ds, grad.gain, grad.offset,
                             grad.weight);
    return;
  }
  pn_relu_forward(kern, n, h, shat, tail.gain, tail.offset, drop, q, h);
  kern->product(o, h, n, dr, 1, o, q, h, grad.weight, h, 1);
  kern->product(n, h, o, dr, o, 1, tail.weight, h, ds, h, 0);
  pn_layernorm_relu_backward(kern, n, h, shat, rstd, tail.gain, tail.offset, drop, ds, grad.gain, grad.offset);
}
