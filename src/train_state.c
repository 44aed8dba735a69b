/* A training's state as bytes; see train_state.h. */
#include "train_state.h"

#include <string.h>

#define PN_STATE_MARK UINT64_C(0x31657461747350) /* "Pstate1" */

/* Goes over the parts of a state: counts them, copies them out, or copies them in. */
typedef struct {
  unsigned char *to;         /* NULL: not written */
  const unsigned char *from; /* NULL: not read */
  size_t bytes;
} cursor;

static void pass(cursor *c, void *part, size_t bytes) {
  if (c->to != NULL) memcpy(c->to + c->bytes, part, bytes);
  if (c->from != NULL) memcpy(part, c->from + c->bytes, bytes);
  c->bytes += bytes;
}

typedef struct {
  uint64_t mark, size, epochs_run, best_epoch, steps;
} header;

static void pass_parts(cursor *c, const pn_state *state) {
  const size_t total = state->model->layout.total * sizeof(float);
  const size_t running = 2 * state->model->config->features * sizeof(float);
  const size_t curve = state->epochs * sizeof(double);
  double *const curves[] = {state->history->loss, state->history->score, state->history->lr,
                            state->history->temperature};
  for (int i = 0; i < 4; ++i) pass(c, curves[i], curve);
  pass(c, state->score, sizeof(double));
  pass(c, state->model->param, total);
  pass(c, state->model->running, running);
  pass(c, state->optimiser->m, total);
  pass(c, state->optimiser->v, total);
  if (state->best != NULL) {
    pass(c, state->best, total);
    pass(c, state->running, running);
  }
  if (state->fitter != NULL) {
    c->bytes += pn_smooth_state(state->fitter, c->to == NULL ? NULL : c->to + c->bytes,
                                c->from == NULL ? NULL : c->from + c->bytes);
  }
}

size_t pn_state_size(const pn_state *state) {
  cursor c = {NULL, NULL, sizeof(header)};
  pass_parts(&c, state);
  return c.bytes;
}

void pn_state_write(const pn_state *state, unsigned char *to) {
  header first = {PN_STATE_MARK, pn_state_size(state), state->history->epochs_run, state->history->best_epoch,
                  state->optimiser->steps};
  cursor c = {to, NULL, 0};
  pass(&c, &first, sizeof(first));
  pass_parts(&c, state);
}

int pn_state_read(const pn_state *state, const unsigned char *from, size_t size) {
  header first;
  cursor c = {NULL, from, 0};
  if (size != pn_state_size(state)) return 0;
  pass(&c, &first, sizeof(first));
  if (first.mark != PN_STATE_MARK || first.size != size || first.epochs_run > state->epochs) return 0;
  pass_parts(&c, state);
  state->history->epochs_run = (size_t)first.epochs_run;
  state->history->best_epoch = (size_t)first.best_epoch;
  state->optimiser->steps = (size_t)first.steps;
  return 1;
}
