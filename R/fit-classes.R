# Several classes: adding the same number to the scores of all classes leaves the probabilities unchanged, so part of an
# effect is arbitrary. That part is removed after training; what remains is how the effect distinguishes the classes.

#' A member's parameters such that scores add up to zero over the classes
#'
#' The scores of classes are linear in the last layer of the predictors and in the task biases, and task weights are
#' shared by the classes: their means over the classes are subtracted there. Probabilities stay the same.
#' @noRd
center_classes <- function(member, config) {
  layout <- .Call(ffi_layout, config)
  layers <- seq_len(config$n_layers) - 1L
  last <- outer(c("pred_w%d_%d", "pred_b%d_%d"), layers, function(name, l) sprintf(name, config$predictor_layers, l))
  for (name in c(last, paste0("agg_b", layers))) {
    at <- tensor_index(layout, name)
    # outputs first, also in biases [task, output]
    at <- if (startsWith(name, "agg")) t(at) else matrix(at, config$n_outputs)
    value <- matrix(member$params[at], config$n_outputs)
    member$params[at] <- as_single(value - rep(colMeans(value), each = config$n_outputs))
  }
  member
}
