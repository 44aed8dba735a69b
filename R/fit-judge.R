# How well a fit predicts rows that it was not trained on: out of fold, or validation rows.

#' Scores with intervals from predictions of rows that were left out
#'
#' @param link [rows, visible outputs]; y, weights, task of the same rows; groups NULL or their groups. Without groups,
#'   each of the trials of a row is an observation.
#' @return data frame (score, value, lower, upper), NULL where nothing can be judged
#' @noRd
judge <- function(object, link, y, weights = NULL, groups = NULL, level = 0.95) {
  family <- object$family$family
  if (!is.null(object$response$names) || !nrow(link) || all(is.na(link))) {
    return(NULL)
  }
  known <- !is.na(link[, 1L]) & !is.na(y[, 1L])
  link <- link[known, , drop = FALSE]
  y <- y[known, 1L]
  weights <- as_counts(weights[known])
  mean <- from_link(object, link, "response")
  loss <- row_deviance(object, y, mean) / if (family %in% c("binomial", "multinomial")) 2 else 1
  group <- groups[known] %||% seq_along(y)
  z <- stats::qnorm((1 + level) / 2)
  average <- weighted_mean(loss, weights)
  trials <- if (isTRUE(object$response$trials) && is.null(groups)) weights
  error <- mean_error(loss, weights, group, trials)
  main <- c(average, average - z * error, average + z * error)
  rows <- if (family == "gaussian") {
    total <- weighted_mean((y - weighted_mean(y, weights))^2, weights)
    list(RMSE = sqrt(pmax(main, 0)), R2 = 1 - main[c(1L, 3L, 2L)] / total)
  } else if (family == "poisson") {
    list(deviance = pmax(main, 0))
  } else {
    c(
      if (family == "binomial") list(AUC = auc_interval(y, mean, weights, z)),
      list("log-loss" = pmax(main, 0))
    )
  }
  slope <- calibration_slope(object, link, y, weights, z)
  if (!is.null(slope)) rows <- c(rows, list("calibration slope" = slope))
  table <- do.call(rbind, rows)
  data.frame(score = names(rows), value = table[, 1L], lower = table[, 2L], upper = table[, 3L], row.names = NULL)
}

#' The loss of left-out rows, for a search: of validation rows if there are any, otherwise out of fold
#' @return list(score, name, rows), NULL without such rows
#' @noRd
left_out_loss <- function(object, judged, weights) {
  rows <- "validation"
  if (!nrow(judged$link)) {
    if (is.null(object$out_of_fold)) {
      return(NULL)
    }
    rows <- "out-of-fold"
    judged <- list(link = object$out_of_fold, y = object$y, weights = weights)
  }
  family <- object$family$family
  name <- switch(family,
    gaussian = "mse",
    poisson = "deviance",
    "logloss"
  )
  known <- !is.na(judged$link[, 1L])
  mean <- as.matrix(from_link(object, judged$link[known, , drop = FALSE], "response"))
  each <- vapply(seq_len(ncol(judged$y)), function(j) {
    one <- if (family == "multinomial") mean else mean[, j]
    scores <- score_predictions(family, judged$y[known, j], one, judged$weights[known])
    if (family == "gaussian") {
      # several responses have equal weight
      scores[["deviance"]] / if (is.null(object$response$names)) 1 else object$response$scale[j]^2
    } else {
      scores[[name]]
    }
  }, 0)
  list(score = mean(each, na.rm = TRUE), name = name, rows = rows)
}

#' Deviance of each row at predicted means, or at probabilities [rows, classes]
#' @noRd
row_deviance <- function(object, y, mean) {
  family <- object$family$family
  switch(family,
    gaussian = unit_deviance(family, y, mean),
    poisson = unit_deviance(family, y, pmax(mean, 1e-15)),
    binomial = unit_deviance(family, y, pmin(pmax(mean, 1e-15), 1 - 1e-15)),
    multinomial = -2 * log(pmax(mean[cbind(seq_along(y), y + 1L)], 1e-15))
  )
}

#' Does the fit predict left-out rows better than no features at all? Its gain in standard errors
#' @noRd
gain_over_nothing <- function(object, link, y, weights = NULL, groups = NULL) {
  if (!is.null(object$response$names) || all(is.na(link))) {
    return(NA_real_)
  }
  known <- !is.na(link[, 1L]) & !is.na(y[, 1L])
  y <- y[known, 1L]
  w <- weights[known] %||% rep(1, length(y))
  mean <- from_link(object, link[known, , drop = FALSE], "response")
  nothing <- if (object$family$family == "multinomial") {
    share <- as.vector(tapply(w, factor(y, seq_along(object$response$levels) - 1L), sum, default = 0)) / sum(w)
    matrix(rep(share, each = length(y)), length(y))
  } else if (!is.null(object$offset_values)) {
    # no features, only what is known in advance
    alone <- suppressWarnings(stats::glm.fit(
      rep(1, length(y)), y,
      weights = w, offset = object$offset_values[known], family = object$family
    ))
    alone$fitted.values
  } else {
    rep(weighted_mean(y, w), length(y))
  }
  gain <- row_deviance(object, y, nothing) - row_deviance(object, y, mean)
  mean_in_errors(w * gain, groups[known] %||% seq_along(y))
}

#' A final recalibration, if out-of-fold predictions call for it
#'
#' The linear predictor is stretched or shrunk as a whole, so that intercept and terms still add up, and shifted so that
#' the mean of the out-of-fold predictions is that of the observations.
#' @return fields, with `calibration` = c(intercept, slope) if anything was changed
#' @noRd
recalibrate <- function(fields, weights) {
  single <- fields$config$n_tasks * fields$config$n_outputs == 1L
  if (!single || is.null(fields$out_of_fold) || !is.null(fields$offset_values)) {
    return(fields)
  }
  known <- !is.na(fields$out_of_fold[, 1L])
  weights <- as_counts(weights[known])
  if (all(weights == 1)) weights <- NULL # as if there were none, to the last bit
  link <- fields$out_of_fold[known, , drop = FALSE]
  y <- fields$y[known, 1L]
  line <- calibration_line(fields, link, y, weights)
  if (is.null(line)) {
    return(fields)
  }
  slope <- believable_slope(line, length(fields$members))
  intercept <- level_intercept(fields, slope * link[, 1L], y, weights)
  if (is.null(intercept) || (slope == 1 && abs(intercept) < least_shift * fields$response$scale)) {
    return(fields)
  }
  fields$response$scale <- fields$response$scale * slope
  fields$response$center <- intercept + slope * fields$response$center
  fields$fitted <- intercept + slope * fields$fitted
  fields$out_of_fold <- intercept + slope * fields$out_of_fold
  fields$calibration <- c(intercept = intercept, slope = slope)
  fields
}

slope_spread <- 0.1 # of the calibration slopes of fits like these, around 1
least_stretch <- 0.02 # smaller changes are not reported
least_shift <- 0.01 # of the linear predictor, in units of the engine

#' A calibration slope shrunk towards 1, according to its standard error
#'
#' Members see (K - 1) / K of the rows, and are overfitted by that much more than a fit to all rows.
#' @noRd
believable_slope <- function(line, k) {
  slope <- 1 + (line$slope - 1) * (k - 1) / k * slope_spread^2 / (slope_spread^2 + line$error^2)
  if (abs(slope - 1) < least_stretch) 1 else slope
}

#' The intercept that gives predictions the mean of the observations
#'
#' It is not shrunk, as that of a penalised regression is not: predictions out of fold follow the observed rate, so that
#' what they miss it by is mostly a bias (that of averaging over uncertain links), not chance.
#' @param stretched Linear predictors without intercept.
#' @return NULL if there is none
#' @noRd
level_intercept <- function(object, stretched, y, weights) {
  one <- rep(1, length(y))
  fit <- guarded_glm(matrix(one), y, weights %||% one, object$family, stretched)
  if (!is.null(fit) && is.finite(fit$coefficients[[1L]])) fit$coefficients[[1L]]
}

#' Standard error of a weighted mean, rows of a group taken together
#' @param trials NULL, or the number of independent trials that each row stands for.
#' @noRd
mean_error <- function(x, weights, group, trials = NULL) {
  weights <- weights %||% rep(1, length(x))
  part <- weights * (x - weighted_mean(x, weights))
  if (anyDuplicated(group)) part <- as.vector(rowsum(part, group))
  if (!is.null(trials)) part <- part / sqrt(trials)
  sqrt(sum(part^2)) / sum(weights)
}

#' AUC with Newcombe's score interval: the values whose own standard error, that of Hanley and McNeil, reaches the AUC
#'
#' Unlike an interval from the standard error at the AUC it is right near 1, where that error vanishes.
#' @noRd
auc_interval <- function(y, score, weights, z) {
  auc <- score_auc(as.double(y), score, weights)
  weights <- weights %||% rep(1, length(y))
  events <- sum(weights[y == 1])
  others <- sum(weights[y == 0])
  if (is.na(auc)) {
    return(c(NA_real_, NA, NA))
  }
  beyond <- function(at) {
    q1 <- at / (2 - at)
    q2 <- 2 * at^2 / (1 + at)
    variance <- (at * (1 - at) + (events - 1) * (q1 - at^2) + (others - 1) * (q2 - at^2)) / (events * others)
    (auc - at)^2 - z^2 * variance
  }
  end <- function(from, to) {
    if (beyond(from) <= 0) from else stats::uniroot(beyond, c(from, to), tol = 1e-8)$root
  }
  inside <- pmin(pmax(auc, 1e-9), 1 - 1e-9)
  c(auc, if (auc > 0) end(0, inside) else 0, if (auc < 1) end(1, inside) else 1)
}

#' Slope of the observations on the linear predictor: 1 if predictions vary as much as they should
#' @return c(slope, lower, upper), NULL where it cannot be estimated
#' @noRd
calibration_slope <- function(object, link, y, weights, z) {
  found <- calibration_line(object, link, y, weights)
  if (is.null(found)) NULL else c(found$slope, found$slope + c(-1, 1) * z * found$error)
}

#' Regression of the observations on the linear predictor
#' @param weights From as_counts().
#' @noRd
calibration_line <- function(object, link, y, weights) {
  family <- object$family$family
  weights <- weights %||% rep(1, length(y))
  if (family == "multinomial" || nrow(link) < 3L || stats::sd(link[, 1L]) < 1e-8) {
    return(NULL)
  }
  fit <- guarded_glm(cbind(1, link[, 1L]), y, weights, object$family)
  if (is.null(fit)) {
    return(NULL)
  }
  covariance <- chol2inv(fit$qr$qr[1:2, 1:2, drop = FALSE])
  dispersion <- if (family == "gaussian") sum(fit$weights * fit$residuals^2) / max(sum(weights) - 2, 1) else 1
  list(
    intercept = fit$coefficients[[1L]], slope = fit$coefficients[[2L]], error = sqrt(dispersion * covariance[2L, 2L])
  )
}
