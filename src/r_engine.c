/* Entries for tests and tools: gradients, single optimiser steps, the slab's layout, permutations, kernel level.
 *
 * ffi_gradient(config, params, running, data, pass)  one training pass over all rows of data as one batch;
 *      pass = list(temperature, equal_values, seed, threads)
 *      -> list(loss, grad = double slab, outputs = double [n x C x o x d], predictions = double [n x d x s o])
 * ffi_steps(config, params, data, pass, steps)       `steps` AdamW steps on that batch; pass also has lr, weight_decay
 *      -> list(losses, params, running)
 * ffi_layout(config)   -> list(name, offset, dim, stride, total): tensor `name` at [i, j, ..] (from 0) is element
 *      offset + i * stride[1] + j * stride[2] + ... of the slab; running = length 2 K is separate
 * ffi_permutation(n, seed, stream)  -> integer permutation of 1 .. n from the counter-based generator
 * ffi_threads(wanted)               -> how many threads a call gets that wants so many
 * ffi_kernel_level(level)           -> name of the kernels in use, after forcing `level` unless NULL
 */
#include "r_parse.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base_rng.h"
#include "base_size.h"
#include "r_entries.h"
#include "train_optimiser.h"

typedef struct {
  SEXP config, params, running, data, pass;
  int steps; /* 0: the gradient alone */
  pn_arena arena;
} gradient_call;

typedef struct {
  pn_config config;
  pn_data data;
  pn_model model;
  pn_batch batch;
  pn_work work;
  pn_mode mode;
} gradient_state;

static void prepare(gradient_state *state, const gradient_call *call, pn_arena *arena) {
  const int threads = pn_threads_start(pn_r_threads(pn_r_element(call->pass, "threads")));
  const int equal_values = pn_r_flag(call->pass, "equal_values");
  pn_r_config(&state->config, call->config, arena);
  pn_r_data(&state->data, &state->config, call->data, arena);
  if (state->data.y == NULL || state->data.n == 0) pn_r_abort("engine", "The engine needs rows with a response.");
  pn_r_model(&state->model, &state->config, call->params, call->running, arena);
  pn_r_check(pn_batch_init(&state->batch, &state->data, state->config.features, state->data.n, equal_values,
                           state->config.variation > 0, arena));
  pn_r_check(pn_work_init(&state->work, &state->model, &state->batch, 1, threads, arena));
  for (size_t i = 0; i < state->config.features; ++i) pn_model_refresh(&state->model, i);
  pn_batch_fill_range(&state->batch, &state->data, 0, state->data.n, threads);
  const pn_mode mode = {
      1, (float)(1 / pn_r_number(call->pass, "temperature")), (uint64_t)pn_r_size(call->pass, "seed"), 0, threads, 1};
  state->mode = mode;
}

static SEXP outputs_of(gradient_state *state, pn_arena *arena) {
  const pn_config *config = &state->config;
  const size_t n = state->data.n, C = config->components, o = config->outputs, d = config->layers;
  const size_t length = PN_SIZE(n, C, o, d);
  float *r = pn_arena_alloc(arena, length, sizeof(float));
  if (r == NULL) pn_r_check(PN_NO_MEMORY);
  pn_pass_components(&state->model, &state->work, &state->batch, state->mode, r);
  const size_t dims[] = {n, C, o, d};
  SEXP out = PROTECT(Rf_allocVector(REALSXP, pn_r_length(length)));
  for (size_t q = 0; q < d * C; ++q) {
    for (size_t row = 0; row < n; ++row) {
      for (size_t k = 0; k < o; ++k) {
        REAL(out)[((q / C * o + k) * C + q % C) * n + row] = r[(q * n + row) * o + k];
      }
    }
  }
  pn_r_dim(out, 4, dims);
  UNPROTECT(1);
  return out;
}

static SEXP predictions_of(const gradient_state *state) {
  const size_t n = state->data.n, d = state->config.layers, so = state->config.tasks * state->config.outputs;
  const size_t dims[] = {n, d, so};
  SEXP out = PROTECT(Rf_allocVector(REALSXP, pn_r_length(PN_SIZE(n, d, so))));
  for (size_t row = 0; row < n; ++row) {
    for (size_t q = 0; q < d * so; ++q)
      REAL(out)[((q % so) * d + q / so) * n + row] = state->work.eta[row * d * so + q];
  }
  pn_r_dim(out, 3, dims);
  UNPROTECT(1);
  return out;
}

static SEXP gradient_body(void *data) {
  gradient_call *call = data;
  gradient_state state;
  prepare(&state, call, &call->arena);
  const double loss = pn_pass_gradient(&state.model, &state.work, &state.data, &state.batch, state.mode);
  for (size_t part = 0; part <= state.config.features; ++part) pn_pass_sum(&state.model, &state.work, part);
  const char *names[] = {"loss", "grad", "outputs", "predictions", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(loss));
  SET_VECTOR_ELT(out, 1, pn_r_doubles(state.work.grad, state.model.layout.total));
  SET_VECTOR_ELT(out, 2, outputs_of(&state, &call->arena));
  SET_VECTOR_ELT(out, 3, predictions_of(&state));
  UNPROTECT(1);
  return out;
}

static SEXP steps_body(void *data) {
  gradient_call *call = data;
  gradient_state state;
  pn_optimiser optimiser;
  prepare(&state, call, &call->arena);
  const double lr = pn_r_number(call->pass, "lr");
  pn_r_check(pn_optimiser_init(&optimiser, &state.model, pn_r_number(call->pass, "weight_decay"), &call->arena));
  const char *names[] = {"losses", "params", "running", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP losses = Rf_allocVector(REALSXP, call->steps);
  SET_VECTOR_ELT(out, 0, losses);
  for (int step = 0; step < call->steps; ++step) {
    state.mode.step = (uint64_t)step;
    REAL(losses)[step] = pn_pass_gradient(&state.model, &state.work, &state.data, &state.batch, state.mode);
    pn_optimiser_step(&optimiser, &state.model, &state.work, lr);
  }
  SET_VECTOR_ELT(out, 1, pn_r_doubles(state.model.param, state.model.layout.total));
  SET_VECTOR_ELT(out, 2, pn_r_doubles(state.model.running, 2 * state.config.features));
  UNPROTECT(1);
  return out;
}

SEXP ffi_gradient(SEXP config, SEXP params, SEXP running, SEXP data, SEXP pass) {
  gradient_call call = {.config = config, .params = params, .running = running, .data = data, .pass = pass};
  return pn_r_guard(gradient_body, &call, &call.arena);
}

SEXP ffi_steps(SEXP config, SEXP params, SEXP data, SEXP pass, SEXP steps) {
  const int number = Rf_asInteger(steps);
  if (number == NA_INTEGER || number < 0) pn_r_abort("engine", "The engine needs a number of steps.");
  gradient_call call = {
      .config = config, .params = params, .running = R_NilValue, .data = data, .pass = pass, .steps = number};
  return pn_r_guard(steps_body, &call, &call.arena);
}

#define MAX_DIMS 3

/* Collects the description of tensors, one call per tensor. */
typedef struct {
  SEXP name, offset, dim, stride;
  R_xlen_t used;
} tensor_list;

static void add_tensor(tensor_list *list, const char *stem, long l, size_t offset, int n_dims, const size_t *dims,
                       const size_t *strides) {
  char name[32];
  if (l < 0) {
    snprintf(name, sizeof(name), "%s", stem);
  } else {
    snprintf(name, sizeof(name), "%s%ld", stem, l);
  }
  SEXP dim = Rf_allocVector(INTSXP, n_dims);
  SET_VECTOR_ELT(list->dim, list->used, dim);
  SEXP stride = Rf_allocVector(REALSXP, n_dims);
  SET_VECTOR_ELT(list->stride, list->used, stride);
  for (int i = 0; i < n_dims; ++i) {
    INTEGER(dim)[i] = (int)dims[i];
    REAL(stride)[i] = (double)strides[i];
  }
  SET_STRING_ELT(list->name, list->used, Rf_mkChar(name));
  REAL(list->offset)[list->used] = (double)offset;
  ++list->used;
}

static void add_layer(tensor_list *list, const pn_config *config, const pn_layout *layout, size_t l) {
  const size_t h = config->hidden, K = config->features, F = layout->feature_size, width = layout->width;
  const size_t o = config->outputs, s = config->tasks, C = config->components, shared = layout->shared;
  const size_t rows = pn_encoder_rows(config, l), encoder = pn_layout_encoder(layout, config, l);
  const long number = (long)l;
  add_tensor(list, "enc_w", number, encoder, 3, (size_t[]){K, h, rows - 1}, (size_t[]){F, 1, h});
  add_tensor(list, "enc_b", number, encoder + (rows - 1) * h, 2, (size_t[]){K, h}, (size_t[]){F, 1});
  add_tensor(list, "pred_w1_", number, layout->predictor + l * h * width, 3, (size_t[]){width, h, K},
             (size_t[]){1, width, F});
  add_tensor(list, "pred_b1_", number, shared + layout->bias1 + l * width, 1, (size_t[]){width}, (size_t[]){1});
  if (config->predictor_layers == 2) {
    add_tensor(list, "pred_w2_", number, shared + layout->weight2 + l * o * h, 2, (size_t[]){o, h}, (size_t[]){h, 1});
    add_tensor(list, "pred_b2_", number, shared + layout->bias2 + l * o, 1, (size_t[]){o}, (size_t[]){1});
  }
  add_tensor(list, "agg_w", number, shared + layout->task_weight + l * s * C, 2, (size_t[]){s, C}, (size_t[]){C, 1});
  add_tensor(list, "agg_b", number, shared + layout->task_bias + l * s * o, 2, (size_t[]){s, o}, (size_t[]){o, 1});
}

static SEXP layout_body(void *data) {
  gradient_call *call = data;
  pn_config config;
  pn_layout layout;
  pn_r_config(&config, call->config, &call->arena);
  pn_r_check(pn_layout_init(&layout, &config));
  const int two = config.predictor_layers == 2;
  const size_t tensors = pn_size_add(two ? 8 : 6, PN_SIZE(config.layers, two ? 8 : 6));
  if (tensors > INT_MAX) pn_r_abort("engine", "The engine does not list %.0f tensors.", (double)tensors);
  const char *names[] = {"name", "offset", "dim", "stride", "total", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  tensor_list list = {.used = 0};
  SET_VECTOR_ELT(out, 0, list.name = Rf_allocVector(STRSXP, (R_xlen_t)tensors));
  SET_VECTOR_ELT(out, 1, list.offset = Rf_allocVector(REALSXP, (R_xlen_t)tensors));
  SET_VECTOR_ELT(out, 2, list.dim = Rf_allocVector(VECSXP, (R_xlen_t)tensors));
  SET_VECTOR_ELT(out, 3, list.stride = Rf_allocVector(VECSXP, (R_xlen_t)tensors));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)layout.total));

  const size_t d = config.layers, t = config.prototypes, K = config.features, F = layout.feature_size;
  const size_t proto_dims[MAX_DIMS] = {d, t, K}, proto_strides[MAX_DIMS] = {t, 1, F};
  add_tensor(&list, "center", -1, layout.center, 3, proto_dims, proto_strides);
  add_tensor(&list, "coeff", -1, layout.slope, 3, proto_dims, proto_strides);
  add_tensor(&list, "bias", -1, layout.intercept, 3, proto_dims, proto_strides);
  add_tensor(&list, "missing", -1, layout.missing, 2, (size_t[]){d, K}, (size_t[]){1, F});
  for (size_t l = 0; l < d; ++l) add_layer(&list, &config, &layout, l);
  const size_t norm = pn_norm_size(&config), one = 1;
  add_tensor(&list, "norm_g", -1, layout.shared + layout.norm_gain, 1, &norm, &one);
  add_tensor(&list, "norm_b", -1, layout.shared + layout.norm_offset, 1, &norm, &one);
  if (two) {
    add_tensor(&list, "lnorm_g", -1, layout.shared + layout.tail_gain, 1, &config.hidden, &one);
    add_tensor(&list, "lnorm_b", -1, layout.shared + layout.tail_offset, 1, &config.hidden, &one);
  }
  UNPROTECT(1);
  return out;
}

SEXP ffi_layout(SEXP config) {
  gradient_call call = {.config = config};
  return pn_r_guard(layout_body, &call, &call.arena);
}

SEXP ffi_permutation(SEXP n, SEXP seed, SEXP stream) {
  const double rows = Rf_asReal(n);
  if (!(rows >= 0 && rows <= 2147483647.0)) pn_r_abort("engine", "The engine permutes fewer than 2^31 rows.");
  SEXP out = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)rows));
  for (R_xlen_t i = 0; i < (R_xlen_t)rows; ++i) INTEGER(out)[i] = (int)i + 1;
  /* Positive ints are their own unsigned representation, so the shuffle works on R's vector. */
  pn_rng_shuffle((uint32_t *)INTEGER(out), (size_t)rows,
                 pn_rng_key((uint64_t)Rf_asReal(seed), PN_STREAM_SPLIT, (uint64_t)Rf_asReal(stream), 0));
  UNPROTECT(1);
  return out;
}

SEXP ffi_threads(SEXP wanted) {
  return Rf_ScalarInteger(pn_threads_start(pn_r_threads(wanted)));
}

SEXP ffi_kernel_level(SEXP level) {
  static const char *const names[] = {"scalar", "avx2", "avx512"};
  if (level != R_NilValue) {
    int found = 0;
    for (int i = 0; i < 3 && !found; ++i) {
      found = strcmp(CHAR(Rf_asChar(level)), names[i]) == 0 && pn_kernels_set((pn_kern_level)i) == 0;
    }
    if (!found) {
      pn_r_abort("kernels", "This machine has no kernels called \"%s\".", CHAR(Rf_asChar(level)));
    }
  }
  return Rf_mkString(pn_kernels_get()->name);
}
