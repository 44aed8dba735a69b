# Counts of trials: cbind(successes, failures) with family = binomial(), as glm() reads it.
#
# An observation of s successes and f failures becomes two rows with the same features, an event of weight s and a
# non-event of weight f. The likelihood is the same, and code that reads classes and weights need not distinguish them.
# The rows of an observation are copies of one row of the data, so that they are in the same fold.

#' Successes and failures of the rows used, or NULL if the response is of another kind
#'
#' Two columns that contain only 0 and 1 are two responses, unless they are known to be counts.
#' @param value Response of the rows used: a list of columns, a matrix, or anything else.
#' @return matrix [rows, 2]
#' @noRd
count_trials <- function(value, name, family, any_counts = FALSE) {
  if (is.null(family) || !identical(as_family(family)$family, "binomial")) {
    return(NULL)
  }
  value <- as_pair(value)
  if (is.null(value) || (!any_counts && all(value %in% c(0, 1, NA)))) {
    return(NULL)
  }
  odd <- value[!is.na(value) & (value < 0 | value != round(value) | is.infinite(value))]
  if (length(odd)) {
    pn_abort(
      c(
        "Two columns of a binomial response count successes and failures; {.field {name}} has {signif(odd[1L], 4)}.",
        i = "For proportions {.code p} of {.code n} trials use {.code cbind(n * p, n * (1 - p))}, rounded."
      ),
      class = "response", arg = name
    )
  }
  unname(value)
}

#' Two columns of numbers as a matrix, NULL for anything else
#' @noRd
as_pair <- function(value) {
  if (is.list(value) && !is.object(value) && length(value) == 2L && all(vapply(value, is_plain_number, NA))) {
    value <- cbind(value[[1L]], value[[2L]])
  }
  if (is.matrix(value) && ncol(value) == 2L && is.numeric(value)) value
}

is_plain_number <- function(x) is.numeric(x) && !is.object(x) && is.null(dim(x))

#' Rows, weights and events of counts of trials
#' @param rows From used_rows().
#' @return list(rows, count, event): the rows of `rows` twice, without those of count zero
#' @noRd
expand_trials <- function(trials, rows, name) {
  missing <- rowSums(is.na(trials)) > 0
  kept <- drop_unlabelled(seq_along(rows$index), missing, "response", name)
  count <- as.vector(t(trials[kept, , drop = FALSE]))
  at <- rep(kept, each = 2L)[count > 0]
  rows$index <- rows$index[at]
  rows$kept <- rows$index
  list(rows = rows, count = count[count > 0], event = rep(c(1, 0), length(kept))[count > 0])
}

#' Successes and failures of new rows, an event and a non-event each
#' @return list(at: row, event, count), without counts that are zero or missing
#' @noRd
new_trials <- function(value, name) {
  counts <- count_trials(value, name, stats::binomial(), any_counts = TRUE)
  if (is.null(counts)) {
    pn_abort(
      "The model was fitted to counts of trials: {.field {name}} must be two columns, successes and failures.",
      class = "response", arg = name
    )
  }
  known <- rowSums(is.na(counts)) == 0
  at <- rep(seq_len(nrow(counts)), each = 2L)
  count <- as.vector(t(counts))
  used <- known[at] & count > 0
  used[is.na(used)] <- FALSE
  list(at = at[used], event = rep(c(1, 0), nrow(counts))[used], count = count[used])
}

#' Are these the trials that a fit was made from?
#' @param value Response of the data, successes and failures.
#' @param rows Their rows that the fit used, each once for its events and once for the others.
#' @noRd
same_trials <- function(fit, value, rows) {
  counts <- count_trials(value, fit$response$name, stats::binomial(), any_counts = TRUE)
  count <- counts[cbind(rows, ifelse(fit$y[, 1L] == 1, 1L, 2L))]
  if (!is.null(fit$call[["weights"]])) all(count > 0) else isTRUE(all.equal(count, fit$weights))
}

#' What a fit of counts of trials can not be combined with
#' @noRd
refuse_with_trials <- function(what, arg) {
  pn_abort(
    c(
      "{what} cannot be combined with counts of trials, {.code cbind(successes, failures)}.",
      i = "Give each trial a row of its own, and let {.arg groups} keep those of an observation together."
    ),
    class = "trials", arg = arg
  )
}
