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
  size_t feature;  /* features for the common one */
  int curvature;   /* of a spline's curvature */
  double rank;     /* per output */
  double scale;    /* lambda = scale * exp(rho) */
  double low;      /* least rho */
  double factor;   /* lambda used = factor * lambda found; 0: as small as can be */
  double rho;
} pn_smooth_penalty;

typedef struct pn_smooth_fitter pn_smooth_fitter;

/* Reserves a fitter for `smooth` on `data` (which has fold, skip, weights; its features are those of smooth). family,
 * tasks and outputs as in config. handle: [features] how much smoother than found, NULL for 1. */
pn_status pn_smooth_fitter_init(pn_smooth_fitter **fitter, pn_smooth *smooth, const pn_config *config,
                                const pn_data *data, const double *handle, pn_arena *arena);

/* Fits smooth->value and smooth->intercept to what net[n x outputs] (NULL: nothing) and the data's offset leave.
 * Begins from the present values and strengths. eta[n x outputs] receives layer 0's predictions, also of rows that
 * were not used. */
pn_status pn_smooth_train(pn_smooth_fitter *fitter, const double *net, const pn_smooth_options *options, double *eta);

/* Sets the strengths, [penalties], for fits that keep them. */
void pn_smooth_keep(pn_smooth_fitter *fitter, const double *strength);

size_t pn_smooth_penalties(const pn_smooth_fitter *fitter, const pn_smooth_penalty **list);

/* After a fit: effective degrees of freedom per feature, summed over outputs; dispersion per output; per feature and
 * output the covariance of the centred values, covariance[first2[i] * outputs ...], see pn_smooth_covariance_size. */
const double *pn_smooth_edf(const pn_smooth_fitter *fitter);
const double *pn_smooth_dispersion(const pn_smooth_fitter *fitter);
/* cov[c x c] of feature i's values (knots, then missing) for output q. */
void pn_smooth_covariance(const pn_smooth_fitter *fitter, size_t i, size_t q, double *cov);
/* Iterations of the last fit. */
size_t pn_smooth_iterations(const pn_smooth_fitter *fitter);

#endif
