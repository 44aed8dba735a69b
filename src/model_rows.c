/* Rows: components that join features, predictions per layer, loss and gradient; see model_pass.h.
 *
 *   order > 1:  r[l,c] = tail(sum_{i in c} u[l,i] + p[l])        gathered from the cells, never stored for all rows
 *   y[m][u]     = sum_{l<=m} (w0[l][u] + (1/C) sum_c w[l][u,c] r[l,c])
 *   g[l]        = sum_{m>=l} dL/dy[m]
 * A block of PN_ROW_BLOCK rows is small enough that its gathered sums stay in the first-level cache.
 */
#include <math.h>
#include <string.h>

#include "model_pass.h"

/* Where component c of layer l stands in scratch->r. */
static float *block_output(const pn_config *config, const pn_scratch *scratch, size_t l, size_t c) {
  return scratch->r + (l * config->components + c) * PN_ROW_BLOCK * config->outputs;
}

/* Where u of feature i in layer l stands for the block's rows. */
static float *local_feature(const pn_model *model, const pn_scratch *scratch, size_t l, size_t i) {
  return scratch->local + (l * model->config->features + i) * PN_ROW_BLOCK * model->layout.width;
}

/* Gathers u of layer l for n rows, so that every component then reads from cache, and backward finds it again. */
static void gather_features(const pn_pass *pass, size_t l, size_t begin, size_t n) {
  const pn_model *model = pass->model;
  pn_work *work = pass->work;
  const pn_batch *batch = pass->batch;
  const size_t width = model->layout.width;
  for (size_t i = 0; i < model->config->features; ++i) {
    const float *u = work->u + (l * work->cells + batch->first[i]) * width;
    const uint32_t *cell = pn_batch_cell(batch, i) + begin;
    float *to = local_feature(model, pass->scratch, l, i);
    for (size_t b = 0; b < n; ++b) memcpy(to + b * width, u + cell[b] * width, width * sizeof(float));
  }
}

/* Points scratch->part at the members of component c in layer l. */
static void select_members(const pn_pass *pass, size_t l, size_t c) {
  const pn_config *config = pass->model->config;
  for (size_t m = 0; m < config->members; ++m) {
    const uint32_t i = config->component[c * config->members + m];
    pass->scratch->part[m] = local_feature(pass->model, pass->scratch, l, i);
  }
}

/* Component c of a one-layer predictor: r[n x o] is the sum of its members and the bias. */
static void join_outputs(const pn_pass *pass, size_t l, size_t c, size_t n, float *r) {
  const pn_model *model = pass->model;
  const size_t o = model->config->outputs;
  const float *bias = model->shared + model->layout.bias1 + l * o;
  select_members(pass, l, c);
  for (size_t q = 0; q < n * o; ++q) {
    r[q] = bias[q % o];
    for (size_t m = 0; m < model->config->members; ++m) r[q] += pass->scratch->part[m][q];
  }
}

/* Normalised first predictor layer of component c for n rows: shat[n x h] and its scale, in scratch->s and rstd. */
static void join_features(const pn_pass *pass, size_t l, size_t c, size_t n) {
  const pn_config *config = pass->model->config;
  pn_scratch *scratch = pass->scratch;
  select_members(pass, l, c);
  pass->kern->join_norm(n, config->members, config->hidden, scratch->part, NULL, scratch->s, scratch->rstd);
}

/* Scales of pair c of layer l for the block's rows. */
static float *pair_rstd(const pn_config *config, const pn_scratch *scratch, size_t l, size_t c) {
  return scratch->pair_rstd + (l * config->components + c) * PN_ROW_BLOCK;
}

/* Outputs of order 1 stand ready at the cells. */
static void gather_outputs(const pn_pass *pass, size_t l, size_t begin, size_t n) {
  const pn_model *model = pass->model;
  pn_work *work = pass->work;
  const pn_batch *batch = pass->batch;
  const size_t o = model->config->outputs;
  for (size_t c = 0; c < model->config->components; ++c) {
    const float *from = work->r + (l * work->cells + batch->first[c]) * o;
    const uint32_t *cell = pn_batch_cell(batch, c) + begin;
    float *r = block_output(model->config, pass->scratch, l, c);
    for (size_t b = 0; b < n; ++b) {
      for (size_t k = 0; k < o; ++k) r[b * o + k] = from[cell[b] * o + k];
    }
  }
}

void pn_rows_components(const pn_pass *pass, size_t begin, size_t end) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const size_t o = config->outputs, n = end - begin;
  const uint32_t *rows = pass->batch->id + begin;
  const int fused = pn_is_fused(config, pass->mode);
  for (size_t l = 0; l < config->layers; ++l) {
    if (pn_is_order1(config)) {
      gather_outputs(pass, l, begin, n);
      continue;
    }
    gather_features(pass, l, begin, n);
    for (size_t c = 0; c < config->components; ++c) {
      float *r = block_output(config, scratch, l, c);
      if (fused) {
        const pn_tail tail = pn_view_tail(model, model->shared, l);
        select_members(pass, l, c);
        kern->pair_dots(n, config->hidden, scratch->part[0], scratch->part[1], tail.gain, tail.offset, tail.weight,
                        tail.bias[0], r, pair_rstd(config, scratch, l, c));
      } else if (config->predictor_layers == 2) {
        join_features(pass, l, c, n);
        pn_tail_forward(kern, n, pn_view_tail(model, model->shared, l),
                        pn_view_dropout(pass->mode, config->dropout, PN_DROP_TAIL, l, c, rows), scratch->s, scratch->q,
                        r);
      } else {
        join_outputs(pass, l, c, n, r);
      }
      const pn_dropout out = pn_view_dropout(pass->mode, config->dropout_output, PN_DROP_OUTPUT, l, c, rows);
      if (out.p > 0) kern->dropout(n, o, r, o, out.row, out.key, out.p);
    }
  }
}

void pn_rows_predict(const pn_pass *pass, size_t begin, size_t end) {
  const pn_model *model = pass->model;
  pn_work *work = pass->work;
  const pn_config *config = model->config;
  const size_t o = config->outputs, s = config->tasks, so = s * o, C = config->components, d = config->layers;
  const size_t n = end - begin;
  const double share = C > 0 ? 1 / (double)C : 0;
  double *sum = pass->scratch->sum;
  for (size_t l = 0; l < d; ++l) {
    const float *bias = model->shared + model->layout.task_bias + l * so;
    for (size_t u = 0; u < s; ++u) {
      const float *weight = model->shared + model->layout.task_weight + (l * s + u) * C;
      memset(sum, 0, n * o * sizeof(double));
      for (size_t c = 0; c < C; ++c) {
        const float *r = block_output(config, pass->scratch, l, c);
        for (size_t q = 0; q < n * o; ++q) sum[q] += (double)weight[c] * r[q];
      }
      for (size_t b = 0; b < n; ++b) {
        double *eta = work->eta + ((begin + b) * d + l) * so + u * o;
        for (size_t k = 0; k < o; ++k) {
          eta[k] = (l > 0 ? *(eta + k - so) : 0.0) + bias[u * o + k] + share * sum[b * o + k];
        }
      }
    }
  }
}

/* Loss of one row over all layers; g[l] for this row goes to work->g. */
static double row_loss(const pn_pass *pass, size_t row) {
  const pn_model *model = pass->model;
  pn_work *work = pass->work;
  const pn_data *data = pass->data;
  const pn_batch *batch = pass->batch;
  const pn_config *config = model->config;
  const pn_loss *family = pn_loss_get(config->family);
  const size_t o = config->outputs, s = config->tasks, so = s * o, d = config->layers, id = batch->id[row];
  const double weight = data->weight == NULL ? 1.0 : data->weight[id];
  const double scale = weight / (config->task_kind == PN_TASK_RESPONSE ? batch->label_sum : batch->weight_sum);
  const double shift = data->offset == NULL ? 0.0 : data->offset[id];
  const size_t u_begin = config->task_kind == PN_TASK_GROUP ? (size_t)data->task[id] - 1 : 0;
  const size_t u_end = config->task_kind == PN_TASK_RESPONSE ? s : u_begin + 1;
  const double *base = data->base == NULL ? NULL : data->base + id * so;
  double total = 0;
  for (size_t l = 0; l < d; ++l) memset(work->g + (l * work->rows + row) * so, 0, so * sizeof(float));
  for (size_t u = u_begin; u < u_end; ++u) {
    const double y = data->y[(config->task_kind == PN_TASK_RESPONSE ? u : 0) * data->n + id];
    if (isnan(y)) continue;
    for (size_t m = config->hierarchical ? 0 : d - 1; m < d; ++m) {
      const double *eta = work->eta + (row * d + m) * so + u * o;
      double *shifted = work->deta + 2 * row * o, *deta = shifted + o;
      for (size_t k = 0; k < o; ++k) shifted[k] = eta[k] + (base == NULL ? shift : shift + base[u * o + k]);
      total += scale * family->loss(shifted, y, o, deta);
      for (size_t k = 0; k < o; ++k) work->g[(m * work->rows + row) * so + u * o + k] = (float)(scale * deta[k]);
    }
  }
  for (size_t l = d - 1; l-- > 0;) {
    float *g = work->g + (l * work->rows + row) * so, *next = work->g + ((l + 1) * work->rows + row) * so;
    for (size_t k = 0; k < so; ++k) g[k] += next[k];
  }
  return total;
}

/* What the penalty adds to the gradient of an output of each of the block's rows, per unit of that output. */
static void penalty_slopes(const pn_pass *pass, size_t begin, size_t n) {
  const pn_config *config = pass->model->config;
  const pn_data *data = pass->data;
  const pn_batch *batch = pass->batch;
  const double slope =
      2 * (double)config->output_penalty / (batch->weight_sum * (double)(config->components * config->outputs));
  for (size_t b = 0; b < n; ++b) {
    pass->scratch->slope[b] = (float)(slope * (data->weight == NULL ? 1.0 : data->weight[batch->id[begin + b]]));
  }
}

/* Gradient of component c's outputs for the block's rows into scratch->dr; adds to the task weights' gradient. */
static void component_gradient(const pn_pass *pass, size_t l, size_t c, size_t begin, size_t n, float *shared_grad) {
  const pn_model *model = pass->model;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const size_t o = config->outputs, s = config->tasks, so = s * o, C = config->components;
  const float *weight = model->shared + model->layout.task_weight + l * s * C;
  float *dweight = shared_grad + model->layout.task_weight + l * s * C;
  const float *r = block_output(config, scratch, l, c), *g = work->g + (l * work->rows + begin) * so;
  const float share = 1 / (float)C;
  for (size_t b = 0; b < n; ++b) {
    for (size_t k = 0; k < o; ++k) scratch->dr[b * o + k] = scratch->slope[b] * r[b * o + k];
  }
  for (size_t u = 0; u < s; ++u) {
    const float factor = share * weight[u * C + c];
    double sum = 0;
    for (size_t b = 0; b < n; ++b) {
      for (size_t k = 0; k < o; ++k) {
        const float at = g[b * so + u * o + k];
        scratch->dr[b * o + k] += factor * at;
        sum += (double)at * r[b * o + k];
      }
    }
    dweight[u * C + c] += (float)(share * sum);
  }
}

/* Backward through component c for the block's rows: adds to du of its members and to shared_grad, or, for a fused
 * pair, to scratch->through and through_x. */
static void component_backward(const pn_pass *pass, size_t l, size_t c, size_t begin, size_t n, float *shared_grad) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const size_t o = config->outputs, width = model->layout.width, K = config->features;
  const uint32_t *rows = pass->batch->id + begin, *member = config->component + c * config->members;
  const pn_dropout out = pn_view_dropout(pass->mode, config->dropout_output, PN_DROP_OUTPUT, l, c, rows);
  const pn_tail tail = pn_view_tail(model, model->shared, l), grad = pn_view_tail(model, shared_grad, l);
  float *du = work->du + (l * K * work->rows + begin) * width;
  const size_t du_feature = work->rows * width;
  if (out.p > 0) kern->dropout(n, o, scratch->dr, o, out.row, out.key, out.p);
  if (pn_is_fused(config, pass->mode)) {
    for (size_t b = 0; b < n; ++b) grad.bias[0] += scratch->dr[b];
    select_members(pass, l, c);
    kern->pair_dots_backward(n, config->hidden, scratch->part[0], scratch->part[1], pair_rstd(config, scratch, l, c),
                             tail.gain, tail.offset, tail.weight, scratch->dr, scratch->dv, du + member[0] * du_feature,
                             du + member[1] * du_feature, scratch->through, scratch->through_x);
    return;
  }
  const float *ds = scratch->dr;
  if (config->predictor_layers == 2) {
    join_features(pass, l, c, n);
    pn_tail_backward(kern, n, tail, pn_view_dropout(pass->mode, config->dropout, PN_DROP_TAIL, l, c, rows), scratch->s,
                     scratch->rstd, scratch->dr, scratch->q, scratch->dv, grad);
    ds = scratch->dv;
  }
  for (size_t m = 0; m < config->members; ++m) kern->add_rows(n, width, ds, du + member[m] * du_feature, width);
}

/* What the fused pairs of layer l passed back becomes gradients of the tail. */
static void add_passed(const pn_model *model, size_t l, const pn_scratch *scratch, float *shared_grad) {
  const pn_tail tail = pn_view_tail(model, model->shared, l), grad = pn_view_tail(model, shared_grad, l);
  const float *through = scratch->through, *through_x = scratch->through_x;
  for (size_t j = 0; j < tail.h; ++j) {
    grad.gain[j] += tail.weight[j] * through_x[j];
    grad.offset[j] += tail.weight[j] * through[j];
    grad.weight[j] += tail.gain[j] * through_x[j] + tail.offset[j] * through[j];
  }
}

/* Gradient of layer l's components and projections for the block's rows. Every component adds its gradient once to each
 * of its members, so the bias, which it adds once, receives the members' sum divided by their number. */
static void layer_backward(const pn_pass *pass, size_t l, size_t begin, size_t n, float *shared_grad) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const size_t width = model->layout.width, K = config->features;
  float *du = work->du + (l * K * work->rows + begin) * width, *shift = scratch->shift;
  for (size_t i = 0; i < K; ++i) memset(du + i * work->rows * width, 0, n * width * sizeof(float));
  memset(scratch->through, 0, config->hidden * sizeof(float));
  memset(scratch->through_x, 0, config->hidden * sizeof(float));
  for (size_t c = 0; c < config->components; ++c) {
    component_gradient(pass, l, c, begin, n, shared_grad);
    component_backward(pass, l, c, begin, n, shared_grad);
  }
  if (pn_is_fused(config, pass->mode)) add_passed(model, l, scratch, shared_grad);
  memset(shift, 0, width * sizeof(float));
  for (size_t i = 0; i < K; ++i) kern->column_sums(n, width, du + i * work->rows * width, width, shift);
  float *dbias = shared_grad + model->layout.bias1 + l * width;
  for (size_t j = 0; j < width; ++j) dbias[j] += shift[j] / (float)config->members;
}

double pn_rows_gradient(const pn_pass *pass, size_t begin, size_t end, float *shared_grad) {
  const pn_model *model = pass->model;
  pn_work *work = pass->work;
  const pn_data *data = pass->data;
  const pn_batch *batch = pass->batch;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const size_t o = config->outputs, so = config->tasks * o, C = config->components, d = config->layers, n = end - begin;
  const double penalty = (double)config->output_penalty / (batch->weight_sum * (double)(C * o));
  double total = 0;
  pn_phase_start(scratch);
  pn_rows_components(pass, begin, end);
  pn_phase_book(scratch, PN_PHASE_COMPONENTS);
  pn_rows_predict(pass, begin, end);
  double *squares = scratch->sum;
  memset(squares, 0, n * sizeof(double));
  for (size_t c = 0; c < d * C; ++c) {
    const float *r = block_output(config, scratch, 0, c);
    for (size_t b = 0; b < n; ++b) {
      for (size_t k = 0; k < o; ++k) squares[b] += (double)r[b * o + k] * r[b * o + k];
    }
  }
  for (size_t b = 0; b < n; ++b) {
    const double row_weight = data->weight == NULL ? 1.0 : data->weight[batch->id[begin + b]];
    total += row_loss(pass, begin + b) + penalty * row_weight * squares[b];
  }
  pn_phase_book(scratch, PN_PHASE_LOSS);
  if (!pn_is_order1(config)) penalty_slopes(pass, begin, n);
  for (size_t l = 0; l < d; ++l) {
    pass->kern->column_sums(n, so, work->g + (l * work->rows + begin) * so, so,
                            shared_grad + model->layout.task_bias + l * so);
    if (!pn_is_order1(config)) layer_backward(pass, l, begin, n, shared_grad);
  }
  pn_phase_book(scratch, PN_PHASE_COMPONENTS);
  return total;
}
