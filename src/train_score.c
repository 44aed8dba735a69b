/* Scores; see train_score.h.
 *
 * AUC = P(score of an event > score of a non-event), ties counted half, by one pass over the sorted predictions.
 * Mean deviance (poisson) = 2 mean(y log(y / mu) - (y - mu)).
 * Several responses: the mean of their scores, each counted by its labels, as in the loss.
 */
#include "train_score.h"

#include <math.h>
#include <stdlib.h>

#include "base_size.h"

typedef struct {
  double eta, weight;
  int event;
} ranked;

static double weight_of(const pn_data *data, size_t row) {
  return data->weight == NULL ? 1.0 : data->weight[row];
}

/* How many classes the labels of a column have; 0 when it has no labels. */
static int count_classes(const pn_data *data, size_t column) {
  int events = 0, others = 0;
  for (size_t row = 0; row < data->n; ++row) {
    const double y = data->y[column * data->n + row];
    if (isnan(y) || weight_of(data, row) == 0) continue;
    if (y > 0.5) {
      events = 1;
    } else {
      others = 1;
    }
  }
  return events + others;
}

/* Sum of the weights of a column's labels: what the response counts for among several. */
static double label_weight(const pn_data *data, size_t column) {
  double sum = 0;
  for (size_t row = 0; row < data->n; ++row) {
    if (!isnan(data->y[column * data->n + row])) sum += weight_of(data, row);
  }
  return sum;
}

pn_status pn_scorer_init(pn_scorer *scorer, const pn_config *config, const pn_data *data, pn_arena *arena) {
  scorer->kind = pn_loss_get(config->family)->score;
  if (scorer->kind == PN_SCORE_AUC) {
    for (size_t u = 0; u < data->y_columns; ++u) {
      if (count_classes(data, u) == 1) scorer->kind = PN_SCORE_LOGLOSS;
    }
  }
  scorer->eta = pn_arena_alloc(arena, PN_SIZE(data->n, config->tasks, config->outputs), sizeof(double));
  scorer->ranked = scorer->kind == PN_SCORE_AUC ? pn_arena_alloc(arena, data->n, sizeof(ranked)) : NULL;
  scorer->buffer = pn_arena_alloc(arena, PN_SIZE(2, config->outputs), sizeof(double));
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}

/* The link values that row's label in `column` is scored on, without the offset. */
static const double *own_eta(const pn_scorer *scorer, const pn_config *config, const pn_data *data, size_t column,
                             size_t row) {
  const size_t u = config->task_kind == PN_TASK_GROUP ? (size_t)data->task[row] - 1 : column;
  return scorer->eta + (row * config->tasks + u) * config->outputs;
}

static double shift_of(const pn_data *data, size_t row) {
  return data->offset == NULL ? 0.0 : data->offset[row];
}

static int by_eta(const void *a, const void *b) {
  const double x = ((const ranked *)a)->eta, y = ((const ranked *)b)->eta;
  return (x > y) - (x < y);
}

static double area_under_curve(pn_scorer *scorer, const pn_config *config, const pn_data *data, size_t column) {
  ranked *list = scorer->ranked;
  size_t n = 0;
  for (size_t row = 0; row < data->n; ++row) {
    const double y = data->y[column * data->n + row];
    if (isnan(y)) continue;
    const double eta = own_eta(scorer, config, data, column, row)[0] + shift_of(data, row);
    if (isnan(eta)) return NAN;
    list[n].eta = eta;
    list[n].weight = weight_of(data, row);
    list[n].event = y > 0.5;
    ++n;
  }
  qsort(list, n, sizeof(ranked), by_eta);
  double below = 0, events = 0, area = 0;
  for (size_t i = 0; i < n;) {
    double tied_events = 0, tied_others = 0;
    size_t j = i;
    for (; j < n && list[j].eta == list[i].eta; ++j) {
      if (list[j].event) {
        tied_events += list[j].weight;
      } else {
        tied_others += list[j].weight;
      }
    }
    area += tied_events * (below + tied_others / 2);
    below += tied_others;
    events += tied_events;
    i = j;
  }
  return area / (events * below);
}

/* What a row adds to the score, given its loss. */
static double row_score(pn_score_kind kind, double loss, double y) {
  if (kind == PN_SCORE_DEVIANCE) return 2 * (loss - (y > 0 ? y - y * log(y) : 0.0));
  return loss;
}

static double mean_loss(const pn_scorer *scorer, const pn_config *config, const pn_data *data, size_t column) {
  const pn_loss *family = pn_loss_get(config->family);
  double total = 0, weights = 0;
  for (size_t row = 0; row < data->n; ++row) {
    const double y = data->y[column * data->n + row];
    if (isnan(y)) continue;
    const double *eta = own_eta(scorer, config, data, column, row);
    double *shifted = scorer->buffer, *deta = shifted + config->outputs;
    for (size_t k = 0; k < config->outputs; ++k) shifted[k] = eta[k] + shift_of(data, row);
    const double weight = weight_of(data, row);
    total += weight * row_score(scorer->kind, family->loss(shifted, y, config->outputs, deta), y);
    weights += weight;
  }
  return total / weights;
}

double pn_score(pn_scorer *scorer, const pn_config *config, const pn_data *data) {
  double sum = 0, total = 0;
  for (size_t u = 0; u < data->y_columns; ++u) {
    const double labels = label_weight(data, u);
    if (labels == 0) continue;
    sum += labels * (scorer->kind == PN_SCORE_AUC ? area_under_curve(scorer, config, data, u)
                                                  : mean_loss(scorer, config, data, u));
    total += labels;
  }
  return sum / total;
}

int pn_score_better(pn_score_kind kind, double a, double b) {
  if (isnan(a)) return 0;
  if (isnan(b)) return 1;
  return kind == PN_SCORE_AUC ? a > b : a < b;
}

const char *pn_score_name(pn_score_kind kind) {
  static const char *const names[] = {
      [PN_SCORE_MSE] = "mse", [PN_SCORE_AUC] = "auc", [PN_SCORE_LOGLOSS] = "logloss", [PN_SCORE_DEVIANCE] = "deviance"};
  return names[kind];
}
