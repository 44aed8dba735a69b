/* Counter-based random numbers: a value depends on (key, counter) alone, so any thread may ask for any of them in any
 * order and the stream stays the same. Keys are derived from the fit's seed and the purpose of the stream.
 */
#ifndef PN_BASE_RNG_H
#define PN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef enum { PN_STREAM_INIT = 1, PN_STREAM_SHUFFLE, PN_STREAM_DROPOUT, PN_STREAM_SPLIT } pn_stream;

/* A key for one use of one stream: `a` and `b` number the uses (epoch, step, tensor ...). */
uint64_t pn_rng_key(uint64_t seed, pn_stream stream, uint64_t a, uint64_t b);

uint64_t pn_rng_bits(uint64_t key, uint64_t counter);
double pn_rng_uniform(uint64_t key, uint64_t counter); /* in (0, 1) */
double pn_rng_normal(uint64_t key, uint64_t counter);  /* N(0, 1) */

/* Shuffles item[n] in place. */
void pn_rng_shuffle(uint32_t *item, size_t n, uint64_t key);

#endif
