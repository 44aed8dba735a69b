/* ffi_distinct(x, weights): distinct values of a column and every row's position among them.
 *
 * in:  x        double, integer or logical vector, fewer than 2^32 values; NA and NaN are one value
 *      weights  double vector as long as x, or NULL for all 1
 * out: list(values = double, ascending, missing last; codes = raw, n codes of `width` bytes, 0-based, native order;
 *           width = 1L, 2L or 4L; counts = double, sum of weights per value)
 */
#include <R.h>
#include <Rinternals.h>

#include "base_arena.h"
#include "base_distinct.h"
#include "r_entries.h"

typedef struct {
  pn_column column;
  const double *weight;
  pn_arena arena;
} pn_distinct_call;

static SEXP distinct_run(void *data) {
  pn_distinct_call *call = data;
  pn_distinct distinct;
  if (pn_distinct_find(&distinct, &call->column, call->weight, &call->arena) != PN_OK) {
    Rf_error("not enough memory for a column of %.0f rows", (double)call->column.n);
  }
  const char *names[] = {"values", "codes", "width", "counts", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP values = Rf_allocVector(REALSXP, (R_xlen_t)distinct.n_values);
  SET_VECTOR_ELT(out, 0, values);
  SEXP codes = Rf_allocVector(RAWSXP, (R_xlen_t)(call->column.n * (size_t)distinct.width));
  SET_VECTOR_ELT(out, 1, codes);
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(distinct.width));
  SEXP counts = Rf_allocVector(REALSXP, (R_xlen_t)distinct.n_values);
  SET_VECTOR_ELT(out, 3, counts);
  for (size_t i = 0; i < distinct.n_values; i++) {
    REAL(values)[i] = distinct.value[i];
    REAL(counts)[i] = distinct.count[i];
  }
  pn_distinct_write(&distinct, call->column.n, RAW(codes));
  UNPROTECT(1);
  return out;
}

static void distinct_cleanup(void *data) {
  pn_distinct_call *call = data;
  pn_arena_free(&call->arena);
}

SEXP ffi_distinct(SEXP x, SEXP weights) {
  pn_distinct_call call = {.column = {NULL, NULL, (size_t)XLENGTH(x)}};
  switch (TYPEOF(x)) {
  case REALSXP:
    call.column.number = REAL_RO(x);
    break;
  case INTSXP:
    call.column.integer = INTEGER_RO(x);
    break;
  case LGLSXP:
    call.column.integer = LOGICAL_RO(x);
    break;
  default:
    Rf_error("`x` must be a double, integer or logical vector");
  }
  if (call.column.n >= UINT32_MAX) Rf_error("`x` has too many values");
  if (weights != R_NilValue) {
    if (TYPEOF(weights) != REALSXP || XLENGTH(weights) != XLENGTH(x)) {
      Rf_error("`weights` must be a double vector as long as `x`");
    }
    call.weight = REAL_RO(weights);
  }
  pn_arena_init(&call.arena);
  return R_ExecWithCleanup(distinct_run, &call, distinct_cleanup, &call);
}
