/* Golden cases: loss, outputs, gradients, three AdamW steps and whole trainings against numbers that an independent
 * implementation made in double precision. make_cases.R describes the files. */
#include "test.h"
#include "train_optimiser.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ENTRIES 64
#define LINE 256

typedef struct {
  char name[32];
  size_t n;
  double *value;
} entry;

typedef struct {
  const char *file;
  entry entry[ENTRIES];
  size_t entries;
} table;

static const char *const step_cases[] = {"order1_batchnorm_deep", "order1_batchnorm_pred1", "order1_layernorm",
                                         "order1_multiclass",     "order1_multitask",       "order2_binary_pred1",
                                         "order2_layernorm",      "orderN_layernorm"};
static const char *const trajectories[] = {"trajectory_order1_regression", "trajectory_order2_binary"};

static void read_table(table *from, const char *folder, const char *name, pn_arena *arena) {
  char *path = take(arena, strlen(folder) + strlen(name) + 6, 1);
  sprintf(path, "%s/%s.txt", folder, name);
  from->file = name;
  from->entries = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL) die("cannot read %s", path);
  entry at;
  while (fscanf(file, "%31s %zu", at.name, &at.n) == 2) {
    if (from->entries == ENTRIES) die("%s has more than %d entries", path, ENTRIES);
    at.value = take(arena, at.n, sizeof(double));
    for (size_t i = 0; i < at.n; ++i) {
      if (fscanf(file, "%lf", &at.value[i]) != 1) die("%s: `%s` has fewer than %zu values", path, at.name, at.n);
    }
    from->entry[from->entries++] = at;
  }
  if (!feof(file)) die("%s does not end where it should", path);
  fclose(file);
}

static const double *find(const table *from, const char *name, size_t n) {
  for (size_t i = 0; i < from->entries; ++i) {
    if (strcmp(from->entry[i].name, name) != 0) continue;
    if (from->entry[i].n != n) die("%s: `%s` has %zu values, not %zu", from->file, name, from->entry[i].n, n);
    return from->entry[i].value;
  }
  die("%s has no `%s`", from->file, name);
}

static double number(const table *from, const char *name) {
  return find(from, name, 1)[0];
}

static size_t size(const table *from, const char *name) {
  return (size_t)number(from, name);
}

static void read_problem(problem *p, table *from, const char *folder, const char *name) {
  memset(p, 0, sizeof(*p));
  pn_arena_init(&p->arena);
  read_table(from, folder, name, &p->arena);
  p->config = (pn_config){
      .features = size(from, "features"),
      .prototypes = size(from, "prototypes"),
      .layers = size(from, "layers"),
      .hidden = size(from, "hidden"),
      .tasks = size(from, "tasks"),
      .outputs = size(from, "outputs"),
      .predictor_layers = (int)size(from, "predictor_layers"),
      .use_prototypes = 1,
      .hierarchical = 1,
      .norm = (pn_norm)size(from, "norm"),
      .family = (pn_family)size(from, "family"),
      .task_kind = (pn_task_kind)size(from, "task_kind"),
      .output_penalty = (float)number(from, "output_penalty"),
      .variation_scale = 1,
  };
  const size_t n = size(from, "n");
  problem_columns(p, find(from, "x", n * p->config.features), n, size(from, "order"));
  p->data.y_columns = p->config.task_kind == PN_TASK_RESPONSE ? p->config.tasks : 1;
  p->data.y = find(from, "y", n * p->data.y_columns);
  if (p->config.task_kind == PN_TASK_GROUP) {
    const double *given = find(from, "task", n);
    int *task = take(&p->arena, n, sizeof(int));
    for (size_t r = 0; r < n; ++r) task[r] = (int)given[r];
    p->data.task = task;
  }
  const double *param = find(from, "params", p->layout.total);
  for (size_t i = 0; i < p->layout.total; ++i) p->param[i] = (float)param[i];
}

/* Largest difference as a share of the largest element. */
static double gap_floats(const float *got, const double *want, size_t n) {
  double gap = 0, largest = 0;
  for (size_t i = 0; i < n; ++i) {
    gap = fmax(gap, fabs(got[i] - want[i]));
    largest = fmax(largest, fabs(want[i]));
  }
  return gap / largest;
}

static double gap_doubles(const double *got, const double *want, size_t n) {
  double gap = 0, largest = 0;
  for (size_t i = 0; i < n; ++i) {
    gap = fmax(gap, fabs(got[i] - want[i]));
    largest = fmax(largest, fabs(want[i]));
  }
  return gap / largest;
}

/* Largest difference of a slab's tensors, each as a share of its own largest element or of a thousandth of all. */
static double gap_tensors(const float *got, const double *want, const double *tensor, size_t n, size_t *worst) {
  double all = 0, most = 0;
  size_t tensors = 0;
  for (size_t i = 0; i < n; ++i) {
    all = fmax(all, fabs(want[i]));
    tensors = tensor[i] > (double)tensors ? (size_t)tensor[i] : tensors;
  }
  for (size_t t = 1; t <= tensors; ++t) {
    double gap = 0, largest = all / 1000;
    for (size_t i = 0; i < n; ++i) {
      if ((size_t)tensor[i] != t) continue;
      gap = fmax(gap, fabs(got[i] - want[i]));
      largest = fmax(largest, fabs(want[i]));
    }
    if (!(gap / largest <= most)) {
      most = gap / largest;
      *worst = t;
    }
  }
  return most;
}

static void test_pass(const problem *p, const table *from, int equal_values) {
  const pn_config *config = &p->config;
  const size_t n = p->data.n, d = config->layers, so = config->tasks * config->outputs, total = p->layout.total;
  const size_t outputs = d * config->components * n * config->outputs;
  const char *level = pn_kernels_get()->name;
  pass at;
  pass_init(&at, p, number(from, "temperature"), equal_values, 2);
  const double loss = pass_gradient(&at, p), want = number(from, "loss");
  float *out = take(&at.arena, outputs, sizeof(float));
  pn_pass_components(&at.model, &at.work, &at.batch, at.mode, out);
  CHECK(fabs(loss / want - 1) < 1e-5, "%s, %s: loss %g, not %g", from->file, level, loss, want);
  const double outputs_gap = gap_floats(out, find(from, "component_outputs", outputs), outputs);
  CHECK(outputs_gap < 1e-5, "%s, %s: outputs off by %g", from->file, level, outputs_gap);
  const double gap = gap_doubles(at.work.eta, find(from, "predictions", n * d * so), n * d * so);
  CHECK(gap < 1e-5, "%s, %s: predictions off by %g", from->file, level, gap);
  size_t worst = 0;
  const double grad_gap =
      gap_tensors(at.work.grad, find(from, "grad", total), find(from, "tensor", total), total, &worst);
  CHECK(grad_gap < 1e-4, "%s, %s: gradient of tensor %zu off by %g", from->file, level, worst, grad_gap);
  pass_free(&at);
}

static void test_steps(const problem *p, const table *from) {
  const size_t K = p->config.features, n = p->data.n, d = p->config.layers, total = p->layout.total;
  const size_t so = p->config.tasks * p->config.outputs;
  const char *level = pn_kernels_get()->name;
  const double *losses = find(from, "step_losses", 3);
  pass at;
  pn_optimiser optimiser;
  pass_init(&at, p, number(from, "temperature"), 1, 1);
  if (pn_optimiser_init(&optimiser, &at.model, number(from, "weight_decay"), &at.arena) != PN_OK) die("out of memory");
  for (int step = 0; step < 3; ++step) {
    const double loss = pn_pass_gradient(&at.model, &at.work, &p->data, &at.batch, at.mode);
    CHECK(fabs(loss / losses[step] - 1) < 1e-5, "%s, %s: loss %g in step %d", from->file, level, loss, step + 1);
    pn_optimiser_step(&optimiser, &at.model, &at.work, number(from, "lr"));
  }
  size_t worst = 0;
  const double gap =
      gap_tensors(at.model.param, find(from, "step_params", total), find(from, "tensor", total), total, &worst);
  CHECK(gap < 1e-3, "%s, %s: tensor %zu off by %g after three steps", from->file, level, worst, gap);
  const double running_gap = gap_floats(at.model.running, find(from, "step_running", 2 * K), 2 * K);
  CHECK(running_gap < 1e-4, "%s, %s: running statistics off by %g", from->file, level, running_gap);
  const pn_mode predict = {0, INFINITY, 0, 0, 1, 0};
  pn_pass_predict(&at.model, &at.work, &at.batch, predict);
  const double eval_gap = gap_doubles(at.work.eta, find(from, "step_predictions", n * d * so), n * d * so);
  CHECK(eval_gap < 1e-3, "%s, %s: predictions off by %g after three steps", from->file, level, eval_gap);
  pass_free(&at);
}

static int go_on(void *context) {
  (void)context;
  return 0;
}

static void ignore(void *context, size_t epoch, double loss, double score) {
  (void)context, (void)epoch, (void)loss, (void)score;
}

/* The share of rows whose prediction is off by more than half a hundredth of the largest. */
static double share_off(const double *eta, size_t stride, const double *want, size_t n) {
  double largest = 0;
  size_t off = 0;
  for (size_t r = 0; r < n; ++r) largest = fmax(largest, fabs(want[r]));
  for (size_t r = 0; r < n; ++r) off += !(fabs(eta[r * stride] - want[r]) < 5e-3 * largest);
  return (double)off / (double)n;
}

static void test_trajectory(const problem *p, const table *from) {
  const size_t epochs = size(from, "epochs"), n = p->data.n, d = p->config.layers;
  const char *level = pn_kernels_get()->name;
  pn_arena arena;
  pn_model model;
  pn_arena_init(&arena);
  problem_model(p, &model, &arena);
  pn_history history = {.epochs_run = 0};
  history.loss = take(&arena, epochs, sizeof(double));
  history.score = take(&arena, epochs, sizeof(double));
  history.lr = take(&arena, epochs, sizeof(double));
  history.temperature = take(&arena, epochs, sizeof(double));
  const pn_train_options options = {
      .epochs = epochs,
      .batch_size = size(from, "batch_size"),
      .lr = number(from, "lr"),
      .weight_decay = number(from, "weight_decay"),
      .tau = number(from, "tau"),
      .patience = INFINITY,
      .equal_values = 1,
      .threads = 2,
  };
  const pn_callbacks callbacks = {.poll = go_on, .epoch_done = ignore};
  const pn_status status = pn_train(&model, &p->data, NULL, &options, NULL, &history, &callbacks, &arena);
  CHECK(status == PN_OK && history.epochs_run == epochs, "%s, %s: training ended early", from->file, level);
  const double *losses = find(from, "losses", epochs), *rates = find(from, "rates", epochs);
  const double *temperatures = find(from, "temperatures", epochs);
  for (size_t e = 0; e < epochs; ++e) {
    CHECK(fabs(history.loss[e] / losses[e] - 1) < 1e-3, "%s, %s: loss %g, not %g in epoch %zu", from->file, level,
          history.loss[e], losses[e], e + 1);
    CHECK(fabs(history.lr[e] / rates[e] - 1) < 1e-6 && fabs(history.temperature[e] / temperatures[e] - 1) < 1e-6,
          "%s: schedules in epoch %zu", from->file, e + 1);
  }
  pn_batch batch;
  pn_work work;
  const pn_mode predict = {0, INFINITY, 0, 0, 1, 0};
  pn_status reserved = pn_batch_init(&batch, &p->data, p->config.features, n, 1, 0, &arena);
  if (reserved == PN_OK) reserved = pn_work_init(&work, &model, &batch, 0, 1, &arena);
  if (reserved != PN_OK) die("out of memory");
  pn_batch_fill_range(&batch, &p->data, 0, n, 1);
  pn_pass_predict(&model, &work, &batch, predict);
  /* at T -> 0 a value half way between two prototypes may fall to either side in single precision */
  const double off = share_off(work.eta + d - 1, d, find(from, "final", n), n);
  CHECK(off < 0.5, "%s, %s: %g of the predictions are off", from->file, level, off);
  pn_arena_free(&arena);
}

void test_golden(const char *folder) {
  problem p;
  table from;
  for (size_t c = 0; c < sizeof(step_cases) / sizeof(step_cases[0]); ++c) {
    read_problem(&p, &from, folder, step_cases[c]);
    test_pass(&p, &from, 1);
    test_pass(&p, &from, 0);
    test_steps(&p, &from);
    problem_free(&p);
  }
  for (size_t c = 0; c < sizeof(trajectories) / sizeof(trajectories[0]); ++c) {
    read_problem(&p, &from, folder, trajectories[c]);
    test_trajectory(&p, &from);
    problem_free(&p);
  }
}
