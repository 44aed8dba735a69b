# Which pairs an order 2 model has: all, those of a formula, or the strongest few found in the data.

#' Chosen pairs as components
#'
#' A feature that is in no chosen pair keeps a main effect, as the component (i, i).
#' @param pairs A one-sided formula, or a number.
#' @param screen Function(number) -> 2-row matrix of the strongest pairs; called when `pairs` is a number.
#' @return 2-row integer matrix with columns in lexicographic order
#' @noRd
choose_pairs <- function(pairs, features, order, screen) {
  if (order != 2) {
    pn_abort("{.arg pairs} picks components of an {.code order = 2} fit; {.arg order} is {order}.",
      class = "pairs", arg = "pairs"
    )
  }
  if (inherits(pairs, "formula")) {
    chosen <- formula_pairs(pairs, features)
  } else {
    refuse_if(
      !is.numeric(pairs), pairs, "pairs", "NULL, a formula such as {.code ~ a:b + c:d}, or a number", class = "pairs"
    )
    number <- check_number(pairs, "pairs", min = 1, max = choose(length(features), 2), whole = TRUE)
    chosen <- screen(number)
  }
  alone <- setdiff(seq_along(features), chosen)
  chosen <- cbind(chosen, rbind(alone, alone, deparse.level = 0L))
  chosen[, order(chosen[1L, ], chosen[2L, ]), drop = FALSE]
}

formula_pairs <- function(pairs, features) {
  terms <- stats::terms(pairs, keep.order = TRUE, allowDotAsName = TRUE)
  members <- attr(terms, "factors")
  if (length(pairs) != 2L || !length(members) || any(attr(terms, "order") > 2L)) {
    pn_abort(
      "{.arg pairs} must be a one-sided formula of pairs such as {.code ~ a:b + c:d}, not {.code {deparse1(pairs)}}.",
      class = "pairs", arg = "pairs"
    )
  }
  named <- vapply(as.list(attr(terms, "variables"))[-1L], expression_name, "")
  check_features(named, features, "pairs", class = "pairs")
  index <- match(named, features)
  # a term of one feature requests its main effect
  matrix(apply(members > 0, 2L, function(used) as.integer(rep_len(sort(index[used]), 2L))), nrow = 2L)
}

screen_rows <- 50000L
screen_bins <- 8L

#' The strongest interactions, found in tables of residuals
#'
#' Columns are cut into 8 bins (and one for missing values). Additive effects of all bins are fitted by least squares;
#' a pair's strength is the sum of squares that its two-way table explains beyond its margins, minus what noise would
#' explain.
#' @param data Encoded training data with y in the engine's units.
#' @param counts Per feature, the weight of each of its values.
#' @param classes Number of classes if y holds class numbers, else NULL.
#' @return 2-row integer matrix of feature numbers, strongest first
#' @noRd
screen_pairs <- function(data, counts, number, classes, seed) {
  rows <- seq_len(data$n)
  if (data$n > screen_rows) rows <- sort(permutation(data$n, seed, stream_screen)[seq_len(screen_rows)])
  bins <- Map(function(feature, count) {
    value_bins(feature$values, count)[encoded_index(feature, data$n)[rows]]
  }, data$features, counts)
  weights <- if (is.null(data$weights)) rep(1, length(rows)) else data$weights[rows]
  y <- data$y[rows, , drop = FALSE]
  if (!is.null(classes)) y <- outer(y[, 1L], seq_len(classes) - 1, `==`) + 0
  y[is.na(y)] <- 0
  rest <- additive_residuals(y, bins, weights)
  noise <- colSums(weights * rest^2) / sum(weights)

  pairs <- utils::combn(length(bins), 2L)
  strength <- apply(pairs, 2L, function(pair) {
    i <- bins[[pair[1L]]]
    j <- bins[[pair[2L]]]
    explained <- function(cell) {
      sums <- rowsum(weights * rest, cell, reorder = FALSE)
      size <- rowsum(weights, cell, reorder = FALSE)[, 1L]
      list(gain = colSums(sums^2 / size), cells = length(size))
    }
    both <- explained(i * (screen_bins + 2L) + j)
    first <- explained(i)
    second <- explained(j)
    freedom <- max(both$cells - first$cells - second$cells + 1, 1)
    sum((both$gain - first$gain - second$gain) / noise - freedom) / sqrt(freedom)
  })
  pairs[, order(-strength)[seq_len(number)], drop = FALSE]
}

#' Bins of about equal weight for a table of values; missing values get the bin after the last
#' @noRd
value_bins <- function(values, counts) {
  bin <- rep(screen_bins + 1L, length(values))
  order <- order(values, na.last = NA)
  weight <- counts[order]
  bin[order] <- 1L + pmin(as.integer((cumsum(weight) - weight / 2) / sum(weight) * screen_bins), screen_bins - 1L)
  bin
}

#' What is left of y after additive effects of all bins (a few sweeps of backfitting)
#' @noRd
additive_residuals <- function(y, bins, weights, sweeps = 5L) {
  rest <- y - rep(colSums(weights * y) / sum(weights), each = nrow(y))
  effects <- lapply(bins, function(bin) matrix(0, max(bin), ncol(y)))
  for (sweep in seq_len(sweeps)) {
    for (k in seq_along(bins)) {
      bin <- bins[[k]]
      rest <- rest + effects[[k]][bin, , drop = FALSE]
      size <- rowsum(weights, bin)
      used <- as.integer(rownames(size))
      effects[[k]][used, ] <- rowsum(weights * rest, bin) / size[, 1L]
      rest <- rest - effects[[k]][bin, , drop = FALSE]
    }
  }
  rest
}
