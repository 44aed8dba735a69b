/* Tests of the engine without R: what the files of this folder share.
 *
 * Every CHECK() that fails prints where and why, and the program goes on; main() returns 1 when any did. Nothing here
 * is fatal but a file that cannot be read and memory that is not there.
 */
#ifndef PN_ENGINE_TEST_H
#define PN_ENGINE_TEST_H

#include <stddef.h>
#include <stdint.h>

#include "train_loop.h"

#define CHECK(ok, ...) check((ok) != 0, __FILE__, __LINE__, __VA_ARGS__)

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void check(int ok, const char *file, int line, const char *format, ...);

/* Ends the program with a message. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void die(const char *format, ...);

/* Memory of an arena; the program ends when there is none. */
void *take(pn_arena *arena, size_t count, size_t size);

/* ---- problems: a configuration, data and parameters ---- */

typedef struct {
  pn_arena arena; /* of everything below; problem_free() frees it */
  pn_config config;
  pn_data data;
  pn_layout layout;
  float *param; /* [layout.total] */
} problem;

/* What a random problem shall be like; sizes of zero mean one. */
typedef struct {
  const char *name;
  uint64_t seed;
  size_t rows, features, order; /* order 0: all features in one component */
  size_t layers, hidden, prototypes, outputs, tasks;
  int predictor_layers;
  pn_norm norm;
  pn_family family;
  pn_task_kind task_kind;
  float variation, dropout;
  int plain;      /* no weights, offset, layer 0 or missing values */
  int last_alone; /* not hierarchical */
} spec;

/* A random problem: the last feature has ties, the first missing values. */
void problem_random(problem *p, const spec *of);

/* Features and components from x[n x K], column by column; config's sizes are set. order 0: one component. */
void problem_columns(problem *p, const double *x, size_t n, size_t order);

void problem_free(problem *p);

/* A model with the problem's parameters, in the memory of `arena`. */
void problem_model(const problem *p, pn_model *model, pn_arena *arena);

/* Uniform on (0, 1) and standard normal, by number. */
double uniform(uint64_t seed, uint64_t i);
double normal(uint64_t seed, uint64_t i);

/* One pass over all rows as a single batch. */
typedef struct {
  pn_arena arena;
  pn_model model;
  pn_batch batch;
  pn_work work;
  pn_mode mode;
} pass;

void pass_init(pass *at, const problem *p, double temperature, int equal_values, int threads);
double pass_gradient(pass *at, const problem *p); /* the gradient is in at->work.grad */
void pass_free(pass *at);

/* ---- the tests ---- */

void test_cholesky(int wide); /* wide: after pn_rows_init() */
void test_golden(const char *folder);
void test_gradients(void);
void test_threads(void);
void test_folds(void);
void test_stopping(void);
void test_states(void);
void test_kept_sums(void);
void test_limits(void);

#endif
