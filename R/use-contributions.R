# What each term contributes to the predictions of individual rows.

#' Contributions of the terms to individual predictions
#'
#' Decomposes predictions: starting from the intercept, the contributions of the terms of a row add up to the prediction
#' on the link scale.
#'
#' @param fit A fit of `order` 1 or 2, see [protonam()].
#' @param newdata A data frame with the features and at least one row.
#' @param threads See [protonam()].
#' @param level Level of the intervals, between 0 and 1.
#' @param ... Further arguments of [predict.protonam()], such as `offset` or `task_default`.
#'
#' @return A data frame of class `protonam_contributions`, for each row of `newdata` (and each response or class) with
#'   the largest contribution first:
#' \describe{
#'   \item{`row`}{number of the row}
#'   \item{`task`, `output`}{the row's group or the response, and the class; `NA` if there is only one}
#'   \item{`term`, `value`}{the term, and the values of its features as text}
#'   \item{`contribution`}{what the term adds}
#'   \item{`lower`, `upper`}{its interval, as the bands of [shapes()]; `NA` for a single model}
#'   \item{`cumulative`}{intercept (and offset) plus the contributions so far}
#' }
#' Attributes: `"intercept"`, `"prediction"` and `"half"` (half the width of the prediction's interval; `NULL` for a
#' single model), matrices with one row per row of `newdata` and one column per response or class, `"row_names"`,
#' `"response"`, `"scale_label"`, `"features"` (of each term), `"level"`, `"members"` and `"band"` (what the intervals
#' mean). The intercept includes the row's offset.
#' @examples
#' fit <- protonam(mpg ~ wt + hp + qsec, mtcars, epochs = 30, seed = 1)
#' contributions(fit, mtcars[1:2, ])
#' @export
contributions <- function(fit, newdata, threads = NULL, level = 0.95, ...) {
  fit <- check_readable(fit, "contributions()")
  need_newdata(if (!missing(newdata)) newdata)
  need_rows(NROW(newdata))
  level <- check_number(level %||% 0.95, "level", above = 0, below = 1)
  several <- length(fit$members) > 1L
  value <- predict.protonam(fit, newdata, type = "terms", threads = threads, se.fit = several, ...)
  half <- NULL
  if (several) {
    half <- band_width(fit, level) * unname(value$se.fit)
    value <- value$fit
  }
  n <- dim(value)[1L]
  terms <- dimnames(value)[[2L]]
  outputs <- if (length(dim(value)) == 3L) dim(value)[3L] else 1L
  constant <- attr(value, "constant")
  if (is.null(dim(constant))) {
    # one per output, or one per row for group tasks
    constant <- if (is.null(fit$task)) matrix(constant, n, outputs, byrow = TRUE) else matrix(constant, n, outputs)
  }
  intercept <- unname(constant) + (attr(value, "offset") %||% 0)
  colnames(intercept) <- visible_names(fit)
  value <- array(value, c(n, length(terms), outputs))
  labels <- contribution_labels(fit, newdata, n)

  rank <- apply(value, c(1L, 3L), function(x) order(-abs(x)))
  rank <- array(rank, c(length(terms), n, outputs))
  # rows of the result: terms fastest, then outputs, then rows of newdata
  pick <- as.vector(aperm(rank, c(1L, 3L, 2L)))
  row <- rep(seq_len(n), each = length(terms) * outputs)
  output <- rep(rep(seq_len(outputs), each = length(terms)), n)
  contribution <- value[cbind(row, pick, output)]
  half <- if (is.null(half)) NA_real_ else array(half, dim(value))[cbind(row, pick, output)]
  steps <- matrix(contribution, length(terms))
  start <- as.vector(t(intercept))
  cumulative <- apply(rbind(start, steps), 2L, cumsum)[-1L, , drop = FALSE]

  shown <- visible_labels(fit, newdata, n, list(...)$task_default)
  frame <- data.frame(
    row = row, task = shown$task[cbind(row, output)], output = shown$output[cbind(row, output)], term = terms[pick],
    value = values_as_text(select_terms(fit, list(...)$terms)[pick], labels, row, fit), contribution = contribution,
    lower = contribution - half, upper = contribution + half, cumulative = as.vector(cumulative)
  )
  prediction <- matrix(cumulative[length(terms), ], n, outputs, byrow = TRUE, dimnames = list(NULL, visible_names(fit)))
  structure(
    frame,
    class = c("protonam_contributions", "data.frame"), intercept = intercept, prediction = prediction,
    half = if (several && is.null(list(...)$terms)) prediction_half(fit, newdata, level, threads, dim(prediction), ...),
    row_names = dimnames(value)[[1L]] %||% rownames(newdata), response = fit$response$name,
    scale_label = scale_label(fit, "link"), family = fit$family$family, features = named_features(fit), level = level,
    words = feature_words(fit),
    members = length(fit$members), band = if (several) describe_bars(fit, level)
  )
}

#' Half widths of the predictions' intervals, on the link scale
#' @noRd
prediction_half <- function(fit, newdata, level, threads, size, ...) {
  # unknown values were reported when the terms were predicted
  link <- suppressMessages(
    suppressWarnings(predict.protonam(fit, newdata, type = "link", se.fit = TRUE, threads = threads, ...)),
    classes = "protonam_message_extrapolation"
  )
  matrix(band_width(fit, level) * link$se.fit, size[1L], size[2L])
}

#' @export
print.protonam_contributions <- function(x, n = 30L, ...) {
  intercept <- attr(x, "intercept")
  cat("Contributions to ", count(length(unique(x$row)), "prediction"), sep = "")
  if (!is.null(attr(x, "scale_label"))) cat("; ", waterfall_label(x), sep = "")
  if (length(unique(c(intercept))) == 1L) cat(", from the intercept ", format(intercept[1L], digits = 4L), sep = "")
  cat("\n")
  print_used(x, n)
}

#' Group or response, and class, of each row and visible output: character matrices
#' @noRd
visible_labels <- function(object, newdata, n, default) {
  labels <- output_labels(object)
  if (is.null(object$task)) {
    task <- matrix(labels$task, n, nrow(labels), byrow = TRUE)
    return(list(task = task, output = matrix(labels$output, n, nrow(labels), byrow = TRUE)))
  }
  o <- object$config$n_outputs
  group <- task_groups(object$task, as_columns(newdata, "newdata"), object$env, n, default)
  list(
    task = matrix(object$task$levels[group], n, o), output = matrix(labels$output[seq_len(o)], n, o, byrow = TRUE)
  )
}

#' Values of all features as text: list of character vectors, one per feature
#' @noRd
contribution_labels <- function(object, newdata, n) {
  if (is.matrix(newdata) && is.null(colnames(newdata))) colnames(newdata) <- feature_names(object)
  columns <- columns_from(object$variables, object$data_names, object$env, as_columns(newdata, "newdata"))
  Map(function(encoder, x) {
    if (is_categorical(encoder)) {
      text <- as.character(x)
      return(ifelse(is.na(text), "(missing)", text))
    }
    if (is.logical(x)) x <- rep(NA_real_, n)
    format_values(encoder, as.double(column_vector(x, encoder$type, encoder$name, encoder$unit)))
  }, object$encoder, columns)
}

#' The values of each row's term: of the feature, or of both features of a pair
#' @param terms Positions of terms.
#' @noRd
values_as_text <- function(terms, labels, row, object) {
  out <- character(length(terms))
  features <- term_features(object)
  for (term in unique(terms)) {
    at <- which(terms == term)
    out[at] <- do.call(paste, c(lapply(labels[features[[term]]], `[`, row[at]), sep = ", "))
  }
  out
}

# the scale of the running total: the response itself, or its log odds, log rate
waterfall_label <- function(contributions) {
  response <- attr(contributions, "response")
  scale <- attr(contributions, "scale_label")
  if (several_responses(contributions)) {
    # the panels' titles name the responses
    return(if (identical(attr(contributions, "family"), "gaussian")) "prediction" else scale)
  }
  if (is.null(scale) || identical(attr(contributions, "family"), "gaussian")) {
    return(response %||% "prediction")
  }
  if (is.null(response) || grepl(" class", scale, fixed = TRUE)) scale else paste(scale, "of", response)
}
