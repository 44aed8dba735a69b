/* Passes of a model over a batch: predictions, component outputs, loss and gradient. Parallel regions live here.
 *
 * A pass has three stages. (1) Cells: encoders and the first predictor layer of every distinct value, in order 1 the
 * whole predictor. (2) Rows: components that join features (order > 1), predictions per layer, loss and its gradient.
 * (3) Cells backward. Work is cut into strips whose bounds depend on the batch alone; each strip has its own partial
 * sums and these are added in strip order, so any number of threads gives the same bits.
 */
#ifndef PN_MODEL_PASS_H
#define PN_MODEL_PASS_H

#include "base_arena.h"
#include "base_clock.h"
#include "base_status.h"
#include "kern.h"
#include "layer_norm.h"
#include "layer_predictor.h"
#include "layer_proto.h"
#include "model_batch.h"
#include "model_config.h"

/* A model: configuration, parameters and what is derived from them. */
typedef struct {
  const pn_config *config;
  pn_layout layout;
  float *param;      /* [layout.total] */
  float *shared;     /* the part of param that all features share */
  float *running;    /* [K x 2] running mean and variance (batch norm) */
  float *transposed; /* [K x transposed_size] transposed weights for the backward pass, see pn_model_refresh */
  size_t transposed_size;
} pn_model;

/* How a pass runs. */
typedef struct {
  int training;        /* 0: running statistics, no dropout */
  float inv_temp;      /* 1 / T, INFINITY for the nearest prototype alone */
  uint64_t seed, step; /* key of the dropout masks */
  int threads;
  double variation; /* factor of config->variation, by which the penalty can come in gradually */
} pn_mode;

/* Cells begin .. end - 1 (numbered within the batch) of one feature: the unit of parallel work on cells. */
typedef struct {
  size_t feature, begin, end;
  float *feature_grad; /* [feature_size] where this strip adds what the feature owns */
  float *shared_grad;  /* [shared_size] its part of what all features share */
} pn_strip;

/* Where the time goes. The first five phases are summed per thread, the others are wall time of the main thread. */
typedef enum {
  PN_PHASE_ACTIVATION,
  PN_PHASE_ENCODER,
  PN_PHASE_PREDICTOR,
  PN_PHASE_COMPONENTS, /* joining features, order > 1 */
  PN_PHASE_LOSS,       /* predictions, loss and its gradient by row */
  PN_PHASE_OPTIMISER,  /* adding up partial gradients, AdamW, transposed weights */
  PN_PHASE_BATCHES,    /* shuffling, finding equal values */
  PN_PHASE_VALIDATION,
  PN_PHASE_BASE, /* fitting layer 0 */
  PN_PHASES
} pn_phase;

/* "activation" and so on. */
const char *pn_phase_name(pn_phase phase);

/* Scratch of one thread; `rows` rows of each. */
typedef struct {
  double seconds[PN_PHASES], mark;
  float *x;                   /* [rows x ldx] v, activated value, one */
  size_t ldx;                 /* h + 2, rounded up so that rows begin on vector boundaries */
  float *dv, *dz;             /* [rows x h] */
  float *s, *q;               /* [rows x h] */
  float *xhat;                /* [rows x h] */
  float *rstd;                /* [rows] */
  float *act;                 /* [rows] */
  float *dr;                  /* [rows x o] */
  float *r;                   /* [d x C x PN_ROW_BLOCK x o] component outputs of a block of rows */
  float *pair_rstd;           /* [d x C x PN_ROW_BLOCK] scales of their layer norms, pairs only */
  float *through, *through_x; /* [h] sums of what went through the relus of one layer, see kern.h */
  float *shift;               /* [max(h, width)] */
  double *sum;                /* [max(PN_ROW_BLOCK, s) x o] */
  uint32_t *id;               /* [rows] */
  float *local;               /* [d x K x PN_ROW_BLOCK x width] u of a block of rows, order > 1 */
  float *slope;               /* [PN_ROW_BLOCK] of the penalty, by row */
  const float **part;         /* [k] where a component's members stand in it */
} pn_scratch;

#define PN_CHUNK 96    /* cells that go through all layers together and stay in cache */
#define PN_ROW_BLOCK 8 /* rows whose components are computed together; K of their blocks should fit the L1 cache */
#define PN_ROW_STRIPS 16

typedef struct {
  size_t rows, cells; /* capacity */
  int training;
  int threads;
  float *act;   /* [d x cells] */
  float *xhat;  /* [d x cells x h] */
  float *rstd;  /* [d x cells], batch norm: [d x K] */
  float *shat;  /* [d x cells x h] order 1, two-layer predictors */
  float *srstd; /* [d x cells] */
  float *u;     /* [d x cells x width] projections, order > 1 */
  float *r;     /* [d x cells x o] outputs, order 1 */
  float *du;    /* [d x K x rows x width] gradient of u by row, order > 1 */
  float *g;     /* [d x rows x s o] gradient of the loss at layer l's contribution */
  double *eta;  /* [rows x d x s o] cumulative predictions */
  double *deta; /* [rows x 2 o] a row's prediction with offset, and the derivative of its loss */
  float *grad;  /* [total] */

  /* Penalty on variation, NULL without one. */
  float *dshape;     /* [d x cells x s o] its gradient at layer l's part of a feature's contribution */
  double *shape;     /* [cells] a feature's contributions at its sorted values */
  double *variation; /* [K] its value */

  float *feature_partial, *shared_partial;
  double *strip_loss; /* [PN_ROW_STRIPS] */
  pn_strip *strip;
  size_t strips, max_strips;
  pn_scratch *scratch; /* [threads] */
} pn_work;

/* Reserves a model (parameters zero, running variance one) and its derived tables. */
pn_status pn_model_init(pn_model *model, const pn_config *config, pn_arena *arena);

/* Brings feature i's derived tables up to date; needed after every change of its parameters that training will use. */
void pn_model_refresh(pn_model *model, size_t i);

/* Reserves what passes over `batch` need, whatever it is filled with. */
pn_status pn_work_init(pn_work *work, const pn_model *model, const pn_batch *batch, int training, int threads,
                       pn_arena *arena);

/* Loss of the batch. Its gradient is left in the strips' partial sums, see pn_pass_sum; work->eta and the component
 * outputs stay in place. */
double pn_pass_gradient(pn_model *model, pn_work *work, const pn_data *data, const pn_batch *batch, pn_mode mode);

/* Adds up the partial sums of one part of the gradient in work->grad, always in strip order: what feature `part` owns,
 * or, for part = K, what all features share. Parts are independent. */
void pn_pass_sum(const pn_model *model, pn_work *work, size_t part);

/* Cumulative predictions of the batch into work->eta, offset not added. */
void pn_pass_predict(pn_model *model, pn_work *work, const pn_batch *batch, pn_mode mode);

/* Component outputs r[l][c] of the batch: out[((l * C + c) * B + row) * o + k], after pn_pass_predict or
 * pn_pass_gradient on the same batch with the same mode. */
void pn_pass_components(pn_model *model, pn_work *work, const pn_batch *batch, pn_mode mode, float *out);

/* Rows that a prediction batch should have so that its buffers stay near 128 MB. */
size_t pn_pass_rows(const pn_config *config, size_t n);

/* How many of `threads` are worth waking for passes over batches of `rows` rows: small batches are done before a second
 * thread has begun. */
int pn_pass_threads(const pn_config *config, const pn_data *data, size_t rows, int threads);

/* Starts the thread's clock; books the time since then, or since the last booking, on a phase. */
static inline void pn_phase_start(pn_scratch *scratch) {
  scratch->mark = pn_clock_now();
}

static inline void pn_phase_book(pn_scratch *scratch, pn_phase phase) {
  const double now = pn_clock_now();
  scratch->seconds[phase] += now - scratch->mark;
  scratch->mark = now;
}

/* ---- within the model layer (model_cells.c, model_rows.c, model_variation.c) ---- */

/* A pass as one thread sees it. */
typedef struct {
  pn_model *model;
  const pn_kernels *kern;
  pn_work *work;
  const pn_data *data; /* NULL when only predicting */
  const pn_batch *batch;
  pn_mode mode;
  pn_scratch *scratch; /* the thread's own */
} pn_pass;

int pn_is_order1(const pn_config *config);
/* Components of two features through the fused kernels: one output, two-layer predictors, no dropout in them. */
int pn_is_fused(const pn_config *config, pn_mode mode);
pn_proto pn_view_proto(const pn_model *model, float *feature_block, size_t l);
pn_tail pn_view_tail(const pn_model *model, float *shared, size_t l);
pn_dropout pn_view_dropout(pn_mode mode, float p, uint32_t stream, size_t l, size_t which, const uint32_t *row);

enum { PN_DROP_ENCODER, PN_DROP_TAIL, PN_DROP_OUTPUT };

void pn_cells_forward(const pn_pass *pass, const pn_strip *strip);
void pn_cells_backward(const pn_pass *pass, const pn_strip *strip);

/* Outputs of rows begin .. end - 1 into scratch->r[(l * C + c) * PN_ROW_BLOCK * o + (row - begin) * o + k]. */
void pn_rows_components(const pn_pass *pass, size_t begin, size_t end);
/* Cumulative predictions of these rows from scratch->r into work->eta. */
void pn_rows_predict(const pn_pass *pass, size_t begin, size_t end);
/* Loss of these rows; the gradient goes to work->g, for order > 1 to work->du and shared_grad too. */
double pn_rows_gradient(const pn_pass *pass, size_t begin, size_t end, float *shared_grad);

/* Whether the pass has a penalty on variation. */
int pn_has_variation(const pn_config *config, pn_mode mode);
/* Feature i's penalty into work->variation and its gradient into work->dshape, from the outputs of its cells. */
void pn_variation_gradient(const pn_pass *pass, size_t i);

#endif
