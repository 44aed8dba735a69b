/* Training of the members of a fit (r_fit.h), one or many.
 *
 * One member has all threads. Several members train side by side, a thread each, on the same encoded data: they never
 * wait for each other. R is called from the main thread alone, which trains members, too, and waits for the others when
 * none is left; what R raises there (an interrupt, an elapsed time limit, a condition from `progress`) is held back,
 * stops all members at their next batch, and goes on its way when they have come to rest. A member takes its memory
 * when its training begins, and keeps its parameters and curves alone when it ends.
 */
#include "r_fit.h"

#include <R.h>
#include <R_ext/Utils.h>
#include <string.h>

#include "base_size.h"

#define PN_POLL_PAUSE 10 /* milliseconds between two looks at R while the main thread waits */

enum { STOP_NOT = 0, STOP_JUMP, STOP_MEMORY };

static void hold_back(void *data, Rboolean jump) {
  if (jump) longjmp(((pn_fit_call *)data)->held_back, 1);
}

/* Runs body(data) within a region of threads, on the main one. A jump of R's ends here: R_ContinueUnwind() resumes it
 * after the region. */
static void call_r(pn_fit_call *call, SEXP (*body)(void *data), void *data) {
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

static SEXP give_news(void *data) {
  pn_fit_call *call = data;
  for (size_t m = 0; m < call->n_members; ++m) {
    pn_r_slot_give(&call->members[m].slot, &call->saver, m, pn_r_member_result, &call->members[m]);
  }
  return R_NilValue;
}

/* Gives R what is to be kept, and asks for more when it is time. */
static void keep_states(pn_fit_call *call) {
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
  pn_fit_call *call = ((pn_member *)context)->call;
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
  const pn_member *at = context;
  pn_fit_call *call = at->call;
  report now = {call->progress, {(double)at->number + 1, (double)epoch, loss, score}};
  if (call->progress == R_NilValue) return;
  if (!call->side_by_side) {
    call_progress(&now);
  } else if (pn_thread_index() == 0 && atomic_load(&call->stop) == STOP_NOT) {
    call_r(call, call_progress, &now);
  }
}

static unsigned char *place_state(void *context, size_t size) {
  return pn_slot_place(&((pn_member *)context)->slot, size);
}

static void state_written(void *context) {
  pn_slot_written(&((pn_member *)context)->slot, &((pn_member *)context)->call->saver);
}

const pn_data *pn_fit_held_out(const pn_fit_call *call) {
  return call->validation == R_NilValue ? NULL : &call->held_out;
}

static pn_status init_model(pn_model *model, pn_member *at) {
  const pn_config *config = &at->call->engine_config;
  const pn_origin *start = &at->call->start;
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

pn_status pn_fit_history_init(pn_history *history, size_t epochs, pn_arena *arena) {
  double **curves[] = {&history->loss, &history->score, &history->lr, &history->temperature};
  for (int i = 0; i < 4; ++i) {
    *curves[i] = pn_arena_alloc(arena, epochs, sizeof(double));
    if (arena->failed) return PN_NO_MEMORY;
    for (size_t epoch = 0; epoch < epochs && !arena->measuring; ++epoch) (*curves[i])[epoch] = NA_REAL;
  }
  return PN_OK;
}

/* Copies what is kept of a trained model out of the memory of its training. */
static pn_status keep(pn_member *at, const pn_model *model, const pn_history *history) {
  const size_t epochs = history->epochs_run, features = model->config->features;
  at->history = *history;
  at->param = pn_arena_alloc(&at->kept, model->layout.total, sizeof(float));
  at->running = pn_arena_alloc(&at->kept, PN_SIZE(2, features), sizeof(float));
  if (pn_fit_history_init(&at->history, epochs, &at->kept) != PN_OK) return PN_NO_MEMORY;
  memcpy(at->param, model->param, model->layout.total * sizeof(float));
  memcpy(at->running, model->running, 2 * features * sizeof(float));
  memcpy(at->history.loss, history->loss, epochs * sizeof(double));
  memcpy(at->history.score, history->score, epochs * sizeof(double));
  memcpy(at->history.lr, history->lr, epochs * sizeof(double));
  memcpy(at->history.temperature, history->temperature, epochs * sizeof(double));
  return PN_OK;
}

static void train_member(pn_member *at) {
  pn_fit_call *call = at->call;
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
  if (at->status == PN_OK) at->status = pn_fit_history_init(&history, options.epochs, &at->work);
  if (at->status == PN_OK) {
    at->status = pn_train(&model, &rows, pn_fit_held_out(call), &options, call->terms == NULL ? NULL : &base, &history,
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
static void train_some(pn_fit_call *call) {
  size_t m;
  while (atomic_load(&call->stop) == STOP_NOT && (m = atomic_fetch_add(&call->next, 1)) < call->n_members) {
    int expected = STOP_NOT;
    train_member(&call->members[m]);
    if (call->members[m].status == PN_NO_MEMORY) atomic_compare_exchange_strong(&call->stop, &expected, STOP_MEMORY);
    atomic_fetch_add(&call->ended, 1);
  }
}

static void train_side_by_side(pn_fit_call *call, int threads) {
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

void pn_r_fit_train(pn_fit_call *call, int threads) {
  if (call->n_members == 1) {
    train_member(call->members);
  } else {
    train_side_by_side(call, threads);
  }
}
