/* A model's sizes and switches, and where each of its tensors lies in the flat slab of parameters.
 *
 * Symbols as in the paper: K features, t prototypes, d layers, h hidden units, C components of k features each,
 * s tasks, o outputs.
 */
#ifndef PN_MODEL_CONFIG_H
#define PN_MODEL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base_status.h"
#include "layer_loss.h"

typedef enum { PN_NORM_LAYER, PN_NORM_BATCH } pn_norm;
typedef enum {
  PN_TASK_NONE,    /* s = 1 */
  PN_TASK_GROUP,   /* every row belongs to one of s groups and is scored on that group's prediction */
  PN_TASK_RESPONSE /* s response columns, each observed or not */
} pn_task_kind;

typedef struct {
  size_t features, prototypes, layers, hidden, components, members, tasks, outputs; /* K t d h C k s o */
  int predictor_layers;                                                             /* 1 or 2 */
  int use_prototypes; /* 0: the activation is the value itself */
  int hierarchical;   /* 0: only the last layer's prediction is trained */
  pn_norm norm;
  pn_family family;
  pn_task_kind task_kind;
  float output_penalty, dropout, dropout_output;
  const uint32_t *component; /* [C x k], features from 0; not owned */
  size_t columns;            /* features of the data, those without prototype layers included */
  const uint32_t *net;       /* [K] which of them have prototype layers; not owned */

  /* Penalty on variation, order 1 and no dropout; see model_variation.c. */
  float variation;                /* its strength, 0: none */
  double variation_scale;         /* what counts as large on the link scale */
  const double *variation_weight; /* [K] factors of the strength, or NULL for all 1; not owned */
} pn_config;

/* Offsets in floats. Everything a single feature owns lies together, feature after feature, so that threads working on
 * different features never write near each other; what all features share follows.
 *
 *   feature block: center, slope, intercept [d x t]; missing [d]; encoder weights per layer [inputs + 1 x h]
 *                  (rows: previous layer's h units (absent in layer 0), activated value, bias);
 *                  predictor block per layer [h x width]
 *   shared:        encoder norm gain and offset [h, or K for batch norm]; predictor norm gain and offset [h];
 *                  predictor bias [d x width]; second predictor layer [d x o x h] and its bias [d x o];
 *                  task weights [d x s x C] and biases [d x s x o]
 * width = h for two-layer predictors, o for one-layer ones. */
typedef struct {
  size_t width;
  size_t feature_size;
  size_t center, slope, intercept, missing, encoder, predictor; /* within a feature block */
  size_t shared, shared_size;                                   /* start and length of the shared part */
  size_t norm_gain, norm_offset, tail_gain, tail_offset, bias1, weight2, bias2, task_weight, task_bias; /* within it */
  size_t total;
} pn_layout;

/* PN_NO_MEMORY when some size is larger than any memory; the layout is not to be used then. */
pn_status pn_layout_init(pn_layout *layout, const pn_config *config);

/* Encoder weights of layer l within a feature block, and how many rows they have, bias included. */
size_t pn_layout_encoder(const pn_layout *layout, const pn_config *config, size_t l);
size_t pn_encoder_rows(const pn_config *config, size_t l);

/* Length of the gain (and offset) of the encoder norm. */
size_t pn_norm_size(const pn_config *config);

/* Draws the published initial values into slab[layout->total]. centers[K x t] are the initial prototypes. */
void pn_params_init(float *slab, const pn_layout *layout, const pn_config *config, const double *centers,
                    uint64_t seed);

/* Lets task u > 0 begin with relation[u + s c] times the weight of task 0 for component c, in every layer. Responses
 * that begin alike share from the first step what one of them teaches the encoders. */
void pn_params_relate(float *slab, const pn_layout *layout, const pn_config *config, const double *relation);

#endif
