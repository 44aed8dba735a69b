/* Fits layer 0 (model_smooth.h): penalised iteratively weighted least squares, strengths by restricted maximum
 * likelihood.
 *
 * Penalties, each with a strength lambda of its own, common to all outputs:
 *   spline of three knots or more   integrated squared second derivative; and its centred straight line, squared
 *   levels                          sum of squares (a random effect)
 *   one coefficient alone           (a line through two knots, a missing value) one penalty for all of them together
 * Splines and levels are centred over the training rows; the intercept is not penalised.
 */
#ifndef PN_TRAIN_SMOOTH_H
#define PN_TRAIN_SMOOTH_H

#include "model_smooth.h"

typedef struct {
  size_t irls;      /* weighted fits at most; a gaussian needs one */
  size_t newton;    /* steps of the strengths per weighted fit; 0 keeps them */
  int straight;     /* lines only: the curvature is penalised away, its strengths stay */
  double tolerance; /* of the relative change of the penalised deviance */
} pn_smooth_options;

/* A penalty of one term (or of all single coefficients). */
typedef struct {
  size_t feature; /* features for the common one */
  int curvature;  /* of a spline's curvature */
  double rank;    /* per output */
  double scale;   /* lambda = scale * exp(rho) */
  double low;     /* least rho */
  double factor;  /* lambda used = factor * lambda found; 0: as small as can be */
  double rho;
} pn_smooth_penalty;

typedef struct pn_smooth_fitter pn_smooth_fitter;

/* Reserves a fitter for `smooth` on `data` (which has fold, skip, weights; its columns are the features of smooth).
 * family, tasks and outputs as in config. handle: [features] how much smoother than found, NULL for 1. */
pn_status pn_smooth_fitter_init(pn_smooth_fitter **fitter, pn_smooth *smooth, const pn_config *config,
                                const pn_data *data, const double *handle, pn_arena *arena);

/* Fits smooth->value and smooth->intercept to what net[n x outputs] (NULL: nothing) and the data's offset leave.
 * Begins from the present values and strengths. eta[n x outputs] receives layer 0's predictions, also of rows that
 * were not used. */
pn_status pn_smooth_train(pn_smooth_fitter *fitter, const double *net, const pn_smooth_options *options, double *eta);

/* What the next fit begins from, coefficients and strengths, as bytes: written to `to`, or read from `from` and layer
 * 0's values set to it; NULL for neither. Returns how many there are. Sums over rows are not among them: the fitter
 * that reads must have had its first fit. */
size_t pn_smooth_state(pn_smooth_fitter *fitter, unsigned char *to, const unsigned char *from);

/* eta[n x outputs] of layer 0's present values. */
void pn_smooth_predictions(pn_smooth_fitter *fitter, double *eta);

/* poll(context) is asked now and then during a fit; not 0 ends it (PN_STOPPED). It may leave by longjmp. */
void pn_smooth_watch(pn_smooth_fitter *fitter, int (*poll)(void *context), void *context);

/* Sets the strengths, [penalties], once and for all. */
void pn_smooth_fix(pn_smooth_fitter *fitter, const double *strength);

size_t pn_smooth_penalties(const pn_smooth_fitter *fitter);

/* What is kept of a fit. */
typedef struct {
  pn_smooth smooth;
  double *edf;         /* [features] effective degrees of freedom, summed over outputs */
  double *dispersion;  /* [outputs] */
  double *information; /* [outputs] mean working weight of a row */
  size_t *columns;     /* [features] of all terms */
  double **covariance; /* [features] of the centred values, [outputs x c x c] with c its columns */
  pn_smooth_penalty *penalty;
  size_t penalties, iterations;
} pn_smooth_result;

/* Copies the result of the last fit into memory of `arena`; terms stay where they are. */
pn_status pn_smooth_keep(const pn_smooth_fitter *fitter, pn_smooth_result *result, pn_arena *arena);

#endif
