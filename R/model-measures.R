# Measures of predictions, each with its influence function: how far a row moves it. Standard errors come from these,
# with the rows of a group taken together.
#
# Outcomes are list(family: a family object, y: observed numbers, 0/1, or class numbers from 0, mean: predictions, or
# [rows, classes], link: linear predictors (NULL for several classes), weights: NULL or case weights, group: NULL or ids
# of rows that belong together, index: optional, where the rows come from, trials: NULL or how many trials a row stands
# for (R/data-trials.R), each of which counts as an observation).

family_measures <- list(
  gaussian = c("rmse", "mae", "r2", "intercept", "slope"),
  binomial = c("auc", "brier", "logloss", "intercept", "slope"),
  poisson = c("deviance", "rmse", "intercept", "slope"),
  multinomial = c("auc", "brier", "logloss", "accuracy")
)

#' What measures are called
#' @noRd
measure_label <- function(names) {
  unname(c(score_labels, intercept = "calibration-in-the-large", slope = "calibration slope")[names])
}

# intervals are symmetric on these scales, the others on that of the measure itself
measure_scales <- c(
  auc = "logit", accuracy = "logit", brier = "log", logloss = "log", rmse = "log", mae = "log", deviance = "log"
)

#' Measures of a family, or those named
#' @return list of list(value, influence), named
#' @noRd
measure_outcomes <- function(rows, names = family_measures[[rows$family$family]]) {
  stats::setNames(lapply(names, measure_one, rows = rows), names)
}

#' Observations that each row stands for
#' @noRd
row_trials <- function(rows) rows$trials %||% rep(1L, length(rows$y))

outcome_count <- function(rows) if (is.null(rows$trials)) length(rows$y) else sum(rows$trials)

event_count <- function(rows) if (is.null(rows$trials)) sum(rows$y == 1) else sum(rows$trials[rows$y == 1])

#' Some of the rows
#' @param at Logical, or positions.
#' @noRd
take_outcomes <- function(rows, at) {
  for (field in intersect(c("y", "link", "weights", "trials", "group", "index"), names(rows))) {
    if (!is.null(rows[[field]])) rows[[field]] <- rows[[field]][at]
  }
  rows$mean <- if (is.matrix(rows$mean)) rows$mean[at, , drop = FALSE] else rows$mean[at]
  rows
}

measure_one <- function(name, rows) {
  family <- rows$family$family
  y <- rows$y
  w <- rows$weights %||% rep(1, length(y))
  mean <- rows$mean
  if (!length(y) || !any(w > 0)) {
    return(no_measure(length(y)))
  }
  probability <- function() if (is.matrix(mean)) mean else cbind(1 - mean, mean)
  switch(name,
    auc = measure_auc(y, probability(), w, row_trials(rows)),
    brier = measure_mean(row_brier(y, probability()), w),
    logloss = measure_mean(row_logloss(y, probability()), w),
    accuracy = measure_mean(as.double(predicted_class(probability()) == y), w),
    rmse = measure_root(measure_mean((y - mean)^2, w)),
    mae = measure_mean(abs(y - mean), w),
    r2 = measure_r2(y, mean, w),
    deviance = measure_mean(unit_deviance(family, y, pmax(mean, 1e-15)), w),
    intercept = measure_line(rows, w, slope = FALSE),
    slope = measure_line(rows, w, slope = TRUE)
  )
}

no_measure <- function(n) list(value = NA_real_, influence = rep(NA_real_, n))

measure_mean <- function(x, w) {
  value <- weighted_mean(x, w)
  list(value = value, influence = x - value)
}

measure_root <- function(square) {
  value <- sqrt(square$value)
  list(value = value, influence = if (value > 0) square$influence / (2 * value) else 0 * square$influence)
}

measure_r2 <- function(y, mean, w) {
  error <- measure_mean((y - mean)^2, w)
  total <- measure_mean((y - weighted_mean(y, w))^2, w)
  if (total$value <= 0) {
    return(no_measure(length(y)))
  }
  ratio <- error$value / total$value
  list(value = 1 - ratio, influence = (ratio * total$influence - error$influence) / total$value)
}

#' AUC with its influence by placement values (DeLong, DeLong and Clarke-Pearson); several classes: each against the
#' rest
#' @noRd
measure_auc <- function(y, prob, w, trials = rep(1, length(y))) {
  if (ncol(prob) == 2L) {
    return(measure_auc_two(y == 1, prob[, 2L], w, trials))
  }
  each <- lapply(seq_len(ncol(prob)), function(k) measure_auc_two(y == k - 1, prob[, k], w, trials))
  each <- Filter(function(one) !is.na(one$value), each)
  if (!length(each)) {
    return(no_measure(length(y)))
  }
  list(
    value = mean(vapply(each, `[[`, 0, "value")),
    influence = rowMeans(do.call(cbind, lapply(each, `[[`, "influence")))
  )
}

measure_auc_two <- function(event, score, w, trials) {
  if (!any(w[event] > 0) || !any(w[!event] > 0)) {
    return(no_measure(length(event)))
  }
  value <- match(score, sort(unique(score)))
  # share of the other class that a row exceeds; ties count one half
  above <- function(other) {
    mass <- as.vector(rowsum(c(w * other, rep(0, max(value))), c(value, seq_len(max(value)))))
    ((cumsum(mass) - mass / 2) / sum(mass))[value]
  }
  placement <- ifelse(event, above(!event), 1 - above(event))
  auc <- weighted_mean(placement[event], w[event])
  influence <- numeric(length(event))
  for (class in c(TRUE, FALSE)) {
    own <- event == class
    size <- sum(w[own])^2 / sum(w[own]^2 / trials[own])
    # variances of placement values have one degree of freedom less than there are rows
    unbiased <- if (size > 1) sqrt(size / (size - 1)) else 1
    influence[own] <- (placement[own] - auc) * sum(w) / sum(w[own]) * unbiased
  }
  list(value = auc, influence = influence)
}

row_brier <- function(y, prob) {
  if (ncol(prob) == 2L) (y - prob[, 2L])^2 else rowSums((outer(y, seq_len(ncol(prob)) - 1, `==`) - prob)^2)
}

row_logloss <- function(y, prob) -log(pmax(prob[cbind(seq_along(y), y + 1L)], 1e-15))

#' Slope of the observations on the linear predictor, or their mean difference on the link scale (slope 1)
#' @noRd
measure_line <- function(rows, w, slope) {
  line <- calibration_fit(rows$family, rows$y, rows$link, w, slope)
  if (is.null(line)) {
    return(no_measure(length(w)))
  }
  which <- if (slope) 2L else 1L
  list(value = line$coefficients[which], influence = line$influence[, which])
}

#' Regression of the observations on the linear predictor, by maximum likelihood with the canonical link
#' @param slope Estimate it, or keep it at 1?
#' @return list(coefficients: intercept (and slope), influence [rows, coefficients]), NULL where there is none
#' @noRd
calibration_fit <- function(family, y, link, weights, slope = TRUE) {
  seen <- weights > 0
  if (is.null(link) || any(!is.finite(link)) || (slope && (sum(seen) < 3L || stats::sd(link[seen]) < 1e-8))) {
    return(NULL)
  }
  design <- if (slope) cbind(1, link) else matrix(1, length(y), 1L)
  fit <- regress(family, design, y, weights, if (!slope) link)
  if (is.null(fit)) {
    return(NULL)
  }
  list(coefficients = unname(fit$coefficients), influence = fit$influence)
}

#' glm.fit() without warnings: NULL where it stops, does not converge, or leaves coefficients undetermined
#' @noRd
guarded_glm <- function(design, y, weights, family, offset = NULL, ...) {
  fit <- tryCatch(
    suppressWarnings(stats::glm.fit(design, y, weights = weights, offset = offset, family = family, ...)),
    error = function(e) NULL
  )
  if (!is.null(fit) && fit$converged && fit$rank == ncol(design)) fit
}

#' A regression with the canonical link of the family, and the influence of rows on its coefficients
#' @return list(coefficients, linear: linear predictors, influence), NULL where it did not converge
#' @noRd
regress <- function(family, design, y, weights, offset = NULL) {
  fit <- guarded_glm(design, y, weights, family, offset, control = list(epsilon = 1e-12, maxit = 100))
  if (is.null(fit) || is_separated(family, fit, weights)) {
    return(NULL)
  }
  share <- weights / sum(weights)
  variance <- family$variance(fit$fitted.values)
  information <- crossprod(design, design * share * variance)
  inverse <- tryCatch(solve(information), error = function(e) NULL)
  if (is.null(inverse)) {
    return(NULL)
  }
  list(
    coefficients = fit$coefficients, linear = fit$linear.predictors,
    influence = (design * (y - fit$fitted.values)) %*% inverse
  )
}

#' Are the classes told apart without an error, so that the likelihood has no maximum?
#' @noRd
is_separated <- function(family, fit, weights) {
  family$family == "binomial" && all(pmin(fit$fitted.values, 1 - fit$fitted.values)[weights > 0] < 1e-6)
}

#' Standard error of a measure from its influence
#' @param rows Outcomes, of which weights, groups and trials matter.
#' @noRd
influence_error <- function(influence, rows = list()) sqrt(influence_covariance(as.matrix(influence), rows)[1L])

#' Covariance of measures or coefficients from the influence of rows
#' @param influence [rows, measures]
#' @noRd
influence_covariance <- function(influence, rows) {
  weights <- rows$weights %||% rep(1, nrow(influence))
  part <- weights * influence / sum(weights)
  group <- rows$group
  if (!is.null(group) && anyDuplicated(group)) {
    part <- rowsum(part, match(group, unique(group)))
    # few groups contain little information on how groups vary
    part <- part * sqrt(nrow(part) / max(nrow(part) - 1, 1))
  } else if (!is.null(rows$trials)) {
    # the trials of a row are independent of each other
    part <- part / sqrt(rows$trials)
  }
  crossprod(part)
}

#' Interval of a measure, symmetric on the scale that suits it
#' @param error Standard error; `at` where it was found, if not at the value.
#' @return c(lower, upper), NA where there is none
#' @noRd
measure_interval <- function(name, value, error, level = 0.95, at = value) {
  z <- stats::qnorm((1 + level) / 2)
  scale <- if (name %in% names(measure_scales)) measure_scales[[name]] else "identity"
  if (anyNA(c(value, error, at))) {
    return(c(NA_real_, NA_real_))
  }
  switch(scale,
    identity = value + c(-1, 1) * z * error,
    log = if (value > 0 && at > 0) value * exp(c(-1, 1) * z * error / at) else c(NA_real_, NA_real_),
    logit = if (min(value, 1 - value, at, 1 - at) > 0) {
      stats::plogis(stats::qlogis(value) + c(-1, 1) * z * error / (at * (1 - at)))
    } else {
      c(NA_real_, NA_real_)
    }
  )
}

#' Measures of outcomes as a table
#' @return data frame (measure, value, error)
#' @noRd
measure_table <- function(rows) {
  found <- measure_outcomes(rows)
  data.frame(
    measure = names(found), value = vapply(found, `[[`, 0, "value"),
    error = vapply(found, function(one) influence_error(one$influence, rows), 0), row.names = NULL
  )
}
