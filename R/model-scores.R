# Scores of predictions against observations, all with optional case weights.
#
# y: observed numbers, 0/1, or class numbers from 0. mean: predicted mean, probability, or [rows, classes].

# NA where nothing counts
weighted_mean <- function(x, weights) {
  total <- if (is.null(weights)) length(x) else sum(weights)
  if (total == 0) NA_real_ else if (is.null(weights)) mean(x) else sum(x * weights) / total
}

#' Scores that suit a family
#' @return named numeric vector
#' @noRd
score_predictions <- function(family, y, mean, weights = NULL) {
  known <- !is.na(y)
  y <- y[known]
  mean <- if (is.matrix(mean)) mean[known, , drop = FALSE] else mean[known]
  weights <- weights[known]
  switch(family,
    gaussian = c(
      rmse = score_rmse(y, mean, weights), mae = score_mae(y, mean, weights), r2 = score_r2(y, mean, weights),
      deviance = score_rmse(y, mean, weights)^2
    ),
    poisson = c(
      deviance = weighted_mean(unit_deviance("poisson", y, pmax(mean, 1e-15)), weights),
      rmse = score_rmse(y, mean, weights), mae = score_mae(y, mean, weights)
    ),
    {
      prob <- if (family == "multinomial") mean else cbind(1 - mean, mean)
      logloss <- score_logloss(y, prob, weights)
      c(
        auc = score_auc_classes(y, prob, weights), logloss = logloss, brier = score_brier(y, prob, weights),
        accuracy = weighted_mean(predicted_class(prob) == y, weights), deviance = 2 * logloss
      )
    }
  )
}

#' A tie of two classes goes to the first, as in predict(type = "class")
#' @noRd
predicted_class <- function(prob) max.col(prob, ties.method = "first") - 1L

score_rmse <- function(y, mean, weights = NULL) sqrt(weighted_mean((y - mean)^2, weights))

score_mae <- function(y, mean, weights = NULL) weighted_mean(abs(y - mean), weights)

#' Share of the variance that the predictions explain; below 0 when the mean would do better
#' @noRd
score_r2 <- function(y, mean, weights = NULL) {
  total <- weighted_mean((y - weighted_mean(y, weights))^2, weights)
  if (is.na(total) || total == 0) NA_real_ else 1 - weighted_mean((y - mean)^2, weights) / total
}

#' Mean of minus the log probability of the observed class
#' @noRd
score_logloss <- function(y, prob, weights = NULL) {
  observed <- prob[cbind(seq_along(y), y + 1L)]
  weighted_mean(-log(pmax(observed, 1e-15)), weights)
}

#' Mean squared error of the event's probability; for more than two classes summed over classes
#' @noRd
score_brier <- function(y, prob, weights = NULL) {
  if (ncol(prob) == 2L) {
    return(weighted_mean((y - prob[, 2L])^2, weights))
  }
  weighted_mean(rowSums((outer(y, seq_len(ncol(prob)) - 1, `==`) - prob)^2), weights)
}

#' Area under the ROC curve; NA when only one class was observed. Ties count one half.
#' @noRd
score_auc <- function(event, score, weights = NULL) {
  weights <- weights %||% rep(1, length(event))
  value <- match(score, sort(unique(score)))
  positive <- as.vector(rowsum(weights * event, value))
  negative <- as.vector(rowsum(weights * (1 - event), value))
  if (sum(positive) == 0 || sum(negative) == 0) {
    return(NA_real_)
  }
  sum(positive * (cumsum(negative) - negative / 2)) / (sum(positive) * sum(negative))
}

#' More than two classes: each against the rest, averaged over the classes observed
#' @noRd
score_auc_classes <- function(y, prob, weights = NULL) {
  if (ncol(prob) == 2L) {
    return(score_auc(as.double(y == 1), prob[, 2L], weights))
  }
  each <- vapply(seq_len(ncol(prob)), function(k) score_auc(as.double(y == k - 1), prob[, k], weights), 0)
  if (all(is.na(each))) NA_real_ else mean(each, na.rm = TRUE)
}

score_labels <- c(
  rmse = "RMSE", mae = "MAE", r2 = "R2", auc = "AUC", logloss = "log-loss", brier = "Brier", accuracy = "accuracy",
  deviance = "deviance"
)

#' What a validation score is called
#' @noRd
validation_label <- function(name) c(mse = "mean squared error", score_labels)[[name]]

#' Is more better?
#' @noRd
score_grows <- function(name) name %in% c("auc", "accuracy", "r2")

#' Deviance of single observations, before weighting
#' @noRd
unit_deviance <- function(family, y, mean) {
  log_ratio <- function(a, b) ifelse(a == 0, 0, a * log(a / b))
  switch(family,
    gaussian = (y - mean)^2,
    poisson = 2 * (log_ratio(y, mean) - (y - mean)),
    multinomial = 2 * log_ratio(y, mean),
    2 * (log_ratio(y, mean) + log_ratio(1 - y, 1 - mean))
  )
}
