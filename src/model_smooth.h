/* Layer 0: a smooth additive model under the prototypes.
 *
 *   eta0[r, q] = intercept[q] + sum_i s_iq(x_ri)      q numbers tasks x outputs
 * s_i is made of terms: a natural cubic spline of the processed value (layer_spline.h), constant beyond its knots, or,
 * for levels without order, an effect per level, with an effect of its own for a missing value; and, where single
 * values stand out, an effect for each of these, zero for values that are not among them. Everything is double
 * precision and lives beside the slab of the prototype layers; training fits it (train_smooth.h).
 */
#ifndef PN_MODEL_SMOOTH_H
#define PN_MODEL_SMOOTH_H

#include "base_arena.h"
#include "base_status.h"
#include "model_batch.h"

typedef enum { PN_SMOOTH_NONE, PN_SMOOTH_SPLINE, PN_SMOOTH_LEVELS, PN_SMOOTH_VALUES } pn_smooth_kind;

typedef struct {
  size_t feature; /* terms of the same feature stand side by side */
  pn_smooth_kind kind;
  size_t knots;       /* knots, levels or values; 0 for NONE */
  const double *knot; /* [knots] ascending: knots, or where levels and values stand */
  int missing;        /* has the missing value an effect? */
} pn_smooth_term;

typedef struct {
  size_t terms, outputs;
  const pn_smooth_term *term; /* [terms] */
  size_t *first;              /* [terms + 1] where a term's values begin, in rows of `value` */
  double *value;              /* [first[terms] x outputs]: at the knots, then for the missing value */
  double *intercept;          /* [outputs] */
} pn_smooth;

static inline size_t pn_smooth_columns(const pn_smooth_term *term) {
  return term->knots + (term->missing != 0);
}

/* Reserves values (all zero) for the given terms; `term` stays the caller's. */
pn_status pn_smooth_init(pn_smooth *smooth, const pn_smooth_term *term, size_t terms, size_t outputs, pn_arena *arena);

/* The level that stands nearest to x; of values the one that is x, or term->knots: none. */
size_t pn_smooth_level(const pn_smooth_term *term, float x);

/* Effects of term i at value[n] into out[n x outputs]. work: [2 x the term's knots]. */
void pn_smooth_effects(const pn_smooth *smooth, size_t i, size_t n, const float *value, double *out, double *work);

/* eta0[n x outputs] of all rows. table: [most values of a feature x outputs], work: [2 x most knots]. */
void pn_smooth_predict(const pn_smooth *smooth, const pn_data *data, double *eta, double *table, double *work);

#endif
