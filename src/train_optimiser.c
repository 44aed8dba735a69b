/* AdamW; see train_optimiser.h. One feature's part of the slab is the unit of parallel work, from partial sums to the
 * transposed weights, so that it is in cache throughout. */
#include "train_optimiser.h"

#include <math.h>

#define PN_BETA1 0.9f
#define PN_BETA2 0.999f
#define PN_ADAM_EPS 1e-8f

pn_status pn_optimiser_init(pn_optimiser *optimiser, const pn_model *model, double decay, pn_arena *arena) {
  optimiser->m = pn_arena_alloc(arena, model->layout.total, sizeof(float));
  optimiser->v = pn_arena_alloc(arena, model->layout.total, sizeof(float));
  optimiser->decay = decay;
  optimiser->steps = 0;
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}

void pn_optimiser_step(pn_optimiser *optimiser, pn_model *model, pn_work *work, double lr) {
  const pn_kernels *kern = pn_kernels_get();
  const pn_layout *layout = &model->layout;
  const size_t parts = model->config->features + 1;
  const double taken = (double)++optimiser->steps;
  /* The bias correction goes by the betas as the kernel has them, in single precision. */
  const float step = (float)(lr / (1 - pow(PN_BETA1, taken)));
  const float inv_root = (float)(1 / sqrt(1 - pow(PN_BETA2, taken)));
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(work->threads)
#endif
  for (size_t part = 0; part < parts; ++part) {
    const int shared = part + 1 == parts;
    const size_t at = shared ? layout->shared : part * layout->feature_size;
    const size_t n = shared ? layout->shared_size : layout->feature_size;
    pn_pass_sum(model, work, part);
    kern->adamw(n, model->param + at, work->grad + at, optimiser->m + at, optimiser->v + at, (float)lr,
                (float)optimiser->decay, PN_BETA1, PN_BETA2, PN_ADAM_EPS, step, inv_root);
    if (!shared) pn_model_refresh(model, part);
  }
}
