#' protonam: prototypical neural additive models
#'
#' [protonam()] fits a neural additive model whose effects can be read and plotted one by one; [predict.protonam()]
#' predicts from it.
#'
#' # Options
#'
#' * `protonam.threads`: threads when `threads` is not given and the environment variable `PROTONAM_THREADS` is not set;
#'   2 by default. The result never depends on it.
#' * `protonam.kernels`: `"scalar"`, `"avx2"` or `"avx512"` instead of the best that the processor has, to compare them.
#'   Results differ in the last digits of single precision.
#' * `protonam.equal_values`: `FALSE` computes every row apart, even where rows share a value, to measure what that
#'   saves.
#'
#' @name protonam-package
#' @docType package
#' @useDynLib protonam, .registration = TRUE
#' @importFrom graphics plot
#' @importFrom stats coef deviance family fitted formula logLik nobs predict residuals terms weights
#' @keywords internal
NULL
