/* The state of a training between two epochs, as bytes: what a training of the same model on the same data needs to go
 * on from there and to end with the same bits. What follows from data and options (order of the rows, sums of layer 0
 * over them, derived tables) is computed anew.
 */
#ifndef PN_TRAIN_STATE_H
#define PN_TRAIN_STATE_H

#include "train_loop.h"
#include "train_optimiser.h"

/* Where the parts of a state are; none is owned. */
typedef struct {
  pn_model *model;
  pn_optimiser *optimiser;
  pn_history *history;      /* epochs_run: those that are over */
  size_t epochs;            /* of the whole training */
  float *best, *running;    /* parameters of the best epoch, NULL without validation */
  double *score;            /* of the best epoch */
  pn_smooth_fitter *fitter; /* of layer 0, or NULL */
} pn_state;

size_t pn_state_size(const pn_state *state);

/* to[pn_state_size] */
void pn_state_write(const pn_state *state, unsigned char *to);

/* Reads from[size]. 0: these are not the bytes of such a state, nothing was changed. */
int pn_state_read(const pn_state *state, const unsigned char *from, size_t size);

#endif
