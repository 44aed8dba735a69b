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

#' Over what standard errors of losses are taken: an observation of trials is one group of rows
#' @noRd
error_units <- function(object) {
  if (is.null(object$groups)) {
    "rows"
  } else if (isTRUE(object$response$trials) && is.null(object$call[["groups"]])) {
    "rows of trials"
  } else {
    "groups"
  }
}

#' Numbers of rows and trials of a fit of counts of trials, in words
#' @noRd
trials_fact <- function(object) {
  at <- object$train
  weights <- object$weights[at]
  held <- if (object$n_validation > 0) setdiff(object$rows, object$rows[at])
  trials <- count(sum(weights), "trial")
  events <- count(sum(weights[object$y[at, 1L] == 1]), "success", "successes")
  c(
    sprintf("%s (%s, %s)", count(length(unique(object$rows[at])), "training row"), trials, events),
    if (length(held)) count(length(held), "validation row")
  )
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
