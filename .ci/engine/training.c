/* Whole trainings: the same bits on any number of threads, with and without layer 0; rows of a left-out fold play no
 * part; stopping and failing leave nothing behind; a training goes on from any of its states as if it had not stopped;
 * sums that layer 0 keeps. */
#include "base_size.h"
#include "test.h"
#include "train_smooth_parts.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#define EPOCHS 7
#define KNOTS 6

/* What a training leaves. */
typedef struct {
  pn_arena arena;
  pn_status status;
  size_t total, values, outputs;
  float *param;
  double *value, *intercept; /* of layer 0, or NULL */
  pn_history history;
} trained;

static const spec specs[] = {
    {.name = "order 1", .rows = 1500, .features = 3, .order = 1, .layers = 2, .hidden = 8, .prototypes = 6},
    {.name = "order 1, variation",
     .seed = 20,
     .rows = 700,
     .features = 3,
     .order = 1,
     .layers = 2,
     .hidden = 8,
     .prototypes = 6,
     .variation = 0.1f,
     .family = PN_BINOMIAL},
    {.name = "order 1, batch norm, dropout",
     .seed = 40,
     .rows = 300,
     .features = 3,
     .order = 1,
     .layers = 2,
     .hidden = 8,
     .prototypes = 4,
     .norm = PN_NORM_BATCH,
     .dropout = 0.1f,
     .outputs = 3,
     .family = PN_MULTINOMIAL},
    {.name = "order 2",
     .seed = 60,
     .rows = 700,
     .features = 4,
     .order = 2,
     .layers = 2,
     .hidden = 16,
     .prototypes = 6,
     .family = PN_BINOMIAL},
    {.name = "order 2, responses",
     .seed = 80,
     .rows = 300,
     .features = 3,
     .order = 2,
     .layers = 2,
     .hidden = 8,
     .prototypes = 4,
     .tasks = 2,
     .task_kind = PN_TASK_RESPONSE},
    {.name = "order Inf",
     .seed = 100,
     .rows = 700,
     .features = 4,
     .order = 0,
     .layers = 2,
     .hidden = 16,
     .prototypes = 6},
};
#define N_SPECS (sizeof(specs) / sizeof(specs[0]))

/* When `poll` says stop, or jumps. */
typedef struct {
  size_t polls, stop_at; /* stop_at 0: never */
  int jump;
  jmp_buf back;
  pn_arena *keep; /* of the states, NULL: none is wanted */
  unsigned char *state[EPOCHS];
  size_t states, state_size;
  const unsigned char *from; /* a state to go on from, or NULL */
} watch;

static unsigned char *place_state(void *context, size_t size) {
  watch *at = context;
  if (at->keep == NULL) return NULL;
  at->state_size = size;
  at->state[at->states] = take(at->keep, size, 1);
  return at->state[at->states++];
}

static void state_written(void *context) {
  (void)context;
}

static int poll_watch(void *context) {
  watch *at = context;
  if (at->stop_at == 0 || ++at->polls < at->stop_at) return 0;
  if (at->jump) longjmp(at->back, 1);
  return 1;
}

static void epoch_done(void *context, size_t epoch, double loss, double score) {
  (void)context, (void)epoch, (void)loss, (void)score;
}

/* Layer 0: a spline of the first feature and others, one effect per value of the last one, and single values of the
 * second. */
static size_t make_terms(const problem *p, pn_smooth_term *term, double *knot) {
  static const double single[] = {0.25};
  const size_t K = p->config.columns;
  size_t terms = 0;
  for (size_t k = 0; k < KNOTS; ++k) knot[k] = (double)k / (KNOTS - 1);
  for (size_t i = 0; i + 1 < K; ++i) {
    term[terms++] = (pn_smooth_term){i, PN_SMOOTH_SPLINE, KNOTS, knot, i == 0};
    if (i == 1) term[terms++] = (pn_smooth_term){i, PN_SMOOTH_VALUES, 1, single, 0};
  }
  const pn_feature *last = &p->data.column[K - 1];
  double *level = knot + KNOTS;
  for (size_t v = 0; v < last->n_values; ++v) level[v] = last->value[v];
  term[terms++] = (pn_smooth_term){K - 1, PN_SMOOTH_LEVELS, last->n_values, level, 0};
  return terms;
}

static pn_train_options options_of(int threads) {
  return (pn_train_options){.epochs = EPOCHS,
                            .batch_size = 128,
                            .lr = 5e-3,
                            .weight_decay = 1e-3,
                            .tau = 1,
                            .patience = INFINITY,
                            .seed = 9,
                            .shuffle = 1,
                            .join_remainder = 1,
                            .equal_values = 1,
                            .threads = threads};
}

/* Trains in the memory of out->arena, which the caller frees whatever happens. */
static void train(trained *out, const problem *p, const pn_train_options *options, int layer0, int validate,
                  watch *at) {
  const pn_callbacks callbacks = {.poll = poll_watch,
                                  .epoch_done = epoch_done,
                                  .context = at,
                                  .state_place = place_state,
                                  .state_written = state_written,
                                  .state = at->from,
                                  .state_size = at->state_size};
  pn_model model;
  pn_data data = p->data;
  pn_base base = {.terms = 0};
  memset(out, 0, sizeof(*out));
  pn_arena_init(&out->arena);
  problem_model(p, &model, &out->arena);
  double **curves[] = {&out->history.loss, &out->history.score, &out->history.lr, &out->history.temperature};
  for (size_t i = 0; i < 4; ++i) *curves[i] = take(&out->arena, options->epochs, sizeof(double));
  if (layer0) {
    pn_smooth_term *term = take(&out->arena, 2 * p->config.columns, sizeof(*term));
    base.terms = make_terms(p, term, take(&out->arena, KNOTS + p->data.n, sizeof(double)));
    base.term = term;
    data.base = NULL;
  }
  if (pn_data_by_rows(&data, p->config.features, &out->arena) != PN_OK) die("out of memory");
  out->total = model.layout.total;
  out->param = model.param;
  out->status = pn_train(&model, &data, validate ? &p->data : NULL, options, layer0 ? &base : NULL, &out->history,
                         &callbacks, &out->arena);
  if (!layer0 || out->status != PN_OK) return;
  out->outputs = base.smooth.outputs;
  out->values = base.smooth.first[base.smooth.terms] * base.smooth.outputs;
  out->value = base.smooth.value;
  out->intercept = base.smooth.intercept;
}

static int same_bits(const trained *a, const trained *b) {
  return a->status == b->status && a->total == b->total && a->values == b->values &&
         memcmp(a->param, b->param, a->total * sizeof(float)) == 0 &&
         (a->value == NULL || (memcmp(a->value, b->value, a->values * sizeof(double)) == 0 &&
                               memcmp(a->intercept, b->intercept, a->outputs * sizeof(double)) == 0));
}

static int all_finite(const trained *a) {
  for (size_t i = 0; i < a->total; ++i) {
    if (!isfinite(a->param[i])) return 0;
  }
  for (size_t i = 0; i < a->values; ++i) {
    if (!isfinite(a->value[i])) return 0;
  }
  return 1;
}

/* Does training change the parameters at all? */
static int has_moved(const trained *a, const problem *p) {
  return memcmp(a->param, p->param, a->total * sizeof(float)) != 0;
}

void test_threads(void) {
  for (size_t s = 0; s < 2 * N_SPECS; ++s) {
    const spec *of = &specs[s / 2];
    const int layer0 = s % 2 == 1;
    problem p;
    trained one, other;
    watch never = {.stop_at = 0};
    problem_random(&p, of);
    const pn_train_options alone = options_of(1);
    train(&one, &p, &alone, layer0, s % 3 == 0, &never);
    CHECK(one.status == PN_OK && all_finite(&one) && has_moved(&one, &p), "%s, layer 0 %d: training failed", of->name,
          layer0);
    CHECK(!layer0 || one.value != NULL, "%s: no layer 0", of->name);
    CHECK(one.history.loss[EPOCHS - 1] < one.history.loss[0], "%s, layer 0 %d: the loss went from %g to %g", of->name,
          layer0, one.history.loss[0], one.history.loss[EPOCHS - 1]);
    for (int threads = 2; threads <= 4; threads += 2) {
      const pn_train_options several = options_of(threads);
      train(&other, &p, &several, layer0, s % 3 == 0, &never);
      CHECK(same_bits(&one, &other), "%s, layer 0 %d: %d threads give other bits than one", of->name, layer0, threads);
      pn_arena_free(&other.arena);
    }
    pn_arena_free(&one.arena);
    problem_free(&p);
  }
}

/* Other responses, weights and values in the rows of a fold. */
static void disturb(problem *p, int fold) {
  const size_t n = p->data.n;
  double *y = take(&p->arena, n * p->data.y_columns, sizeof(double));
  pn_feature *feature = take(&p->arena, p->config.features, sizeof(pn_feature));
  memcpy(y, p->data.y, n * p->data.y_columns * sizeof(double));
  for (size_t r = 0; r < n * p->data.y_columns; ++r) {
    if (p->data.fold[r % n] == fold) y[r] = p->config.family == PN_GAUSSIAN ? 1e6 : 1;
  }
  for (size_t i = 0; i < p->config.features; ++i) {
    feature[i] = p->data.feature[i];
    const size_t width = (size_t)feature[i].width;
    unsigned char *code = take(&p->arena, n * width, 1);
    memcpy(code, feature[i].code, n * width);
    for (size_t r = 0; r < n; ++r) {
      if (p->data.fold[r] == fold) memcpy(code + r * width, feature[i].code, width);
    }
    feature[i].code = code;
  }
  p->data.y = y;
  p->data.feature = p->data.column = feature;
}

void test_folds(void) {
  for (size_t s = 0; s < 2 * N_SPECS; ++s) {
    const spec *of = &specs[s / 2];
    const int layer0 = s % 2 == 1;
    problem p;
    trained plain, full, disturbed;
    watch never = {.stop_at = 0};
    problem_random(&p, of);
    int *fold = take(&p.arena, p.data.n, sizeof(int));
    for (size_t r = 0; r < p.data.n; ++r) fold[r] = 1 + (int)(r % 3);
    const pn_train_options options = options_of(2);
    train(&full, &p, &options, layer0, 0, &never);
    p.data.fold = fold;
    p.data.skip = 2;
    train(&plain, &p, &options, layer0, 0, &never);
    disturb(&p, 2);
    train(&disturbed, &p, &options, layer0, 0, &never);
    CHECK(plain.status == PN_OK && all_finite(&plain), "%s, layer 0 %d: training failed", of->name, layer0);
    CHECK(!same_bits(&plain, &full), "%s, layer 0 %d: leaving a fold out changes nothing", of->name, layer0);
    CHECK(same_bits(&plain, &disturbed), "%s, layer 0 %d: rows of the left-out fold take part", of->name, layer0);
    pn_arena_free(&plain.arena);
    pn_arena_free(&full.arena);
    pn_arena_free(&disturbed.arena);
    problem_free(&p);
  }
}

/* Stops a training at its k-th poll, by a jump or not. Returns whether it came to that. */
static int stop_at(size_t k, int layer0, int jump) {
  static const spec of[] = {
      {.seed = 5, .rows = 300, .features = 3, .order = 1, .layers = 2, .hidden = 4, .prototypes = 3},
      {.seed = 6, .rows = 300, .features = 3, .order = 2, .layers = 2, .hidden = 4, .prototypes = 3}};
  static problem p; /* static: they outlive the jump */
  static trained out;
  static watch at;
  static int jumped;
  const pn_train_options options = options_of(2);
  problem_random(&p, &of[layer0]);
  memset(&at, 0, sizeof(at));
  at.stop_at = k;
  at.jump = jump;
  jumped = 0;
  if (setjmp(at.back) == 0) {
    train(&out, &p, &options, layer0, 1, &at);
  } else {
    jumped = 1;
  }
  const int stopped = at.polls >= at.stop_at;
  CHECK(jumped == (stopped && at.jump), "poll %zu of %zu: jumped %d", at.stop_at, at.polls, jumped);
  CHECK(jumped || out.status == (stopped ? PN_STOPPED : PN_OK), "poll %zu of %zu: status %d", at.stop_at, at.polls,
        (int)out.status);
  pn_arena_free(&out.arena);
  problem_free(&p);
  return stopped;
}

/* The sanitizers see what a stop would leave behind. */
void test_stopping(void) {
  for (int layer0 = 0; layer0 < 2; ++layer0) {
    for (int jump = 0; jump < 2; ++jump) {
      size_t k = 1;
      while (stop_at(k, layer0, jump)) k += 3;
      CHECK(k > 10, "layer 0 %d: the training polled fewer than %zu times", layer0, k);
    }
  }
}

static int same_history(const pn_history *a, const pn_history *b) {
  const size_t bytes = a->epochs_run * sizeof(double);
  return a->epochs_run == b->epochs_run && a->best_epoch == b->best_epoch && memcmp(a->loss, b->loss, bytes) == 0 &&
         memcmp(a->score, b->score, bytes) == 0 && memcmp(a->lr, b->lr, bytes) == 0 &&
         memcmp(a->temperature, b->temperature, bytes) == 0;
}

/* From each state; under the sanitizers, where bits are not in question, from another one each time. */
#ifdef __SANITIZE_ADDRESS__
#define STATE_STEP EPOCHS
#else
#define STATE_STEP 1
#endif

/* Every specification with and without layer 0, with and without validation: from its states, on other threads. */
void test_states(void) {
  for (size_t s = 0; s < 4 * N_SPECS; ++s) {
    const spec *of = &specs[s / 4];
    const int layer0 = s % 2 == 1, validate = s / 2 % 2 == 1;
    problem p;
    trained whole, rest;
    problem_random(&p, of);
    pn_train_options options = options_of(2);
    watch at = {.keep = &p.arena};
    train(&whole, &p, &options, layer0, validate, &at);
    CHECK(at.states == EPOCHS, "%s: %zu states", of->name, at.states);
    options.threads = 1;
    for (size_t k = s % STATE_STEP; k < at.states; k += STATE_STEP) {
      watch again = {.from = at.state[k], .state_size = at.state_size};
      train(&rest, &p, &options, layer0, validate, &again);
      CHECK(same_bits(&whole, &rest) && same_history(&whole.history, &rest.history),
            "%s, layer 0 %d, validation %d: other bits after epoch %zu", of->name, layer0, validate, k + 1);
      pn_arena_free(&rest.arena);
    }
    /* other bytes are not taken for a state */
    if (STATE_STEP == 1 || s / 4 % 4 == s % 4) {
      watch wrong = {.from = at.state[0], .state_size = at.state_size - 1};
      train(&rest, &p, &options, layer0, validate, &wrong);
      CHECK(same_bits(&whole, &rest), "%s: bytes that are no state were used", of->name);
      pn_arena_free(&rest.arena);
    }
    pn_arena_free(&whole.arena);
    problem_free(&p);
  }
}

void test_limits(void) {
  problem p;
  trained out;
  watch never = {.stop_at = 0};
  /* a rate that is far too high */
  problem_random(&p, &specs[0]);
  pn_train_options options = options_of(1);
  options.lr = 1e30;
  train(&out, &p, &options, 0, 0, &never);
  CHECK(out.status == PN_DIVERGED && out.history.epochs_run < EPOCHS, "a rate of 1e30: status %d", (int)out.status);
  pn_arena_free(&out.arena);
  /* what is announced is enough for what is taken */
  options = options_of(2);
  const size_t announced = pn_train_bytes(&p.config, &p.data, &p.data, &options);
  pn_arena arena;
  pn_model model;
  pn_arena_init(&arena);
  problem_model(&p, &model, &arena);
  double curves[4][EPOCHS];
  pn_history history = {.loss = curves[0], .score = curves[1], .lr = curves[2], .temperature = curves[3]};
  const pn_callbacks callbacks = {.poll = poll_watch, .epoch_done = epoch_done, .context = &never};
  CHECK(pn_train(&model, &p.data, &p.data, &options, NULL, &history, &callbacks, &arena) == PN_OK, "training failed");
  CHECK(arena.bytes <= announced && announced < 2 * arena.bytes, "%zu bytes announced, %zu taken", announced,
        arena.bytes);
  pn_arena_free(&arena);
  /* sizes that no memory has */
  p.config.hidden = (size_t)1 << 40;
  CHECK(pn_train_bytes(&p.config, &p.data, NULL, &options) == PN_SIZE_TOO_LARGE, "2^40 hidden units fit in memory");
  problem_free(&p);
  /* layer 0 alone finds a straight line */
  const spec line = {
      .seed = 11, .rows = 200, .features = 2, .order = 1, .layers = 1, .hidden = 1, .prototypes = 1, .plain = 1};
  problem_random(&p, &line);
  double *y = take(&p.arena, p.data.n, sizeof(double));
  const pn_feature *x = &p.data.column[0];
  for (size_t r = 0; r < p.data.n; ++r) y[r] = 1 + 2 * (double)x->value[pn_feature_code(x, r)];
  p.data.y = y;
  p.config.features = 0;
  p.config.components = 0;
  if (pn_layout_init(&p.layout, &p.config) != PN_OK) die("a layout that fits no memory");
  train(&out, &p, &options, 1, 0, &never);
  CHECK(out.status == PN_OK && out.value != NULL, "layer 0 alone: status %d", (int)out.status);
  for (size_t k = 0; out.value != NULL && k + 1 < KNOTS; ++k) {
    const double slope = (out.value[k + 1] - out.value[k]) * (KNOTS - 1);
    CHECK(fabs(slope - 2) < 1e-2, "layer 0 alone: slope %g, not 2", slope);
  }
  pn_arena_free(&out.arena);
  problem_free(&p);
}

/* Sums over rows with a Gram matrix that was kept are those with a new one, where nothing has changed. */
void test_kept_sums(void) {
  static const pn_family families[] = {PN_BINOMIAL, PN_POISSON, PN_MULTINOMIAL};
  for (size_t f = 0; f < 3; ++f) {
    const spec of = {.seed = 30 + f,
                     .rows = 500,
                     .features = 3,
                     .order = 1,
                     .layers = 1,
                     .hidden = 4,
                     .prototypes = 3,
                     .family = families[f],
                     .outputs = families[f] == PN_MULTINOMIAL ? 3 : 1};
    problem p;
    problem_random(&p, &of);
    pn_data data = p.data;
    pn_smooth smooth;
    pn_smooth_fitter *fit;
    pn_smooth_term *term = take(&p.arena, 2 * p.config.columns, sizeof(*term));
    data.base = NULL;
    const size_t terms = make_terms(&p, term, take(&p.arena, KNOTS + data.n, sizeof(double)));
    const size_t blocks = p.config.tasks * p.config.outputs;
    double *eta = take(&p.arena, data.n * blocks, sizeof(double));
    const pn_smooth_options options = {40, 12, 0, 1e-7};
    if (pn_smooth_init(&smooth, term, terms, blocks, &p.arena) != PN_OK) die("out of memory");
    if (pn_smooth_fitter_init(&fit, &smooth, &p.config, &data, NULL, &p.arena) != PN_OK) die("out of memory");
    CHECK(pn_smooth_train(fit, NULL, &options, eta) == PN_OK, "family %zu: no fit", f);
    double *rhs = take(&p.arena, blocks * fit->P, sizeof(double));
    for (size_t q = 0; q < blocks; ++q) {
      pn_smooth_sum(fit, NULL, eta, q, 1);
      const double square = fit->square[q];
      memcpy(rhs, fit->rhs + q * fit->P, fit->P * sizeof(double));
      const double size = fabs(fit->gram[q * fit->P * fit->P]);
      fit->gram[q * fit->P * fit->P] *= 1 + 1e-3; /* it must stay, and be used */
      pn_smooth_sum(fit, NULL, eta, q, 0);
      const double kept = fit->gram[q * fit->P * fit->P] - size, beta = fit->beta[q * fit->P];
      CHECK(fabs(kept - 1e-3 * size) < 1e-9 * size, "family %zu: the Gram matrix was not kept", f);
      rhs[0] += kept * beta;
      CHECK(fabs(fit->square[q] - square - kept * beta * beta) < 1e-8 * (square + size), "family %zu: z'Wz %g, %g", f,
            fit->square[q], square);
      for (size_t k = 0; k < fit->P; ++k) {
        CHECK(fabs(fit->rhs[q * fit->P + k] - rhs[k]) < 1e-8 * size, "family %zu: element %zu is %g, not %g", f, k,
              fit->rhs[q * fit->P + k], rhs[k]);
      }
    }
    problem_free(&p);
  }
}
