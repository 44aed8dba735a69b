/* Layer 0 between R and the engine.
 *
 * base, what R says about the terms: list(terms = list of list(kind = "none", "spline" or "levels", knots = double,
 * missing = logical, values = double or NULL), handle = double per feature or NULL).
 * fitted, what a fit finds: list(value = double matrix [rows x outputs], the terms' rows one after the other, each at
 * its knots, for the missing value, and at its single values; intercept = double; edf = double per feature;
 * dispersion = double per output; penalties = list(feature, curvature, strength, relative);
 * covariance = list per feature of double [c x c x outputs]; information = double per output, mean working weight of a
 * row).
 */
#ifndef PN_R_SMOOTH_H
#define PN_R_SMOOTH_H

#include "r_parse.h"
#include "train_smooth.h"

/* Terms of `base`, *count of them, for so many columns of the data. */
pn_smooth_term *pn_r_smooth_terms(SEXP base, size_t columns, pn_arena *arena, size_t *count);

/* The user's factors, or NULL. */
const double *pn_r_smooth_handle(SEXP base, size_t columns);

SEXP pn_r_smooth_result(const pn_smooth_result *result, size_t columns);

#endif
