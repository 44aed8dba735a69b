/* The training loop; see train_loop.h. Nothing is allocated after the first epoch has begun. */
#include "train_loop.h"

#include <math.h>
#include <string.h>

#include "base_rng.h"
#include "base_size.h"
#include "train_optimiser.h"
#include "train_state.h"

/* T = 1 / (1 + exp((e - floor(E/2)) / tau)) is below 1e-3 after 7 tau. */
#define PN_ANNEAL_TAIL 7.0
#define PN_COLDEST 1e-18 /* of a temperature in training: gradients have 1 / T in single precision, and squares of it */

double pn_schedule_temperature(size_t epoch, size_t epochs, double tau) {
  return fmax(PN_COLDEST, 1 / (1 + exp(((double)epoch - (double)(epochs / 2)) / tau)));
}

double pn_schedule_lr(size_t epoch, size_t epochs, double lr) {
  return lr * (1 + cos(3.14159265358979323846 * (double)epoch / (double)epochs)) / 2;
}

/* Rows that the whole model predicts now and then. */
typedef struct {
  const pn_data *data;
  pn_batch batch;
  pn_work work;
  size_t block; /* rows predicted at once */
  int filled;   /* the batch holds all rows and never changes */
} forecast;

static pn_status forecast_init(forecast *v, const pn_model *model, const pn_data *data, int threads, pn_arena *arena) {
  memset(v, 0, sizeof(*v));
  v->data = data;
  v->block = pn_pass_rows(model->config, data->n);
  pn_status status = pn_batch_init(&v->batch, data, model->config->features, v->block, 1, 0, arena);
  if (status == PN_OK) status = pn_work_init(&v->work, model, &v->batch, 0, threads, arena);
  return status;
}

/* eta[n x s o] at a temperature of 1 / inv_temp, offset and layer 0 not added. */
static pn_status forecast_run(forecast *v, pn_model *model, float inv_temp, int threads, const pn_callbacks *callbacks,
                              double *eta) {
  const pn_mode mode = {0, inv_temp, 0, 0, threads, 0};
  const size_t d = model->config->layers, so = model->config->tasks * model->config->outputs;
  for (size_t begin = 0; begin < v->data->n; begin += v->block) {
    const size_t n = v->data->n - begin < v->block ? v->data->n - begin : v->block;
    if (!v->filled) pn_batch_fill_range(&v->batch, v->data, begin, n, threads);
    v->filled = n == v->data->n;
    pn_pass_predict(model, &v->work, &v->batch, mode);
    for (size_t r = 0; r < n; ++r) {
      memcpy(eta + (begin + r) * so, v->work.eta + (r * d + d - 1) * so, so * sizeof(double));
    }
    if (callbacks->poll(callbacks->context)) return PN_STOPPED;
  }
  return PN_OK;
}

/* Held-out rows, scored after every epoch at T -> 0. */
typedef struct {
  forecast rows;
  pn_scorer scorer;
} validator;

static pn_status validator_init(validator *v, const pn_model *model, const pn_data *data, int threads,
                                pn_arena *arena) {
  const pn_status status = forecast_init(&v->rows, model, data, threads, arena);
  return status == PN_OK ? pn_scorer_init(&v->scorer, model->config, data, arena) : status;
}

static pn_status validator_score(validator *v, pn_model *model, int threads, const pn_callbacks *callbacks,
                                 double *score) {
  const pn_status status = forecast_run(&v->rows, model, INFINITY, threads, callbacks, v->scorer.eta);
  if (status == PN_OK) *score = pn_score(&v->scorer, model->config, v->rows.data);
  return status;
}

/* Layer 0 in training. */
#define PN_REFITS 6 /* of layer 0, evenly over the epochs; the last comes when they are over */

typedef struct {
  forecast rows; /* all rows of the data */
  double *net;   /* [n x s o] what the prototype layers say of them */
  double *eta;   /* [n x s o] what layer 0 says */
} footing;

static pn_status footing_init(footing *f, pn_base *base, const pn_model *model, const pn_data *data, int threads,
                              pn_arena *arena) {
  const pn_config *config = model->config;
  const size_t so = PN_SIZE(config->tasks, config->outputs);
  memset(f, 0, sizeof(*f));
  f->net = pn_arena_alloc(arena, PN_SIZE(data->n, so), sizeof(double));
  f->eta = pn_arena_alloc(arena, PN_SIZE(data->n, so), sizeof(double));
  if (arena->failed) return PN_NO_MEMORY;
  pn_status status = pn_smooth_init(&base->smooth, base->term, base->terms, so, arena);
  if (status == PN_OK) {
    status = pn_smooth_fitter_init(&base->fitter, &base->smooth, config, data, base->handle, arena);
  }
  if (status == PN_OK && config->features > 0) status = forecast_init(&f->rows, model, data, threads, arena);
  return status;
}

static pn_status footing_fit(footing *f, pn_base *base, pn_model *model, float inv_temp, int thorough, int threads,
                             const pn_callbacks *callbacks) {
  const pn_smooth_options options = {thorough ? 40 : 1, thorough ? 12 : 1, 0, 1e-5};
  if (model->config->features > 0) {
    const pn_status status = forecast_run(&f->rows, model, inv_temp, threads, callbacks, f->net);
    if (status != PN_OK) return status;
  }
  return pn_smooth_train(base->fitter, model->config->features > 0 ? f->net : NULL, &options, f->eta);
}

/* Is layer 0 fitted again after this epoch (from 0)? The last time comes at the end. */
static int refit_due(size_t epoch, size_t epochs) {
  const size_t before = epoch * PN_REFITS / epochs, after = (epoch + 1) * PN_REFITS / epochs;
  return after > before && after < PN_REFITS;
}

/* Parameters of the best epoch so far. */
typedef struct {
  float *param, *running;
  double score;
} snapshot;

static void snapshot_take(snapshot *best, const pn_model *model) {
  memcpy(best->param, model->param, model->layout.total * sizeof(float));
  memcpy(best->running, model->running, 2 * model->config->features * sizeof(float));
}

static void snapshot_restore(const snapshot *best, pn_model *model) {
  memcpy(model->param, best->param, model->layout.total * sizeof(float));
  memcpy(model->running, best->running, 2 * model->config->features * sizeof(float));
}

/* Rows of the batch that begins at `begin`. */
static size_t batch_rows(const pn_train_options *options, size_t n, size_t begin) {
  const size_t left = n - begin, size = options->batch_size;
  if (left <= size) return left;
  const size_t remainder = left - size;
  return options->join_remainder && remainder < size / 2 ? left : size;
}

static size_t largest_batch(const pn_train_options *options, size_t n) {
  size_t most = 0;
  for (size_t begin = 0; begin < n;) {
    const size_t rows = batch_rows(options, n, begin);
    most = rows > most ? rows : most;
    begin += rows;
  }
  return most;
}

typedef struct {
  pn_batch batch;
  pn_work work;
  pn_optimiser optimiser;
  uint32_t *order; /* [n] rows in the order of this epoch */
  uint32_t *used;  /* [capacity] those of a batch that take part */
} trainer;

static pn_status trainer_init(trainer *t, const pn_model *model, const pn_data *data, const pn_train_options *options,
                              pn_arena *arena) {
  const pn_config *config = model->config;
  const size_t capacity = largest_batch(options, data->n);
  memset(t, 0, sizeof(*t));
  const int equal_values = options->equal_values && config->dropout <= 0 && config->dropout_output <= 0;
  t->order = pn_arena_alloc(arena, data->n, sizeof(uint32_t));
  t->used = pn_arena_alloc(arena, capacity, sizeof(uint32_t));
  if (arena->failed) return PN_NO_MEMORY;
  for (size_t r = 0; r < data->n && !arena->measuring; ++r) t->order[r] = (uint32_t)r;
  pn_status status =
      pn_batch_init(&t->batch, data, config->features, capacity, equal_values, config->variation > 0, arena);
  if (status == PN_OK) status = pn_work_init(&t->work, model, &t->batch, 1, options->threads, arena);
  if (status == PN_OK) status = pn_optimiser_init(&t->optimiser, model, options->weight_decay, arena);
  return status;
}

/* Rows id[n] without those of the skipped fold: members that leave out different folds share their batches but for
 * these. Returns how many are left, in t->used. */
static size_t keep_used(trainer *t, const pn_data *data, const uint32_t *id, size_t n) {
  size_t kept = 0;
  for (size_t r = 0; r < n; ++r) {
    if (pn_data_used(data, id[r])) t->used[kept++] = id[r];
  }
  return kept;
}

/* One epoch; *mean_loss is the mean of its batches' losses, by rows. */
static pn_status run_epoch(trainer *t, pn_model *model, const pn_data *data, const pn_train_options *options,
                           size_t epoch, double lr, double temperature, const pn_callbacks *callbacks,
                           double *mean_loss) {
  pn_scratch *clock = t->work.scratch;
  double sum = 0;
  size_t total = 0;
  pn_phase_start(clock);
  if (options->shuffle) {
    pn_rng_shuffle(t->order, data->n, pn_rng_key(options->seed, PN_STREAM_SHUFFLE, epoch, 0));
  }
  for (size_t begin = 0; begin < data->n;) {
    const size_t rows = batch_rows(options, data->n, begin);
    const pn_mode mode = {1, (float)(1 / temperature), options->seed, t->optimiser.steps, options->threads, 1};
    const size_t kept = keep_used(t, data, t->order + begin, rows);
    pn_batch_fill(&t->batch, data, t->used, kept, options->threads);
    pn_phase_book(clock, PN_PHASE_BATCHES);
    if (t->batch.weight_sum > 0) {
      const double loss = pn_pass_gradient(model, &t->work, data, &t->batch, mode);
      sum += loss * (double)kept;
      total += kept;
      if (!isfinite(loss)) return PN_DIVERGED;
      pn_phase_start(clock);
      pn_optimiser_step(&t->optimiser, model, &t->work, lr);
      pn_phase_book(clock, PN_PHASE_OPTIMISER);
    }
    begin += rows;
    if (callbacks->poll(callbacks->context)) return PN_STOPPED;
  }
  *mean_loss = total > 0 ? sum / (double)total : NAN;
  return PN_OK;
}

/* Phases that ran on all threads count as the threads' mean, the others ran on the first alone. */
static void sum_seconds(const pn_work *work, double *seconds) {
  for (int phase = 0; phase < PN_PHASES; ++phase) {
    double sum = 0;
    for (int t = 0; t < work->threads; ++t) sum += work->scratch[t].seconds[phase];
    seconds[phase] = phase < PN_PHASE_OPTIMISER ? sum / work->threads : sum;
  }
}

/* All that a training needs beside its model. */
typedef struct {
  trainer train;
  validator check;
  snapshot best;
} reserve;

static pn_status reserve_init(reserve *all, const pn_model *model, const pn_data *data, const pn_data *validation,
                              const pn_train_options *options, pn_arena *arena) {
  memset(all, 0, sizeof(*all));
  all->best.score = NAN;
  pn_status status = trainer_init(&all->train, model, data, options, arena);
  if (status != PN_OK || validation == NULL) return status;
  status = validator_init(&all->check, model, validation, options->threads, arena);
  all->best.param = pn_arena_alloc(arena, model->layout.total, sizeof(float));
  all->best.running = pn_arena_alloc(arena, PN_SIZE(2, model->config->features), sizeof(float));
  return arena->failed ? PN_NO_MEMORY : status;
}

static pn_state state_of(reserve *all, pn_model *model, const pn_train_options *options, pn_base *base,
                         pn_history *history) {
  const pn_state state = {.model = model,
                          .optimiser = &all->train.optimiser,
                          .history = history,
                          .epochs = options->epochs,
                          .best = all->best.param,
                          .running = all->best.running,
                          .score = &all->best.score,
                          .fitter = base == NULL ? NULL : base->fitter};
  return state;
}

/* Goes on from a state, if there is one: with the rows in the order of the epoch before. */
static void resume(const pn_state *state, trainer *train, const pn_data *data, const pn_train_options *options,
                   const pn_callbacks *callbacks, double *eta) {
  if (callbacks->state == NULL || !pn_state_read(state, callbacks->state, callbacks->state_size)) return;
  if (state->fitter != NULL) pn_smooth_predictions(state->fitter, eta);
  for (size_t epoch = 0; options->shuffle && epoch < state->history->epochs_run; ++epoch) {
    pn_rng_shuffle(train->order, data->n, pn_rng_key(options->seed, PN_STREAM_SHUFFLE, epoch, 0));
  }
}

static void offer_state(const pn_state *state, const pn_callbacks *callbacks) {
  if (callbacks->state_place == NULL) return;
  unsigned char *place = callbacks->state_place(callbacks->context, pn_state_size(state));
  if (place == NULL) return;
  pn_state_write(state, place);
  callbacks->state_written(callbacks->context);
}

size_t pn_train_bytes(const pn_config *config, const pn_data *data, const pn_data *validation,
                      const pn_train_options *options) {
  pn_arena arena;
  pn_model model;
  reserve all;
  pn_arena_measure(&arena);
  if (pn_model_init(&model, config, &arena) != PN_OK) return PN_SIZE_TOO_LARGE;
  return reserve_init(&all, &model, data, validation, options, &arena) == PN_OK ? arena.bytes : PN_SIZE_TOO_LARGE;
}

pn_status pn_train(pn_model *model, const pn_data *rows, const pn_data *validation, const pn_train_options *options,
                   pn_base *base, pn_history *history, const pn_callbacks *callbacks, pn_arena *arena) {
  reserve all;
  footing below = {.eta = NULL};
  pn_data own = *rows;
  const pn_data *data = &own;
  pn_status status = reserve_init(&all, model, data, validation, options, arena);
  if (status == PN_OK && base != NULL) status = footing_init(&below, base, model, data, options->threads, arena);
  if (status == PN_OK && base != NULL) pn_smooth_watch(base->fitter, callbacks->poll, callbacks->context);
  if (status != PN_OK) return status;
  const size_t skipped = options->skipped, length = skipped + options->epochs; /* of the schedules */
  if (base != NULL) own.base = below.eta;
  if (base != NULL && model->config->features > 0) {
    const pn_smooth_options straight = {4, 1, 1, 1e-3}; /* only a start */
    if (options->warm) {
      const double temperature = pn_schedule_temperature(skipped, length, options->tau);
      for (size_t i = 0; i < model->config->features; ++i) pn_model_refresh(model, i);
      status = footing_fit(&below, base, model, (float)(1 / temperature), 1, options->threads, callbacks);
    } else {
      status = pn_smooth_train(base->fitter, NULL, &straight, below.eta);
    }
    if (status != PN_OK) return status;
  }
  trainer *train = &all.train;
  validator *check = &all.check;
  snapshot *best = &all.best;
  history->score_kind = validation != NULL ? check->scorer.kind : pn_loss_get(model->config->family)->score;

  const double annealed = floor((double)length / 2) + PN_ANNEAL_TAIL * options->tau - (double)skipped;
  const size_t epochs = model->config->features > 0 ? options->epochs : 0; /* no prototype layers: layer 0 alone */
  const pn_state state = state_of(&all, model, options, base, history);
  history->epochs_run = 0;
  resume(&state, train, data, options, callbacks, below.eta);
  for (size_t i = 0; i < model->config->features; ++i) pn_model_refresh(model, i);
  for (size_t epoch = history->epochs_run; epoch < epochs; ++epoch) {
    const double lr = pn_schedule_lr(skipped + epoch, length, options->lr);
    const double temperature = pn_schedule_temperature(skipped + epoch, length, options->tau);
    double loss = NAN, score = NAN;
    history->epochs_run = epoch + 1;
    status = run_epoch(train, model, data, options, epoch, lr, temperature, callbacks, &loss);
    if (status != PN_OK) return status;
    pn_phase_start(train->work.scratch);
    if (base != NULL && refit_due(epoch, options->epochs)) {
      status = footing_fit(&below, base, model, (float)(1 / temperature), 0, options->threads, callbacks);
      if (status != PN_OK) return status;
      pn_phase_book(train->work.scratch, PN_PHASE_BASE);
    }
    if (validation != NULL) status = validator_score(check, model, options->threads, callbacks, &score);
    if (status != PN_OK) return status;
    pn_phase_book(train->work.scratch, PN_PHASE_VALIDATION);
    history->loss[epoch] = loss;
    history->score[epoch] = score;
    history->lr[epoch] = lr;
    history->temperature[epoch] = temperature;
    if (validation == NULL) {
      history->best_epoch = epoch + 1;
    } else if (epoch == 0 || pn_score_better(history->score_kind, score, best->score)) {
      best->score = score;
      history->best_epoch = epoch + 1;
      snapshot_take(best, model);
    }
    callbacks->epoch_done(callbacks->context, epoch + 1, loss, score);
    /* Epochs count against patience only once the temperature has fallen: before that the score at T -> 0 says little
     * about where the training is going. */
    const double since = (double)history->best_epoch > annealed ? (double)history->best_epoch : annealed;
    if (validation != NULL && (double)(epoch + 1) - since >= options->patience) break;
    offer_state(&state, callbacks);
  }
  if (validation != NULL) snapshot_restore(best, model);
  if (base != NULL) {
    pn_phase_start(train->work.scratch);
    status = footing_fit(&below, base, model, INFINITY, 1, options->threads, callbacks);
    if (status != PN_OK) return status;
    pn_phase_book(train->work.scratch, PN_PHASE_BASE);
  }
  sum_seconds(&train->work, history->seconds);
  return PN_OK;
}
