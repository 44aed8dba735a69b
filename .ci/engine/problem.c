/* Problems for the tests, and single passes over them. */
#include "base_distinct.h"
#include "base_rng.h"
#include "test.h"

#include <math.h>
#include <string.h>

#define ROUGH 0.1 /* the last feature's grid */

void *take(pn_arena *arena, size_t count, size_t size) {
  void *memory = pn_arena_alloc(arena, count, size);
  if (memory == NULL) die("out of memory");
  return memory;
}

double uniform(uint64_t seed, uint64_t i) {
  return pn_rng_uniform(pn_rng_key(seed, PN_STREAM_SPLIT, 0, 0), i);
}

double normal(uint64_t seed, uint64_t i) {
  return pn_rng_normal(pn_rng_key(seed, PN_STREAM_SPLIT, 1, 0), i);
}

static void encode(pn_feature *feature, const double *x, size_t n, pn_arena *arena) {
  pn_distinct table;
  const pn_column column = {x, NULL, n};
  if (pn_distinct_find(&table, &column, NULL, arena) != PN_OK) die("out of memory");
  unsigned char *code = take(arena, n * (size_t)table.width, 1);
  float *value = take(arena, table.n_values, sizeof(float));
  pn_distinct_write(&table, n, code);
  for (size_t v = 0; v < table.n_values; ++v) value[v] = (float)table.value[v];
  feature->n_values = table.n_values;
  feature->value = value;
  feature->code = code;
  feature->width = table.width;
  feature->stride = (size_t)table.width;
}

/* All sets of `order` of K features in lexical order. */
static void choose_components(problem *p, size_t order) {
  const size_t K = p->config.features, k = order == 0 ? K : order;
  size_t C = 1;
  for (size_t i = 0; i < k; ++i) C = C * (K - i) / (i + 1);
  uint32_t *component = take(&p->arena, C * k, sizeof(uint32_t));
  for (size_t i = 0; i < k; ++i) component[i] = (uint32_t)i;
  for (size_t c = 1; c < C; ++c) {
    uint32_t *now = component + c * k;
    size_t m = k - 1;
    memcpy(now, now - k, k * sizeof(uint32_t));
    while (now[m] == K - k + m) --m;
    ++now[m];
    for (size_t i = m + 1; i < k; ++i) now[i] = now[i - 1] + 1;
  }
  p->config.members = k;
  p->config.components = C;
  p->config.component = component;
}

void problem_columns(problem *p, const double *x, size_t n, size_t order) {
  const size_t K = p->config.features;
  pn_feature *feature = take(&p->arena, K, sizeof(pn_feature));
  uint32_t *net = take(&p->arena, K, sizeof(uint32_t));
  for (size_t i = 0; i < K; ++i) {
    encode(&feature[i], x + i * n, n, &p->arena);
    net[i] = (uint32_t)i;
  }
  p->data.n = n;
  p->data.feature = p->data.column = feature;
  p->config.columns = K;
  p->config.net = net;
  choose_components(p, order);
  if (pn_layout_init(&p->layout, &p->config) != PN_OK) die("a layout that fits no memory");
  p->param = take(&p->arena, p->layout.total, sizeof(float));
}

static void random_data(problem *p, const spec *of) {
  const pn_config *config = &p->config;
  const size_t n = of->rows, columns = of->task_kind == PN_TASK_RESPONSE ? config->tasks : 1;
  const size_t so = config->tasks * config->outputs;
  double *y = take(&p->arena, n * columns, sizeof(double));
  for (size_t r = 0; r < n * columns; ++r) {
    const double u = uniform(of->seed + 1, r), z = normal(of->seed + 1, r);
    y[r] = of->family == PN_GAUSSIAN      ? z
           : of->family == PN_BINOMIAL    ? u < 0.4
           : of->family == PN_MULTINOMIAL ? floor(u * (double)config->outputs)
                                          : floor(4 * u);
    if (of->task_kind == PN_TASK_RESPONSE && uniform(of->seed + 2, r) < 0.2) y[r] = NAN;
  }
  p->data.y = y;
  p->data.y_columns = columns;
  if (of->task_kind == PN_TASK_GROUP) {
    int *task = take(&p->arena, n, sizeof(int));
    for (size_t r = 0; r < n; ++r) task[r] = 1 + (int)(uniform(of->seed + 3, r) * (double)config->tasks);
    p->data.task = task;
  }
  if (of->plain) return;
  double *weight = take(&p->arena, n, sizeof(double)), *offset = take(&p->arena, n, sizeof(double));
  double *base = take(&p->arena, n * so, sizeof(double));
  for (size_t r = 0; r < n; ++r) {
    weight[r] = 0.5 + floor(3 * uniform(of->seed + 4, r)) / 2;
    offset[r] = normal(of->seed + 5, r) / 4;
  }
  for (size_t r = 0; r < n * so; ++r) base[r] = normal(of->seed + 6, r) / 4;
  p->data.weight = weight;
  p->data.offset = offset;
  p->data.base = base;
}

static void random_params(problem *p, uint64_t seed) {
  const pn_config *config = &p->config;
  const pn_layout *at = &p->layout;
  for (size_t i = 0; i < at->total; ++i) p->param[i] = (float)(0.4 * normal(seed, i));
  for (size_t i = 0; i < config->features; ++i) {
    float *center = p->param + i * at->feature_size + at->center;
    for (size_t j = 0; j < config->layers * config->prototypes; ++j) center[j] = (float)uniform(seed + i, j);
  }
  float *shared = p->param + at->shared;
  for (size_t j = 0; j < pn_norm_size(config); ++j) shared[at->norm_gain + j] += 1;
  for (size_t j = 0; config->predictor_layers == 2 && j < config->hidden; ++j) shared[at->tail_gain + j] += 1;
}

static size_t at_least_one(size_t n) {
  return n > 0 ? n : 1;
}

void problem_random(problem *p, const spec *of) {
  const size_t n = of->rows, K = of->features;
  memset(p, 0, sizeof(*p));
  pn_arena_init(&p->arena);
  p->config = (pn_config){
      .features = K,
      .prototypes = at_least_one(of->prototypes),
      .layers = at_least_one(of->layers),
      .hidden = at_least_one(of->hidden),
      .tasks = at_least_one(of->tasks),
      .outputs = at_least_one(of->outputs),
      .predictor_layers = of->predictor_layers > 0 ? of->predictor_layers : 2,
      .use_prototypes = 1,
      .hierarchical = !of->last_alone,
      .norm = of->norm,
      .family = of->family,
      .task_kind = of->task_kind,
      .output_penalty = 0.05f,
      .dropout = of->dropout,
      .dropout_output = of->dropout,
      .variation = of->variation,
      .variation_scale = 1,
  };
  double *x = take(&p->arena, n * K, sizeof(double));
  for (size_t q = 0; q < n * K; ++q) {
    const double u = uniform(of->seed, q);
    x[q] = q / n + 1 == K ? ROUGH * floor(u / ROUGH) : u;
    if (!of->plain && q < n && q % 5 == 2) x[q] = NAN;
  }
  problem_columns(p, x, n, of->order);
  random_data(p, of);
  random_params(p, of->seed + 7);
}

void problem_free(problem *p) {
  pn_arena_free(&p->arena);
}

void problem_model(const problem *p, pn_model *model, pn_arena *arena) {
  if (pn_model_init(model, &p->config, arena) != PN_OK) die("out of memory");
  memcpy(model->param, p->param, p->layout.total * sizeof(float));
  for (size_t i = 0; i < p->config.features; ++i) pn_model_refresh(model, i);
}

void pass_init(pass *at, const problem *p, double temperature, int equal_values, int threads) {
  pn_arena_init(&at->arena);
  problem_model(p, &at->model, &at->arena);
  pn_status status = pn_batch_init(&at->batch, &p->data, p->config.features, p->data.n, equal_values,
                                   p->config.variation > 0, &at->arena);
  if (status == PN_OK) status = pn_work_init(&at->work, &at->model, &at->batch, 1, threads, &at->arena);
  if (status != PN_OK) die("out of memory");
  pn_batch_fill_range(&at->batch, &p->data, 0, p->data.n, threads);
  at->mode = (pn_mode){1, (float)(1 / temperature), 0, 0, threads, 1};
}

double pass_gradient(pass *at, const problem *p) {
  const double loss = pn_pass_gradient(&at->model, &at->work, &p->data, &at->batch, at->mode);
  for (size_t part = 0; part <= p->config.features; ++part) pn_pass_sum(&at->model, &at->work, part);
  return loss;
}

void pass_free(pass *at) {
  pn_arena_free(&at->arena);
}
