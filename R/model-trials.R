# Fits of counts of trials (R/data-trials.R), as the user sees them: one row per observation.

#' A fit whose rows are observations: shares of successes, weighted by trials
#'
#' For reading only: what comes back does not have its checksums.
#' @return Any other fit unchanged.
#' @noRd
observations <- function(object) {
  if (!isTRUE(object$response$trials)) {
    return(object)
  }
  first <- !duplicated(object$rows)
  id <- match(object$rows, object$rows[first])
  total <- rowsum(object$weights, id)[, 1L]
  events <- rowsum(object$weights * object$y[, 1L], id)[, 1L]
  object$y <- matrix(events / total)
  object$weights <- unname(total)
  object$fitted <- object$fitted[first, , drop = FALSE]
  if (!is.null(object$out_of_fold)) object$out_of_fold <- object$out_of_fold[first, , drop = FALSE]
  object$offset_values <- object$offset_values[first]
  object$rows <- object$rows[first]
  object$row_names <- object$row_names[first]
  object$nobs <- sum(first)
  object
}

#' Log likelihood of counts of trials
#' @param object From observations().
#' @noRd
trials_likelihood <- function(object) {
  mean <- as.matrix(from_link(object, object$fitted, "response"))[, 1L]
  n <- object$weights
  events <- n * object$y[, 1L]
  sum(lchoose(n, events) + events * log(mean) + (n - events) * log1p(-mean))
}
