/* Passes over a batch: strips, parallel regions, fixed-order sums; see model_pass.h. */
#include "model_pass.h"

#include <math.h>
#include <string.h>

#include "base_omp.h"
#include "base_rng.h"
#include "base_size.h"

#define PN_STRIP_CELLS 512  /* a feature with more cells is cut into several strips ... */
#define PN_STRIPS_WANTED 64 /* ... as long as there are fewer than about this many in all */
#define PN_THREAD_WORK 1e6  /* multiplications that make a thread worth waking, some 20 microseconds */

const char *pn_phase_name(pn_phase phase) {
  static const char *const names[PN_PHASES] = {
      [PN_PHASE_ACTIVATION] = "activation",
      [PN_PHASE_ENCODER] = "encoder",
      [PN_PHASE_PREDICTOR] = "predictor",
      [PN_PHASE_COMPONENTS] = "components",
      [PN_PHASE_LOSS] = "loss",
      [PN_PHASE_OPTIMISER] = "optimiser",
      [PN_PHASE_BATCHES] = "batches",
      [PN_PHASE_VALIDATION] = "validation",
      [PN_PHASE_BASE] = "base",
  };
  return names[phase];
}

int pn_is_order1(const pn_config *config) {
  return config->members == 1;
}

int pn_is_fused(const pn_config *config, pn_mode mode) {
  return config->members == 2 && config->predictor_layers == 2 && config->outputs == 1 &&
         (!mode.training || config->dropout <= 0);
}

pn_proto pn_view_proto(const pn_model *model, float *feature_block, size_t l) {
  const pn_layout *layout = &model->layout;
  const size_t t = model->config->prototypes;
  pn_proto view = {model->config->use_prototypes ? t : 0, feature_block + layout->center + l * t,
                   feature_block + layout->slope + l * t, feature_block + layout->intercept + l * t,
                   feature_block + layout->missing + l};
  return view;
}

pn_tail pn_view_tail(const pn_model *model, float *shared, size_t l) {
  const pn_layout *layout = &model->layout;
  const size_t h = model->config->hidden, o = model->config->outputs;
  pn_tail view = {h,
                  o,
                  shared + layout->tail_gain,
                  shared + layout->tail_offset,
                  shared + layout->weight2 + l * o * h,
                  shared + layout->bias2 + l * o};
  return view;
}

pn_dropout pn_view_dropout(pn_mode mode, float p, uint32_t stream, size_t l, size_t which, const uint32_t *row) {
  pn_dropout drop = {0, 0, NULL};
  if (mode.training && p > 0) {
    const uint64_t use = ((uint64_t)stream << 56) | ((uint64_t)l << 40) | (uint64_t)which;
    drop.p = p;
    drop.key = (uint32_t)(pn_rng_key(mode.seed, PN_STREAM_DROPOUT, mode.step, use) >> 32);
    drop.row = row;
  }
  return drop;
}

pn_status pn_model_init(pn_model *model, const pn_config *config, pn_arena *arena) {
  const size_t h = config->hidden, d = config->layers;
  memset(model, 0, sizeof(*model));
  model->config = config;
  const pn_status status = pn_layout_init(&model->layout, config);
  if (status != PN_OK) return status;
  model->transposed_size = pn_size_add(PN_SIZE(d, model->layout.width, h), PN_SIZE(d - 1, h, h));
  model->param = pn_arena_alloc(arena, model->layout.total, sizeof(float));
  model->running = pn_arena_alloc(arena, PN_SIZE(2, config->features), sizeof(float));
  model->transposed = pn_arena_alloc(arena, PN_SIZE(config->features, model->transposed_size), sizeof(float));
  if (arena->failed) return PN_NO_MEMORY;
  if (arena->measuring) return PN_OK;
  model->shared = model->param + model->layout.shared;
  for (size_t i = 0; i < config->features; ++i) model->running[2 * i + 1] = 1.0f;
  return PN_OK;
}

void pn_model_refresh(pn_model *model, size_t i) {
  const pn_kernels *kern = pn_kernels_get();
  const pn_config *config = model->config;
  const pn_layout *layout = &model->layout;
  const size_t h = config->hidden, d = config->layers, width = layout->width;
  const float *block = model->param + i * layout->feature_size;
  float *to = model->transposed + i * model->transposed_size;
  for (size_t l = 0; l < d; ++l, to += width * h) {
    kern->transpose(h, width, block + layout->predictor + l * h * width, width, to, h);
  }
  for (size_t l = 1; l < d; ++l, to += h * h) {
    kern->transpose(h, h, block + pn_layout_encoder(layout, config, l), h, to, h);
  }
}

static size_t strips_per_feature(const pn_config *config, size_t cells) {
  if (config->norm == PN_NORM_BATCH || config->features == 0) return 1;
  const size_t most = (PN_STRIPS_WANTED + config->features - 1) / config->features;
  const size_t wanted = (cells + PN_STRIP_CELLS - 1) / PN_STRIP_CELLS;
  return wanted < 1 ? 1 : (wanted > most ? most : wanted);
}

static void scratch_init(pn_scratch *scratch, const pn_config *config, size_t width, size_t rows, pn_arena *arena) {
  const size_t h = config->hidden > width ? config->hidden : width, o = config->outputs;
  scratch->ldx = PN_SIZE(pn_size_add(config->hidden, 2 + 15) / 16, 16);
  scratch->x = pn_arena_alloc(arena, PN_SIZE(rows, scratch->ldx), sizeof(float));
  scratch->dv = pn_arena_alloc(arena, PN_SIZE(rows, h), sizeof(float));
  scratch->dz = pn_arena_alloc(arena, PN_SIZE(rows, h), sizeof(float));
  scratch->s = pn_arena_alloc(arena, PN_SIZE(rows, h), sizeof(float));
  scratch->q = pn_arena_alloc(arena, PN_SIZE(rows, h), sizeof(float));
  scratch->xhat = pn_arena_alloc(arena, PN_SIZE(rows, h), sizeof(float));
  scratch->rstd = pn_arena_alloc(arena, rows, sizeof(float));
  scratch->act = pn_arena_alloc(arena, rows, sizeof(float));
  scratch->dr = pn_arena_alloc(arena, PN_SIZE(rows, o), sizeof(float));
  scratch->r = pn_arena_alloc(arena, PN_SIZE(config->layers, config->components, PN_ROW_BLOCK, o), sizeof(float));
  scratch->sum =
      pn_arena_alloc(arena, PN_SIZE(config->tasks > PN_ROW_BLOCK ? config->tasks : PN_ROW_BLOCK, o), sizeof(double));
  scratch->shift = pn_arena_alloc(arena, h, sizeof(float));
  scratch->id = pn_arena_alloc(arena, rows, sizeof(uint32_t));
  scratch->part = pn_arena_alloc(arena, config->members, sizeof(float *));
  if (!pn_is_order1(config)) {
    scratch->local =
        pn_arena_alloc(arena, PN_SIZE(config->layers, config->features, PN_ROW_BLOCK, width), sizeof(float));
    scratch->slope = pn_arena_alloc(arena, PN_ROW_BLOCK, sizeof(float));
    scratch->through = pn_arena_alloc(arena, h, sizeof(float));
    scratch->through_x = pn_arena_alloc(arena, h, sizeof(float));
  }
  if (config->members == 2) {
    scratch->pair_rstd =
        pn_arena_alloc(arena, PN_SIZE(config->layers, config->components, PN_ROW_BLOCK), sizeof(float));
  }
}

pn_status pn_work_init(pn_work *work, const pn_model *model, const pn_batch *batch, int training, int threads,
                       pn_arena *arena) {
  const pn_config *config = model->config;
  const size_t K = config->features, h = config->hidden, d = config->layers, o = config->outputs;
  const size_t width = model->layout.width, so = PN_SIZE(config->tasks, o);
  const size_t rows = batch->capacity, cells = batch->cells_most;
  const int order1 = pn_is_order1(config), two = config->predictor_layers == 2;
  memset(work, 0, sizeof(*work));
  work->rows = rows;
  work->cells = cells;
  work->training = training;
  work->threads = threads;
  work->eta = pn_arena_alloc(arena, PN_SIZE(rows, d, so), sizeof(double));
  if (order1) {
    work->r = pn_arena_alloc(arena, PN_SIZE(d, cells, o), sizeof(float));
  } else {
    work->u = pn_arena_alloc(arena, PN_SIZE(d, cells, width), sizeof(float));
  }
  if (training) {
    work->act = pn_arena_alloc(arena, PN_SIZE(d, cells), sizeof(float));
    work->xhat = pn_arena_alloc(arena, PN_SIZE(d, cells, h), sizeof(float));
    work->rstd = pn_arena_alloc(arena, PN_SIZE(d, cells > K ? cells : K), sizeof(float));
    if (order1 && two) {
      work->shat = pn_arena_alloc(arena, PN_SIZE(d, cells, h), sizeof(float));
      work->srstd = pn_arena_alloc(arena, PN_SIZE(d, cells), sizeof(float));
    }
    if (!order1) work->du = pn_arena_alloc(arena, PN_SIZE(d, rows, K, width), sizeof(float));
    work->g = pn_arena_alloc(arena, PN_SIZE(d, rows, so), sizeof(float));
    work->deta = pn_arena_alloc(arena, PN_SIZE(rows, 2, o), sizeof(double));
    work->grad = pn_arena_alloc(arena, model->layout.total, sizeof(float));
  }
  if (training && config->variation > 0) {
    work->dshape = pn_arena_alloc(arena, PN_SIZE(d, cells, so), sizeof(float));
    work->shape = pn_arena_alloc(arena, cells, sizeof(double));
    work->variation = pn_arena_alloc(arena, K, sizeof(double));
  }
  const size_t most = strips_per_feature(config, rows);
  work->max_strips = PN_SIZE(K, most);
  work->strip = pn_arena_alloc(arena, work->max_strips, sizeof(pn_strip));
  if (training) {
    work->feature_partial = pn_arena_alloc(arena, PN_SIZE(K, most - 1, model->layout.feature_size), sizeof(float));
    work->shared_partial = pn_arena_alloc(
        arena, PN_SIZE(pn_size_add(work->max_strips, PN_ROW_STRIPS), model->layout.shared_size), sizeof(float));
    work->strip_loss = pn_arena_alloc(arena, PN_ROW_STRIPS, sizeof(double));
  }
  work->scratch = pn_arena_alloc(arena, (size_t)threads, sizeof(pn_scratch));
  if (arena->failed) return PN_NO_MEMORY;
  const size_t chunk = config->norm == PN_NORM_BATCH && rows > PN_CHUNK ? rows : PN_CHUNK;
  for (int t = 0; t < threads; ++t) {
    pn_scratch unused;
    scratch_init(arena->measuring ? &unused : &work->scratch[t], config, width, chunk, arena);
  }
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}

/* Cuts the batch's cells into strips. The bounds depend on the batch alone. */
static void plan_strips(const pn_model *model, pn_work *work, const pn_batch *batch) {
  const pn_layout *layout = &model->layout;
  size_t at = 0, partial = 0;
  for (size_t i = 0; i < model->config->features; ++i) {
    const size_t cells = batch->cells[i], first = batch->first[i];
    const size_t n = strips_per_feature(model->config, cells);
    for (size_t q = 0; q < n; ++q, ++at) {
      pn_strip *strip = &work->strip[at];
      strip->feature = i;
      strip->begin = first + cells * q / n;
      strip->end = first + cells * (q + 1) / n;
      if (!work->training) continue;
      strip->feature_grad =
          q == 0 ? work->grad + i * layout->feature_size : work->feature_partial + partial++ * layout->feature_size;
      strip->shared_grad = work->shared_partial + at * layout->shared_size;
    }
  }
  work->strips = at;
}

/* The pass for the calling thread. */
static pn_pass own_pass(const pn_pass *pass) {
  pn_pass own = *pass;
  own.scratch = &pass->work->scratch[pn_thread_index()];
  return own;
}

static void run_cells_forward(const pn_pass *pass) {
  pn_work *work = pass->work;
  plan_strips(pass->model, work, pass->batch);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(work->threads)
#endif
  for (size_t q = 0; q < work->strips; ++q) {
    const pn_pass own = own_pass(pass);
    pn_cells_forward(&own, &work->strip[q]);
  }
}

static void run_cells_backward(const pn_pass *pass) {
  pn_work *work = pass->work;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(work->threads)
#endif
  for (size_t q = 0; q < work->strips; ++q) {
    const pn_pass own = own_pass(pass);
    pn_cells_backward(&own, &work->strip[q]);
  }
}

static size_t row_blocks(const pn_batch *batch) {
  return (batch->rows + PN_ROW_BLOCK - 1) / PN_ROW_BLOCK;
}

static size_t block_end(const pn_batch *batch, size_t block) {
  const size_t end = (block + 1) * PN_ROW_BLOCK;
  return end < batch->rows ? end : batch->rows;
}

static double run_rows_gradient(const pn_pass *pass) {
  pn_work *work = pass->work;
  const size_t blocks = row_blocks(pass->batch), shared_size = pass->model->layout.shared_size;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(work->threads)
#endif
  for (size_t q = 0; q < PN_ROW_STRIPS; ++q) {
    const pn_pass own = own_pass(pass);
    float *shared_grad = work->shared_partial + (work->strips + q) * shared_size;
    double loss = 0;
    memset(shared_grad, 0, shared_size * sizeof(float));
    for (size_t block = blocks * q / PN_ROW_STRIPS; block < blocks * (q + 1) / PN_ROW_STRIPS; ++block) {
      loss += pn_rows_gradient(&own, block * PN_ROW_BLOCK, block_end(own.batch, block), shared_grad);
    }
    work->strip_loss[q] = loss;
  }
  double total = 0;
  for (size_t q = 0; q < PN_ROW_STRIPS; ++q) total += work->strip_loss[q];
  return total;
}

static double run_variation(const pn_pass *pass) {
  pn_work *work = pass->work;
  const size_t K = pass->model->config->features;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(work->threads)
#endif
  for (size_t i = 0; i < K; ++i) {
    const pn_pass own = own_pass(pass);
    pn_variation_gradient(&own, i);
  }
  double total = 0;
  for (size_t i = 0; i < K; ++i) total += work->variation[i];
  return total;
}

static void add_into(float *to, const float *from, size_t n) {
  for (size_t j = 0; j < n; ++j) to[j] += from[j];
}

void pn_pass_sum(const pn_model *model, pn_work *work, size_t part) {
  const pn_layout *layout = &model->layout;
  if (part < model->config->features) {
    size_t q = 0;
    while (work->strip[q].feature != part) ++q;
    for (size_t p = q + 1; p < work->strips && work->strip[p].feature == part; ++p) {
      add_into(work->strip[q].feature_grad, work->strip[p].feature_grad, layout->feature_size);
    }
    return;
  }
  float *shared = work->grad + layout->shared;
  memset(shared, 0, layout->shared_size * sizeof(float));
  for (size_t p = 0; p < work->strips + PN_ROW_STRIPS; ++p) {
    add_into(shared, work->shared_partial + p * layout->shared_size, layout->shared_size);
  }
}

double pn_pass_gradient(pn_model *model, pn_work *work, const pn_data *data, const pn_batch *batch, pn_mode mode) {
  const pn_pass pass = {model, pn_kernels_get(), work, data, batch, mode, NULL};
  run_cells_forward(&pass);
  double loss = run_rows_gradient(&pass);
  if (pn_has_variation(model->config, mode)) loss += run_variation(&pass);
  run_cells_backward(&pass);
  return loss;
}

void pn_pass_predict(pn_model *model, pn_work *work, const pn_batch *batch, pn_mode mode) {
  const pn_pass pass = {model, pn_kernels_get(), work, NULL, batch, mode, NULL};
  run_cells_forward(&pass);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(work->threads)
#endif
  for (size_t block = 0; block < row_blocks(batch); ++block) {
    const pn_pass own = own_pass(&pass);
    pn_rows_components(&own, block * PN_ROW_BLOCK, block_end(batch, block));
    pn_rows_predict(&own, block * PN_ROW_BLOCK, block_end(batch, block));
  }
}

void pn_pass_components(pn_model *model, pn_work *work, const pn_batch *batch, pn_mode mode, float *out) {
  const pn_pass pass = {model, pn_kernels_get(), work, NULL, batch, mode, NULL};
  const pn_config *config = model->config;
  const size_t o = config->outputs;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(work->threads)
#endif
  for (size_t block = 0; block < row_blocks(batch); ++block) {
    const size_t begin = block * PN_ROW_BLOCK, n = block_end(batch, block) - begin;
    const pn_pass own = own_pass(&pass);
    pn_rows_components(&own, begin, begin + n);
    for (size_t q = 0; q < config->layers * config->components; ++q) {
      memcpy(out + (q * batch->rows + begin) * o, own.scratch->r + q * PN_ROW_BLOCK * o, n * o * sizeof(float));
    }
  }
}

size_t pn_pass_rows(const pn_config *config, size_t n) {
  const size_t per_cell = pn_is_order1(config) ? config->outputs : config->hidden;
  const size_t per_row = PN_SIZE(config->layers, config->features, per_cell, sizeof(float));
  size_t rows = ((size_t)1 << 27) / (per_row > 0 ? per_row : 1);
  rows = rows > 65536 ? 65536 : (rows < 1024 ? 1024 : rows);
  return rows < n ? rows : (n > 0 ? n : 1);
}

int pn_pass_threads(const pn_config *config, const pn_data *data, size_t rows, int threads) {
  const double per_cell = 2.0 * (double)config->layers * (double)config->hidden * (double)config->hidden;
  double work = pn_is_order1(config) ? 0 : (double)PN_SIZE(rows, config->layers, config->components, config->hidden);
  for (size_t i = 0; i < config->features; ++i) {
    const size_t values = data->feature[i].n_values;
    work += per_cell * (double)(values < rows ? values : rows);
  }
  const double worth = 1 + work / PN_THREAD_WORK;
  return worth < threads ? (int)worth : threads;
}
