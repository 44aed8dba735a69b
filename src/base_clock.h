/* Wall clock for the phase table of a fit (inst/benchmarks/phases.R). */
#ifndef PN_BASE_CLOCK_H
#define PN_BASE_CLOCK_H

#include <time.h>

/* Seconds since some fixed moment. */
static inline double pn_clock_now(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
