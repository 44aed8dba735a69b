#' protonam: prototypical neural additive models
#'
#' [protonam()] fits a neural additive model whose effects can be read and plotted one by one; [predict.protonam()]
#' predicts from it.
#'
#' @name protonam-package
#' @docType package
#' @useDynLib protonam, .registration = TRUE
#' @importFrom graphics plot
#' @importFrom stats coef deviance family fitted formula logLik nobs predict residuals terms weights
#' @keywords internal
NULL
