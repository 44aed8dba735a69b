/* Runs all tests: main FOLDER, where FOLDER has the golden cases. */
#include "base_omp.h"
#include "base_rows.h"
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static size_t passed, failed;

void check(int ok, const char *file, int line, const char *format, ...) {
  if (ok) {
    ++passed;
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "FAILED %s:%d: ", file, line);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  ++failed;
}

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("engine tests: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(2);
}

int main(int n_arguments, char **arguments) {
  if (n_arguments != 2) die("usage: %s FOLDER", arguments[0]);
  pn_threads_init();
  const pn_kern_level best = pn_kernels_init();
  test_cholesky(0);
  pn_rows_init();
  test_cholesky(1);
  for (int level = 0; level <= (int)best; ++level) {
    CHECK(pn_kernels_set((pn_kern_level)level) == 0, "kernels of level %d are missing", level);
    test_golden(arguments[1]);
    test_gradients();
  }
  test_threads();
  test_folds();
  test_stopping();
  test_states();
  test_kept_sums();
  test_limits();
  printf("engine tests: %zu passed, %zu failed (kernels up to %s)\n", passed, failed, pn_kernels_get()->name);
  return failed > 0;
}
