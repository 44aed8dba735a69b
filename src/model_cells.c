/* Cells: encoders and predictors of distinct values, forward and backward; see model_pass.h.
 *
 *   act_l  = A_l(x)                                     layer_proto
 *   z_l    = [v_{l-1}, act_l, 1] W_l                    layer_dense
 *   v_l    = relu(drop(norm(z_l)))                      layer_norm
 *   u_l    = v_l P_l                                    order > 1: kept for the rows, see project_cells
 *   r_l    = tail(u_l + p_l), or u_l + p_l              order 1
 * A strip runs chunk by chunk through all layers, so that its blocks stay in cache. Batch norm needs statistics over a
 * whole feature, so there the strip is the feature and its only chunk.
 */
#include <math.h>
#include <string.h>

#include "layer_dense.h"
#include "model_pass.h"

/* Everything about one chunk that both directions use. */
typedef struct {
  size_t feature, begin, n; /* cells begin .. begin + n - 1, all of one feature */
  const float *value;
  const unsigned char *missing;
  const float *weight;
  float *block;         /* parameters of the feature */
  const uint32_t *rows; /* [n] that dropout masks depend on: with dropout every cell is one row; NULL without */
} chunk;

static const uint32_t *dropout_rows(const pn_pass *pass, const pn_strip *strip, size_t begin, size_t n) {
  const pn_config *config = pass->model->config;
  if (!pass->mode.training || (config->dropout <= 0 && config->dropout_output <= 0)) return NULL;
  const size_t local = begin - pass->batch->first[strip->feature];
  for (size_t c = 0; c < n; ++c) pass->scratch->id[c] = pass->batch->id[local + c];
  return pass->scratch->id;
}

static chunk chunk_at(const pn_pass *pass, const pn_strip *strip, size_t begin, size_t n) {
  const pn_model *model = pass->model;
  const pn_batch *batch = pass->batch;
  chunk at = {strip->feature,
              begin,
              n,
              batch->value + begin,
              batch->missing + begin,
              batch->weight + begin,
              model->param + strip->feature * model->layout.feature_size,
              dropout_rows(pass, strip, begin, n)};
  return at;
}

static size_t chunk_size(const pn_model *model, const pn_strip *strip) {
  const size_t cells = strip->end - strip->begin;
  return model->config->norm == PN_NORM_BATCH ? cells : (cells < PN_CHUNK ? cells : PN_CHUNK);
}

/* Where the chunk's cells begin in their feature's list of members. */
static const uint32_t *chunk_segment(const pn_batch *batch, const chunk *at) {
  return pn_batch_segment(batch, at->feature) + (at->begin - batch->first[at->feature]);
}

/* The chunk's dropout with probability p in layer l. */
static pn_dropout chunk_dropout(const pn_pass *pass, const chunk *at, float p, uint32_t stream, size_t l) {
  return pn_view_dropout(pass->mode, p, stream, l, at->feature, at->rows);
}

/* v of layer l from its xhat, into columns 0 .. h - 1 of scratch->x. */
static void restore_units(const pn_pass *pass, const chunk *at, size_t l, const float *xhat) {
  const pn_model *model = pass->model;
  const pn_config *config = model->config;
  const pn_kernels *kern = pass->kern;
  pn_scratch *scratch = pass->scratch;
  const size_t h = config->hidden;
  const float *gain = model->shared + model->layout.norm_gain, *offset = model->shared + model->layout.norm_offset;
  const pn_dropout drop = chunk_dropout(pass, at, config->dropout, PN_DROP_ENCODER, l);
  if (config->norm == PN_NORM_BATCH) {
    pn_batch_relu_forward(kern, at->n, h, xhat, gain[at->feature], offset[at->feature], drop, scratch->x, scratch->ldx);
  } else {
    pn_relu_forward(kern, at->n, h, xhat, gain, offset, drop, scratch->x, scratch->ldx);
  }
}

static void set_activation(size_t n, size_t h, const float *act, pn_scratch *scratch) {
  for (size_t c = 0; c < n; ++c) {
    float *x = scratch->x + c * scratch->ldx;
    x[h] = act[c];
    x[h + 1] = 1.0f;
  }
}

/* Predictor of order 1 on the chunk: r = tail(v P + p). */
static void predict_cells(const pn_pass *pass, const chunk *at, size_t l) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const pn_layout *layout = &model->layout;
  const size_t h = config->hidden, o = config->outputs, width = layout->width, n = at->n;
  const float *bias = model->shared + layout->bias1 + l * width;
  const float *weight = at->block + layout->predictor + l * h * width;
  float *r = work->r + (l * work->cells + at->begin) * o;
  const int keep = work->training && config->predictor_layers == 2;
  float *s = config->predictor_layers == 1 ? r : keep ? work->shat + (l * work->cells + at->begin) * h : scratch->s;
  pn_dense_forward(kern, n, h, width, scratch->x, scratch->ldx, weight, s, 0);
  if (config->predictor_layers == 2) {
    const float *part[] = {s};
    kern->join_norm(n, 1, h, part, bias, s, keep ? work->srstd + l * work->cells + at->begin : scratch->rstd);
    pn_tail_forward(kern, n, pn_view_tail(model, model->shared, l),
                    chunk_dropout(pass, at, config->dropout, PN_DROP_TAIL, l), s, scratch->q, r);
  } else {
    for (size_t q = 0; q < n * o; ++q) r[q] += bias[q % o];
  }
  const pn_dropout out = chunk_dropout(pass, at, config->dropout_output, PN_DROP_OUTPUT, l);
  if (out.p > 0) kern->dropout(n, o, r, o, out.row, out.key, out.p);
}

/* First predictor layer of order > 1. Before a layer norm its rows are centred and share the bias evenly: the norm
 * removes the mean of their sum in any case, and joining then needs neither a mean nor a bias. */
static void project_cells(const pn_pass *pass, const chunk *at, size_t l) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const size_t h = config->hidden, width = model->layout.width;
  const float *bias = model->shared + model->layout.bias1 + l * width;
  float *u = work->u + (l * work->cells + at->begin) * width;
  pn_dense_forward(kern, at->n, h, width, scratch->x, scratch->ldx, at->block + model->layout.predictor + l * h * width,
                   u, 0);
  if (config->predictor_layers == 1) return;
  double mean = 0;
  for (size_t j = 0; j < h; ++j) mean += bias[j];
  mean /= (double)h;
  for (size_t j = 0; j < h; ++j) scratch->shift[j] = (float)((bias[j] - mean) / (double)config->members);
  kern->center_rows(at->n, h, u, scratch->shift);
}

static void forward_chunk(const pn_pass *pass, const chunk *at) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const pn_layout *layout = &model->layout;
  const size_t h = config->hidden, n = at->n;
  const int order1 = pn_is_order1(config);

  for (size_t l = 0; l < config->layers; ++l) {
    float *act = work->training ? work->act + l * work->cells + at->begin : scratch->act;
    float *xhat = work->training ? work->xhat + (l * work->cells + at->begin) * h : scratch->xhat;
    pn_proto_forward(kern, n, at->value, at->missing, pn_view_proto(model, at->block, l), pass->mode.inv_temp, act, 1);
    set_activation(n, h, act, scratch);
    pn_phase_book(scratch, PN_PHASE_ACTIVATION);

    const float *weight = at->block + pn_layout_encoder(layout, config, l);
    pn_dense_forward(kern, n, pn_encoder_rows(config, l), h, l == 0 ? scratch->x + h : scratch->x, scratch->ldx, weight,
                     xhat, 0);
    if (config->norm == PN_NORM_BATCH) {
      float unused;
      pn_batchnorm_forward(n, h, at->weight, pass->mode.training, model->running + 2 * at->feature, xhat,
                           work->training ? work->rstd + l * config->features + at->feature : &unused);
    } else {
      pn_layernorm_forward(kern, n, h, xhat, work->training ? work->rstd + l * work->cells + at->begin : scratch->rstd);
    }
    restore_units(pass, at, l, xhat);
    pn_phase_book(scratch, PN_PHASE_ENCODER);

    if (order1) {
      predict_cells(pass, at, l);
    } else {
      project_cells(pass, at, l);
    }
    pn_phase_book(scratch, PN_PHASE_PREDICTOR);
  }
}

void pn_cells_forward(const pn_pass *pass, const pn_strip *strip) {
  const size_t step = chunk_size(pass->model, strip);
  pn_phase_start(pass->scratch);
  for (size_t begin = strip->begin; begin < strip->end; begin += step) {
    const chunk at = chunk_at(pass, strip, begin, strip->end - begin < step ? strip->end - begin : step);
    forward_chunk(pass, &at);
  }
}

/* Sum of g[member[q] * ld] over n members; two chains, since one would wait for itself. */
static double sum_members(const float *g, size_t ld, const uint32_t *member, size_t n) {
  double even = 0, odd = 0;
  size_t q = 0;
  for (; q + 2 <= n; q += 2) {
    even += g[member[q] * ld];
    odd += g[member[q + 1] * ld];
  }
  return q < n ? even + odd + g[member[q] * ld] : even + odd;
}

/* Gradient of the outputs r of layer l at the chunk's cells into scratch->dr (order 1): the rows' gradients summed per
 * cell, and what variation costs there, times the task weights, plus the output penalty's part. Adds to the gradient of
 * the task weights. */
static void output_gradient(const pn_pass *pass, const chunk *at, size_t l, float *shared_grad) {
  const pn_model *model = pass->model;
  pn_work *work = pass->work;
  const pn_batch *batch = pass->batch;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const pn_layout *layout = &model->layout;
  const size_t o = config->outputs, s = config->tasks, C = config->components, so = s * o, i = at->feature;
  const float *weight = model->shared + layout->task_weight + l * s * C;
  float *dweight = shared_grad + layout->task_weight + l * s * C;
  const float *g = work->g + l * work->rows * so;
  const float *r = work->r + (l * work->cells + at->begin) * o;
  const float *dshape = pn_has_variation(config, pass->mode) ? work->dshape + (l * work->cells + at->begin) * so : NULL;
  const uint32_t *segment = chunk_segment(batch, at), *member = pn_batch_member(batch, i);
  const double share = 1 / (double)C;
  const double penalty = 2 * (double)config->output_penalty / (batch->weight_sum * (double)(C * o));
  for (size_t c = 0; c < at->n; ++c) {
    double *sum = scratch->sum;
    for (size_t k = 0; k < so; ++k) sum[k] = sum_members(g + k, so, member + segment[c], segment[c + 1] - segment[c]);
    for (size_t k = 0; dshape != NULL && k < so; ++k) sum[k] += dshape[c * so + k];
    for (size_t k = 0; k < o; ++k) {
      double total = penalty * at->weight[c] * r[c * o + k];
      for (size_t u = 0; u < s; ++u) {
        total += share * weight[u * C + i] * sum[u * o + k];
        dweight[u * C + i] += (float)(share * sum[u * o + k] * r[c * o + k]);
      }
      scratch->dr[c * o + k] = (float)total;
    }
  }
}

/* ds of layer l (gradient of the first predictor layer's output) for the chunk. Returns where it stands. */
static const float *projection_gradient(const pn_pass *pass, const chunk *at, size_t l, float *shared_grad) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const pn_layout *layout = &model->layout;
  const size_t h = config->hidden, o = config->outputs, width = layout->width, n = at->n, i = at->feature;
  if (!pn_is_order1(config)) {
    kern->segment_sum(n, width, chunk_segment(pass->batch, at), pn_batch_member(pass->batch, i),
                      work->du + (l * config->features + i) * work->rows * width, width, scratch->s);
    return scratch->s;
  }
  float *dbias = shared_grad + layout->bias1 + l * width;
  output_gradient(pass, at, l, shared_grad);
  const pn_dropout out = chunk_dropout(pass, at, config->dropout_output, PN_DROP_OUTPUT, l);
  if (out.p > 0) kern->dropout(n, o, scratch->dr, o, out.row, out.key, out.p);
  const float *ds = scratch->dr;
  if (config->predictor_layers == 2) {
    pn_tail_backward(kern, n, pn_view_tail(model, model->shared, l),
                     chunk_dropout(pass, at, config->dropout, PN_DROP_TAIL, l),
                     work->shat + (l * work->cells + at->begin) * h, work->srstd + l * work->cells + at->begin,
                     scratch->dr, scratch->q, scratch->s, pn_view_tail(model, shared_grad, l));
    ds = scratch->s;
  }
  kern->column_sums(n, width, ds, width, dbias);
  return ds;
}

static void backward_chunk(const pn_pass *pass, const chunk *at, const pn_strip *strip) {
  const pn_model *model = pass->model;
  const pn_kernels *kern = pass->kern;
  pn_work *work = pass->work;
  pn_scratch *scratch = pass->scratch;
  const pn_config *config = model->config;
  const pn_layout *layout = &model->layout;
  const size_t h = config->hidden, d = config->layers, width = layout->width, n = at->n, i = at->feature;
  const float *gain = model->shared + layout->norm_gain, *offset = model->shared + layout->norm_offset;
  float *dgain = strip->shared_grad + layout->norm_gain;
  float *doffset = strip->shared_grad + layout->norm_offset;
  const float *projection_t = model->transposed + i * model->transposed_size; /* [d x width x h] */
  const float *encoder_t = projection_t + d * width * h;                      /* [d - 1 x h x h] */
  float *dv = scratch->dv, *dv_previous = scratch->dz;

  restore_units(pass, at, d - 1, work->xhat + ((d - 1) * work->cells + at->begin) * h);
  for (size_t l = d; l-- > 0;) {
    const float *xhat = work->xhat + (l * work->cells + at->begin) * h;
    const pn_dropout drop = chunk_dropout(pass, at, config->dropout, PN_DROP_ENCODER, l);
    const float *ds = projection_gradient(pass, at, l, strip->shared_grad);
    pn_dense_backward(kern, n, h, width, scratch->x, scratch->ldx, ds,
                      strip->feature_grad + layout->predictor + l * h * width, projection_t + l * width * h, h, dv,
                      l + 1 < d);
    pn_phase_book(scratch, PN_PHASE_PREDICTOR);
    if (config->norm == PN_NORM_BATCH) {
      pn_batchnorm_relu_backward(kern, n, h, at->weight, xhat, work->rstd[l * config->features + i], gain[i], offset[i],
                                 drop, dv, dgain + i, doffset + i);
    } else {
      pn_layernorm_relu_backward(kern, n, h, xhat, work->rstd + l * work->cells + at->begin, gain, offset, drop, dv,
                                 dgain, doffset);
    }

    /* scratch->x becomes layer l's input: the previous layer's units, the activated value, one. */
    const float *weight = at->block + pn_layout_encoder(layout, config, l);
    float *dweight = strip->feature_grad + pn_layout_encoder(layout, config, l);
    set_activation(n, h, work->act + l * work->cells + at->begin, scratch);
    if (l > 0) restore_units(pass, at, l - 1, work->xhat + ((l - 1) * work->cells + at->begin) * h);
    pn_dense_backward(kern, n, pn_encoder_rows(config, l), h, l == 0 ? scratch->x + h : scratch->x, scratch->ldx, dv,
                      dweight, l == 0 ? NULL : encoder_t + (l - 1) * h * h, h, l == 0 ? NULL : dv_previous, 0);
    pn_phase_book(scratch, PN_PHASE_ENCODER);
    const float *active_row = weight + (pn_encoder_rows(config, l) - 2) * h;
    kern->row_dots(n, h, dv, h, active_row, scratch->act, 1);
    pn_proto_backward(kern, n, at->value, at->missing, pn_view_proto(model, at->block, l), pass->mode.inv_temp,
                      scratch->act, pn_view_proto(model, strip->feature_grad, l));
    pn_phase_book(scratch, PN_PHASE_ACTIVATION);
    float *swap = dv;
    dv = dv_previous;
    dv_previous = swap;
  }
}

void pn_cells_backward(const pn_pass *pass, const pn_strip *strip) {
  const pn_layout *layout = &pass->model->layout;
  const size_t step = chunk_size(pass->model, strip);
  memset(strip->feature_grad, 0, layout->feature_size * sizeof(float));
  memset(strip->shared_grad, 0, layout->shared_size * sizeof(float));
  pn_phase_start(pass->scratch);
  for (size_t begin = strip->begin; begin < strip->end; begin += step) {
    const chunk at = chunk_at(pass, strip, begin, strip->end - begin < step ? strip->end - begin : step);
    backward_chunk(pass, &at, strip);
  }
}
