/* ffi_digest(x): what tells one R value from another, as 16 hexadecimal digits.
 *
 * in:  x  any value; of functions, environments and the like the type alone counts
 * out: string. Two values have the same digest if types, lengths, contents and the attributes names, class, levels and
 *      dim are the same; serialize() would also see how a vector came about.
 *
 * A multiplicative hash of 64 bits, a word at a time: against accidents, not against intent.
 */
#include "r_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "r_entries.h"

static void add_word(uint64_t *hash, uint64_t word) {
  uint64_t h = (*hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  h ^= h >> 29;
  *hash = h * UINT64_C(0xBF58476D1CE4E5B9) + 1;
}

static void add_bytes(uint64_t *hash, const void *from, size_t n) {
  const unsigned char *at = from;
  uint64_t word;
  for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
    memcpy(&word, at, sizeof(word));
    add_word(hash, word);
  }
  word = 0;
  if (n > 0) memcpy(&word, at, n);
  add_word(hash, word);
}

static void add_string(uint64_t *hash, SEXP x) {
  if (x == NA_STRING) {
    add_word(hash, UINT64_MAX);
    return;
  }
  const char *text = Rf_translateCharUTF8(x);
  add_word(hash, strlen(text));
  add_bytes(hash, text, strlen(text));
}

static void add_value(uint64_t *hash, SEXP x) {
  const size_t n = (size_t)Rf_xlength(x);
  add_word(hash, (uint64_t)TYPEOF(x));
  switch (TYPEOF(x)) {
  case LGLSXP:
    add_word(hash, n);
    add_bytes(hash, LOGICAL_RO(x), n * sizeof(int));
    break;
  case INTSXP:
    add_word(hash, n);
    add_bytes(hash, INTEGER_RO(x), n * sizeof(int));
    break;
  case REALSXP:
    add_word(hash, n);
    add_bytes(hash, REAL_RO(x), n * sizeof(double));
    break;
  case RAWSXP:
    add_word(hash, n);
    add_bytes(hash, RAW_RO(x), n);
    break;
  case STRSXP:
    add_word(hash, n);
    for (size_t i = 0; i < n; ++i) add_string(hash, STRING_ELT(x, (R_xlen_t)i));
    break;
  case VECSXP:
    add_word(hash, n);
    for (size_t i = 0; i < n; ++i) add_value(hash, VECTOR_ELT(x, (R_xlen_t)i));
    break;
  case SYMSXP:
    add_string(hash, PRINTNAME(x));
    return;
  case LANGSXP:
  case LISTSXP:
    for (; x != R_NilValue; x = CDR(x)) add_value(hash, CAR(x));
    add_word(hash, 0);
    return;
  default:
    return;
  }
  SEXP attributes[] = {R_NamesSymbol, R_ClassSymbol, R_LevelsSymbol, R_DimSymbol};
  for (int i = 0; i < 4; ++i) {
    SEXP value = PROTECT(Rf_getAttrib(x, attributes[i]));
    if (value != R_NilValue) {
      add_word(hash, (uint64_t)i);
      add_value(hash, value);
    }
    UNPROTECT(1);
  }
}

SEXP ffi_digest(SEXP x) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  char text[17];
  add_value(&hash, x);
  snprintf(text, sizeof(text), "%016" PRIx64, hash);
  return Rf_mkString(text);
}
