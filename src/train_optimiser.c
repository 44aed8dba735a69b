/* AdamW; see train_optimiser.h. The slab is cut into blocks of fixed size, so that an element's arithmetic does not
 * depend on the number of threads. */
#include "train_optimiser.h"

#include <math.h>

#define PN_BETA1 0.9
#define PN_BETA2 0.999
#define PN_ADAM_EPS 1e-8f
#define PN_STEP_BLOCK ((size_t)8192)

pn_status pn_optimiser_init(pn_optimiser *optimiser, const pn_model *model, double decay, pn_arena *arena) {
  optimiser->m = pn_arena_alloc(arena, model->layout.total, sizeof(float));
  optimiser->v = pn_arena_alloc(arena, model->layout.total, sizeof(float));
  optimiser->decay = decay;
  optimiser->steps = 0;
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}

void pn_optimiser_step(pn_optimiser *optimiser, pn_model *model, const float *grad, double lr, int threads) {
  const pn_kernels *kern = pn_kernels_get();
  const size_t total = model->layout.total, blocks = (total + PN_STEP_BLOCK - 1) / PN_STEP_BLOCK;
  const double taken = (double)++optimiser->steps;
  const float step = (float)(lr / (1 - pow(PN_BETA1, taken)));
  const float inv_root = (float)(1 / sqrt(1 - pow(PN_BETA2, taken)));
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
  for (size_t block = 0; block < blocks; ++block) {
    const size_t at = block * PN_STEP_BLOCK;
    const size_t n = total - at < PN_STEP_BLOCK ? total - at : PN_STEP_BLOCK;
    kern->adamw(n, model->param + at, grad + at, optimiser->m + at, optimiser->v + at, (float)lr,
                (float)optimiser->decay, (float)PN_BETA1, (float)PN_BETA2, PN_ADAM_EPS, step, inv_root);
  }
  pn_model_refresh(model, threads);
}
