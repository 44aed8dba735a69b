/* The yardstick of speed_arithmetic.R: OpenBLAS sgemm on (2048 x 64)(64 x 64), one independent product per thread.
 * Prints the GFLOP/s of all threads together, best of several rounds. */
#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

void openblas_set_num_threads(int threads);

enum { M = 2048, N = 64, K = 64, REPEATS = 200, ROUNDS = 7 };

int main(int argc, char **argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  double best = 0;
  openblas_set_num_threads(1);
  for (int round = 0; round < ROUNDS; ++round) {
    double seconds = 0;
#pragma omp parallel num_threads(threads) reduction(max : seconds)
    {
      float *a = malloc(sizeof(float) * M * K), *b = malloc(sizeof(float) * K * N), *c = malloc(sizeof(float) * M * N);
      for (int i = 0; i < M * K; ++i) a[i] = (float)(i % 7) - 3.0f;
      for (int i = 0; i < K * N; ++i) b[i] = (float)(i % 5) - 2.0f;
#pragma omp barrier
      const double start = omp_get_wtime();
      for (int r = 0; r < REPEATS; ++r) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1.0f, a, K, b, N, 0.0f, c, N);
      }
      seconds = omp_get_wtime() - start;
      free(a);
      free(b);
      free(c);
    }
    const double rate = 2.0 * M * N * K * REPEATS * threads / seconds / 1e9;
    if (rate > best) best = rate;
  }
  printf("%.3f\n", best);
  return 0;
}
