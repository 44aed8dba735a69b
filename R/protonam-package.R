#' protonam: prototypical neural additive models
#'
#' [protonam()] fits a neural additive model whose effects can be read and plotted one by one; [predict.protonam()]
#' predicts from it.
#'
#' @useDynLib protonam, .registration = TRUE
#' @importFrom stats predict
#' @keywords internal
"_PACKAGE"
