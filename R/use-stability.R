# stability(): how much the prediction for a person depends on the sample that the model was developed from.

#' Stability of predictions
#'
#' How far the predictions for the same rows would be from each other if the model had been developed from another
#' sample of the same size, after Riley and Collins (2023). Models from bootstrap samples, on which the whole procedure
#' was repeated, are compared with the fit.
#'
#' @param x A validation by bootstrap, see [validate_protonam()]: its models are used, for the rows of the fit. Or a fit
#'   with several members, and `newdata`: then the members take the place of bootstrap models. As each of them shares
#'   most of its rows with the others, their deviations from the fit are enlarged so that their standard deviation is
#'   the standard error of [predict.protonam()]; no model is fitted, but few members give a coarse picture, and the
#'   screening is not repeated.
#' @param newdata With a fit: a data frame with the features.
#' @param threshold `NULL`, or a probability: how often is a row on the other side of it than by the fit?
#' @param response With several responses or classes: the one that is looked at, by name.
#' @param level Level of the range of predictions that is given for each row.
#' @param ... With a fit: `offset`, `task_default` or `threads`, see [predict.protonam()].
#'
#' @return A list of class `protonam_stability`:
#' * `rows`: a data frame with `prediction` (of the fit), `mape` (mean absolute difference between the predictions of
#'   the models and that of the fit), `lower`, `upper` (the range of the models' predictions), and `changed`, the share
#'   of models that put the row on the other side of the threshold;
#' * `summary`: a data frame with `models`, `mape` (mean over rows), `mape_90` (its ninth decile over rows), and
#'   `changed` (mean over rows);
#' * `predictions`: matrix, one column per model; `y`: the observed response, if known.
#' @references Riley and Collins (2023), Stability of clinical prediction models developed using statistical or machine
#'   learning methods, *Biometrical Journal* 65, \doi{10.1002/bimj.202200302}.
#' @examples
#' icu <- simulate_icu(300, seed = 1)
#' fit <- protonam(died ~ age + lactate + sex, icu, epochs = 2, ensemble = 4, seed = 1)
#' v <- validate_protonam(fit, "bootstrap", repeats = 3, seed = 1)
#' s <- stability(v, threshold = 0.2)
#' s
#' plot(s)
#' stability(fit, icu)
#' @export
stability <- function(x, newdata = NULL, threshold = NULL, response = NULL, level = 0.95, ...) {
  level <- check_number(level, "level", above = 0, below = 1)
  if (!is.null(threshold)) {
    threshold <- check_thresholds(threshold, closed = TRUE, "threshold")
    if (length(threshold) > 1L) {
      pn_abort("{.arg threshold} must be one number, not {length(threshold)}.", class = "threshold", arg = "threshold")
    }
  }
  models <- if (inherits(x, "protonam_validation")) {
    if (!is.null(newdata)) {
      pn_abort(
        "{.arg newdata} requires a fit: a validation has the predictions of its models for the rows of the fit only.",
        class = "argument", arg = "newdata"
      )
    }
    check_dots_empty(list(...), names(formals(stability)))
    bootstrap_models(x, response)
  } else {
    x <- need_fit(x, "x")
    member_models(x, newdata, response, list(...))
  }
  if (!is.null(threshold) && models$family != "binomial") {
    pn_abort("{.arg threshold} needs classes; this is a {models$family} fit.", class = "family", arg = "threshold")
  }
  new_stability(models, threshold, level)
}

#' Predictions of the models of a bootstrap, and of the fit
#' @return list(prediction, predictions [rows, models], y, family, name, source)
#' @noRd
bootstrap_models <- function(x, response) {
  boot <- x$bootstrap
  if (is.null(boot)) {
    pn_abort(
      "{.arg x} must be a validation by bootstrap, or a fit; this validation is by {.val {x$method}}.",
      class = "argument", arg = "x"
    )
  }
  several <- x$family$family == "multinomial"
  choices <- if (several) boot$levels else if (length(boot$original) > 1L) names(boot$original)
  pick <- choose_output(choices, response)
  j <- if (several) 1L else pick
  own <- boot$original[[j]]
  column <- function(mean) if (several) mean[, pick] else mean
  predictions <- do.call(cbind, lapply(boot$predictions[[j]], column))
  list(
    prediction = column(own$mean), predictions = predictions, y = if (several) as.double(own$y == pick - 1) else own$y,
    family = if (several) "binomial" else x$family$family, name = choices[pick] %||% x$name,
    source = sprintf("%d bootstrap samples", ncol(predictions))
  )
}

#' Members of a fit as models of their own, with deviations as large as the standard error
#' @noRd
member_models <- function(fit, newdata, response, dots) {
  need_newdata(
    newdata, c(i = "A validation by bootstrap needs none: {.code stability(validate_protonam(fit, \"bootstrap\"))}.")
  )
  check_predict_dots(dots)
  if (length(fit$members) < 2L) {
    pn_abort(
      c("The members of a fit show its stability, and this fit is one model.", i = "The default fit has eight."),
      class = "no_ensemble", arg = "x"
    )
  }
  family <- fit$family$family
  pick <- choose_output(visible_names(fit), response)
  new <- encode_newdata(fit, newdata, dots$offset, dots$task_default)
  threads <- resolve_threads(dots$threads)
  link_of <- function(members) {
    link <- visible_link(fit, engine_link(fit, new$data, new$unknown, threads, members = members), new$task, new$offset)
    mean <- as.matrix(from_link(fit, link, "response"))[, pick]
    if (family == "multinomial") to_link(stats::binomial(), mean) else link[, pick]
  }
  each <- vapply(seq_along(fit$members), link_of, numeric(new$n))
  each <- matrix(each, new$n)
  own <- link_of(seq_along(fit$members))
  error <- over_members(fit, function(m) list(each[, m]))$sd[[1L]]
  away <- each - rowMeans(each)
  stretch <- error / sqrt(rowMeans(away^2))
  stretch[!is.finite(stretch)] <- 1
  inverse <- if (family == "multinomial") stats::plogis else fit$family$linkinv
  list(
    prediction = inverse(own), predictions = matrix(inverse(own + stretch * away), new$n), y = NULL,
    family = if (family == "multinomial") "binomial" else family,
    name = visible_names(fit)[pick] %||% fit$response$name,
    source = sprintf("%d members, their deviations enlarged to the standard error", length(fit$members))
  )
}

new_stability <- function(models, threshold, level) {
  tail <- (1 - level) / 2
  each <- models$predictions
  ends <- apply(each, 1L, stats::quantile, c(tail, 1 - tail), names = FALSE)
  rows <- data.frame(
    prediction = unname(models$prediction), mape = rowMeans(abs(each - models$prediction)), lower = ends[1L, ],
    upper = ends[2L, ]
  )
  if (!is.null(threshold)) rows$changed <- rowMeans((each >= threshold) != (models$prediction >= threshold))
  structure(class = "protonam_stability", list(
    rows = rows, summary = data.frame(
      models = ncol(each), mape = mean(rows$mape), mape_90 = stats::quantile(rows$mape, 0.9, names = FALSE),
      changed = if (is.null(threshold)) NA_real_ else mean(rows$changed)
    ), predictions = each, y = models$y, threshold = threshold, level = level, family = models$family,
    name = models$name, source = models$source
  ))
}

#' @rdname stability
#' @param digits Number of digits to show.
#' @export
print.protonam_stability <- function(x, digits = 3, ...) {
  number <- function(v) formatC(v, digits = digits, format = "fg", flag = "#")
  cat("Stability of predictions of ", x$name, ", ", count(nrow(x$rows), "row"), ", ", x$source, "\n\n", sep = "")
  facts <- c(
    "Mean absolute difference from the fit" = number(x$summary$mape),
    "exceeded by one row in ten" = number(x$summary$mape_90),
    if (!is.null(x$threshold)) {
      stats::setNames(number(x$summary$changed), paste("Share on the other side of", format(x$threshold)))
    }
  )
  cat(paste0("  ", format(names(facts)), "  ", facts, "\n"), sep = "")
  invisible(x)
}
