/* Thread cap and fork safety; see base_omp.h. */
#include "base_omp.h"

#if !defined(_WIN32)
#include <pthread.h>

static int forked = 0;

static void mark_forked(void) {
  forked = 1;
}

void pn_threads_init(void) {
  pthread_atfork(NULL, NULL, mark_forked);
}

static int in_forked_child(void) {
  return forked;
}
#else
void pn_threads_init(void) {}

static int in_forked_child(void) {
  return 0;
}
#endif

int pn_threads_cap(int wanted) {
#ifdef _OPENMP
  if (wanted < 1 || in_forked_child()) return 1;
  int limit = omp_get_thread_limit();
  if (limit > PN_MAX_THREADS) limit = PN_MAX_THREADS;
  return wanted < limit ? wanted : limit;
#else
  (void)wanted;
  (void)in_forked_child;
  return 1;
#endif
}

int pn_thread_index(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}
