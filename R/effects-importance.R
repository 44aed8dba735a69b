# Importance of the terms: computed at the end of a fit (R/effects-summary.R), collected here.

#' Importance of the terms
#'
#' The importance of a term is the mean of its absolute centred effect over the training rows (by weight), on the link
#' scale in units of the response. Fits of `order = 2` list main effects and pure interactions.
#'
#' Importance cannot be negative, so the estimated importance of a term without any effect is positive by chance, and
#' its interval may exclude zero. The intervals are intended for comparing terms that matter.
#'
#' @param fit A fit of `order` 1 or 2, see [protonam()].
#' @param level Level of the intervals, between 0 and 1.
#' @return A data frame of class `protonam_importance` with columns `term`, `task` (group or response), `output`
#'   (class), both `NA` if there is only one, and `importance`, in decreasing order within each output; `lower` and
#'   `upper`, its interval from the members of the fit (see Bands in [shapes()]), `NA` for single models.
#' @examples
#' fit <- protonam(mpg ~ wt + hp + qsec, mtcars, epochs = 30, seed = 1)
#' term_importance(fit)
#' @export
term_importance <- function(fit, level = 0.95) {
  fit <- check_readable(fit, "term_importance()")
  level <- check_number(level %||% 0.95, "level", above = 0, below = 1)
  labels <- output_labels(fit)
  at <- rep(seq_len(nrow(labels)), each = length(shown_terms(fit)))
  table <- data.frame(
    term = fit$effects$term, task = labels$task[at], output = labels$output[at], importance = fit$effects$importance
  )
  half <- if (length(fit$members) > 1L) band_width(fit, level) * (fit$effects$error %||% NA_real_) else NA_real_
  table$lower <- pmax(table$importance - half, 0)
  table$upper <- table$importance + half
  table <- table[order(at, -table$importance), ]
  rownames(table) <- NULL
  structure(
    table,
    class = c("protonam_importance", "data.frame"), response = fit$response$name,
    scale_label = scale_label(fit, "link"), features = named_features(fit), level = level, words = feature_words(fit),
    members = length(fit$members), band = if (any(is.finite(half))) describe_bars(fit, level)
  )
}

#' @export
print.protonam_importance <- function(x, n = 30L, ...) {
  cat("Importance of ", count(length(unique(x$term)), "term"), ": ", importance_label(x), "\n", sep = "")
  print_used(x, n)
}

#' One value per term: the mean over outputs
#' @noRd
overall_importance <- function(object) {
  terms <- shown_terms(object)
  stats::setNames(rowMeans(matrix(object$effects$importance, length(terms))), terms)
}

importance_label <- function(importance) {
  scale <- attr(importance, "scale_label") %||% "effect"
  if (grepl("^effect on", scale)) sub("effect", "mean |effect|", scale, fixed = TRUE) else paste0("mean |", scale, "|")
}
