# Losses of rows, in the engine's units.

#' Loss of each row, in the engine's units
#' @param eta [rows, task x output], offset included
#' @noRd
row_losses <- function(config, data, eta) {
  o <- config$n_outputs
  n <- data$n
  if (config$task_kind == "group") {
    at <- cbind(rep(seq_len(n), o), rep((data$task - 1L) * o, o) + rep(seq_len(o), each = n))
    eta <- matrix(eta[at], n, o)
  }
  y <- data$y
  softplus <- function(x) pmax(x, 0) + log1p(exp(-abs(x)))
  loss <- switch(config$family,
    gaussian = (y - eta)^2,
    binomial = softplus(eta) - y * eta,
    poisson = exp(pmin(eta, 50)) - y * eta,
    multinomial = {
      top <- do.call(pmax, as.data.frame(eta))
      log(rowSums(exp(eta - top))) + top - eta[cbind(seq_len(n), y[, 1L] + 1L)]
    }
  )
  if (is.matrix(loss)) rowMeans(loss, na.rm = TRUE) else loss
}

add_offset <- function(data, eta) if (is.null(data$offset)) eta else eta + data$offset

#' Derivative of a row's loss by its linear predictor: its standard deviation over rows and outputs
#' @noRd
score_spread <- function(config, data, eta) {
  y <- data$y
  root_mean <- function(square) {
    square <- as.matrix(square)
    weights <- rep(data$weights %||% rep(1, data$n), ncol(square))
    sqrt(weighted_mean(square[!is.na(square)], weights[!is.na(square)]))
  }
  if (config$family == "multinomial") {
    top <- do.call(pmax, as.data.frame(eta))
    p <- exp(eta - top)
    p <- p / rowSums(p)
    return(root_mean(p * (1 - p)))
  }
  if (config$task_kind == "group") {
    step <- 1e-4 # only the row's own group has a loss
    slope <- (row_losses(config, data, eta + step) - row_losses(config, data, eta - step)) / (2 * step)
    return(root_mean(slope^2))
  }
  slope <- switch(config$family,
    gaussian = 2 * (eta - y),
    binomial = stats::plogis(eta) - y,
    poisson = exp(pmin(eta, 50)) - y
  )
  root_mean(slope^2)
}

#' Derivatives of every row's loss by its linear predictors
#' @return [rows, task x output]
#' @noRd
loss_slopes <- function(config, data, eta) {
  step <- 1e-4
  matrix(vapply(seq_len(ncol(eta)), function(u) {
    up <- down <- eta
    up[, u] <- up[, u] + step
    down[, u] <- down[, u] - step
    (row_losses(config, data, up) - row_losses(config, data, down)) / (2 * step)
  }, numeric(data$n)), data$n)
}

#' Rows of a balanced binary response, or of large counts, that would be as informative: few events tell less
#' @noRd
equivalent_rows <- function(config, data) {
  weights <- data$weights %||% rep(1, data$n)
  share <- function(y) stats::weighted.mean(y, weights * !is.na(y), na.rm = TRUE)
  y <- data$y
  each <- switch(config$family,
    gaussian = 1,
    binomial = mean(apply(y, 2L, function(y) 4 * share(y) * (1 - share(y)))),
    poisson = min(mean(apply(y, 2L, share)), 1),
    multinomial = min(2 * (1 - sum(vapply(unique(y[, 1L]), function(k) share(y[, 1L] == k)^2, 0))), 1)
  )
  sum(weights) * each
}

#' Share of the loss that layer 0 alone explains
#' @noRd
explained_share <- function(config, data, eta) {
  weights <- data$weights %||% rep(1, data$n)
  mean_loss <- function(eta) {
    loss <- row_losses(config, data, eta)
    sum((loss * weights)[is.finite(loss)]) / sum(weights[is.finite(loss)])
  }
  null <- fit_base(config, data, list(terms = rep(list(no_term), length(data$features)), handle = NULL))$eta
  explained <- 1 - mean_loss(eta) / mean_loss(add_offset(data, null))
  min(max(explained, 0), 1)
}

no_term <- list(kind = "none", knots = numeric(), missing = FALSE)

#' Each row's working response and information, of one Fisher scoring step
#'
#' @param eta [rows, task x output], offset included.
#' @param groups NULL, or groups of rows that belong together: where their residuals agree, rows count for less.
#' @return list(response = what a row adds to its linear predictor, information), matrices [rows, task x output];
#'   no information where a row has no response, or belongs to another group task
#' @noRd
working_rows <- function(config, data, eta, groups = NULL) {
  o <- config$n_outputs
  weights <- data$weights %||% rep(1, data$n)
  response <- information <- matrix(0, data$n, ncol(eta))
  for (s in seq_len(config$n_tasks)) {
    columns <- (s - 1L) * o + seq_len(o)
    y <- data$y[, if (config$task_kind == "response") s else 1L]
    mean <- task_mean(config$family, eta[, columns, drop = FALSE])
    if (config$family == "multinomial") y <- outer(y, seq_len(o) - 1, `==`) + 0
    own <- if (config$task_kind == "group") data$task == s else TRUE
    use <- weights * (own & !is.na(y))
    spread <- pmax(variance(config$family, mean), 1e-6)
    residual <- ifelse(is.na(y), 0, y - mean)
    response[, columns] <- residual / spread
    information[, columns] <- use * spread
  }
  spread <- dispersion(config, response, information, groups)
  list(response = response, information = information / rep(spread, each = data$n))
}

task_mean <- function(family, eta) {
  switch(family,
    gaussian = eta,
    binomial = stats::plogis(eta),
    poisson = exp(pmin(eta, 50)),
    multinomial = {
      p <- exp(eta - do.call(pmax, as.data.frame(eta)))
      p / rowSums(p)
    }
  )
}

#' Variance of the scores over their information, per output: the residual variance of a gaussian response, at least 1
#' for the others; larger where rows of a group have residuals alike
#' @noRd
dispersion <- function(config, response, information, groups) {
  score <- information * response
  square <- colSums(score * response)
  found <- square / pmax(colSums(information), .Machine$double.xmin)
  own <- switch(config$family,
    gaussian = pmax(found, .Machine$double.xmin),
    poisson = pmax(found, 1),
    rep(1, ncol(response))
  )
  if (is.null(groups) || !anyDuplicated(groups)) {
    return(own)
  }
  own * pmax(colSums(rowsum(score, groups)^2) / pmax(colSums(score^2), .Machine$double.xmin), 1)
}
