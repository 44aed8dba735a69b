# Evidence for terms and between fits, out of fold.

#' Evidence for each term
#'
#' For each term, how much worse the fit predicts rows that were left out when the term is removed, and a test that its
#' shape is flat.
#'
#' **Increase of the loss.** Each row is predicted by the member that was not trained on it, with and without the term
#' (that is, with the term at its average, 0). `increase` is the mean difference of the losses: log-loss for classes,
#' squared error for a numeric response, deviance for counts. Its interval is based on the standard error of the mean
#' over rows, or over groups. Nothing is fitted again: where terms are correlated, the others could make up for some
#' of the loss; compare fits with [anova()][anova.protonam] for that.
#'
#' **Flat shapes.** `p` is the smallest level at which the simultaneous band of a term's shape (see [shapes()]) excludes
#' zero somewhere, that is, the p-value of a test that the whole shape is flat. With several groups or classes it is
#' multiplied by their number. The approximations of the simultaneous band apply. A term may be flat for good reason and
#' still have been considered; do not select terms by this column.
#'
#' @param fit A cross-fitted model of `order` 1 or 2, as [protonam()] fits by default.
#' @param terms Which terms: see [shapes()].
#' @param level Level of the intervals, between 0 and 1.
#' @param threads See [protonam()].
#' @param x A table.
#' @param digits Significant digits of the largest increase.
#' @param ... Nothing.
#'
#' @return A data frame of class `protonam_evidence`, one row per term (and response), the largest increase first:
#' \describe{
#'   \item{`term`, `task`}{the term, and the response if there are several}
#'   \item{`increase`, `lower`, `upper`}{of the loss, and its interval}
#'   \item{`share`}{the increase relative to the out-of-fold loss of the fit}
#'   \item{`statistic`, `points`, `p`}{largest absolute effect in standard errors, number of independent points that the
#'     shape is equivalent to, and p-value}
#' }
#' @seealso [term_importance()], [anova.protonam()].
#' @examples
#' fit <- protonam(mpg ~ wt + hp + qsec, mtcars, epochs = 20, seed = 1)
#' term_evidence(fit)
#' @export
term_evidence <- function(fit, terms = NULL, level = 0.95, threads = NULL) {
  fit <- check_readable(fit, "term_evidence()")
  terms <- shown_terms(fit)[select_terms(fit, terms)]
  level <- check_number(level %||% 0.95, "level", above = 0, below = 1)
  if (is.null(fit$dropped)) {
    pn_abort(
      c(
        "This fit does not know how much its terms matter out of fold.",
        i = "The default fit does; {.code ensemble = 1}, {.fn paper_control} and older fits do not."
      ),
      class = "no_out_of_fold", arg = "fit"
    )
  }
  found <- fit$dropped[fit$dropped$term %in% terms, ]
  half <- stats::qnorm((1 + level) / 2) * found$error
  several <- !is.null(fit$response$names)
  table <- data.frame(
    term = found$term, task = if (several) fit$response$names[found$response] else NA_character_,
    increase = found$increase, lower = found$increase - half, upper = found$increase + half,
    share = found$increase / found$loss
  )
  flat <- flat_tests(fit, terms, resolve_threads(threads))
  at <- match(paste(table$term, table$task), paste(flat$term, flat$task))
  table <- cbind(table, flat[at, c("statistic", "points", "p")])
  table <- table[order(found$response, -table$increase), ]
  rownames(table) <- NULL
  structure(
    table,
    class = c("protonam_evidence", "data.frame"), level = level, loss = loss_names[[fit$family$family]],
    response = fit$response$name, members = length(fit$members), units = error_units(fit),
    features = named_features(fit), words = feature_words(fit)
  )
}

#' Tests that shapes are flat, from their simultaneous bands
#' @return data frame (term, task = response, statistic, points, p)
#' @noRd
flat_tests <- function(object, terms, threads) {
  shape <- shapes(object, terms, threads = threads)
  # a constant column has neither an effect nor an error
  error <- (shape$upper - shape$effect) / band_width(object, attr(shape, "level"))
  ratio <- ifelse(error > 0, abs(shape$effect) / error, 0)
  points <- independent_points(object, shape)
  curve <- paste(shape$term, shape$task, shape$output, sep = "\r")
  first <- which(!duplicated(curve))
  largest <- as.vector(tapply(ratio, factor(curve, unique(curve)), max))
  p <- flat_p(object, largest, points[first])
  task <- if (is.null(object$response$names)) rep(NA_character_, length(first)) else shape$task[first]
  key <- paste(shape$term[first], task, sep = "\r")
  # of several groups or classes, the one that is least flat
  best <- vapply(unique(key), function(one) which(key == one)[which.min(p[key == one])], 1L)
  number <- as.vector(table(factor(key, unique(key))))
  data.frame(
    term = shape$term[first][best], task = task[best], statistic = largest[best], points = points[first][best],
    p = pmin(p[best] * number, 1)
  )
}

#' The smallest level at which a simultaneous band excludes zero: band_width() turned around
#' @noRd
flat_p <- function(object, statistic, points) {
  freedom <- band_freedom(object)
  one <- 2 * stats::pt(-statistic / few_rows_factor(object), freedom)
  -expm1(points * log1p(-one))
}

#' @rdname term_evidence
#' @export
print.protonam_evidence <- function(x, digits = 3, ...) {
  if (is.null(attr(x, "loss")) || !all(c("term", "increase", "lower", "upper", "p") %in% names(x)) || !nrow(x)) {
    return(print_used(x, nrow(x)))
  }
  cat("Evidence for ", count(length(unique(x$term)), "term"), " of ", attr(x, "response"), "\n\n", sep = "")
  number <- decimal_text(x$increase, digits)
  lines <- data.frame(
    term = x$term, task = x$task,
    loss = sprintf("%s (%s to %s)", number(x$increase), number(x$lower), number(x$upper)),
    share = sprintf("%.1f %%", 100 * x$share), p = format_p(x$p)
  )
  names(lines)[3:5] <- c(paste("increase of", attr(x, "loss")), "relative", "p (flat)")
  print(lines[c(TRUE, !all(is.na(x$task)), TRUE, TRUE, TRUE)], row.names = FALSE, right = FALSE)
  cat("\n")
  cat(strwrap(paste(evidence_note(x), "p: test that the shape is flat.")), sep = "\n")
  invisible(x)
}

evidence_note <- function(x) {
  sprintf(
    "Increase of the out-of-fold loss without the term, with %s %% intervals over %s.",
    format(100 * attr(x, "level"), digits = 3L), attr(x, "units") %||% "rows"
  )
}

#' @export
`[.protonam_evidence` <- function(x, ...) with_attributes_of(x, NextMethod())

#' Numbers with as many decimals as give the largest its digits
#' @return function of numbers
#' @noRd
decimal_text <- function(x, digits) {
  largest <- max(abs(x), 0, na.rm = TRUE)
  decimals <- if (largest > 0) min(max(0, digits - 1 - floor(log10(largest))), 8) else digits
  function(x) fixed_text(x, decimals)
}

format_p <- function(p) {
  ifelse(is.na(p), "", ifelse(p < 0.001, "< 0.001", formatC(p, digits = 3L, format = "f")))
}
