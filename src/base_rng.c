/* Counter-based generator: a 64-bit mixing function (three multiply and xor-shift rounds, full avalanche) of key and
 * counter. Not cryptographic; good enough for initial weights, dropout keys and shuffles. */
#include "base_rng.h"

#include <math.h>

#define PN_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xBF58476D1CE4E5B9);
  x ^= x >> 27;
  x *= UINT64_C(0x94D049BB133111EB);
  x ^= x >> 31;
  return x;
}

uint64_t pn_rng_key(uint64_t seed, pn_stream stream, uint64_t a, uint64_t b) {
  uint64_t key = mix(seed + PN_GOLDEN);
  key = mix(key ^ ((uint64_t)stream * PN_GOLDEN));
  key = mix(key + a * PN_GOLDEN + 1);
  return mix(key + b * PN_GOLDEN + 2);
}

uint64_t pn_rng_bits(uint64_t key, uint64_t counter) {
  return mix(mix(key + counter * PN_GOLDEN) + key);
}

double pn_rng_uniform(uint64_t key, uint64_t counter) {
  return ((double)(pn_rng_bits(key, counter) >> 11) + 0.5) * 0x1p-53;
}

double pn_rng_normal(uint64_t key, uint64_t counter) {
  /* Box-Muller; one of the pair is enough and keeps value and counter one to one. */
  const double radius = sqrt(-2.0 * log(pn_rng_uniform(key, 2 * counter)));
  return radius * cos(6.283185307179586476925 * pn_rng_uniform(key, 2 * counter + 1));
}

void pn_rng_shuffle(uint32_t *item, size_t n, uint64_t key) {
  for (size_t i = n; i > 1; --i) {
    /* The high half of a 32 x 32 product maps bits to 0 .. i - 1; its bias of i / 2^32 is far below sampling noise. */
    const size_t j = (size_t)(((pn_rng_bits(key, i) >> 32) * (uint64_t)i) >> 32);
    const uint32_t swap = item[i - 1];
    item[i - 1] = item[j];
    item[j] = swap;
  }
}
