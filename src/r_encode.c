/* ffi_distinct(x, weights): distinct values of a column and every row's position among them.
 *
 * in:  x        double, integer or logical vector, fewer than 2^32 values; NA and NaN are one value
 *      weights  double vector as long as x, or NULL for all 1
 * out: list(values = double, ascending, missing last; codes = raw, n codes of `width` bytes, 0-based, native order;
 *           width = 1L, 2L or 4L; counts = double, sum of weights per value)
 */
#include "r_parse.h"

#include "base_distinct.h"
#include "r_entries.h"

typedef struct {
  SEXP x, weights;
  pn_arena arena;
} distinct_call;

static pn_column parse_column(SEXP x) {
  pn_column column = {NULL, NULL, (size_t)Rf_xlength(x)};
  switch (TYPEOF(x)) {
  case REALSXP:
    column.number = REAL_RO(x);
    break;
  case INTSXP:
    column.integer = INTEGER_RO(x);
    break;
  case LGLSXP:
    column.integer = LOGICAL_RO(x);
    break;
  default:
    pn_r_abort("engine", "The engine needs a column as doubles, integers or logicals.");
  }
  if (column.n >= UINT32_MAX) pn_r_abort("engine", "The engine takes columns of fewer than 2^32 values.");
  return column;
}

static SEXP distinct_body(void *data) {
  distinct_call *call = data;
  const pn_column column = parse_column(call->x);
  const double *weight = NULL;
  if (call->weights != R_NilValue) {
    if (!Rf_isReal(call->weights) || (size_t)Rf_xlength(call->weights) != column.n) {
      pn_r_abort("engine", "The engine needs a column's weights as doubles, as long as the column.");
    }
    weight = REAL_RO(call->weights);
  }
  pn_distinct distinct;
  pn_r_check(pn_distinct_find(&distinct, &column, weight, &call->arena));
  const char *names[] = {"values", "codes", "width", "counts", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP values = Rf_allocVector(REALSXP, (R_xlen_t)distinct.n_values);
  SET_VECTOR_ELT(out, 0, values);
  SEXP codes = Rf_allocVector(RAWSXP, (R_xlen_t)(column.n * (size_t)distinct.width));
  SET_VECTOR_ELT(out, 1, codes);
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(distinct.width));
  SEXP counts = Rf_allocVector(REALSXP, (R_xlen_t)distinct.n_values);
  SET_VECTOR_ELT(out, 3, counts);
  for (size_t i = 0; i < distinct.n_values; ++i) {
    REAL(values)[i] = distinct.value[i];
    REAL(counts)[i] = distinct.count[i];
  }
  pn_distinct_write(&distinct, column.n, RAW(codes));
  UNPROTECT(1);
  return out;
}

SEXP ffi_distinct(SEXP x, SEXP weights) {
  distinct_call call = {.x = x, .weights = weights};
  return pn_r_guard(distinct_body, &call, &call.arena);
}
