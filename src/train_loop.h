/* Training: shuffled mini-batches, annealed temperature, cosine learning rate, best epoch by held-out score. */
#ifndef PN_TRAIN_LOOP_H
#define PN_TRAIN_LOOP_H

#include "base_arena.h"
#include "base_status.h"
#include "model_pass.h"
#include "train_smooth.h"
#include "train_score.h"

typedef struct {
  size_t epochs, batch_size;
  double lr, weight_decay, tau;
  double patience;    /* epochs without a better score that end the training; INFINITY: never */
  uint64_t seed;      /* of shuffling and dropout */
  int shuffle;        /* 0: rows in their order */
  int join_remainder; /* 1: a last batch of less than half the size joins the one before */
  int equal_values;   /* compute equal values once where that is exact */
  int threads;
  size_t skipped; /* epochs at the beginning of the schedules that are left out: they are made for skipped + epochs */
  int warm;       /* the parameters are trained ones: layer 0 begins over what they leave, not with straight lines */
} pn_train_options;

/* What happened, per epoch; arrays of length `epochs` owned by the caller. */
typedef struct {
  double *loss, *score, *lr, *temperature;
  size_t epochs_run;
  size_t best_epoch; /* from 1 */
  pn_score_kind score_kind;
  double seconds[PN_PHASES]; /* where the time went; work on several threads counts as their mean */
} pn_history;

/* Called on the thread that called pn_train, with none of its parallel regions open. They may leave by longjmp: the
 * caller owns all memory. */
typedef struct {
  int (*poll)(void *context); /* between batches; not 0: stop */
  void (*epoch_done)(void *context, size_t epoch, double loss, double score);
  void *context;
  /* For trainings that may have to go on later, else NULL. After an epoch: a place for `size` bytes that the state
   * (train_state.h) is wanted at, NULL for nowhere; then, that it is there. */
  unsigned char *(*state_place)(void *context, size_t size);
  void (*state_written)(void *context);
  const unsigned char *state; /* [state_size] to go on from, NULL: from the beginning */
  size_t state_size;
} pn_callbacks;

double pn_schedule_temperature(size_t epoch, size_t epochs, double tau); /* epoch from 0 */
double pn_schedule_lr(size_t epoch, size_t epochs, double lr);

/* Bytes that a model and its training take at most, without taking them; PN_SIZE_TOO_LARGE when no memory has them. */
size_t pn_train_bytes(const pn_config *config, const pn_data *data, const pn_data *validation,
                      const pn_train_options *options);

/* Layer 0 of a training: its terms and how much smoother than found they shall be (pn_smooth_fitter_init), and the
 * fitter, which stands in the training's arena. */
typedef struct {
  const pn_smooth_term *term;
  size_t terms;
  const double *handle;
  pn_smooth smooth;
  pn_smooth_fitter *fitter;
} pn_base;

/* Trains `model` in place; afterwards it holds the best epoch's parameters (the last one's without validation data).
 * With layer 0 (base, or NULL) below, the prototype layers begin over straight lines; layer 0 is fitted again to what
 * they leave, evenly over the epochs, and once more at T -> 0 when they have come to rest. Rows of the fold data->skip
 * are left out of everything. validation may be NULL. PN_STOPPED when `poll` said so; PN_DIVERGED leaves
 * history->epochs_run at the epoch that failed. A training that goes on from a state gives the same bits as one that
 * was not interrupted; bytes that are not a state of this training are ignored. */
pn_status pn_train(pn_model *model, const pn_data *data, const pn_data *validation, const pn_train_options *options,
                   pn_base *base, pn_history *history, const pn_callbacks *callbacks, pn_arena *arena);

#endif
