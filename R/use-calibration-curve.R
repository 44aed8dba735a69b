# Calibration curves: observed values as a smooth function of predicted ones, and how far the two are apart.

#' Restricted cubic splines: cubic between the knots, linear beyond them
#' @return [length(x), number of knots - 1]
#' @noRd
restricted_cubic <- function(x, knots) {
  k <- length(knots)
  if (k < 3L) {
    return(matrix(x, ncol = 1L))
  }
  cube <- function(u) pmax(u, 0)^3
  last <- knots[k]
  before <- knots[k - 1L]
  parts <- lapply(seq_len(k - 2L), function(j) {
    (cube(x - knots[j]) - cube(x - before) * (last - knots[j]) / (last - before) +
      cube(x - last) * (before - knots[j]) / (last - before)) / (last - knots[1L])^2
  })
  cbind(x, do.call(cbind, parts))
}

#' Knots at quantiles of the linear predictors, fewer where there are few events
#' @noRd
calibration_knots <- function(rows) {
  n <- outcome_count(rows)
  size <- if (rows$family$family == "binomial") min(event_count(rows), n - event_count(rows)) else n
  share <- if (size >= 200) {
    c(0.05, 0.275, 0.5, 0.725, 0.95)
  } else if (size >= 50) {
    c(0.05, 0.35, 0.65, 0.95)
  } else if (size >= 10) {
    c(0.1, 0.5, 0.9)
  } else {
    numeric()
  }
  knots <- unique(outcome_quantile(rows$link, rows$trials, share))
  if (length(knots) < 3L || min(diff(knots)) < 1e-6 * diff(range(knots))) numeric() else knots
}

#' Observed values as a function of predictions
#'
#' @param rows Outcomes (R/model-measures.R) of one response.
#' @param smooth "spline": regression on a restricted cubic spline of the linear predictor; "lowess": of the
#'   observations on the predictions, without a band.
#' @return list(at: function(mean) giving a data frame (observed, lower, upper)), NULL where there is none
#' @noRd
calibration_curve <- function(rows, smooth, level) {
  if (smooth == "lowess") {
    line <- stats::lowess(rows$mean, rows$y, iter = 0)
    return(list(at = function(mean) {
      data.frame(observed = stats::approx(line, xout = mean, ties = mean_of)$y, lower = NA_real_, upper = NA_real_)
    }))
  }
  weights <- rows$weights %||% rep(1, length(rows$y))
  knots <- calibration_knots(rows)
  design <- function(link) cbind(1, restricted_cubic(link, knots))
  varies <- length(rows$y) > 3L && stats::sd(rows$link) > 1e-8
  fit <- if (varies) regress(rows$family, design(rows$link), rows$y, weights)
  if (is.null(fit)) {
    return(NULL)
  }
  covariance <- influence_covariance(fit$influence, rows)
  z <- stats::qnorm((1 + level) / 2)
  list(at = function(mean) {
    x <- design(to_link(rows$family, mean))
    linear <- drop(x %*% fit$coefficients)
    error <- sqrt(pmax(rowSums((x %*% covariance) * x), 0))
    inverse <- rows$family$linkinv
    data.frame(
      observed = inverse(linear), lower = inverse(linear - z * error), upper = inverse(linear + z * error)
    )
  })
}

mean_of <- function(x) mean(x)

#' Linear predictors of means; a probability of 0 or 1 in floating point stays finite
#' @noRd
to_link <- function(family, mean) {
  if (family$family == "binomial") {
    mean <- pmin(pmax(mean, 1e-15), 1 - 1e-15)
  } else if (family$family == "poisson") {
    mean <- pmax(mean, 1e-300)
  }
  family$linkfun(mean)
}

#' How far curve and predictions are apart, over the rows
#'
#' @return c(ici: mean absolute difference (integrated calibration index), e50, e90, emax: its quantiles and maximum,
#'   eci: 100 times the mean squared difference (estimated calibration index))
#' @noRd
calibration_distances <- function(rows, curve) {
  if (is.null(curve)) {
    return(c(ici = NA, e50 = NA, e90 = NA, emax = NA, eci = NA) + 0)
  }
  gap <- abs(curve$at(rows$mean)$observed - rows$mean)
  weights <- rows$weights
  quantile_of <- function(p) {
    if (is.null(weights)) {
      return(unname(stats::quantile(gap, p)))
    }
    at <- order(gap)
    gap[at][which(cumsum(weights[at]) >= p * sum(weights))[1L]]
  }
  c(
    ici = weighted_mean(gap, weights), e50 = quantile_of(0.5), e90 = quantile_of(0.9), emax = max(gap),
    eci = 100 * weighted_mean(gap^2, weights)
  )
}

#' Rows in ten groups of increasing prediction: mean prediction, mean observation and its interval
#'
#' Wilson's interval for shares of events, the normal one for other means.
#' @return data frame (n, predicted, observed, lower, upper)
#' @noRd
prediction_groups <- function(rows, level = 0.95, groups = 10L) {
  weights <- rows$weights %||% rep(1, length(rows$y))
  breaks <- unique(outcome_quantile(rows$mean, rows$trials, 0:groups / groups))
  group <- findInterval(rows$mean, breaks, rightmost.closed = TRUE)
  sum_by <- function(x) rowsum(x, group)[, 1L]
  total <- sum_by(weights)
  observed <- sum_by(weights * rows$y) / total
  size <- total^2 / sum_by(weights^2 / row_trials(rows))
  z <- stats::qnorm((1 + level) / 2)
  if (rows$family$family == "binomial") {
    interval <- wilson_interval(observed, size, level)
  } else {
    variance <- sum_by(weights * (rows$y - observed[as.character(group)])^2) / total
    half <- z * sqrt(variance / pmax(size - 1, 1))
    interval <- list(lower = observed - half, upper = observed + half)
  }
  data.frame(
    n = as.double(sum_by(row_trials(rows))), predicted = sum_by(weights * rows$mean) / total, observed = observed,
    lower = interval$lower, upper = interval$upper, row.names = NULL
  )
}

#' Numbers of rows by prediction, of events and others apart
#' @return data frame (from, to, events, others); of other responses all rows are others
#' @noRd
prediction_histogram <- function(rows, bins = 40L) {
  binary <- rows$family$family == "binomial"
  ends <- if (binary) c(0, 1) else range(rows$mean)
  if (diff(ends) <= 0) ends <- ends + c(-0.5, 0.5)
  breaks <- seq(ends[1L], ends[2L], length.out = bins + 1L)
  bin <- findInterval(rows$mean, breaks, rightmost.closed = TRUE)
  event <- binary & rows$y == 1
  count <- function(at) as.vector(tapply(row_trials(rows)[at], factor(bin[at], seq_len(bins)), sum, default = 0L))
  data.frame(from = breaks[-length(breaks)], to = breaks[-1L], events = count(event), others = count(!event))
}

#' Quantiles of numbers, each as often as it has trials
#' @noRd
outcome_quantile <- function(x, trials, probs) {
  if (is.null(trials)) {
    return(stats::quantile(x, probs, names = FALSE))
  }
  order <- order(x)
  upto <- cumsum(trials[order])
  # as quantile() interpolates
  rank <- (upto[length(upto)] - 1) * probs + 1
  at <- function(k) x[order][pmin(findInterval(k, upto, left.open = TRUE) + 1L, length(x))]
  at(floor(rank)) + (rank - floor(rank)) * (at(ceiling(rank)) - at(floor(rank)))
}
