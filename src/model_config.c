/* Slab layout and initial parameters; see model_config.h.
 *
 * Initial values (the published code's): encoder layer with `inputs` inputs: weights U(+-sqrt(1.5 / fan)), biases
 * U(+-1/sqrt(fan)), fan = h * inputs; predictor layers: weights N(0, 2 / (fan_in + fan_out)) with fan_in = K h in the
 * first, biases U(+-1/sqrt(fan_in)); task weights N(0, 2 / (C + 1)), task biases U(+-1/sqrt(C)); gains 1, offsets 0;
 * prototypes at the given centers with slope 1 and intercept 0. The missing value's activations begin beyond the
 * centers: among those of observed values (at 0, say) they would pull the observed shape towards the missing effect.
 */
#include "model_config.h"

#include <math.h>

#include "base_rng.h"
#include "base_size.h"

size_t pn_encoder_rows(const pn_config *config, size_t l) {
  return l == 0 ? 2 : config->hidden + 2;
}

size_t pn_layout_encoder(const pn_layout *layout, const pn_config *config, size_t l) {
  const size_t h = config->hidden;
  return layout->encoder + (l == 0 ? 0 : 2 * h + (l - 1) * (h + 2) * h);
}

size_t pn_norm_size(const pn_config *config) {
  return config->norm == PN_NORM_BATCH ? config->features : config->hidden;
}

/* Begins a tensor of `size` floats at *at and moves *at to its end. */
static size_t place(size_t *at, size_t size) {
  const size_t begin = *at;
  *at = pn_size_add(begin, size);
  return begin;
}

pn_status pn_layout_init(pn_layout *layout, const pn_config *config) {
  const size_t h = config->hidden, t = config->prototypes, d = config->layers;
  const size_t s = config->tasks, o = config->outputs;
  const int two = config->predictor_layers == 2;
  size_t at = 0;

  layout->width = two ? h : o;
  layout->center = place(&at, PN_SIZE(d, t));
  layout->slope = place(&at, PN_SIZE(d, t));
  layout->intercept = place(&at, PN_SIZE(d, t));
  layout->missing = place(&at, d);
  layout->encoder = place(&at, pn_size_add(PN_SIZE(2, h), PN_SIZE(d - 1, pn_size_add(h, 2), h)));
  layout->predictor = place(&at, PN_SIZE(d, h, layout->width));
  layout->feature_size = at;

  layout->shared = PN_SIZE(at, config->features);

  at = 0;
  layout->norm_gain = place(&at, pn_norm_size(config));
  layout->norm_offset = place(&at, pn_norm_size(config));
  layout->tail_gain = place(&at, two ? h : 0);
  layout->tail_offset = place(&at, two ? h : 0);
  layout->bias1 = place(&at, PN_SIZE(d, layout->width));
  layout->weight2 = place(&at, two ? PN_SIZE(d, o, h) : 0);
  layout->bias2 = place(&at, two ? PN_SIZE(d, o) : 0);
  layout->task_weight = place(&at, PN_SIZE(d, s, config->components));
  layout->task_bias = place(&at, PN_SIZE(d, s, o));
  layout->shared_size = at;
  layout->total = pn_size_add(layout->shared, at);
  return layout->total == PN_SIZE_TOO_LARGE ? PN_NO_MEMORY : PN_OK;
}

typedef struct {
  uint64_t key, counter;
} draws;

static void fill_uniform(float *x, size_t n, double bound, draws *from) {
  for (size_t i = 0; i < n; ++i) x[i] = (float)(bound * (2 * pn_rng_uniform(from->key, from->counter++) - 1));
}

static void fill_normal(float *x, size_t n, double variance, draws *from) {
  const double sd = sqrt(variance);
  for (size_t i = 0; i < n; ++i) x[i] = (float)(sd * pn_rng_normal(from->key, from->counter++));
}

static void fill(float *x, size_t n, float value) {
  for (size_t i = 0; i < n; ++i) x[i] = value;
}

/* Sides alternate by layer, so that no observed value (whose activations begin alike in all layers) is close. */
static void fill_missing(float *missing, size_t d, const double *centers, size_t t) {
  const double spread = t > 0 && centers[t - 1] > centers[0] ? centers[t - 1] - centers[0] : 1.0;
  const double middle = t > 0 ? (centers[t - 1] + centers[0]) / 2 : 0.0;
  for (size_t l = 0; l < d; ++l) missing[l] = (float)(l % 2 == 0 ? middle - spread : middle + spread);
}

static void init_feature(float *block, const pn_layout *layout, const pn_config *config, const double *centers,
                         draws *from) {
  const size_t h = config->hidden, t = config->prototypes, d = config->layers, width = layout->width;
  for (size_t l = 0; l < d; ++l) {
    for (size_t j = 0; j < t; ++j) block[layout->center + l * t + j] = (float)centers[j];
    const size_t rows = pn_encoder_rows(config, l);
    const double fan = (double)h * (double)(rows - 1);
    float *weight = block + pn_layout_encoder(layout, config, l);
    fill_uniform(weight, (rows - 1) * h, sqrt(1.5 / fan), from);
    fill_uniform(weight + (rows - 1) * h, h, 1 / sqrt(fan), from);
  }
  fill(block + layout->slope, d * t, 1.0f);
  fill(block + layout->intercept, d * t, 0.0f);
  fill_missing(block + layout->missing, d, centers, t);
  const double fan_in = (double)config->features * (double)h;
  fill_normal(block + layout->predictor, d * h * width, 2 / (fan_in + (double)width), from);
}

void pn_params_init(float *slab, const pn_layout *layout, const pn_config *config, const double *centers,
                    uint64_t seed) {
  const size_t h = config->hidden, d = config->layers, o = config->outputs, C = config->components;
  if (config->features == 0) return; /* nothing but layer 0: all zero */
  for (size_t i = 0; i < config->features; ++i) {
    draws own = {pn_rng_key(seed, PN_STREAM_INIT, 1 + i, 0), 0};
    init_feature(slab + i * layout->feature_size, layout, config, centers + i * config->prototypes, &own);
  }
  draws from = {pn_rng_key(seed, PN_STREAM_INIT, 0, 0), 0};
  float *shared = slab + layout->shared;
  fill(shared + layout->norm_gain, pn_norm_size(config), 1.0f);
  fill(shared + layout->norm_offset, pn_norm_size(config), 0.0f);
  fill_uniform(shared + layout->bias1, d * layout->width, 1 / sqrt((double)config->features * (double)h), &from);
  if (config->predictor_layers == 2) {
    fill(shared + layout->tail_gain, h, 1.0f);
    fill(shared + layout->tail_offset, h, 0.0f);
    fill_normal(shared + layout->weight2, d * o * h, 2 / ((double)h + (double)o), &from);
    fill_uniform(shared + layout->bias2, d * o, 1 / sqrt((double)h), &from);
  }
  fill_normal(shared + layout->task_weight, d * config->tasks * C, 2 / ((double)C + 1), &from);
  fill_uniform(shared + layout->task_bias, d * config->tasks * o, 1 / sqrt((double)C), &from);
}

void pn_params_relate(float *slab, const pn_layout *layout, const pn_config *config, const double *relation) {
  const size_t s = config->tasks, C = config->components;
  for (size_t l = 0; l < config->layers; ++l) {
    float *first = slab + layout->shared + layout->task_weight + l * s * C; /* [s, C] of layer l */
    for (size_t u = 1; u < s; ++u) {
      for (size_t c = 0; c < C; ++c) first[u * C + c] = (float)relation[c * s + u] * first[c];
    }
  }
}
