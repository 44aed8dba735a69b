/* States and results of members in training on their way to R, for checkpoints.
 *
 * Members train on threads that must not call R. A slot per member passes what is to be kept to the main thread,
 * without locks: the main thread asks for a state, the member puts it into the slot after its epoch, the main thread
 * hands it to R between two of its own batches.
 */
#ifndef PN_R_SAVE_H
#define PN_R_SAVE_H

#include "r_parse.h"

#include <stdatomic.h>

typedef enum {
  PN_SLOT_IDLE,   /* the main thread may ask */
  PN_SLOT_WANTED, /* the member may write */
  PN_SLOT_READY,  /* the main thread may read */
  PN_SLOT_ENDED,  /* the member is trained, and its result not yet with R */
  PN_SLOT_TOLD    /* R has it */
} pn_slot_phase;

typedef struct {
  atomic_int phase;
  unsigned char *state; /* [size] in `arena` */
  size_t size;
  pn_arena arena; /* freed by the main thread */
} pn_slot;

typedef struct {
  SEXP save;          /* function(number, value, state), or R_NilValue: nothing is kept */
  double seconds;     /* between two requests */
  double asked;       /* when the last was made */
  atomic_size_t news; /* slots that have become READY or ENDED since the main thread looked */
} pn_saver;

/* From train$save and train$save_seconds. */
void pn_r_saver_init(pn_saver *saver, SEXP train);

/* On a member's thread: a place for `size` bytes if a state is wanted, else NULL; the state is there; the member has
 * ended. */
unsigned char *pn_slot_place(pn_slot *slot, size_t size);
void pn_slot_written(pn_slot *slot, pn_saver *saver);
void pn_slot_end(pn_slot *slot, pn_saver *saver);

/* On the main thread: is it time to ask for states? Then each slot is asked. */
int pn_saver_due(pn_saver *saver);
void pn_slot_ask(pn_slot *slot);

/* Gives R what a slot has: its state, or `result` (called with `from` for a member that has ended). May leave by R's
 * jumps. */
void pn_r_slot_give(pn_slot *slot, const pn_saver *saver, size_t number, SEXP (*result)(const void *from),
                    const void *from);

#endif
