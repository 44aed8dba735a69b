/* ffi_smooth_fit(config, data, base, options): layer 0 alone, fitted to all rows.
 *      options = list(irls, newton, straight, tolerance, strengths = NULL or double, one per penalty: kept as given)
 *      -> as `fitted` in r_smooth.h, with eta = double [n x outputs] and iterations
 * ffi_smooth_terms(base, fitted, data): effects of every feature, -> double [n x features x outputs]
 */
#include "r_smooth.h"

#include <math.h>
#include <string.h>

#include "base_size.h"
#include "r_entries.h"

/* One term of feature i, from its knots. */
static pn_smooth_term one_term(size_t i, pn_smooth_kind kind, SEXP knots, int missing) {
  if (!Rf_isReal(knots)) pn_r_abort("engine", "The engine needs the knots of a smooth term as doubles.");
  const pn_smooth_term term = {i, kind, (size_t)Rf_xlength(knots), REAL(knots), missing};
  const size_t least = kind == PN_SMOOTH_SPLINE ? 2 : kind == PN_SMOOTH_NONE ? 0 : 1;
  if (term.knots < least || (kind == PN_SMOOTH_NONE && term.knots > 0)) {
    pn_r_abort("engine", "The engine found a smooth term with %.0f knots.", (double)term.knots);
  }
  for (size_t k = 0; k < term.knots; ++k) {
    if (!isfinite(term.knot[k]) || (k > 0 && !(term.knot[k] > term.knot[k - 1]))) {
      pn_r_abort("engine", "The engine needs the knots of a smooth term in ascending order.");
    }
  }
  return term;
}

pn_smooth_term *pn_r_smooth_terms(SEXP base, size_t columns, pn_arena *arena, size_t *count) {
  SEXP terms = pn_r_element(base, "terms");
  if (TYPEOF(terms) != VECSXP || (size_t)Rf_xlength(terms) != columns) {
    pn_r_abort("engine", "The engine needs one smooth term per feature.");
  }
  pn_smooth_term *term = pn_arena_alloc(arena, PN_SIZE(2, columns), sizeof(*term));
  if (term == NULL) pn_r_check(PN_NO_MEMORY);
  *count = 0;
  for (size_t i = 0; i < columns; ++i) {
    SEXP from = VECTOR_ELT(terms, (R_xlen_t)i), values = pn_r_element(from, "values");
    const char *name = CHAR(Rf_asChar(pn_r_element(from, "kind")));
    const pn_smooth_kind kind = strcmp(name, "spline") == 0   ? PN_SMOOTH_SPLINE
                                : strcmp(name, "levels") == 0 ? PN_SMOOTH_LEVELS
                                                              : PN_SMOOTH_NONE;
    term[(*count)++] = one_term(i, kind, pn_r_element(from, "knots"), pn_r_flag(from, "missing"));
    if (values != R_NilValue) term[(*count)++] = one_term(i, PN_SMOOTH_VALUES, values, 0);
  }
  return term;
}

const double *pn_r_smooth_handle(SEXP base, size_t columns) {
  SEXP handle = pn_r_element(base, "handle");
  if (handle == R_NilValue) return NULL;
  if (!Rf_isReal(handle) || (size_t)Rf_xlength(handle) != columns) {
    pn_r_abort("engine", "The engine needs one degree of smoothness per feature.");
  }
  return REAL(handle);
}

/* value[rows x outputs] of a fitted layer 0, as the engine has it. */
static double *fitted_values(SEXP fitted, const pn_smooth *smooth, pn_arena *arena) {
  SEXP from = pn_r_element(fitted, "value");
  const size_t rows = smooth->first[smooth->terms], outputs = smooth->outputs;
  if (!Rf_isReal(from) || (size_t)Rf_xlength(from) != PN_SIZE(rows, outputs)) {
    pn_r_abort("engine", "The engine needs %.0f values of layer 0, not %.0f.", (double)rows * (double)outputs,
               (double)Rf_xlength(from));
  }
  double *value = pn_arena_alloc(arena, PN_SIZE(rows, outputs), sizeof(double));
  if (value == NULL) pn_r_check(PN_NO_MEMORY);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t k = 0; k < outputs; ++k) value[r * outputs + k] = REAL(from)[k * rows + r];
  }
  return value;
}

static SEXP doubles(const double *x, size_t n) {
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
  if (n > 0) memcpy(REAL(out), x, n * sizeof(double));
  return out;
}

static SEXP penalty_table(const pn_smooth_result *result) {
  const size_t n = result->penalties;
  const char *names[] = {"feature", "curvature", "strength", "relative", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)n));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(LGLSXP, (R_xlen_t)n));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, (R_xlen_t)n));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, (R_xlen_t)n));
  for (size_t j = 0; j < n; ++j) {
    const pn_smooth_penalty *penalty = &result->penalty[j];
    INTEGER(VECTOR_ELT(out, 0))[j] = (int)penalty->feature + 1;
    LOGICAL(VECTOR_ELT(out, 1))[j] = penalty->curvature;
    REAL(VECTOR_ELT(out, 2))[j] = penalty->scale * exp(penalty->rho);
    REAL(VECTOR_ELT(out, 3))[j] = penalty->rho;
  }
  UNPROTECT(1);
  return out;
}

SEXP pn_r_smooth_result(const pn_smooth_result *result, size_t K) {
  const pn_smooth *smooth = &result->smooth;
  const size_t rows = smooth->first[smooth->terms], q = smooth->outputs;
  const char *names[] = {"value", "intercept", "edf", "dispersion", "penalties", "covariance", "information", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP value = Rf_allocMatrix(REALSXP, (int)rows, (int)q);
  SET_VECTOR_ELT(out, 0, value);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t k = 0; k < q; ++k) REAL(value)[k * rows + r] = smooth->value[r * q + k];
  }
  SET_VECTOR_ELT(out, 1, doubles(smooth->intercept, q));
  SET_VECTOR_ELT(out, 2, doubles(result->edf, K));
  SET_VECTOR_ELT(out, 3, doubles(result->dispersion, q));
  SET_VECTOR_ELT(out, 4, penalty_table(result));
  SET_VECTOR_ELT(out, 6, doubles(result->information, q));
  SEXP covariance = Rf_allocVector(VECSXP, (R_xlen_t)K);
  SET_VECTOR_ELT(out, 5, covariance);
  for (size_t i = 0; i < K; ++i) {
    const size_t c = result->columns[i], dims[] = {c, c, q};
    SEXP one = doubles(result->covariance[i], c * c * q);
    SET_VECTOR_ELT(covariance, (R_xlen_t)i, one);
    pn_r_dim(one, 3, dims);
  }
  UNPROTECT(1);
  return out;
}

typedef struct {
  SEXP config, data, base, options, fitted;
  pn_arena arena;
} smooth_call;

static int poll(void *unused) {
  (void)unused;
  R_CheckUserInterrupt(); /* its jump is guarded */
  return 0;
}

static SEXP fit_body(void *data) {
  smooth_call *call = data;
  pn_arena *arena = &call->arena;
  pn_config config;
  pn_data rows;
  pn_smooth smooth;
  pn_smooth_fitter *fitter;
  pn_r_config(&config, call->config, arena);
  pn_r_data(&rows, &config, call->data, arena);
  if (rows.y == NULL || rows.n == 0) pn_r_abort("engine", "The engine needs rows with a response.");
  const size_t outputs = config.tasks * config.outputs;
  size_t terms;
  const pn_smooth_term *term = pn_r_smooth_terms(call->base, config.columns, arena, &terms);
  pn_r_check(pn_smooth_init(&smooth, term, terms, outputs, arena));
  pn_r_check(
      pn_smooth_fitter_init(&fitter, &smooth, &config, &rows, pn_r_smooth_handle(call->base, config.columns), arena));
  const pn_smooth_options options = {
      .irls = pn_r_size(call->options, "irls"),
      .newton = pn_r_size(call->options, "newton"),
      .straight = pn_r_flag(call->options, "straight"),
      .tolerance = pn_r_number(call->options, "tolerance"),
  };
  SEXP strengths = pn_r_element(call->options, "strengths");
  if (strengths != R_NilValue) {
    if (!Rf_isReal(strengths) || (size_t)Rf_xlength(strengths) != pn_smooth_penalties(fitter)) {
      pn_r_abort("engine", "The engine needs one strength per penalty.");
    }
    pn_smooth_fix(fitter, REAL(strengths));
  }
  SEXP eta = PROTECT(Rf_allocMatrix(REALSXP, (int)outputs, (int)rows.n));
  pn_smooth_watch(fitter, poll, NULL);
  pn_r_check(pn_smooth_train(fitter, NULL, &options, REAL(eta)));
  pn_smooth_result kept;
  pn_r_check(pn_smooth_keep(fitter, &kept, arena));
  SEXP result = PROTECT(pn_r_smooth_result(&kept, config.columns));
  const char *names[] = {"fitted", "eta", "iterations", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, result);
  SET_VECTOR_ELT(out, 1, eta);
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)kept.iterations));
  UNPROTECT(3);
  return out;
}

SEXP ffi_smooth_fit(SEXP config, SEXP data, SEXP base, SEXP options) {
  smooth_call call = {.config = config, .data = data, .base = base, .options = options};
  return pn_r_guard(fit_body, &call, &call.arena);
}

static SEXP terms_body(void *data) {
  smooth_call *call = data;
  pn_arena *arena = &call->arena;
  SEXP value = pn_r_element(call->fitted, "value");
  if (!Rf_isReal(value) || !Rf_isMatrix(value))
    pn_r_abort("engine", "The engine needs the values of layer 0 as a matrix.");
  const size_t K = (size_t)Rf_xlength(pn_r_element(call->base, "terms")), q = (size_t)Rf_ncols(value);
  pn_config config = {.columns = K};
  pn_data rows;
  pn_smooth smooth;
  pn_r_data(&rows, &config, call->data, arena);
  size_t count;
  const pn_smooth_term *term = pn_r_smooth_terms(call->base, K, arena, &count);
  pn_r_check(pn_smooth_init(&smooth, term, count, q, arena));
  smooth.value = fitted_values(call->fitted, &smooth, arena);
  size_t values = 1, knots = 1;
  for (size_t i = 0; i < K; ++i) values = rows.column[i].n_values > values ? rows.column[i].n_values : values;
  for (size_t i = 0; i < count; ++i) knots = term[i].knots > knots ? term[i].knots : knots;
  double *table = pn_arena_alloc(arena, PN_SIZE(values, q), sizeof(double));
  double *work = pn_arena_alloc(arena, PN_SIZE(2, knots), sizeof(double));
  if (arena->failed) pn_r_check(PN_NO_MEMORY);
  const size_t dims[] = {rows.n, K, q};
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(rows.n * K * q)));
  memset(REAL(out), 0, rows.n * K * q * sizeof(double));
  for (size_t i = 0; i < count; ++i) {
    const size_t feature = term[i].feature;
    const pn_feature *column = &rows.column[feature];
    pn_smooth_effects(&smooth, i, column->n_values, column->value, table, work);
    for (size_t r = 0; r < rows.n; ++r) {
      const double *effect = table + pn_feature_code(column, r) * q;
      for (size_t k = 0; k < q; ++k) REAL(out)[(k * K + feature) * rows.n + r] += effect[k];
    }
  }
  pn_r_dim(out, 3, dims);
  UNPROTECT(1);
  return out;
}

SEXP ffi_smooth_terms(SEXP base, SEXP fitted, SEXP data) {
  smooth_call call = {.base = base, .fitted = fitted, .data = data};
  return pn_r_guard(terms_body, &call, &call.arena);
}
