/* Predictions and component outputs of a fitted model, block of rows by block of rows.
 *
 * in:  config, params (double slab), running (double [2 x K]), data (encoded rows; labels are ignored), threads
 * out: ffi_predict        double [n x d x s o]: cumulative link predictions per layer, offset not added
 *      ffi_contributions  double [n x C x s o], by_layer: [n x C x s o x d]: (1/C) w[l][u,c] r[l,c], not centred;
 *                         keep = integer: of these components alone
 *      ffi_outputs        double [n x C x o x d]: component outputs r[l,c]
 * The column of task u and output k is u * o + k.
 */
#include "r_parse.h"

#include <math.h>

#include "base_size.h"
#include "r_entries.h"

typedef enum { WANT_PREDICTIONS, WANT_CONTRIBUTIONS, WANT_LAYER_CONTRIBUTIONS, WANT_OUTPUTS } wanted;

typedef struct {
  SEXP config, params, running, data, threads;
  SEXP keep; /* components that are wanted, from 1, or NULL: all */
  wanted want;
  pn_arena arena;
} predict_call;

/* Where the rows of one block go in the result. */
typedef struct {
  double *out;
  size_t n, begin; /* rows in all, first row of the block */
} target;

static void write_predictions(const pn_model *model, const pn_work *work, const pn_batch *batch, target to) {
  const size_t columns = model->config->layers * model->config->tasks * model->config->outputs;
  const size_t d = model->config->layers, so = columns / d;
  for (size_t r = 0; r < batch->rows; ++r) {
    for (size_t l = 0; l < d; ++l) {
      for (size_t k = 0; k < so; ++k) {
        to.out[(k * d + l) * to.n + to.begin + r] = work->eta[(r * d + l) * so + k];
      }
    }
  }
}

static void write_outputs(const pn_config *config, const float *r, size_t rows, target to) {
  const size_t o = config->outputs, C = config->components;
  for (size_t l = 0; l < config->layers; ++l) {
    for (size_t c = 0; c < C; ++c) {
      for (size_t row = 0; row < rows; ++row) {
        for (size_t k = 0; k < o; ++k) {
          to.out[((l * o + k) * C + c) * to.n + to.begin + row] = r[((l * C + c) * rows + row) * o + k];
        }
      }
    }
  }
}

static void write_contributions(const pn_model *model, const float *r, size_t rows, int by_layer, target to) {
  const pn_config *config = model->config;
  const size_t o = config->outputs, s = config->tasks, C = config->components;
  for (size_t l = 0; l < config->layers; ++l) {
    for (size_t u = 0; u < s; ++u) {
      for (size_t c = 0; c < C; ++c) {
        const double weight = model->shared[model->layout.task_weight + (l * s + u) * C + c] / (double)C;
        for (size_t k = 0; k < o; ++k) {
          const size_t column = ((by_layer ? l * s : 0) + u) * o + k;
          double *out = to.out + (column * C + c) * to.n + to.begin;
          for (size_t row = 0; row < rows; ++row) out[row] += weight * r[((l * C + c) * rows + row) * o + k];
        }
      }
    }
  }
}

static SEXP allocate_result(const pn_config *config, wanted want, size_t n) {
  const size_t d = config->layers, C = config->components, o = config->outputs, so = PN_SIZE(config->tasks, o);
  const size_t predictions[] = {n, d, so}, contributions[] = {n, C, so}, by_layer[] = {n, C, so, d},
               outputs[] = {n, C, o, d};
  const size_t *const dims[] = {predictions, contributions, by_layer, outputs};
  const int n_dims = want == WANT_PREDICTIONS || want == WANT_CONTRIBUTIONS ? 3 : 4;
  const size_t length = pn_size_product(dims[want], (size_t)n_dims);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, pn_r_length(length)));
  for (size_t i = 0; i < length; ++i) REAL(out)[i] = 0.0;
  pn_r_dim(out, n_dims, dims[want]);
  UNPROTECT(1);
  return out;
}

/* A model of some components of `model` alone; the slab differs in its task weights [l][u][c]. */
static void keep_components(pn_model *model, pn_config *config, SEXP keep, pn_arena *arena) {
  const pn_config full = *config;
  const pn_model from = *model;
  const size_t n = (size_t)Rf_xlength(keep), C = full.components, k = full.members;
  if (!Rf_isInteger(keep)) pn_r_abort("engine", "The engine needs the components to keep as integers.");
  uint32_t *component = pn_arena_alloc(arena, PN_SIZE(n, k), sizeof(uint32_t));
  if (component == NULL && n > 0) pn_r_check(PN_NO_MEMORY);
  for (size_t i = 0; i < n; ++i) {
    const int c = INTEGER(keep)[i];
    if (c < 1 || (size_t)c > C) pn_r_abort("engine", "The engine has no component %d.", c);
    for (size_t j = 0; j < k; ++j) component[i * k + j] = full.component[(size_t)(c - 1) * k + j];
  }
  config->components = n;
  config->component = component;
  pn_r_check(pn_model_init(model, config, arena));
  const size_t before = from.layout.shared + from.layout.task_weight, lines = full.layers * full.tasks;
  const float *weight = from.param + before;
  for (size_t i = 0; i < before; ++i) model->param[i] = from.param[i];
  for (size_t line = 0; line < lines; ++line) {
    for (size_t i = 0; i < n; ++i)
      model->param[before + line * n + i] = weight[line * C + (size_t)INTEGER(keep)[i] - 1];
  }
  const size_t rest = before + lines * C;
  for (size_t i = rest; i < from.layout.total; ++i) model->param[before + lines * n + i - rest] = from.param[i];
  for (size_t i = 0; i < 2 * full.features; ++i) model->running[i] = from.running[i];
}

static SEXP predict_body(void *data) {
  predict_call *call = data;
  pn_arena *arena = &call->arena;
  pn_config config;
  pn_data rows;
  pn_model model;
  pn_batch batch;
  pn_work work;
  pn_r_config(&config, call->config, arena);
  pn_r_data(&rows, &config, call->data, arena);
  pn_r_model(&model, &config, call->params, call->running, arena);
  const double all = (double)config.components;
  if (call->keep != R_NilValue) keep_components(&model, &config, call->keep, arena);
  const size_t block = pn_pass_rows(&config, rows.n);
  const int threads = pn_threads_start(pn_pass_threads(&config, &rows, block, pn_r_threads(call->threads)));
  pn_r_check(pn_batch_init(&batch, &rows, config.features, block, 1, 0, arena));
  pn_r_check(pn_work_init(&work, &model, &batch, 0, threads, arena));
  float *r = NULL;
  if (call->want != WANT_PREDICTIONS) {
    r = pn_arena_alloc(arena, PN_SIZE(block, config.layers, config.components, config.outputs), sizeof(float));
    if (r == NULL) pn_r_check(PN_NO_MEMORY);
  }
  SEXP out = PROTECT(allocate_result(&config, call->want, rows.n));
  const pn_mode mode = {0, INFINITY, 0, 0, threads, 0};
  for (size_t begin = 0; begin < rows.n; begin += block) {
    const target to = {REAL(out), rows.n, begin};
    pn_batch_fill_range(&batch, &rows, begin, rows.n - begin < block ? rows.n - begin : block, threads);
    pn_pass_predict(&model, &work, &batch, mode);
    if (call->want == WANT_PREDICTIONS) {
      write_predictions(&model, &work, &batch, to);
    } else {
      pn_pass_components(&model, &work, &batch, mode, r);
      if (call->want == WANT_OUTPUTS) {
        write_outputs(&config, r, batch.rows, to);
      } else {
        write_contributions(&model, r, batch.rows, call->want == WANT_LAYER_CONTRIBUTIONS, to);
      }
    }
    R_CheckUserInterrupt();
  }
  if (call->keep != R_NilValue) { /* 1/C is that of all components */
    const double share = (double)config.components / all;
    for (R_xlen_t i = 0; i < Rf_xlength(out); ++i) REAL(out)[i] *= share;
  }
  UNPROTECT(1);
  return out;
}

static SEXP predict_run(SEXP config, SEXP params, SEXP running, SEXP data, SEXP keep, SEXP threads, wanted want) {
  predict_call call = {.config = config,
                       .params = params,
                       .running = running,
                       .data = data,
                       .threads = threads,
                       .keep = keep,
                       .want = want};
  return pn_r_guard(predict_body, &call, &call.arena);
}

SEXP ffi_predict(SEXP config, SEXP params, SEXP running, SEXP data, SEXP threads) {
  return predict_run(config, params, running, data, R_NilValue, threads, WANT_PREDICTIONS);
}

SEXP ffi_contributions(SEXP config, SEXP params, SEXP running, SEXP data, SEXP by_layer, SEXP keep, SEXP threads) {
  return predict_run(config, params, running, data, keep, threads,
                     Rf_asLogical(by_layer) == TRUE ? WANT_LAYER_CONTRIBUTIONS : WANT_CONTRIBUTIONS);
}

SEXP ffi_outputs(SEXP config, SEXP params, SEXP running, SEXP data, SEXP threads) {
  return predict_run(config, params, running, data, R_NilValue, threads, WANT_OUTPUTS);
}
