# calibration(): are predictions right on average, at every level of prediction?

#' Calibration of a fit
#'
#' Compares predictions with what was observed: a smooth calibration curve with its band, the same in ten groups of
#' rows, the distribution of the predictions, and the usual numbers. Without `newdata` the out-of-fold predictions of
#' the fit are used, so that no row is predicted by a model that was trained on it.
#'
#' The curve is a regression of the response on a restricted cubic spline of the linear predictor (three to five knots,
#' depending on the number of events), with the family of the fit. Its band is pointwise, from the sandwich estimator,
#' with the rows of a group taken together. With several classes, each is compared with all others.
#'
#' @param fit A fit, see [protonam()].
#' @param newdata A data frame with features and response; `NULL` for out-of-fold predictions.
#' @param by `~ variable`, the name of a column, or a vector: also within its groups.
#' @param smooth `"spline"`, or `"lowess"`: [lowess()] of the response on the predictions without robustness
#'   iterations, as in `rms::val.prob()`; it has no band.
#' @param level Level of intervals and band.
#' @param data The data of the fit, for `by`; see [validate_protonam()].
#' @param ... With `newdata`: `offset`, `task_default` or `threads`, see [predict.protonam()].
#'
#' @return A list of class `protonam_calibration` with data frames, which have the columns `response`, `class` and
#'   `group` where there are several:
#' * `summary`: `n` (rows, or trials where the response counts them), `events` (two classes), `predicted` and `observed`
#'   (means), `intercept` (calibration-in-the-large) and `slope` with their intervals (`intercept_lower` and so on), and
#'   distances between curve and predictions: `ici` (integrated calibration index: mean absolute distance over the
#'   rows), `e50`, `e90`, `emax` (its median, ninth decile and maximum), `eci` (estimated calibration index: 100 times
#'   the mean squared distance);
#' * `line`: the columns `intercept` and `slope` of the regression on the linear predictor with both free;
#' * `curve`: `predicted`, `observed`, `lower`, `upper`;
#' * `groups`: tenths of the rows by prediction: `n`, `predicted`, `observed`, `lower`, `upper`;
#' * `histogram`: `from`, `to`, `events`, `others`.
#'
#'   `print()` shows the summary, `plot()` and `autoplot()` draw the curves.
#' @references Van Calster and others (2016), A calibration hierarchy for risk models was defined, *Journal of Clinical
#'   Epidemiology* 74. Austin and Steyerberg (2019), The integrated calibration index (ICI) and related metrics,
#'   *Statistics in Medicine* 38.
#' @seealso [validate_protonam()], [decision_curve()]
#' @examples
#' icu <- simulate_icu(400, seed = 1)
#' fit <- protonam(died ~ age + lactate + sex, icu, epochs = 2, ensemble = 4, seed = 1)
#' cal <- calibration(fit)
#' cal
#' plot(cal)
#' calibration(fit, simulate_icu(400, seed = 2), by = ~ sex)
#' @export
calibration <- function(fit, newdata = NULL, by = NULL, smooth = c("spline", "lowess"), level = 0.95, data = NULL,
                        ...) {
  fit <- need_fit(fit)
  smooth <- check_choice(smooth, c("spline", "lowess"), "smooth")
  level <- check_number(level, "level", above = 0, below = 1)
  outcomes <- outcomes_of(fit, newdata, data, by, parent.frame(), list(...))
  parts <- split_outcomes(fit, outcomes, classes = TRUE)
  if (smooth == "lowess" && any(vapply(parts, function(part) !is.null(part$weights), NA))) {
    pn_abort("{.code smooth = \"lowess\"} does not use case weights.", class = "argument", arg = "smooth")
  }
  found <- lapply(parts, calibrate_part, smooth, level)
  labels <- part_columns(parts)
  bind <- function(what) bind_parts(lapply(found, `[[`, what), labels)
  structure(class = "protonam_calibration", list(
    summary = bind("summary"), line = bind("line"), curve = bind("curve"), groups = bind("groups"),
    histogram = bind("histogram"), level = level, smooth = smooth, family = parts[[1L]]$family$family,
    source = outcomes$source, unit = outcomes$unit, by = outcomes$by_name, name = fit$response$name,
    event = if (ncol(labels) == 0L || !"class" %in% names(labels)) parts[[1L]]$event
  ))
}

#' Tables of parts, one below the other, with the columns that identify them
#' @noRd
bind_parts <- function(tables, labels) {
  do.call(rbind, lapply(seq_along(tables), function(i) {
    table <- tables[[i]]
    n <- nrow(table)
    if (ncol(labels) && n) cbind(labels[rep(i, n), , drop = FALSE], table, row.names = NULL) else table
  }))
}

#' Calibration of one response, class or group
#' @noRd
calibrate_part <- function(rows, smooth, level) {
  weights <- rows$weights %||% rep(1, length(rows$y))
  both <- calibration_fit(rows$family, rows$y, rows$link, weights)
  curve <- calibration_curve(rows, smooth, level)
  measured <- measure_table(rows)
  own <- function(name) {
    at <- match(name, measured$measure)
    value <- measured$value[at]
    out <- c(value, measure_interval(name, value, measured$error[at], level))
    stats::setNames(as.list(out), paste0(name, c("", "_lower", "_upper")))
  }
  grid <- prediction_grid(rows$mean, rows$trials)
  summary <- data.frame(
    n = outcome_count(rows), predicted = weighted_mean(rows$mean, rows$weights),
    observed = weighted_mean(rows$y, rows$weights), own("intercept"), own("slope"),
    as.list(calibration_distances(rows, curve))
  )
  if (rows$family$family == "binomial") summary <- cbind(summary[1L], events = event_count(rows), summary[-1L])
  list(
    summary = summary,
    line = data.frame(
      intercept = if (is.null(both)) NA_real_ else both$coefficients[1L],
      slope = if (is.null(both)) NA_real_ else both$coefficients[2L]
    ),
    curve = if (is.null(curve)) {
      data.frame(predicted = numeric(), observed = numeric(), lower = numeric(), upper = numeric())
    } else {
      data.frame(predicted = grid, curve$at(grid))
    },
    groups = prediction_groups(rows, level), histogram = prediction_histogram(rows)
  )
}

#' Predictions at which a curve is evaluated: as dense as the rows, and up to the ends
#' @noRd
prediction_grid <- function(mean, trials = NULL) {
  unique(sort(c(outcome_quantile(mean, trials, 0:100 / 100), seq(min(mean), max(mean), length.out = 101L))))
}

#' @rdname calibration
#' @param x From `calibration()`.
#' @param digits Number of digits to show.
#' @export
print.protonam_calibration <- function(x, digits = 3, ...) {
  event <- if (!is.null(x$event)) paste0(" (event ", encodeString(x$event, quote = "\""), ")")
  cat("Calibration of predictions of ", x$name, event, ", ", x$source, "\n\n", sep = "")
  table <- x$summary
  number <- function(v) ifelse(is.na(v), "", formatC(ifelse(abs(v) < 1e-10, 0, v), digits = digits, format = "f"))
  interval <- function(name) {
    lower <- table[[paste0(name, "_lower")]]
    upper <- table[[paste0(name, "_upper")]]
    paste0(number(table[[name]]), ifelse(is.na(lower), "", paste0(" (", number(lower), " to ", number(upper), ")")))
  }
  shown <- cbind(
    n = format(table$n, big.mark = ","), events = if (!is.null(table$events)) format(table$events, big.mark = ","),
    predicted = number(table$predicted), observed = number(table$observed), "in the large" = interval("intercept"),
    slope = interval("slope"), ICI = number(table$ici), Emax = number(table$emax)
  )
  rownames(shown) <- part_titles(table) %||% rep("", nrow(table))
  print(shown, quote = FALSE, right = TRUE)
  invisible(x)
}

#' What the parts of a table are called, or NULL if there is only one
#' @noRd
part_titles <- function(table) {
  columns <- intersect(c("response", "class", "group"), names(table))
  if (length(columns)) do.call(paste, c(unname(lapply(table[columns], as.character)), sep = ", "))
}
