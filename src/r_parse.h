/* SEXP to typed structs, errors and cleanup: what every entry point shares. */
#ifndef PN_R_PARSE_H
#define PN_R_PARSE_H

#include "base_omp.h" /* before R's headers */

#include <Rinternals.h>

#include "base_arena.h"
#include "base_status.h"
#include "model_batch.h"
#include "model_config.h"
#include "model_pass.h"

/* Runs body(call) and frees `arena` however it ends: return, R error or interrupt. */
SEXP pn_r_guard(SEXP (*body)(void *call), void *call, pn_arena *arena);

/* Raises the R condition protonam_error_<kind>. */
void pn_r_abort(const char *kind, const char *format, ...);

/* Raises an R condition unless status is PN_OK. */
void pn_r_check(pn_status status);

/* Element `name` of a list; R_NilValue when absent. */
SEXP pn_r_element(SEXP list, const char *name);

/* Scalar elements; an R condition when absent or of the wrong type. */
double pn_r_number(SEXP list, const char *name);
size_t pn_r_size(SEXP list, const char *name);
int pn_r_flag(SEXP list, const char *name);

/* Engine configuration and encoded data (shapes in R/model-object.R and R/data-encoded.R). Both borrow from their SEXP
 * where types allow and copy into the arena where not. */
void pn_r_config(pn_config *config, SEXP from, pn_arena *arena);
void pn_r_data(pn_data *data, const pn_config *config, SEXP from, pn_arena *arena);

/* A model with parameters `params` (double slab) and running statistics (double [K x 2], NULL: initial ones). */
void pn_r_model(pn_model *model, const pn_config *config, SEXP params, SEXP running, pn_arena *arena);

/* A thread count limited by pn_threads_cap(); regions need pn_threads_start() on top. */
int pn_r_threads(SEXP threads);

/* n as the length of an R vector; an R condition when there are no vectors that long. */
R_xlen_t pn_r_length(size_t n);

/* n floats as an R double vector. */
SEXP pn_r_doubles(const float *x, size_t n);

/* Sets the dim attribute; an R condition when R has no arrays of this extent. */
void pn_r_dim(SEXP x, int n_dims, const size_t *dims);

#endif
