/* ffi_fit(config, data, validation, init, train, progress): trains the members of an ensemble, one or many.
 *
 * in:  config, data    see R/model.R and R/encode.R
 *      validation      data of held-out rows, or NULL
 *      init            list(params = double slab), one member that starts from there, or
 *                      list(centers = double [t x K], seed = double, relation = NULL or double [s x C]), a member per
 *                      seed; relation: see pn_params_relate
 *      train           list(epochs, batch_size, lr, weight_decay, tau, patience, seed, shuffle, join_remainder,
 *                      equal_values, threads); seed as long as there are members
 *      progress        function(member, epoch, loss, score) or NULL; called after epochs, may signal conditions
 * out: a list with, per member, list(params, running, loss, score, lr, temperature, best_epoch, score_name, epochs_run,
 *      status, seconds); status "diverged": the loss stopped being finite in epoch `epochs_run`, params are not to be
 *      used; seconds: time per phase
 *
 * One member has all threads. Several members train side by side, a thread each, on the same encoded data: they never
 * wait for each other. R is called from the main thread alone, which is one of them; what it may raise there (an
 * interrupt, a condition from `progress`) is caught, stops all members at their next batch, and is raised again when
 * they have come to rest.
 */
#include "r_parse.h"

#include <R.h>
#include <R_ext/Utils.h>

#include "r_entries.h"
#include "train_loop.h"

typedef struct {
  pn_model model;
  pn_history history;
  pn_train_options options;
  pn_status status;
  pn_arena arena;        /* of the model and its history */
  pn_arena work;         /* of its training, freed when that ends */
  size_t number;         /* from 0 */
  struct fit_call *call; /* the fit it belongs to */
} member;

typedef struct fit_call {
  SEXP config, data, validation, init, train, progress;
  pn_arena arena;
  pn_config engine_config;
  pn_data rows, held_out;
  member *members;
  size_t n_members;
  int side_by_side;                                                   /* R conditions must not leave the region */
  volatile enum { STOP_NOT = 0, STOP_INTERRUPT, STOP_PROGRESS } stop; /* set by the main thread */
} fit_call;

static void free_all(void *data) {
  fit_call *call = data;
  for (size_t m = 0; m < call->n_members; ++m) {
    pn_arena_free(&call->members[m].work);
    pn_arena_free(&call->members[m].arena);
  }
  pn_arena_free(&call->arena);
}

static void check_interrupt(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

static int poll_interrupt(void *context) {
  fit_call *call = ((member *)context)->call;
  if (!call->side_by_side) {
    R_CheckUserInterrupt();
  } else if (pn_thread_index() == 0 && !R_ToplevelExec(check_interrupt, NULL)) {
    call->stop = STOP_INTERRUPT;
  }
  return call->stop != STOP_NOT;
}

static void call_progress(void *call) {
  Rf_eval((SEXP)call, R_GlobalEnv);
}

static void report_epoch(void *context, size_t epoch, double loss, double score) {
  const member *at = context;
  fit_call *call = at->call;
  if (call->progress == R_NilValue || (call->side_by_side && pn_thread_index() != 0)) return;
  SEXP report = PROTECT(Rf_lang5(call->progress, PROTECT(Rf_ScalarReal((double)at->number + 1)),
                                 PROTECT(Rf_ScalarReal((double)epoch)), PROTECT(Rf_ScalarReal(loss)),
                                 PROTECT(Rf_ScalarReal(score))));
  if (!call->side_by_side) {
    Rf_eval(report, R_GlobalEnv);
  } else if (!R_ToplevelExec(call_progress, report)) {
    call->stop = STOP_PROGRESS;
  }
  UNPROTECT(5);
}

static void init_model(member *at, double seed) {
  const fit_call *call = at->call;
  const pn_config *config = &call->engine_config;
  SEXP params = pn_r_element(call->init, "params"), centers = pn_r_element(call->init, "centers");
  if (params != R_NilValue) {
    pn_r_model(&at->model, config, params, R_NilValue, &at->arena);
    return;
  }
  if (!Rf_isReal(centers) || (size_t)Rf_xlength(centers) != config->prototypes * config->features) {
    pn_r_abort("engine", "The engine needs one column of initial prototypes per feature.");
  }
  pn_r_check(pn_model_init(&at->model, config, &at->arena));
  pn_params_init(at->model.param, &at->model.layout, config, REAL(centers), (uint64_t)seed);
  SEXP relation = pn_r_element(call->init, "relation");
  if (relation == R_NilValue) return;
  if (!Rf_isReal(relation) || (size_t)Rf_xlength(relation) != config->tasks * config->components) {
    pn_r_abort("engine", "The engine needs one relation per task and component.");
  }
  pn_params_relate(at->model.param, &at->model.layout, config, REAL(relation));
}

static void init_history(member *at) {
  const size_t epochs = at->options.epochs;
  double **curves[] = {&at->history.loss, &at->history.score, &at->history.lr, &at->history.temperature};
  for (int i = 0; i < 4; ++i) {
    *curves[i] = pn_arena_alloc(&at->arena, epochs, sizeof(double));
    if (*curves[i] == NULL) pn_r_check(PN_NO_MEMORY);
    for (size_t epoch = 0; epoch < epochs; ++epoch) (*curves[i])[epoch] = NA_REAL;
  }
}

static void init_members(fit_call *call, int threads) {
  SEXP seeds = pn_r_element(call->train, "seed"), starts = pn_r_element(call->init, "seed");
  call->n_members = 0;
  if (!Rf_isReal(seeds) || Rf_xlength(seeds) < 1 || (Rf_isReal(starts) && Rf_xlength(starts) != Rf_xlength(seeds))) {
    pn_r_abort("engine", "The engine needs one seed per member.");
  }
  const size_t n = (size_t)Rf_xlength(seeds);
  call->members = pn_arena_alloc(&call->arena, n, sizeof(member));
  if (call->members == NULL) pn_r_check(PN_NO_MEMORY);
  for (size_t m = 0; m < n; ++m) {
    member *at = &call->members[m];
    const pn_train_options options = {
        .epochs = pn_r_size(call->train, "epochs"),
        .batch_size = pn_r_size(call->train, "batch_size"),
        .lr = pn_r_number(call->train, "lr"),
        .weight_decay = pn_r_number(call->train, "weight_decay"),
        .tau = pn_r_number(call->train, "tau"),
        .patience = pn_r_number(call->train, "patience"),
        .seed = (uint64_t)REAL(seeds)[m],
        .shuffle = pn_r_flag(call->train, "shuffle"),
        .join_remainder = pn_r_flag(call->train, "join_remainder"),
        .equal_values = pn_r_flag(call->train, "equal_values"),
        .threads = n > 1 ? 1 : threads,
    };
    if (options.epochs == 0 || options.batch_size == 0) pn_r_abort("engine", "The engine needs epochs and batches.");
    pn_arena_init(&at->arena);
    pn_arena_init(&at->work);
    call->n_members = m + 1;
    at->call = call;
    at->number = m;
    at->options = options;
    init_model(at, Rf_isReal(starts) ? REAL(starts)[m] : 0);
    init_history(at);
  }
}

static void train_member(member *at) {
  fit_call *call = at->call;
  const pn_callbacks callbacks = {poll_interrupt, report_epoch, at};
  at->status = call->stop ? PN_STOPPED
                          : pn_train(&at->model, &call->rows, call->validation == R_NilValue ? NULL : &call->held_out,
                                     &at->options, &at->history, &callbacks, &at->work);
  pn_arena_free(&at->work);
}

static void train_side_by_side(fit_call *call, int threads) {
  call->side_by_side = 1;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads)
#endif
  for (size_t m = 0; m < call->n_members; ++m) train_member(&call->members[m]);
  (void)threads;
  if (call->stop == STOP_INTERRUPT) pn_r_interrupt();
  if (call->stop == STOP_PROGRESS) pn_r_abort("progress", "The progress function failed.");
}

static SEXP seconds_of(const pn_history *history) {
  const char *names[] = {"activation", "encoder",   "predictor", "components",
                         "loss",       "optimiser", "batches",   "validation"};
  SEXP out = PROTECT(Rf_allocVector(REALSXP, PN_PHASES)), labels = PROTECT(Rf_allocVector(STRSXP, PN_PHASES));
  for (int phase = 0; phase < PN_PHASES; ++phase) {
    REAL(out)[phase] = history->seconds[phase];
    SET_STRING_ELT(labels, phase, Rf_mkChar(names[phase]));
  }
  Rf_setAttrib(out, R_NamesSymbol, labels);
  UNPROTECT(2);
  return out;
}

static SEXP result_of(const member *at) {
  const pn_history *history = &at->history;
  const double *const curves[] = {history->loss, history->score, history->lr, history->temperature};
  const char *names[] = {"params",     "running",    "loss",       "score",  "lr",      "temperature",
                         "best_epoch", "score_name", "epochs_run", "status", "seconds", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, pn_r_doubles(at->model.param, at->model.layout.total));
  SET_VECTOR_ELT(out, 1, pn_r_doubles(at->model.running, 2 * at->model.config->features));
  for (int i = 0; i < 4; ++i) {
    SEXP curve = Rf_allocVector(REALSXP, (R_xlen_t)history->epochs_run);
    SET_VECTOR_ELT(out, 2 + i, curve);
    for (size_t epoch = 0; epoch < history->epochs_run; ++epoch) REAL(curve)[epoch] = curves[i][epoch];
  }
  SET_VECTOR_ELT(out, 6, Rf_ScalarInteger((int)history->best_epoch));
  SET_VECTOR_ELT(out, 7, Rf_mkString(pn_score_name(history->score_kind)));
  SET_VECTOR_ELT(out, 8, Rf_ScalarInteger((int)history->epochs_run));
  SET_VECTOR_ELT(out, 9, Rf_mkString(at->status == PN_DIVERGED ? "diverged" : "ok"));
  SET_VECTOR_ELT(out, 10, seconds_of(history));
  UNPROTECT(1);
  return out;
}

static SEXP fit_body(void *data) {
  fit_call *call = data;
  const int threads = pn_r_threads(pn_r_element(call->train, "threads"));
  pn_r_config(&call->engine_config, call->config, &call->arena);
  pn_r_data(&call->rows, &call->engine_config, call->data, &call->arena);
  pn_r_check(pn_data_by_rows(&call->rows, call->engine_config.features, &call->arena));
  if (call->rows.y == NULL || call->rows.n == 0) pn_r_abort("engine", "The engine needs rows with a response.");
  if (call->validation != R_NilValue) {
    pn_r_data(&call->held_out, &call->engine_config, call->validation, &call->arena);
    if (call->held_out.y == NULL || call->held_out.n == 0) pn_r_abort("engine", "The validation data has no rows.");
  }
  const size_t batch = pn_r_size(call->train, "batch_size");
  init_members(call, pn_pass_threads(&call->engine_config, &call->rows, batch, threads));
  if (call->n_members == 1) {
    train_member(call->members);
  } else {
    train_side_by_side(call, threads);
  }

  SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)call->n_members));
  for (size_t m = 0; m < call->n_members; ++m) {
    pn_r_check(call->members[m].status);
    SET_VECTOR_ELT(out, (R_xlen_t)m, result_of(&call->members[m]));
  }
  UNPROTECT(1);
  return out;
}

SEXP ffi_fit(SEXP config, SEXP data, SEXP validation, SEXP init, SEXP train, SEXP progress) {
  fit_call call = {
      .config = config, .data = data, .validation = validation, .init = init, .train = train, .progress = progress};
  pn_arena_init(&call.arena);
  return R_ExecWithCleanup(fit_body, &call, free_all, &call);
}
