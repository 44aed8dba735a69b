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
 *                      are left out); seed and skip as long as there are members: the
 *                      rows whose data$fold is a member's skip are left out of its training.
 *                      save = NULL or function(number, value, state), called every save_seconds or so with a member's
 *                      number and its state (train_state.h) as raw, and with its result (state FALSE) when it has ended
 *      progress        function(member, epoch, loss, score) or NULL; called after epochs, may signal conditions
 * out: a list with, per member, list(params, running, loss, score, lr, temperature, best_epoch, score_name, epochs_run,
 *      status, seconds, base); status "diverged": the loss stopped being finite in epoch `epochs_run`, params are not
 *      to be used; seconds: time per phase; base: fitted layer 0, see r_smooth.h
 *      ffi_fit_bytes: double, c(memory that the fit needs, memory that there is), in bytes
 *
 * One member has all threads. Several members train side by side, a thread each, on the same encoded data: they never
 * wait for each other. R is called from the main thread alone, which trains members, too, and waits for the others when
 * none is left; what R raises there (an interrupt, an elapsed time limit, a condition from `progress`) is held back,
 * stops all members at their next batch, and goes on its way when they have come to rest. A member takes its memory
 * when its training begins, and keeps its parameters and curves alone when it ends.
 */
#include "r_parse.h"

#include <R.h>
#include <R_ext/Utils.h>
#include <setjmp.h>
#include <string.h>

#include "base_memory.h"
#include "base_size.h"
#include "r_entries.h"
#include "r_save.h"
#include "r_smooth.h"
#include "train_loop.h"

#define PN_POLL_PAUSE 10 /* milliseconds between two looks at R while the main thread waits */

typedef struct {
  float *param, *running; /* what is kept of the model */
  pn_smooth_result base;  /* with layer 0 */
  pn_history history;
  pn_status status;
  pn_arena kept;             /* of the above */
  pn_arena work;             /* of its training, freed when that ends */
  size_t number;             /* from 0 */
  pn_slot slot;              /* for checkpoints */
  const unsigned char *from; /* [from_size] a state to go on from, in R's vector, or NULL */
  size_t from_size;
  struct fit_call *call;
} member;

/* Where members start from; all point into R's vectors. */
typedef struct {
  const double *params;   /* [members x total], or NULL and: */
  const double *centers;  /* [t x K] */
  const double *seed;     /* [members] */
  const double *relation; /* [s x C] or NULL */
} origin;

enum { STOP_NOT = 0, STOP_JUMP, STOP_MEMORY };

typedef struct fit_call {
  SEXP config, data, validation, init, train, progress;
  pn_arena arena;
  pn_config engine_config;
  pn_data rows, held_out;
  origin start;
  pn_train_options options; /* but for the seed */
  const double *seeds;
  const int *skip;             /* [members] or NULL */
  const pn_smooth_term *terms; /* of layer 0, or NULL: none */
  size_t n_terms;
  const double *handle;
  size_t n_seeds; /* a member each */
  size_t total;   /* parameters of one */
  member *members;
  size_t n_members; /* as many, once they are there */
  pn_saver saver;
  int side_by_side;          /* what R raises must not leave the region */
  SEXP jump;                 /* where R was going when that was held back */
  jmp_buf held_back;         /* the place to wait at */
  atomic_int stop;           /* not STOP_NOT: no member goes on */
  atomic_size_t next, ended; /* members that were begun, that have come to rest */
} fit_call;

static void free_all(void *data) {
  fit_call *call = data;
  for (size_t m = 0; m < call->n_members; ++m) {
    pn_arena_free(&call->members[m].work);
    pn_arena_free(&call->members[m].kept);
    pn_arena_free(&call->members[m].slot.arena);
  }
  pn_arena_free(&call->arena);
}

static void hold_back(void *data, Rboolean jump) {
  if (jump) longjmp(((fit_call *)data)->held_back, 1);
}

/* Runs body(data) within a region of threads, on the main one. A jump of R's ends here: R_ContinueUnwind() resumes it
 * after the region. */
static void call_r(fit_call *call, SEXP (*body)(void *data), void *data) {
  if (setjmp(call->held_back) == 0) {
    R_UnwindProtect(body, data, hold_back, call, call->jump);
  } else {
    atomic_store(&call->stop, STOP_JUMP);
  }
}

static SEXP check_interrupt(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
  return R_NilValue;
}

static SEXP result_of(const void *trained);

static SEXP give_news(void *data) {
  fit_call *call = data;
  for (size_t m = 0; m < call->n_members; ++m) {
    pn_r_slot_give(&call->members[m].slot, &call->saver, m, result_of, &call->members[m]);
  }
  return R_NilValue;
}

/* Gives R what is to be kept, and asks for more when it is time. */
static void keep_states(fit_call *call) {
  if (call->saver.save == R_NilValue) return;
  if (atomic_exchange(&call->saver.news, 0) > 0) {
    if (call->side_by_side) {
      call_r(call, give_news, call);
    } else {
      give_news(call);
    }
  }
  if (pn_saver_due(&call->saver)) {
    for (size_t m = 0; m < call->n_members; ++m) pn_slot_ask(&call->members[m].slot);
  }
}

static int poll_interrupt(void *context) {
  fit_call *call = ((member *)context)->call;
  if (!call->side_by_side) {
    R_CheckUserInterrupt();
    keep_states(call);
  } else if (pn_thread_index() == 0 && atomic_load(&call->stop) == STOP_NOT) {
    call_r(call, check_interrupt, NULL);
    if (atomic_load(&call->stop) == STOP_NOT) keep_states(call);
  }
  return atomic_load_explicit(&call->stop, memory_order_relaxed) != STOP_NOT;
}

typedef struct {
  SEXP progress;
  double number[4]; /* member, epoch, loss, score */
} report;

static SEXP call_progress(void *data) {
  const report *at = data;
  SEXP call =
      PROTECT(Rf_lang5(at->progress, PROTECT(Rf_ScalarReal(at->number[0])), PROTECT(Rf_ScalarReal(at->number[1])),
                       PROTECT(Rf_ScalarReal(at->number[2])), PROTECT(Rf_ScalarReal(at->number[3]))));
  Rf_eval(call, R_GlobalEnv);
  UNPROTECT(5);
  return R_NilValue;
}

static void report_epoch(void *context, size_t epoch, double loss, double score) {
  const member *at = context;
  fit_call *call = at->call;
  report now = {call->progress, {(double)at->number + 1, (double)epoch, loss, score}};
  if (call->progress == R_NilValue) return;
  if (!call->side_by_side) {
    call_progress(&now);
  } else if (pn_thread_index() == 0 && atomic_load(&call->stop) == STOP_NOT) {
    call_r(call, call_progress, &now);
  }
}

static unsigned char *place_state(void *context, size_t size) {
  return pn_slot_place(&((member *)context)->slot, size);
}

static void state_written(void *context) {
  pn_slot_written(&((member *)context)->slot, &((member *)context)->call->saver);
}

static const double *need_doubles(SEXP list, const char *name, size_t n) {
  SEXP x = pn_r_element(list, name);
  if (!Rf_isReal(x) || (size_t)Rf_xlength(x) != n) {
    pn_r_abort("engine", "The engine needs `%s` as %.0f numbers.", name, (double)n);
  }
  return REAL(x);
}

static void parse_options(fit_call *call, int threads) {
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

static void parse_data(fit_call *call) {
  pn_r_config(&call->engine_config, call->config, &call->arena);
  pn_r_data(&call->rows, &call->engine_config, call->data, &call->arena);
  if (call->rows.y == NULL || call->rows.n == 0) pn_r_abort("engine", "The engine needs rows with a response.");
  if (call->validation != R_NilValue) {
    pn_r_data(&call->held_out, &call->engine_config, call->validation, &call->arena);
    if (call->held_out.y == NULL || call->held_out.n == 0) pn_r_abort("engine", "The validation data has no rows.");
  }
}

static const pn_data *held_out_of(const fit_call *call) {
  return call->validation == R_NilValue ? NULL : &call->held_out;
}

static void parse_origin(fit_call *call) {
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

static void init_members(fit_call *call) {
  const size_t n = call->n_seeds;
  SEXP states = pn_r_element(call->init, "states");
  if (states != R_NilValue && (TYPEOF(states) != VECSXP || (size_t)Rf_xlength(states) != n)) {
    pn_r_abort("engine", "The engine needs `states` as a list with one element per member.");
  }
  call->members = pn_arena_alloc(&call->arena, n, sizeof(member));
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

static pn_status init_model(pn_model *model, member *at) {
  const pn_config *config = &at->call->engine_config;
  const origin *start = &at->call->start;
  const pn_status status = pn_model_init(model, config, &at->work);
  if (status != PN_OK) return status;
  if (start->params != NULL) {
    const double *own = start->params + at->number * model->layout.total;
    for (size_t i = 0; i < model->layout.total; ++i) model->param[i] = (float)own[i];
    return PN_OK;
  }
  pn_params_init(model->param, &model->layout, config, start->centers, (uint64_t)start->seed[at->number]);
  if (start->relation != NULL) pn_params_relate(model->param, &model->layout, config, start->relation);
  return PN_OK;
}

static pn_status init_history(pn_history *history, size_t epochs, pn_arena *arena) {
  double **curves[] = {&history->loss, &history->score, &history->lr, &history->temperature};
  for (int i = 0; i < 4; ++i) {
    *curves[i] = pn_arena_alloc(arena, epochs, sizeof(double));
    if (arena->failed) return PN_NO_MEMORY;
    for (size_t epoch = 0; epoch < epochs && !arena->measuring; ++epoch) (*curves[i])[epoch] = NA_REAL;
  }
  return PN_OK;
}

/* Copies what is kept of a trained model out of the memory of its training. */
static pn_status keep(member *at, const pn_model *model, const pn_history *history) {
  const size_t epochs = history->epochs_run, features = model->config->features;
  at->history = *history;
  at->param = pn_arena_alloc(&at->kept, model->layout.total, sizeof(float));
  at->running = pn_arena_alloc(&at->kept, PN_SIZE(2, features), sizeof(float));
  if (init_history(&at->history, epochs, &at->kept) != PN_OK) return PN_NO_MEMORY;
  memcpy(at->param, model->param, model->layout.total * sizeof(float));
  memcpy(at->running, model->running, 2 * features * sizeof(float));
  memcpy(at->history.loss, history->loss, epochs * sizeof(double));
  memcpy(at->history.score, history->score, epochs * sizeof(double));
  memcpy(at->history.lr, history->lr, epochs * sizeof(double));
  memcpy(at->history.temperature, history->temperature, epochs * sizeof(double));
  return PN_OK;
}

static void train_member(member *at) {
  fit_call *call = at->call;
  const int saves = call->saver.save != R_NilValue;
  const pn_callbacks callbacks = {.poll = poll_interrupt,
                                  .epoch_done = report_epoch,
                                  .context = at,
                                  .state_place = saves ? place_state : NULL,
                                  .state_written = state_written,
                                  .state = at->from,
                                  .state_size = at->from_size};
  pn_train_options options = call->options;
  pn_history history = {.epochs_run = 0};
  pn_model model;
  pn_data rows = call->rows;
  pn_base base = {.term = call->terms, .terms = call->n_terms, .handle = call->handle};
  options.seed = (uint64_t)call->seeds[at->number];
  if (call->skip == NULL || call->skip[at->number] == 0) {
    rows.fold = NULL;
  } else {
    rows.skip = call->skip[at->number];
  }
  at->status = init_model(&model, at);
  if (at->status == PN_OK) at->status = init_history(&history, options.epochs, &at->work);
  if (at->status == PN_OK) {
    at->status = pn_train(&model, &rows, held_out_of(call), &options, call->terms == NULL ? NULL : &base, &history,
                          &callbacks, &at->work);
  }
  if (at->status == PN_OK && call->terms != NULL) at->status = pn_smooth_keep(base.fitter, &at->base, &at->kept);
  if ((at->status == PN_OK || at->status == PN_DIVERGED) && keep(at, &model, &history) != PN_OK) {
    at->status = PN_NO_MEMORY;
  }
  pn_arena_free(&at->work);
  if (at->status == PN_OK || at->status == PN_DIVERGED) pn_slot_end(&at->slot, &call->saver);
}

/* Trains members until none is left or all shall stop. */
static void train_some(fit_call *call) {
  size_t m;
  while (atomic_load(&call->stop) == STOP_NOT && (m = atomic_fetch_add(&call->next, 1)) < call->n_members) {
    int expected = STOP_NOT;
    train_member(&call->members[m]);
    if (call->members[m].status == PN_NO_MEMORY) atomic_compare_exchange_strong(&call->stop, &expected, STOP_MEMORY);
    atomic_fetch_add(&call->ended, 1);
  }
}

static void train_side_by_side(fit_call *call, int threads) {
  call->side_by_side = 1;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
  {
    train_some(call);
    /* The others may have long to go: the main thread stays to hear of an interrupt. */
    while (pn_thread_index() == 0 && atomic_load(&call->stop) == STOP_NOT &&
           atomic_load(&call->ended) < call->n_members) {
      pn_thread_pause(PN_POLL_PAUSE);
      call_r(call, check_interrupt, NULL);
      if (atomic_load(&call->stop) == STOP_NOT) keep_states(call);
    }
  }
  (void)threads;
  if (atomic_load(&call->stop) == STOP_JUMP) R_ContinueUnwind(call->jump);
  if (atomic_load(&call->stop) == STOP_MEMORY) pn_r_check(PN_NO_MEMORY);
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

static SEXP result_of(const void *trained) {
  const member *at = trained;
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
  fit_call *call = data;
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
  if (n == 1) {
    train_member(call->members);
  } else {
    train_side_by_side(call, threads);
  }

  SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
  for (size_t m = 0; m < n; ++m) {
    pn_r_check(call->members[m].status);
    SET_VECTOR_ELT(out, (R_xlen_t)m, result_of(&call->members[m]));
    pn_arena_free(&call->members[m].kept);
  }
  UNPROTECT(2);
  return out;
}

SEXP ffi_fit(SEXP config, SEXP data, SEXP validation, SEXP init, SEXP train, SEXP progress) {
  fit_call call = {
      .config = config, .data = data, .validation = validation, .init = init, .train = train, .progress = progress};
  pn_arena_init(&call.arena);
  return R_ExecWithCleanup(fit_body, &call, free_all, &call);
}

/* The most that is taken at once: while members train, their memory and what those that have ended keep; afterwards
 * R's copies. */
static SEXP bytes_body(void *data) {
  fit_call *call = data;
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
    init_history(&history, call->options.epochs, &own);
    pn_data_by_rows(&call->rows, call->engine_config.features, &shared);
    const size_t work = pn_train_bytes(&call->engine_config, &call->rows, held_out_of(call), &call->options);
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
  fit_call call = {.config = config, .data = data, .validation = validation, .train = train};
  return pn_r_guard(bytes_body, &call, &call.arena);
}
