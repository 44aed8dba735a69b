/* ffi_checksum(fields, exact): one checksum per element of a list, -> double, whole numbers below 2^52
 *
 * exact  TRUE or FALSE: do all bits of doubles count? (base_checksum.h)
 *
 * What counts is type, length, values, names, dimensions, class and levels, of all elements of lists and calls.
 * Functions and environments count by their type alone. Text counts as UTF-8, however it is stored.
 */
#include <R.h>
#include <Rinternals.h>

#include <string.h>

#include "base_checksum.h"
#include "r_entries.h"

static uint64_t add_text(uint64_t sum, SEXP x) {
  if (x == NA_STRING) return pn_checksum_word(sum, UINT64_MAX);
  const void *top = vmaxget();
  const char *text = Rf_getCharCE(x) == CE_BYTES ? CHAR(x) : Rf_translateCharUTF8(x);
  sum = pn_checksum_bytes(sum, (const unsigned char *)text, strlen(text));
  vmaxset(top);
  return sum;
}

static uint64_t add(uint64_t sum, SEXP x, int exact);

static uint64_t add_attributes(uint64_t sum, SEXP x, int exact) {
  SEXP const kept[] = {R_NamesSymbol, R_DimSymbol, R_DimNamesSymbol, R_ClassSymbol, R_LevelsSymbol};
  for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); ++i) {
    SEXP value = PROTECT(Rf_getAttrib(x, kept[i]));
    if (value != R_NilValue) sum = add(pn_checksum_word(sum, i), value, exact);
    UNPROTECT(1);
  }
  return sum;
}

/* A call, or a pairlist: its elements and their names. */
static uint64_t add_cells(uint64_t sum, SEXP x, int exact) {
  for (; x != R_NilValue; x = CDR(x)) {
    if (TAG(x) != R_NilValue) sum = add_text(sum, PRINTNAME(TAG(x)));
    sum = add(sum, CAR(x), exact);
  }
  return sum;
}

static uint64_t add(uint64_t sum, SEXP x, int exact) {
  R_CheckStack();
  sum = pn_checksum_word(sum, (uint64_t)TYPEOF(x));
  if (TYPEOF(x) == SYMSXP) return add_text(sum, PRINTNAME(x));
  if (TYPEOF(x) == LANGSXP || TYPEOF(x) == LISTSXP) return add_cells(sum, x, exact);
  if (!Rf_isVector(x)) return sum;
  const R_xlen_t n = Rf_xlength(x);
  sum = pn_checksum_word(sum, (uint64_t)n);
  switch (TYPEOF(x)) {
  case LGLSXP:
    sum = pn_checksum_ints(sum, LOGICAL(x), (size_t)n);
    break;
  case INTSXP:
    sum = pn_checksum_ints(sum, INTEGER(x), (size_t)n);
    break;
  case REALSXP:
    sum = pn_checksum_doubles(sum, REAL(x), (size_t)n, exact);
    break;
  case RAWSXP:
    sum = pn_checksum_bytes(sum, RAW(x), (size_t)n);
    break;
  case STRSXP:
    for (R_xlen_t i = 0; i < n; ++i) sum = add_text(sum, STRING_ELT(x, i));
    break;
  case VECSXP:
  case EXPRSXP:
    for (R_xlen_t i = 0; i < n; ++i) sum = add(sum, VECTOR_ELT(x, i), exact);
    break;
  default:
    break;
  }
  return add_attributes(sum, x, exact);
}

SEXP ffi_checksum(SEXP fields, SEXP exact) {
  const int all_bits = Rf_asLogical(exact) == TRUE;
  const R_xlen_t n = TYPEOF(fields) == VECSXP ? Rf_xlength(fields) : 0;
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  for (R_xlen_t i = 0; i < n; ++i) {
    REAL(out)[i] = pn_checksum_number(add(PN_CHECKSUM_START, VECTOR_ELT(fields, i), all_bits));
  }
  UNPROTECT(1);
  return out;
}
