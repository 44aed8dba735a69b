# Unknown features of a row: missing where the training data had no missing values, or a new level. An unknown feature
# contributes its average effect. In order 1 that is exact: its contribution is replaced by the training mean. In higher
# orders a feature has no separate effect, so predictions are averaged over typical values of it.

unknown_in <- function(unknown, range) {
  here <- lapply(unknown, function(rows) rows[rows >= range[1L] & rows <= range[2L]] - range[1L] + 1)
  if (any(lengths(here) > 0L)) here
}

#' Cumulative predictions of one member, [rows, layer, task x output], in the engine's units
#' @noRd
member_predictions <- function(object, m, data, unknown, threads) {
  evaluate <- function(data) layer_predictions(object, m, data, threads)
  value <- evaluate(data)
  if (is.null(unknown)) {
    return(value)
  }
  rows <- sort(unique(unlist(unknown)))
  if (object$order > 1) {
    value[rows, , ] <- average_typical(object, data, unknown, rows, evaluate)
    return(value)
  }
  some <- encoded_data(encoded_slice(data$features, rows, data$n), length(rows))
  by_layer <- raw_components(object, m, some, layers = TRUE, threads)
  for (i in which(lengths(unknown) > 0L)) {
    at <- match(unknown[[i]], rows)
    mean <- object$centering[[m]][i, , ]
    for (u in seq_len(dim(value)[3L])) {
      change <- matrix(mean, dim(value)[3L])[u, ] - t(matrix(by_layer[at, i, u, ], length(at)))
      # prediction m contains the contributions of layers 1..m
      value[unknown[[i]], , u] <- value[unknown[[i]], , u] + t(matrix(apply(change, 2L, cumsum), nrow(change)))
    }
  }
  value
}

#' Contributions of one member (raw_components()), centred over the training rows, in the engine's units
#' @noRd
centred_components <- function(object, m, data, unknown, layers, threads, keep) {
  evaluate <- function(data) raw_components(object, m, data, layers, threads, keep)
  value <- evaluate(data)
  if (!is.null(unknown) && object$order > 1) {
    rows <- sort(unique(unlist(unknown)))
    value[rows, , , ] <- average_typical(object, data, unknown, rows, evaluate)
  }
  means <- object$centering[[m]]
  if (!is.null(keep)) means <- means[keep, , , drop = FALSE]
  if (!layers) means <- apply(means, c(1L, 2L), sum)
  value <- value - rep(means, each = data$n)
  if (object$order == 1) {
    for (i in which(lengths(unknown) > 0L)) value[unknown[[i]], i, , ] <- 0
  }
  value
}

#' Mean of `evaluate(data)` over typical values of the unknown features
#'
#' The unknown features of a row take their typical values in different orders, so that they do not move together. The
#' order of a feature follows from the unknown ones before it in the same row, so that other rows do not matter.
#' @param evaluate Function of encoded data that returns an array whose first dimension is rows.
#' @noRd
average_typical <- function(object, data, unknown, rows, evaluate) {
  features <- encoded_slice(data$features, rows, data$n)
  n <- length(rows)
  affected <- which(lengths(unknown) > 0L)
  seen <- integer(n) # unknown features of the row so far
  place <- vector("list", length(affected))
  for (k in seq_along(affected)) {
    at <- match(unknown[[affected[k]]], rows)
    seen[at] <- seen[at] + 1L
    place[[k]] <- list(at = at, number = seen[at], index = encoded_index(features[[affected[k]]], n))
  }
  data$features <- features
  total <- 0
  for (j in seq_len(n_typical)) {
    for (k in seq_along(affected)) {
      i <- affected[k]
      number <- place[[k]]$number
      pick <- ((j - 1L) * (2L * number - 1L) + number) %% n_typical + 1L
      values <- features[[i]]$values
      index <- replace(place[[k]]$index, place[[k]]$at, length(values) + pick)
      data$features[[i]] <- encoded_feature(c(values, rep_len(object$encoder[[i]]$typical, n_typical)), index)
    }
    total <- total + evaluate(encoded_data(data$features, n))
  }
  total / n_typical
}
