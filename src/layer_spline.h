/* Natural cubic splines in terms of their values at knots (cubic regression splines).
 *
 * With beta the values at m knots, delta the second derivatives there (zero at both ends) and h the width of the
 * interval [knot_j, knot_j+1] that holds x:
 *   f(x) = low beta_j + high beta_j+1 + curve_low delta_j + curve_high delta_j+1
 *   low = (knot_j+1 - x) / h, high = (x - knot_j) / h, curve_* = (*^3 - *) h^2 / 6
 * delta = F beta. The penalty is the integrated squared second derivative, beta' S beta. x outside the knots counts as
 * the nearest end: the curve is constant there.
 */
#ifndef PN_LAYER_SPLINE_H
#define PN_LAYER_SPLINE_H

#include <stddef.h>

/* Where x stands among the knots. */
typedef struct {
  size_t interval; /* j */
  double low, high, curve_low, curve_high;
} pn_spline_place;

pn_spline_place pn_spline_locate(size_t m, const double *knot, double x);

/* F [m x m] and S [m x m], row-major; m >= 2. work: [2 m (m + 1)]. */
void pn_spline_matrices(size_t m, const double *knot, double *f, double *s, double *work);

/* delta [m] = F beta without F; work [m]. beta's elements are `stride` apart. */
void pn_spline_curvature(size_t m, const double *knot, const double *beta, size_t stride, double *delta, double *work);

/* f(x) at a place. */
static inline double pn_spline_value(pn_spline_place at, const double *beta, size_t stride, const double *delta) {
  return at.low * beta[at.interval * stride] + at.high * beta[(at.interval + 1) * stride] +
         at.curve_low * delta[at.interval] + at.curve_high * delta[at.interval + 1];
}

#endif
