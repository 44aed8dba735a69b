/* AdamW on the flat slab: decoupled decay on every parameter, bias-corrected moments (0.9, 0.999), eps 1e-8. */
#ifndef PN_TRAIN_OPTIMISER_H
#define PN_TRAIN_OPTIMISER_H

#include "base_arena.h"
#include "base_status.h"
#include "model_pass.h"

typedef struct {
  float *m, *v; /* [total] first and second moments */
  double decay; /* weight decay */
  size_t steps; /* taken so far */
} pn_optimiser;

pn_status pn_optimiser_init(pn_optimiser *optimiser, const pn_model *model, double decay, pn_arena *arena);

/* One step after pn_pass_gradient(): adds up the gradient's parts, moves the parameters, refreshes derived tables. */
void pn_optimiser_step(pn_optimiser *optimiser, pn_model *model, pn_work *work, double lr);

#endif
