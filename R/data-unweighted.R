# A weight of zero leaves a row out: such rows are predicted, but nothing is learned or drawn from them.

#' Rows that count: those of weight zero are used neither for training nor for validation
#' @return positions
#' @noRd
rows_of_weight <- function(weights, n) if (is.null(weights)) seq_len(n) else which(weights > 0)

#' A class or group that only rows of weight zero have is not one of the fit's, as if these rows were not there
#' @param labels Text, one per row of the data, or NULL.
#' @noRd
drop_unweighted <- function(rows, labels, weights, n, name) {
  if (is.null(weights) || is.null(labels)) {
    return(rows)
  }
  idle <- take_rows(weights, rows, n) %in% 0
  labels <- take_rows(labels, rows, n)
  lost <- idle & !labels %in% labels[!idle]
  # without any weight there is nothing to fit, which check_weights() says
  if (!any(lost) || all(idle)) {
    return(rows)
  }
  pn_inform(
    c(
      "{sum(lost)} row{?s} of weight zero {?is/are} left out.",
      i = "No other row has {.field {name}} {some(unique(labels[lost]))}."
    ),
    class = "dropped_rows"
  )
  rows[!lost]
}

#' Classes as text; NULL for a response that has none, and for several responses, each of which needs both classes
#' @noRd
class_labels <- function(y, family) {
  classes <- is.factor(y) || is.character(y) || (is.atomic(y) && is.null(dim(y)) && is_multinomial(family))
  if (classes) as.character(y)
}

is_multinomial <- function(family) {
  identical(family, "multinomial") || (is.list(family) && identical(family$family, "multinomial"))
}
