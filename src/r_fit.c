/* ffi_fit(config, data, validation, init, train, progress): trains the members of an ensemble, one or many.
 * ffi_fit_bytes(config, data, validation, train): what that takes.
 *
 * in:  config, data    see R/model-object.R and R/data-encoded.R
 *      validation      data of held-out rows, or NULL
 *      init            list(params = double [slab x members]), trained parameters that members start from, or
 *                      list(centers = double [t x K], seed = double, relation = NULL or double [s x C]), a member per
 *                      seed; relation: see pn_params_relate. base = what r_smooth.h says: with layer 0.
 *                      states = NULL or a list with, per member, NULL or the raw state to go on from
 *      train           list(epochs, batch_size, lr, weight_decay, tau, patience, seed, shuffle, join_remainder,
 *                      equal_values, threads, skip = NULL or integer, skipped = NULL or epochs of the schedules that
 *                      are left out); seed and skip have one element per member: the rows whose data$fold is a
 *                      member's skip are left out of its training.
 *                      save = NULL or function(number, value, state), called every save_seconds or so with a member's
 *                      number and its state (train_state.h) as raw, and with its result (state FALSE) when it has ended
 *      progress        function(member, epoch, loss, score) or NULL; called after epochs, may signal conditions
 * out: a list with, per member, list(params, running, loss, score, lr, temperature, best_epoch, score_name, epochs_run,
 *      status, seconds, base); status "diverged": the loss stopped being finite in epoch `epochs_run`, params are not
 *      to be used; seconds: time per phase; base: fitted layer 0, see r_smooth.h
 *      ffi_fit_bytes: double, c(memory that the fit needs, memory that there is), in bytes
 *
 * How members are trained: r_fit_members.c.
 */
#include "r_fit.h"

#include <R.h>

#include "base_memory.h"
#include "base_size.h"
#include "r_entries.h"

static void free_all(void *data) {
  pn_fit_call *call = data;
  for (size_t m = 0; m < call->n_members; ++m) {
    pn_arena_free(&call->members[m].work);
    pn_arena_free(&call->members[m].kept);
    pn_arena_free(&call->members[m].slot.arena);
  }
  pn_arena_free(&call->arena);
}

static const double *need_doubles(SEXP list, const char *name, size_t n) {
  SEXP x = pn_r_element(list, name);
  if (!Rf_isReal(x) || (size_t)Rf_xlength(x) != n) {
    pn_r_abort("engine", "The engine needs `%s` as %.0f numbers.", name, (double)n);
  }
  return REAL(x);
}

static void parse_options(pn_fit_call *call, int threads) {
  SEXP seeds = pn_r_element(call->train, "seed");
  if (!Rf_isReal(seeds) || Rf_xlength(seeds) < 1) pn_r_abort("engine", "The engine needs one seed per member.");
  const size_t batch = pn_r_size(call->train, "batch_size"), n = (size_t)Rf_xlength(seeds);
  const pn_train_options options = {
      .epochs = pn_r_size(call->train, "epochs"),
      .batch_size = batch,
      .lr = pn_r_number(call->train, "lr"),
      .weight_decay = pn_r_number(call->train, "weight_decay"),
      .tau = pn_r_number(call->train, "tau"),
      .patience = pn_r_number(call->train, "patience"),
      .shuffle = pn_r_flag(call->train, "shuffle"),
      .join_remainder = pn_r_flag(call->train, "join_remainder"),
      .equal_values = pn_r_flag(call->train, "equal_values"),
      .skipped = pn_r_element(call->train, "skipped") == R_NilValue ? 0 : pn_r_size(call->train, "skipped"),
      .threads = n > 1 ? 1 : pn_pass_threads(&call->engine_config, &call->rows, batch, threads),
  };
  if (options.epochs == 0 || batch == 0) pn_r_abort("engine", "The engine needs epochs and batches.");
  call->options = options;
  call->seeds = REAL(seeds);
  call->n_seeds = n;
  SEXP skip = pn_r_element(call->train, "skip");
  if (skip != R_NilValue && (!Rf_isInteger(skip) || (size_t)Rf_xlength(skip) != n)) {
    pn_r_abort("engine", "The engine needs `skip` as one integer per member.");
  }
  call->skip = skip == R_NilValue ? NULL : INTEGER(skip);
}

static void parse_data(pn_fit_call *call) {
  pn_r_config(&call->engine_config, call->config, &call->arena);
  pn_r_data(&call->rows, &call->engine_config, call->data, &call->arena);
  if (call->rows.y == NULL || call->rows.n == 0) pn_r_abort("engine", "The engine needs rows with a response.");
  if (call->validation != R_NilValue) {
    pn_r_data(&call->held_out, &call->engine_config, call->validation, &call->arena);
    if (call->held_out.y == NULL || call->held_out.n == 0) pn_r_abort("engine", "The validation data has no rows.");
  }
}

static void parse_origin(pn_fit_call *call) {
  const pn_config *config = &call->engine_config;
  pn_layout layout;
  SEXP base = pn_r_element(call->init, "base");
  pn_r_check(pn_layout_init(&layout, config));
  if (base != R_NilValue) {
    call->terms = pn_r_smooth_terms(base, config->columns, &call->arena, &call->n_terms);
    call->handle = pn_r_smooth_handle(base, config->columns);
  } else if (config->features == 0) {
    pn_r_abort("engine", "The engine needs prototype layers or layer 0.");
  }
  if (pn_r_element(call->init, "params") != R_NilValue) {
    call->start.params = need_doubles(call->init, "params", PN_SIZE(layout.total, call->n_seeds));
    call->options.warm = call->terms != NULL;
    return;
  }
  call->start.centers = need_doubles(call->init, "centers", PN_SIZE(config->prototypes, config->features));
  call->start.seed = need_doubles(call->init, "seed", call->n_seeds);
  if (pn_r_element(call->init, "relation") != R_NilValue) {
    call->start.relation = need_doubles(call->init, "relation", PN_SIZE(config->tasks, config->components));
  }
}

static void init_members(pn_fit_call *call) {
  const size_t n = call->n_seeds;
  SEXP states = pn_r_element(call->init, "states");
  if (states != R_NilValue && (TYPEOF(states) != VECSXP || (size_t)Rf_xlength(states) != n)) {
    pn_r_abort("engine", "The engine needs `states` as a list with one element per member.");
  }
  call->members = pn_arena_alloc(&call->arena, n, sizeof(pn_member));
  if (call->members == NULL) pn_r_check(PN_NO_MEMORY);
  for (size_t m = 0; m < n; ++m) {
    SEXP state = states == R_NilValue ? R_NilValue : VECTOR_ELT(states, (R_xlen_t)m);
    if (TYPEOF(state) == RAWSXP) {
      call->members[m].from = RAW_RO(state);
      call->members[m].from_size = (size_t)Rf_xlength(state);
    }
    pn_arena_init(&call->members[m].slot.arena);
    atomic_init(&call->members[m].slot.phase, PN_SLOT_IDLE);
    pn_arena_init(&call->members[m].kept);
    pn_arena_init(&call->members[m].work);
    call->members[m].number = m;
    call->members[m].call = call;
  }
  call->n_members = n;
}

static SEXP seconds_of(const pn_history *history) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, PN_PHASES)), labels = PROTECT(Rf_allocVector(STRSXP, PN_PHASES));
  for (int phase = 0; phase < PN_PHASES; ++phase) {
    REAL(out)[phase] = history->seconds[phase];
    SET_STRING_ELT(labels, phase, Rf_mkChar(pn_phase_name((pn_phase)phase)));
  }
  Rf_setAttrib(out, R_NamesSymbol, labels);
  UNPROTECT(2);
  return out;
}

SEXP pn_r_member_result(const void *trained) {
  const pn_member *at = trained;
  const pn_history *history = &at->history;
  const double *const curves[] = {history->loss, history->score, history->lr, history->temperature};
  const char *names[] = {"params",     "running", "loss",    "score", "lr", "temperature", "best_epoch", "score_name",
                         "epochs_run", "status",  "seconds", "base",  ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, pn_r_doubles(at->param, at->call->total));
  SET_VECTOR_ELT(out, 1, pn_r_doubles(at->running, 2 * at->call->engine_config.features));
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
  if (at->status == PN_OK && at->call->terms != NULL) {
    SET_VECTOR_ELT(out, 11, pn_r_smooth_result(&at->base, at->call->engine_config.columns));
  }
  UNPROTECT(1);
  return out;
}

static SEXP fit_body(void *data) {
  pn_fit_call *call = data;
  pn_layout layout;
  int threads = pn_r_threads(pn_r_element(call->train, "threads"));
  parse_data(call);
  parse_options(call, threads);
  const size_t n = call->n_seeds;
  parse_origin(call);
  init_members(call);
  threads = pn_threads_start(n == 1 ? call->options.threads : (size_t)threads < n ? threads : (int)n);
  if (n == 1) call->options.threads = threads;
  pn_r_check(pn_layout_init(&layout, &call->engine_config));
  call->total = layout.total;
  pn_r_saver_init(&call->saver, call->train);
  pn_r_check(pn_data_by_rows(&call->rows, call->engine_config.features, &call->arena));
  call->jump = PROTECT(R_MakeUnwindCont());
  pn_r_fit_train(call, threads);

  SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
  for (size_t m = 0; m < n; ++m) {
    pn_r_check(call->members[m].status);
    SET_VECTOR_ELT(out, (R_xlen_t)m, pn_r_member_result(&call->members[m]));
    pn_arena_free(&call->members[m].kept);
  }
  UNPROTECT(2);
  return out;
}

SEXP ffi_fit(SEXP config, SEXP data, SEXP validation, SEXP init, SEXP train, SEXP progress) {
  pn_fit_call call = {
      .config = config, .data = data, .validation = validation, .init = init, .train = train, .progress = progress};
  pn_arena_init(&call.arena);
  return R_ExecWithCleanup(fit_body, &call, free_all, &call);
}

/* The most that is taken at once: while members train, their memory and what those that have ended keep; afterwards
 * R's copies. */
static SEXP bytes_body(void *data) {
  pn_fit_call *call = data;
  const int threads = pn_r_threads(pn_r_element(call->train, "threads"));
  pn_layout layout;
  pn_arena own, shared;
  pn_history history;
  parse_data(call);
  parse_options(call, threads);
  const size_t n = call->n_seeds, side = (size_t)threads < n ? (size_t)threads : n;
  pn_arena_measure(&own);
  pn_arena_measure(&shared);
  size_t bytes = PN_SIZE_TOO_LARGE;
  if (pn_layout_init(&layout, &call->engine_config) == PN_OK) {
    pn_fit_history_init(&history, call->options.epochs, &own);
    pn_data_by_rows(&call->rows, call->engine_config.features, &shared);
    const size_t work = pn_train_bytes(&call->engine_config, &call->rows, pn_fit_held_out(call), &call->options);
    const size_t training =
        pn_size_add(PN_SIZE(side, pn_size_add(work, own.bytes)), PN_SIZE(n - side, layout.total, sizeof(float)));
    const size_t copies = PN_SIZE(n, layout.total, sizeof(double));
    bytes = pn_size_add(shared.bytes, training > copies ? training : copies);
  }
  SEXP out = Rf_allocVector(REALSXP, 2);
  REAL(out)[0] = (double)bytes;
  REAL(out)[1] = (double)pn_memory_available();
  return out;
}

SEXP ffi_fit_bytes(SEXP config, SEXP data, SEXP validation, SEXP train) {
  pn_fit_call call = {.config = config, .data = data, .validation = validation, .train = train};
  return pn_r_guard(bytes_body, &call, &call.arena);
}
