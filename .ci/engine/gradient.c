/* Gradients of random problems against central differences of the loss, group by group of parameters, so that an error
 * in a small tensor cannot hide behind a large one. */
#include "test.h"

#include <math.h>
#include <string.h>

#define STEP 2e-3      /* along a direction of length one; smaller ones drown in single precision */
#define TOLERANCE 0.02 /* of the slope ... */
#define FLOOR 2e-3     /* ... or of the whole gradient's length, where the slope is small: kinks and rounding */
#define GROUPS 15

static const spec specs[] = {
    {.name = "order 1", .rows = 60, .features = 4, .order = 1, .layers = 3, .hidden = 8, .prototypes = 5},
    {.name = "order 1, batch norm, one-layer predictors",
     .seed = 20,
     .rows = 60,
     .features = 3,
     .order = 1,
     .layers = 2,
     .hidden = 7,
     .prototypes = 4,
     .norm = PN_NORM_BATCH,
     .predictor_layers = 1,
     .family = PN_BINOMIAL},
    {.name = "order 1, three classes",
     .seed = 40,
     .rows = 50,
     .features = 3,
     .order = 1,
     .layers = 2,
     .hidden = 16,
     .prototypes = 3,
     .outputs = 3,
     .family = PN_MULTINOMIAL},
    {.name = "order 1, responses, variation",
     .seed = 60,
     .rows = 80,
     .features = 3,
     .order = 1,
     .layers = 2,
     .hidden = 8,
     .prototypes = 6,
     .tasks = 2,
     .task_kind = PN_TASK_RESPONSE,
     .variation = 0.3f},
    {.name = "order 1, variation, last layer alone",
     .seed = 80,
     .rows = 80,
     .features = 2,
     .order = 1,
     .layers = 3,
     .hidden = 9,
     .prototypes = 6,
     .variation = 1,
     .last_alone = 1},
    {.name = "order 1, dropout",
     .seed = 100,
     .rows = 40,
     .features = 3,
     .order = 1,
     .layers = 2,
     .hidden = 12,
     .prototypes = 4,
     .dropout = 0.2f},
    {.name = "order 2", .seed = 120, .rows = 60, .features = 4, .order = 2, .layers = 2, .hidden = 8, .prototypes = 5},
    {.name = "order 2, groups, counts",
     .seed = 140,
     .rows = 60,
     .features = 4,
     .order = 2,
     .layers = 2,
     .hidden = 17,
     .prototypes = 5,
     .tasks = 3,
     .task_kind = PN_TASK_GROUP,
     .family = PN_POISSON},
    {.name = "order 2, classes, dropout",
     .seed = 160,
     .rows = 40,
     .features = 3,
     .order = 2,
     .layers = 2,
     .hidden = 8,
     .prototypes = 5,
     .outputs = 3,
     .family = PN_MULTINOMIAL,
     .dropout = 0.1f},
    {.name = "order 3, one-layer predictors",
     .seed = 180,
     .rows = 40,
     .features = 4,
     .order = 3,
     .layers = 2,
     .hidden = 8,
     .prototypes = 5,
     .predictor_layers = 1},
    {.name = "order Inf",
     .seed = 200,
     .rows = 60,
     .features = 5,
     .order = 0,
     .layers = 3,
     .hidden = 8,
     .prototypes = 5},
    {.name = "order Inf, batch norm, binary",
     .seed = 220,
     .rows = 60,
     .features = 4,
     .order = 0,
     .layers = 2,
     .hidden = 33,
     .prototypes = 3,
     .norm = PN_NORM_BATCH,
     .family = PN_BINOMIAL},
};

/* Which group of parameters element i of the slab belongs to. */
static size_t group_of(const problem *p, size_t i) {
  const pn_layout *at = &p->layout;
  const int shared = i >= at->shared;
  const size_t within = shared ? i - at->shared : i % at->feature_size;
  const size_t feature[] = {at->center, at->slope, at->intercept, at->missing, at->encoder, at->predictor};
  const size_t common[] = {at->norm_gain, at->norm_offset, at->tail_gain,   at->tail_offset, at->bias1,
                           at->weight2,   at->bias2,       at->task_weight, at->task_bias};
  const size_t *begin = shared ? common : feature, n = shared ? 9 : 6;
  size_t group = 0;
  while (group + 1 < n && begin[group + 1] <= within) ++group;
  return shared ? 6 + group : group;
}

static double loss_at(pass *at, const problem *p, const float *direction, double by) {
  for (size_t i = 0; i < p->layout.total; ++i) at->model.param[i] = (float)(p->param[i] + by * direction[i]);
  for (size_t i = 0; i < p->config.features; ++i) pn_model_refresh(&at->model, i);
  return pn_pass_gradient(&at->model, &at->work, &p->data, &at->batch, at->mode);
}

static void test_spec(const spec *of) {
  problem p;
  pass at;
  problem_random(&p, of);
  pass_init(&at, &p, 0.3, of->dropout <= 0, 2);
  const double loss = pass_gradient(&at, &p);
  CHECK(isfinite(loss), "%s: the loss is %g", of->name, loss);
  const size_t total = p.layout.total;
  float *grad = take(&p.arena, total, sizeof(float)), *direction = take(&p.arena, total, sizeof(float));
  memcpy(grad, at.work.grad, total * sizeof(float));
  double squares[GROUPS] = {0}, all = 0;
  for (size_t i = 0; i < total; ++i) squares[group_of(&p, i)] += (double)grad[i] * grad[i];
  for (size_t g = 0; g < GROUPS; ++g) all += squares[g];
  CHECK(all > 0, "%s: the gradient is zero", of->name);
  for (size_t g = 0; g < GROUPS; ++g) {
    const double slope = sqrt(squares[g]);
    if (!(slope > 0)) continue;
    for (size_t i = 0; i < total; ++i) direction[i] = group_of(&p, i) == g ? (float)(grad[i] / slope) : 0;
    const double difference = (loss_at(&at, &p, direction, STEP) - loss_at(&at, &p, direction, -STEP)) / (2 * STEP);
    const double gap = fabs(difference - slope);
    CHECK(gap < TOLERANCE * slope + FLOOR * sqrt(all), "%s, %s kernels: group %zu has slope %g, by differences %g",
          of->name, pn_kernels_get()->name, g, slope, difference);
  }
  pass_free(&at);
  problem_free(&p);
}

void test_gradients(void) {
  for (size_t s = 0; s < sizeof(specs) / sizeof(specs[0]); ++s) test_spec(&specs[s]);
}
