/* ffi_fit(config, data, validation, init, train, progress): trains one model.
 *
 * in:  config, data    see R/model.R and R/encode.R
 *      validation      data of held-out rows, or NULL
 *      init            list(params = double slab), or list(centers = double [t x K], seed = number)
 *      train           list(epochs, batch_size, lr, weight_decay, tau, patience, seed, shuffle, join_remainder,
 *                      equal_values, threads)
 *      progress        function(epoch, loss, score) or NULL; called after every epoch, may signal conditions
 * out: list(params, running, loss, score, lr, temperature, best_epoch, score_name, epochs_run, status, seconds);
 *      status "diverged": the loss stopped being finite in epoch `epochs_run`, params are not to be used; seconds: time per phase
 */
#include "r_parse.h"

#include <R.h>
#include <R_ext/Utils.h>

#include "r_entries.h"
#include "train_loop.h"

typedef struct {
  SEXP config, data, validation, init, train, progress;
  pn_arena arena;
} fit_call;

static void poll_interrupt(void *context) {
  (void)context;
  R_CheckUserInterrupt();
}

static void report_epoch(void *context, size_t epoch, double loss, double score) {
  SEXP progress = *(SEXP *)context;
  if (progress == R_NilValue) return;
  SEXP call = PROTECT(Rf_lang4(progress, PROTECT(Rf_ScalarReal((double)epoch)), PROTECT(Rf_ScalarReal(loss)),
                               PROTECT(Rf_ScalarReal(score))));
  Rf_eval(call, R_GlobalEnv);
  UNPROTECT(4);
}

static uint64_t seed_of(SEXP list) { return (uint64_t)pn_r_size(list, "seed"); }

static void init_model(pn_model *model, const pn_config *config, SEXP init, pn_arena *arena) {
  SEXP params = pn_r_element(init, "params"), centers = pn_r_element(init, "centers");
  if (params != R_NilValue) {
    pn_r_model(model, config, params, R_NilValue, arena);
    return;
  }
  if (!Rf_isReal(centers) || (size_t)Rf_xlength(centers) != config->prototypes * config->features) {
    pn_r_abort("engine", "The engine needs one column of initial prototypes per feature.");
  }
  pn_r_check(pn_model_init(model, config, arena));
  pn_params_init(model->param, &model->layout, config, REAL(centers), seed_of(init));
}

static SEXP seconds_of(const pn_history *history) {
  const char *names[] = {"activation", "encoder", "predictor", "components", "loss", "optimiser", "batches",
                         "validation"};
  SEXP out = PROTECT(Rf_allocVector(REALSXP, PN_PHASES)), labels = PROTECT(Rf_allocVector(STRSXP, PN_PHASES));
  for (int phase = 0; phase < PN_PHASES; ++phase) {
    REAL(out)[phase] = history->seconds[phase];
    SET_STRING_ELT(labels, phase, Rf_mkChar(names[phase]));
  }
  Rf_setAttrib(out, R_NamesSymbol, labels);
  UNPROTECT(2);
  return out;
}

static SEXP result_of(const pn_model *model, const pn_history *history, pn_status status, SEXP curves) {
  const char *names[] = {"params", "running", "loss", "score", "lr", "temperature", "best_epoch", "score_name",
                         "epochs_run", "status", "seconds", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, pn_r_doubles(model->param, model->layout.total));
  SET_VECTOR_ELT(out, 1, pn_r_doubles(model->running, 2 * model->config->features));
  for (int i = 0; i < 4; ++i) {
    SET_VECTOR_ELT(out, 2 + i, Rf_xlengthgets(VECTOR_ELT(curves, i), (R_xlen_t)history->epochs_run));
  }
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger((int)history->best_epoch));
  SET_VECTOR_ELT(out, 7, Rf_mkString(pn_score_name(history->score_kind)));
  SET_VECTOR_ELT(out, 8, Rf_ScalarInteger((int)history->epochs_run));
  SET_VECTOR_ELT(out, 9, Rf_mkString(status == PN_DIVERGED ? "diverged" : "ok"));
  SET_VECTOR_ELT(out, 10, seconds_of(history));
  UNPROTECT(1);
  return out;
}

static SEXP fit_body(void *data) {
  fit_call *call = data;
  pn_arena *arena = &call->arena;
  pn_config config;
  pn_data rows, held_out;
  pn_model model;
  const int validate = call->validation != R_NilValue;
  pn_r_config(&config, call->config, arena);
  pn_r_data(&rows, &config, call->data, arena);
  if (rows.y == NULL || rows.n == 0) pn_r_abort("engine", "The engine needs rows with a response to train on.");
  if (validate) {
    pn_r_data(&held_out, &config, call->validation, arena);
    if (held_out.y == NULL || held_out.n == 0) pn_r_abort("engine", "The validation data has no rows.");
  }
  init_model(&model, &config, call->init, arena);

  const pn_train_options options = {
      .epochs = pn_r_size(call->train, "epochs"),
      .batch_size = pn_r_size(call->train, "batch_size"),
      .lr = pn_r_number(call->train, "lr"),
      .weight_decay = pn_r_number(call->train, "weight_decay"),
      .tau = pn_r_number(call->train, "tau"),
      .patience = pn_r_number(call->train, "patience"),
      .seed = seed_of(call->train),
      .shuffle = pn_r_flag(call->train, "shuffle"),
      .join_remainder = pn_r_flag(call->train, "join_remainder"),
      .equal_values = pn_r_flag(call->train, "equal_values"),
      .threads = pn_r_threads(pn_r_element(call->train, "threads")),
  };
  if (options.epochs == 0 || options.batch_size == 0) pn_r_abort("engine", "The engine needs epochs and batches.");

  SEXP curves = PROTECT(Rf_allocVector(VECSXP, 4));
  for (int i = 0; i < 4; ++i) SET_VECTOR_ELT(curves, i, Rf_allocVector(REALSXP, (R_xlen_t)options.epochs));
  pn_history history = {.loss = REAL(VECTOR_ELT(curves, 0)),
                        .score = REAL(VECTOR_ELT(curves, 1)),
                        .lr = REAL(VECTOR_ELT(curves, 2)),
                        .temperature = REAL(VECTOR_ELT(curves, 3))};
  for (int i = 0; i < 4; ++i) {
    for (size_t epoch = 0; epoch < options.epochs; ++epoch) REAL(VECTOR_ELT(curves, i))[epoch] = NA_REAL;
  }
  const pn_callbacks callbacks = {poll_interrupt, report_epoch, &call->progress};
  const pn_status status =
      pn_train(&model, &rows, validate ? &held_out : NULL, &options, &history, &callbacks, arena);
  pn_r_check(status);
  SEXP out = result_of(&model, &history, status, curves);
  UNPROTECT(1);
  return out;
}

SEXP ffi_fit(SEXP config, SEXP data, SEXP validation, SEXP init, SEXP train, SEXP progress) {
  fit_call call = {.config = config, .data = data, .validation = validation, .init = init, .train = train,
                   .progress = progress};
  return pn_r_guard(fit_body, &call, &call.arena);
}
