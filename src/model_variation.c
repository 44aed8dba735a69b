/* Penalty on variation (order 1): what a feature's contribution costs for moving from one value to the next.
 *
 * Beside the loss of every cumulative prediction m (of the last alone unless hierarchical) stands, summed over features
 * i, tasks u and outputs k,
 *   lambda_i sum_q rho(F(x_(q+1)) - F(x_(q))),     F(x) = 1/C sum_{l <= m} w[l][u,i] r[l,i,k](x),
 * over the batch's Q distinct values of the feature in ascending order, the missing value left out, with
 *   rho(D)  = delta log(1 + (sqrt(D^2 + e^2) - e) / delta)
 *   rho'(D) = D / sqrt(D^2 + e^2) / (1 + (sqrt(D^2 + e^2) - e) / delta)
 *   e = 1.5 scale / Q,  delta = 0.05 scale,  lambda_i = variation * the pass's factor * the feature's weight.
 * Concave beyond delta: a jump costs hardly more the higher it is, a slope made of many small steps costs in full. e
 * falls as values get denser, so that a slope costs the same however many values it is seen at.
 *
 * F at a cell takes part in the gradient as a row's prediction does, so the derivative by layer l's part of F, the sum
 * over m >= l, joins the rows' gradients in model_cells.c.
 */
#include <math.h>
#include <string.h>

#include "model_pass.h"

#define PN_VARIATION_ROUND 1.5 /* e, in scale / Q */
#define PN_VARIATION_BEND 0.05 /* delta, in scale */
#define PN_PRODUCT_LIMIT 1e100 /* factors are multiplied up to here before their logarithm is taken */

int pn_has_variation(const pn_config *config, pn_mode mode) {
  return config->variation > 0 && mode.variation > 0;
}

typedef struct {
  double lambda, e, delta;
} penalty;

/* lambda sum_q rho over shape[n]; its derivative by the shape at cell[q] goes to dshape[cell[q] * ld]. n > 0. */
static double sum_variation(penalty p, const double *shape, size_t n, const uint32_t *cell, float *dshape, size_t ld) {
  const double steep = 1 / p.delta;
  double logs = 0, product = 1, before = 0;
  for (size_t q = 0; q + 1 < n; ++q) {
    const double step = shape[q + 1] - shape[q], root = sqrt(step * step + p.e * p.e);
    const double factor = 1 + (root - p.e) * steep, slope = p.lambda * step / (root * factor);
    product *= factor;
    if (product > PN_PRODUCT_LIMIT) {
      logs += log(product);
      product = 1;
    }
    dshape[cell[q] * ld] = (float)(before - slope);
    before = slope;
  }
  dshape[cell[n - 1] * ld] = (float)before;
  return p.lambda * p.delta * (logs + log(product));
}

void pn_variation_gradient(const pn_pass *pass, size_t i) {
  const pn_model *model = pass->model;
  const pn_batch *batch = pass->batch;
  pn_work *work = pass->work;
  const pn_config *config = model->config;
  const size_t d = config->layers, o = config->outputs, s = config->tasks, C = config->components, so = s * o;
  const size_t first = batch->first[i], n = batch->n_sorted[i], layer = work->cells * so;
  const uint32_t *cell = pn_batch_sorted(batch, i);
  const double weight = config->variation_weight == NULL ? 1.0 : config->variation_weight[i];
  const double scale = config->variation_scale;
  const penalty p = {config->variation * pass->mode.variation * weight, PN_VARIATION_ROUND * scale / (double)n,
                     PN_VARIATION_BEND * scale};
  double *shape = work->shape + first, total = 0;
  float *dshape = work->dshape + first * so;
  pn_phase_start(pass->scratch);
  for (size_t l = 0; l < d; ++l) memset(dshape + l * layer, 0, batch->cells[i] * so * sizeof(float));
  for (size_t uk = 0; n > 1 && p.lambda > 0 && uk < so; ++uk) {
    const size_t u = uk / o, k = uk % o;
    memset(shape, 0, n * sizeof(double));
    for (size_t m = 0; m < d; ++m) {
      const double w = model->shared[model->layout.task_weight + (m * s + u) * C + i] / (double)C;
      const float *r = work->r + (m * work->cells + first) * o + k;
      for (size_t q = 0; q < n; ++q) shape[q] += w * r[cell[q] * o];
      if (config->hierarchical || m + 1 == d) total += sum_variation(p, shape, n, cell, dshape + m * layer + uk, so);
    }
  }
  for (size_t l = d - 1; l-- > 0;) {
    float *to = dshape + l * layer;
    for (size_t q = 0; q < batch->cells[i] * so; ++q) to[q] += to[q + layer];
  }
  work->variation[i] = total;
  pn_phase_book(pass->scratch, PN_PHASE_LOSS);
}
