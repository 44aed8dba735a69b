/* Cubic regression splines; see layer_spline.h.
 *
 * The second derivatives at inner knots solve the tridiagonal system
 *   h_{j-1}/6 d_{j-1} + (h_{j-1} + h_j)/3 d_j + h_j/6 d_{j+1} = (b_{j+1} - b_j)/h_j - (b_j - b_{j-1})/h_{j-1}
 */
#include "layer_spline.h"

#include <string.h>

pn_spline_place pn_spline_locate(size_t m, const double *knot, double x) {
  pn_spline_place at = {0, 1, 0, 0, 0};
  if (!(x > knot[0])) return at;
  if (x >= knot[m - 1]) {
    at.interval = m - 2, at.low = 0, at.high = 1;
    return at;
  }
  size_t first = 0, last = m - 1;
  while (last - first > 1) {
    const size_t middle = (first + last) / 2;
    if (x >= knot[middle]) {
      first = middle;
    } else {
      last = middle;
    }
  }
  const double h = knot[first + 1] - knot[first];
  at.interval = first;
  at.low = (knot[first + 1] - x) / h;
  at.high = (x - knot[first]) / h;
  at.curve_low = (at.low * at.low * at.low - at.low) * h * h / 6;
  at.curve_high = (at.high * at.high * at.high - at.high) * h * h / 6;
  return at;
}

void pn_spline_curvature(size_t m, const double *knot, const double *beta, size_t stride, double *delta, double *work) {
  delta[0] = delta[m - 1] = 0;
  if (m < 3) return;
  /* Thomas elimination; work holds the upper coefficients. */
  double upper = 0, previous = 0;
  for (size_t j = 1; j + 1 < m; ++j) {
    const double below = knot[j] - knot[j - 1], above = knot[j + 1] - knot[j];
    const double right =
        (beta[(j + 1) * stride] - beta[j * stride]) / above - (beta[j * stride] - beta[(j - 1) * stride]) / below;
    const double lower = j > 1 ? below / 6 : 0;
    const double pivot = (below + above) / 3 - lower * upper;
    upper = above / 6 / pivot;
    previous = (right - lower * previous) / pivot;
    work[j] = upper;
    delta[j] = previous;
  }
  for (size_t j = m - 2; j-- > 1;) delta[j] -= work[j] * delta[j + 1];
}

void pn_spline_matrices(size_t m, const double *knot, double *f, double *s, double *work) {
  double *unit = work, *delta = work + m, *scratch = work + 2 * m;
  for (size_t k = 0; k < m; ++k) {
    memset(unit, 0, m * sizeof(double));
    unit[k] = 1;
    pn_spline_curvature(m, knot, unit, 1, delta, scratch);
    for (size_t j = 0; j < m; ++j) f[j * m + k] = delta[j];
  }
  /* S = D'F with D the second differences on the right-hand side above. */
  memset(s, 0, m * m * sizeof(double));
  for (size_t j = 1; j + 1 < m; ++j) {
    const double below = 1 / (knot[j] - knot[j - 1]), above = 1 / (knot[j + 1] - knot[j]);
    for (size_t k = 0; k < m; ++k) {
      s[(j - 1) * m + k] += below * f[j * m + k];
      s[j * m + k] -= (below + above) * f[j * m + k];
      s[(j + 1) * m + k] += above * f[j * m + k];
    }
  }
  for (size_t j = 0; j < m; ++j) {
    for (size_t k = j + 1; k < m; ++k) s[j * m + k] = s[k * m + j] = (s[j * m + k] + s[k * m + j]) / 2;
  }
}
