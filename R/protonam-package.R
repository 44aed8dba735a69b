#' protonam: prototypical neural additive models
#'
#' [protonam()] fits a neural additive model whose effects can be inspected and plotted one by one; [predict.protonam()]
#' computes predictions from it.
#'
#' # Options
#'
#' * `protonam.threads`: number of threads if `threads` is not given and the environment variable `PROTONAM_THREADS` is
#'   not set; 2 by default. The result never depends on it.
#' * `protonam.kernels`: `"scalar"`, `"avx2"` or `"avx512"` instead of the best available on the processor, for
#'   comparisons of speed. The result never depends on it.
#' * `protonam.equal_values`: `FALSE` computes every row separately, even where rows share a value, to measure what
#'   sharing saves.
#'
#' @name protonam-package
#' @docType package
#' @useDynLib protonam, .registration = TRUE
#' @importFrom graphics plot
#' @importFrom stats coef deviance family fitted formula logLik nobs predict residuals terms weights
#' @keywords internal
NULL
