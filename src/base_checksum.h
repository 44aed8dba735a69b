/* Checksums of numbers and bytes, the same on every platform, to notice that a saved model was changed.
 *
 * A sum is a chain over 64-bit words, s <- mix((s ^ word) * odd constant), each step of which can be inverted: two
 * chains that differ in one word never meet again. It guards against damage, not against someone who wants to deceive.
 *
 * Doubles of saved models enter with 24 of their 53 bits: text formats such as saveRDS(ascii = TRUE) do not keep the last
 * ones. With `exact` all bits count.
 */
#ifndef PN_BASE_CHECKSUM_H
#define PN_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define PN_CHECKSUM_START UINT64_C(0x70726f746f6e616d)

static inline uint64_t pn_checksum_word(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return sum ^ (sum >> 32);
}

uint64_t pn_checksum_doubles(uint64_t sum, const double *x, size_t n, int exact);
uint64_t pn_checksum_ints(uint64_t sum, const int *x, size_t n);
uint64_t pn_checksum_bytes(uint64_t sum, const unsigned char *x, size_t n);

/* The sum as a whole number below 2^52, which a double holds exactly. */
double pn_checksum_number(uint64_t sum);

#endif
