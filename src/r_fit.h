/* A fit in C: what ffi_fit was given, as typed structs, and its members. r_fit.c fills it and returns the results,
 * r_fit_members.c trains the members. All vectors of R that it points to are protected by the call of ffi_fit. */
#ifndef PN_R_FIT_H
#define PN_R_FIT_H

#include "r_parse.h"

#include <setjmp.h>
#include <stdatomic.h>

#include "r_save.h"
#include "r_smooth.h"
#include "train_loop.h"

typedef struct {
  float *param, *running; /* what is kept of the model */
  pn_smooth_result base;  /* with layer 0 */
  pn_history history;
  pn_status status;
  pn_arena kept;             /* of the above */
  pn_arena work;             /* of its training, freed when that ends */
  size_t number;             /* from 0 */
  pn_slot slot;              /* for checkpoints */
  const unsigned char *from; /* [from_size] a state to go on from, in R's vector, or NULL */
  size_t from_size;
  struct pn_fit_call *call;
} pn_member;

/* Where members start from; all point into R's vectors. */
typedef struct {
  const double *params;   /* [members x total], or NULL and: */
  const double *centers;  /* [t x K] */
  const double *seed;     /* [members] */
  const double *relation; /* [s x C] or NULL */
} pn_origin;

typedef struct pn_fit_call {
  SEXP config, data, validation, init, train, progress;
  pn_arena arena;
  pn_config engine_config;
  pn_data rows, held_out;
  pn_origin start;
  pn_train_options options; /* but for the seed */
  const double *seeds;
  const int *skip;             /* [members] or NULL */
  const pn_smooth_term *terms; /* of layer 0, or NULL: none */
  size_t n_terms;
  const double *handle;
  size_t n_seeds; /* a member each */
  size_t total;   /* parameters of one */
  pn_member *members;
  size_t n_members; /* as many, once they are there */
  pn_saver saver;
  int side_by_side;          /* what R raises must not leave the region */
  SEXP jump;                 /* where R was going when that was held back */
  jmp_buf held_back;         /* the place to wait at */
  atomic_int stop;           /* not 0: no member goes on (r_fit_members.c) */
  atomic_size_t next, ended; /* members that were begun, that have come to rest */
} pn_fit_call;

/* Validation rows, or NULL. */
const pn_data *pn_fit_held_out(const pn_fit_call *call);

/* Curves of `epochs` epochs in `arena`, all missing. */
pn_status pn_fit_history_init(pn_history *history, size_t epochs, pn_arena *arena);

/* Trains all members, on up to `threads` threads. Raises R's conditions and those that R signalled meanwhile. */
void pn_r_fit_train(pn_fit_call *call, int threads);

/* What R gets of a trained member (pn_member): see r_fit.c. */
SEXP pn_r_member_result(const void *trained);

#endif
