/* Threads: how many a parallel region may use. The only mutable state is the flag that this process was forked.
 *
 * Every region says num_threads(n) with n from pn_threads_start(); omp_set_num_threads() is never called, so other
 * packages keep their own count. */
#ifndef PN_BASE_OMP_H
#define PN_BASE_OMP_H

/* Before R's headers, which define macros that clash with some omp.h. */
#ifdef _OPENMP
#include <omp.h>
#endif

#define PN_MAX_THREADS 128

/* Registers the fork handler; called once when the package loads. */
void pn_threads_init(void);

/* `wanted` limited to what is possible: 1 without OpenMP and in a forked child (libgomp's pool does not survive a fork,
 * a second region there would wait for threads that do not exist), else at least 1 and at most the cores that this
 * process may use, OpenMP's thread limit and PN_MAX_THREADS, since every thread gets scratch memory. */
int pn_threads_cap(int wanted);

/* The same, limited to the threads that can be made as things stand, and makes them. When OpenMP's runtime cannot make
 * a thread it ends the process, R with it; so threads are tried out first, and then started before a call takes the
 * memory that their stacks would need. Later regions of this many threads find them waiting. */
int pn_threads_start(int wanted);

/* Index of the calling thread within its region, from 0. */
int pn_thread_index(void);

/* Lets the calling thread sleep for some milliseconds, or until a signal arrives. */
void pn_thread_pause(int milliseconds);

#endif
