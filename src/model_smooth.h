/* Layer 0: a smooth additive model under the prototypes.
 *
 *   eta0[r, q] = intercept[q] + sum_i s_iq(x_ri)      q numbers tasks x outputs
 * s_i is a natural cubic spline of the processed value (layer_spline.h), constant beyond its knots, or, for levels
 * without order, a value per level; a missing value has an effect of its own. Everything is double precision and lives
 * beside the slab of the prototype layers; training fits it (train_smooth.h).
 */
#ifndef PN_MODEL_SMOOTH_H
#define PN_MODEL_SMOOTH_H

#include "base_arena.h"
#include "base_status.h"
#include "model_batch.h"

typedef enum { PN_SMOOTH_NONE, PN_SMOOTH_SPLINE, PN_SMOOTH_LEVELS } pn_smooth_kind;

typedef struct {
  pn_smooth_kind kind;
  size_t knots;       /* knots or levels; 0 for NONE */
  const double *knot; /* [knots] ascending: knots, or where the levels stand */
  int missing;        /* has the missing value an effect? */
} pn_smooth_term;

typedef struct {
  size_t features, outputs;
  const pn_smooth_term *term; /* [features] */
  size_t *first;              /* [features + 1] where a term's values begin, in rows of `value` */
  double *value;              /* [first[features] x outputs]: at the knots, then for the missing value */
  double *intercept;          /* [outputs] */
} pn_smooth;

static inline size_t pn_smooth_columns(const pn_smooth_term *term) {
  return term->knots + (term->missing != 0);
}

/* Reserves values (all zero) for the given terms; `term` stays the caller's. */
pn_status pn_smooth_init(pn_smooth *smooth, const pn_smooth_term *term, size_t features, size_t outputs,
                         pn_arena *arena);

/* The level that stands nearest to x. */
size_t pn_smooth_level(const pn_smooth_term *term, double x);

/* Effects of feature i at value[n] into out[n x outputs]. work: [2 x the term's knots]. */
void pn_smooth_effects(const pn_smooth *smooth, size_t i, size_t n, const float *value, double *out, double *work);

/* eta0[n x outputs] of all rows. table: [most values of a feature x outputs], work: [2 x most knots]. */
void pn_smooth_predict(const pn_smooth *smooth, const pn_data *data, double *eta, double *table, double *work);

#endif
