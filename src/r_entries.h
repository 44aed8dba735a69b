/* Entry points registered with R (init.c); each file states its contract at its top. */
#ifndef PN_R_ENTRIES_H
#define PN_R_ENTRIES_H

#include <Rinternals.h>

SEXP ffi_distinct(SEXP x, SEXP weights);
SEXP ffi_fit(SEXP config, SEXP data, SEXP validation, SEXP init, SEXP train, SEXP progress);
SEXP ffi_fit_bytes(SEXP config, SEXP data, SEXP validation, SEXP train);
SEXP ffi_predict(SEXP config, SEXP params, SEXP running, SEXP data, SEXP threads);
SEXP ffi_contributions(SEXP config, SEXP params, SEXP running, SEXP data, SEXP by_layer, SEXP keep, SEXP threads);
SEXP ffi_outputs(SEXP config, SEXP params, SEXP running, SEXP data, SEXP threads);
SEXP ffi_gradient(SEXP config, SEXP params, SEXP running, SEXP data, SEXP pass);
SEXP ffi_steps(SEXP config, SEXP params, SEXP data, SEXP pass, SEXP steps);
SEXP ffi_layout(SEXP config);
SEXP ffi_permutation(SEXP n, SEXP seed, SEXP stream);
SEXP ffi_threads(SEXP wanted);
SEXP ffi_kernel_level(SEXP level);
SEXP ffi_smooth_fit(SEXP config, SEXP data, SEXP base, SEXP options);
SEXP ffi_smooth_terms(SEXP base, SEXP fitted, SEXP data);
SEXP ffi_checksum(SEXP fields, SEXP exact);

#endif
