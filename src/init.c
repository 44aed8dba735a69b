/* Registers the entry points and sets up kernels and threads when the package loads. */
#include "base_omp.h"
#include "base_rows.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "kern.h"
#include "r_entries.h"

/* Through void (*)(void), the one function type that compilers let stand for any other. */
#define ENTRY(name, arguments)                                                                                         \
  { #name, (DL_FUNC)(void (*)(void))name, arguments }

static const R_CallMethodDef entries[] = {
    ENTRY(ffi_distinct, 2),    ENTRY(ffi_fit, 6),          ENTRY(ffi_predict, 5),  ENTRY(ffi_contributions, 7),
    ENTRY(ffi_outputs, 5),     ENTRY(ffi_gradient, 5),     ENTRY(ffi_steps, 5),    ENTRY(ffi_layout, 1),
    ENTRY(ffi_permutation, 3), ENTRY(ffi_kernel_level, 1), ENTRY(ffi_threads, 1),  ENTRY(ffi_fit_bytes, 4),
    ENTRY(ffi_smooth_fit, 4),  ENTRY(ffi_smooth_terms, 3), ENTRY(ffi_checksum, 2), {NULL, NULL, 0},
};

void attribute_visible R_init_protonam(DllInfo *dll) {
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  pn_threads_init();
  pn_kernels_init();
  pn_rows_init();
}
