/* Layer 0 evaluated; see model_smooth.h. */
#include "model_smooth.h"

#include <math.h>
#include <string.h>

#include "base_size.h"
#include "layer_spline.h"

pn_status pn_smooth_init(pn_smooth *smooth, const pn_smooth_term *term, size_t terms, size_t outputs, pn_arena *arena) {
  smooth->terms = terms;
  smooth->outputs = outputs;
  smooth->term = term;
  smooth->first = pn_arena_alloc(arena, terms + 1, sizeof(size_t));
  smooth->intercept = pn_arena_alloc(arena, outputs, sizeof(double));
  if (arena->failed) return PN_NO_MEMORY;
  for (size_t i = 0; i < terms; ++i) smooth->first[i + 1] = smooth->first[i] + pn_smooth_columns(&term[i]);
  smooth->value = pn_arena_alloc(arena, PN_SIZE(smooth->first[terms], outputs), sizeof(double));
  return arena->failed ? PN_NO_MEMORY : PN_OK;
}

size_t pn_smooth_level(const pn_smooth_term *term, float x) {
  size_t first = 0, last = term->knots - 1;
  while (first < last) {
    const size_t middle = (first + last) / 2;
    /* the middle between two levels parts them */
    if (x > (term->knot[middle] + term->knot[middle + 1]) / 2) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (term->kind == PN_SMOOTH_VALUES && (float)term->knot[first] != x) return term->knots;
  return first;
}

void pn_smooth_effects(const pn_smooth *smooth, size_t i, size_t n, const float *value, double *out, double *work) {
  const pn_smooth_term *term = &smooth->term[i];
  const size_t m = term->knots, q = smooth->outputs;
  const double *beta = smooth->value + smooth->first[i] * q;
  memset(out, 0, n * q * sizeof(double));
  for (size_t k = 0; k < q; ++k) {
    if (term->kind == PN_SMOOTH_SPLINE) pn_spline_curvature(m, term->knot, beta + k, q, work, work + m);
    for (size_t v = 0; v < n; ++v) {
      if (isnan(value[v])) {
        if (term->missing) out[v * q + k] = beta[m * q + k];
      } else if (term->kind == PN_SMOOTH_SPLINE) {
        out[v * q + k] = pn_spline_value(pn_spline_locate(m, term->knot, value[v]), beta + k, q, work);
      } else if (term->kind != PN_SMOOTH_NONE) {
        const size_t level = pn_smooth_level(term, value[v]);
        if (level < m) out[v * q + k] = beta[level * q + k];
      }
    }
  }
}

void pn_smooth_predict(const pn_smooth *smooth, const pn_data *data, double *eta, double *table, double *work) {
  const size_t q = smooth->outputs;
  for (size_t r = 0; r < data->n; ++r) memcpy(eta + r * q, smooth->intercept, q * sizeof(double));
  for (size_t i = 0; i < smooth->terms; ++i) {
    const pn_feature *feature = &data->column[smooth->term[i].feature];
    if (pn_smooth_columns(&smooth->term[i]) == 0) continue;
    pn_smooth_effects(smooth, i, feature->n_values, feature->value, table, work);
    for (size_t r = 0; r < data->n; ++r) {
      const double *effect = table + pn_feature_code(feature, r) * q;
      for (size_t k = 0; k < q; ++k) eta[r * q + k] += effect[k];
    }
  }
}
