/* Thread cap, trial threads and fork safety; see base_omp.h. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* nanosleep() under -std=c11 */
#endif
#include "base_omp.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

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

void pn_thread_pause(int milliseconds) {
  const struct timespec pause = {0, 1000000L * milliseconds};
  nanosleep(&pause, NULL);
}
#else
#include <windows.h>

void pn_threads_init(void) {}

static int in_forked_child(void) {
  return 0;
}

void pn_thread_pause(int milliseconds) {
  Sleep((DWORD)milliseconds);
}
#endif

int pn_threads_cap(int wanted) {
#ifdef _OPENMP
  if (wanted < 1 || in_forked_child()) return 1;
  int limit = omp_get_thread_limit();
  if (limit > omp_get_num_procs()) limit = omp_get_num_procs();
  if (limit > PN_MAX_THREADS) limit = PN_MAX_THREADS;
  return wanted < limit ? wanted : limit;
#else
  (void)wanted;
  (void)in_forked_child;
  return 1;
#endif
}

#if defined(_OPENMP) && !defined(_WIN32)
/* Stack of OpenMP's threads when OMP_STACKSIZE asks for one ("512", "64M", kilobytes without a letter), else 0. */
static size_t asked_stack(void) {
  const char *text = getenv("OMP_STACKSIZE");
  if (text == NULL) return 0;
  char *end;
  const unsigned long long number = strtoull(text, &end, 10);
  while (*end == ' ') ++end;
  const int shift = *end == 'B' || *end == 'b'   ? 0
                    : *end == 'M' || *end == 'm' ? 20
                    : *end == 'G' || *end == 'g' ? 30
                                                 : 10;
  return number > ((unsigned long long)1 << 32) ? 0 : (size_t)(number << shift);
}

/* Lives until the gate opens, so that all trial threads exist at once. */
static void *wait_at(void *gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* How many threads of `wanted` there can be, tried out. The calling thread is one of them; the trial makes as many
 * again, one more than needed, for whatever else the runtime takes. */
static int creatable(int wanted) {
  pthread_t trial[PN_MAX_THREADS];
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 1;
  const size_t stack = asked_stack();
  if (stack > 0) (void)pthread_attr_setstacksize(&attributes, stack);
  int made = 0;
  pthread_mutex_lock(&gate);
  while (made < wanted && pthread_create(&trial[made], &attributes, wait_at, &gate) == 0) ++made;
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < made; ++i) pthread_join(trial[i], NULL);
  pthread_attr_destroy(&attributes);
  return made > 1 ? made : 1;
}
#elif defined(_OPENMP)
static int creatable(int wanted) {
  return wanted;
}
#endif

int pn_threads_start(int wanted) {
#ifdef _OPENMP
  int threads = pn_threads_cap(wanted), started = 0;
  if (threads > 1) threads = creatable(threads);
  if (threads == 1) return 1;
#pragma omp parallel num_threads(threads)
  {
#pragma omp atomic
    ++started;
  }
  return started;
#else
  (void)wanted;
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
