# discrimination(): how well predictions separate events from others: the ROC curve and what follows from thresholds.

roc_draws <- 500L # for the band
roc_seed <- 1 # the band is the same every time

#' Discrimination of a fit for classes
#'
#' The receiver operating characteristic (ROC) curve with a pointwise band, the area under it (AUC) with its interval,
#' and sensitivity, specificity and predictive values at thresholds. Without `newdata` the out-of-fold predictions of
#' the fit are used.
#'
#' The interval of the AUC is that of [validate_protonam()]. The band of the curve is a Bayesian bootstrap of the rows,
#' or of whole groups if the fit has `groups`, with 500 draws; intervals of shares are those of Wilson.
#'
#' @inheritParams calibration
#' @param response With several responses or classes: the one that is looked at, by name. A class is compared with all
#'   others.
#' @param thresholds Rows with a predicted probability of at least a threshold count as predicted events.
#'
#' @return A list of class `protonam_discrimination` with data frames, which have a column `group` if `by` is given:
#' * `summary`: `n`, `events`, `auc`, `lower`, `upper`;
#' * `curve`: `fpr` (1 - specificity), `tpr` (sensitivity), `lower` and `upper` (of `tpr`);
#' * `thresholds`: `NULL`, or `threshold`, `measure` (`"sensitivity"`, `"specificity"`, `"ppv"`, `"npv"`), `n` (the
#'   number of rows that it is a share of), `value`, `lower`, `upper`.
#' @seealso [validate_protonam()], [decision_curve()]
#' @examples
#' icu <- simulate_icu(400, seed = 1)
#' fit <- protonam(died ~ age + lactate + sex, icu, epochs = 2, ensemble = 4, seed = 1)
#' roc <- discrimination(fit, thresholds = c(0.1, 0.2))
#' roc
#' plot(roc)
#' @export
discrimination <- function(fit, newdata = NULL, by = NULL, response = NULL, thresholds = NULL, level = 0.95,
                           data = NULL, ...) {
  fit <- need_fit(fit)
  level <- check_number(level, "level", above = 0, below = 1)
  if (!is.null(thresholds)) thresholds <- check_thresholds(thresholds, closed = TRUE)
  outcomes <- choose_event(fit, outcomes_of(fit, newdata, data, by, parent.frame(), list(...)), response)
  parts <- split_outcomes(fit, outcomes)
  labels <- part_columns(parts)
  bind <- function(f) bind_parts(lapply(parts, f), labels)
  structure(class = "protonam_discrimination", list(
    summary = bind(function(rows) auc_row(rows, level)), curve = bind(function(rows) roc_curve(rows, level)),
    thresholds = if (!is.null(thresholds)) bind(function(rows) threshold_rows(rows, thresholds, level)),
    level = level, source = outcomes$source, unit = outcomes$unit, by = outcomes$by_name, name = names(outcomes$sets),
    event = parts[[1L]]$event
  ))
}

#' Thresholds of probabilities
#' @param closed May they be 0 and 1?
#' @noRd
check_thresholds <- function(x, closed = FALSE, arg = "thresholds") {
  inside <- function(v) if (closed) v >= 0 & v <= 1 else v >= 0 & v < 1
  ok <- is.numeric(x) && length(x) && !anyNA(x) && all(inside(x))
  if (!ok) {
    bad <- if (is.numeric(x) && length(x) && !anyNA(x)) x[!inside(x)][1L] else x
    need <- if (closed) "from 0 to 1" else "from 0 to below 1"
    pn_abort("{.arg {arg}} must be numbers {need}, not {describe(bad)}.", class = "threshold", arg = arg)
  }
  sort(unique(as.double(x)))
}

auc_row <- function(rows, level) {
  found <- measure_outcomes(rows, "auc")$auc
  interval <- measure_interval("auc", found$value, influence_error(found$influence, rows), level)
  data.frame(
    n = outcome_count(rows), events = event_count(rows), auc = found$value, lower = interval[1L], upper = interval[2L]
  )
}

#' The ROC curve with its band
#' @noRd
roc_curve <- function(rows, level) {
  weights <- rows$weights %||% rep(1, length(rows$y))
  order <- order(rows$mean, decreasing = TRUE)
  y <- rows$y[order]
  weights <- weights[order]
  # a point of the curve after the last row of each value
  last <- which(!duplicated(rows$mean[order], fromLast = TRUE))
  path <- function(w) {
    event <- cumsum(w * y)[last]
    other <- cumsum(w * (1 - y))[last]
    list(fpr = c(0, other / sum(w * (1 - y))), tpr = c(0, event / sum(w * y)))
  }
  if (!any(y == 1) || !any(y == 0)) {
    return(data.frame(fpr = numeric(), tpr = numeric(), lower = numeric(), upper = numeric()))
  }
  at <- seq(0, 1, length.out = 101L)
  sensitivity <- function(curve) stats::approx(curve$fpr, curve$tpr, at, ties = max, rule = 2)$y
  group <- if (is.null(rows$group)) seq_along(y) else match(rows$group, unique(rows$group))[order]
  # Bayesian bootstrap: a row of several trials has the sum of their exponential weights
  draw <- if (is.null(rows$trials) || !is.null(rows$group)) {
    function() stats::rexp(max(group))[group]
  } else {
    trials <- rows$trials[order]
    function() stats::rgamma(length(trials), trials) / trials
  }
  draws <- with_seed(roc_seed, vapply(seq_len(roc_draws), function(i) {
    sensitivity(path(weights * draw()))
  }, numeric(length(at))))
  tail <- (1 - level) / 2
  ends <- apply(draws, 1L, stats::quantile, c(tail, 1 - tail), na.rm = TRUE, names = FALSE)
  curve <- path(weights)
  # the curve itself with all its steps, the band between
  band <- function(k) stats::approx(at, ends[k, ], curve$fpr)$y
  data.frame(fpr = curve$fpr, tpr = curve$tpr, lower = band(1L), upper = band(2L))
}

threshold_rows <- function(rows, thresholds, level) {
  weights <- rows$weights %||% rep(1, length(rows$y))
  event <- rows$y == 1
  share <- function(hit, among, threshold, measure) {
    w <- weights[among]
    trials <- row_trials(rows)[among]
    value <- if (sum(w) > 0) sum(w * hit[among]) / sum(w) else NA_real_
    interval <- wilson_interval(value, sum(w)^2 / sum(w^2 / trials), level)
    data.frame(
      threshold = threshold, measure = measure, n = sum(trials), value = value, lower = interval$lower,
      upper = interval$upper
    )
  }
  do.call(rbind, lapply(thresholds, function(t) {
    selected <- rows$mean >= t
    rbind(
      share(selected, event, t, "sensitivity"), share(!selected, !event, t, "specificity"),
      share(event, selected, t, "ppv"), share(!event, !selected, t, "npv")
    )
  }))
}

#' @rdname discrimination
#' @param x From `discrimination()`.
#' @param digits Number of digits to show.
#' @export
print.protonam_discrimination <- function(x, digits = 3, ...) {
  cat("Discrimination of predictions of ", event_words(x), ", ", x$source, "\n\n", sep = "")
  number <- function(v) ifelse(is.na(v), "", formatC(v, digits = digits, format = "f"))
  with_interval <- function(table, value) {
    interval <- paste0(" (", number(table$lower), " to ", number(table$upper), ")")
    paste0(number(value), ifelse(is.na(table$lower), "", interval))
  }
  table <- x$summary
  shown <- cbind(
    n = format(table$n, big.mark = ","), events = format(table$events, big.mark = ","),
    AUC = with_interval(table, table$auc)
  )
  rownames(shown) <- part_titles(table) %||% rep("", nrow(table))
  print(shown, quote = FALSE, right = TRUE)
  if (!is.null(x$thresholds)) {
    table <- x$thresholds
    title <- part_titles(table) %||% rep("", nrow(table))
    labels <- c(sensitivity = "sensitivity", specificity = "specificity", ppv = "PPV", npv = "NPV")
    key <- unique(data.frame(title, threshold = table$threshold))
    cells <- matrix(with_interval(table, table$value), ncol = 4L, byrow = TRUE)
    dimnames(cells) <- list(trimws(paste(key$title, format(key$threshold))), labels)
    cat("\nAt thresholds\n")
    print(cells, quote = FALSE, right = TRUE)
  }
  invisible(x)
}

#' "died (event "yes")"
#' @noRd
event_words <- function(x) {
  if (is.null(x$event) || identical(x$event, x$name)) {
    return(x$name)
  }
  paste0(x$name, " (event ", encodeString(x$event, quote = "\""), ")")
}
