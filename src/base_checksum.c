/* See base_checksum.h. */
#include "base_checksum.h"

#include <string.h>

#define DROPPED 29 /* of the 52 bits after the leading one */

/* Unless exact, rounded to single precision's digits, with double precision's range. NaN has one value, R's NA (low word 1954)
 * another: which other bits are set depends on the processor. */
static uint64_t number_bits(double x, int exact) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  if (x != x) return (uint32_t)bits == 1954 ? UINT64_MAX : UINT64_MAX - 1;
  if (exact) return bits;
  return (bits + (UINT64_C(1) << (DROPPED - 1))) >> DROPPED;
}

uint64_t pn_checksum_doubles(uint64_t sum, const double *x, size_t n, int exact) {
  for (size_t i = 0; i < n; ++i) sum = pn_checksum_word(sum, number_bits(x[i], exact));
  return sum;
}

uint64_t pn_checksum_ints(uint64_t sum, const int *x, size_t n) {
  for (size_t i = 0; i < n; ++i) sum = pn_checksum_word(sum, (uint32_t)x[i]);
  return sum;
}

uint64_t pn_checksum_bytes(uint64_t sum, const unsigned char *x, size_t n) {
  uint64_t word = 0;
  for (size_t i = 0; i < n; ++i) {
    word = word << 8 | x[i];
    if (i % 8 == 7) {
      sum = pn_checksum_word(sum, word);
      word = 0;
    }
  }
  return pn_checksum_word(pn_checksum_word(sum, word), n);
}

double pn_checksum_number(uint64_t sum) {
  return (double)(pn_checksum_word(sum, 0) >> 12);
}
