# Scaling of one column: fitted to distinct values with counts, applied to any values, inverted for plots and tables.
#
# A scaling is a list with `method` and what that method needs:
#   quantile: value, lower, upper   distinct quantiles and the first and last probability at which each occurs
#   score:    value, score          half scores, half own units, without random steps: a monotone cubic through a few
#                                   quantiles
#   minmax:   low, high
#   none:
#   constant: value                 the column had one value; everything maps to 0, so that it cannot have an effect
# The quantile method is scikit-learn's QuantileTransformer(output_distribution = "normal", n_quantiles = 2000): values
# between two quantiles are interpolated, a value that is itself a (repeated) quantile gets the middle of its
# probabilities, the ends get 0 and 1, and normal scores are clipped at +-5.2.

max_quantiles <- 2000L
clip_score <- -stats::qnorm(1e-7 - .Machine$double.eps)

#' Type 7 quantiles of a weighted multiset
#'
#' A whole-number count of k is exactly k copies. The arithmetic (order of operations included) is numpy's, so that
#' quantiles at a data value equal it exactly when they do there.
#' @param values Ascending.
#' @param counts Non-negative weight of each value.
#' @noRd
weighted_quantile <- function(values, counts, probs) {
  cumulated <- cumsum(counts)
  total <- cumulated[length(cumulated)]
  position <- pmax(total - 1, 0) * probs
  before <- floor(position)
  share <- position - before
  at <- function(rank) values[pmin(findInterval(rank, cumulated) + 1L, length(values))]
  low <- at(before)
  high <- at(pmin(before + 1, total - 1))
  step <- high - low
  ifelse(share >= 0.5, high - step * (1 - share), low + step * share)
}

#' Weights of the values of a column, ready to be counts
#'
#' Whole-number weights count copies. Others, and those beyond whole numbers' precision, are relative, so they are
#' scaled to a mean of 1.
#' @noRd
as_counts <- function(weights) {
  if (is.null(weights) || (all(weights == round(weights)) && sum(weights) < 2^53)) {
    weights
  } else {
    relative <- relative_weights(weights)
    relative * (length(relative) / sum(relative))
  }
}

#' Weights for the engine: divided by a power of two, exactly, so that the largest is near 1 in single precision as well
#' @noRd
relative_weights <- function(weights) {
  if (any(weights > 0)) weights / 2^floor(log2(max(weights))) else weights
}

#' Fit a scaling to distinct values (ascending, not missing) with counts
#' @param total Sum of all counts of the column, missing values included.
#' @noRd
fit_scaling <- function(values, counts, method, total = sum(counts)) {
  seen <- counts > 0
  values <- values[seen]
  counts <- counts[seen]
  finite <- is.finite(values)
  if (!all(finite) && any(finite)) {
    # infinite values count at the ends, to which the transform maps them
    ends <- range(which(finite))
    counts[ends[1L]] <- counts[ends[1L]] + sum(counts[values == -Inf])
    counts[ends[2L]] <- counts[ends[2L]] + sum(counts[values == Inf])
    values <- values[finite]
    counts <- counts[finite]
  }
  if (length(values) < 2L) {
    return(list(method = "constant", value = if (length(values)) values else NA_real_))
  }
  switch(method,
    quantile = fit_quantiles(values, counts, total),
    minmax = list(method = "minmax", low = values[1L], high = values[length(values)]),
    none = list(method = "none")
  )
}

fit_quantiles <- function(values, counts, total) {
  n_quantiles <- as.integer(max(2, min(max_quantiles, floor(total))))
  probs <- c(seq.int(0L, n_quantiles - 2L) * (1 / (n_quantiles - 1L)), 1)
  # through percent and back, as the reference does
  quantiles <- cummax(weighted_quantile(values, counts, probs * 100 / 100))
  # with fractional weights the last value has less than a whole count, but is nevertheless the end
  quantiles[n_quantiles] <- values[length(values)]
  first <- which(!duplicated(quantiles))
  last <- c(first[-1L] - 1L, length(quantiles))
  list(method = "quantile", value = quantiles[first], lower = probs[first], upper = probs[last])
}

#' Normal scores by a smooth map
#'
#' Between one value and the next the quantile transform rises by a rank, however far apart they are, so that a curve
#' that is smooth in its scores is jagged in the units of the column, in sparse tails above all. In columns with many
#' values the default procedure takes fewer quantiles, with a hundred rows between two of them in the bulk and at
#' equidistant scores in the tails, and a monotone cubic through them. The ends have the scores of half a row, tied
#' values the middle of their probabilities.
#'
#' Scores spread out what skewed columns crowd together, their own units the other way round; which of the two makes an
#' effect smooth is not known, and the mean of both is good for either (measured: inst/benchmarks/README.md).
#' The score of an end depends on the number of rows, not on its distance, and is far away from its neighbour's where
#' the values end abruptly, or where those beyond a limit were set to it: a curve would have a hook there. Ends lie where
#' the scores before them lead, or nearer.
#' @param scaling From fit_scaling(); returned as it is for columns of very few values.
#' @noRd
smooth_scores <- function(scaling, values, counts) {
  finite <- is.finite(values) & counts > 0
  values <- values[finite]
  counts <- counts[finite]
  if (scaling$method != "quantile") {
    return(scaling)
  }
  total <- sum(counts)
  ends <- counts[c(1L, length(counts))] <= most_at_end * total
  if (length(values) < least_smooth) {
    if (length(values) < 2L * end_values || !any(ends)) {
      return(scaling)
    }
    score <- stats::qnorm((cumsum(counts) - counts / 2) / total)
    return(list(method = "score", value = values, score = lay_ends(values, score, ends)))
  }
  tails <- seq(bulk_score, 3.5, by = score_step)
  tails <- tails[tails < -stats::qnorm(rows_beyond / total)] # the first is the bulk's end
  bulk <- stats::pnorm(c(-bulk_score, bulk_score))
  bulk <- stats::qnorm(seq(bulk[1L], bulk[2L], length.out = min(max(total / rows_between, 15), max_quantiles)))
  score <- c(-rev(tails[-1L]), bulk, tails[-1L])
  value <- c(values[1L], weighted_quantile(values, counts, stats::pnorm(score)), values[length(values)])
  p <- c(0.5 / total, stats::pnorm(score), 1 - 0.5 / total)
  group <- cumsum(c(TRUE, diff(value) > 0))
  first <- !duplicated(group)
  last <- !duplicated(group, fromLast = TRUE)
  if (sum(first) < 4L) {
    return(scaling)
  }
  score <- stats::qnorm((p[first] + p[last]) / 2)
  units <- own_units(value[first], values, counts) %||% score
  list(method = "score", value = value[first], score = lay_ends(value[first], (score + units) / 2, ends))
}

#' Scores of ends, no further away than the slope of those before them leads
#' @param ends Logical: the low one, the high one.
#' @noRd
lay_ends <- function(value, score, ends) {
  n <- length(value)
  for (order in list(seq_len(n), rev(seq_len(n)))[ends & n >= 2L * end_values]) {
    near <- order[1L + c(0L, 1L, end_values)]
    way <- diff(value[near])
    step <- asinh(diff(score[near[-1L]]) * way[1L] / way[2L])
    now <- diff(score[near[1:2]])
    # distances may be beyond the range of numbers
    if (is.finite(step) && abs(step) < abs(now)) score[near[1L]] <- score[near[2L]] - step
  }
  score
}

end_values <- 4L # from which the slope at an end is taken
most_at_end <- 0.1 # of the rows: zero where an amount is absent is not the end of a tail

#' Values in units of their own spread, logarithmic where a heavy tail begins, with mean 0 and variance 1
#' @return NULL where half of the rows share a value, so that there is no such unit
#' @noRd
own_units <- function(x, values, counts) {
  at <- weighted_quantile(values, counts, c(0.25, 0.5, 0.75))
  width <- tail_begins * (at[3L] - at[1L]) / (2 * stats::qnorm(0.75))
  if (width <= 0) {
    return(NULL)
  }
  units <- asinh((values - at[2L]) / width)
  middle <- sum(counts * units) / sum(counts)
  (asinh((x - at[2L]) / width) - middle) / sqrt(sum(counts * (units - middle)^2) / sum(counts))
}

tail_begins <- 3 # standard deviations
least_smooth <- 128L # distinct values
bulk_score <- 1.75
rows_between <- 100
score_step <- 0.25
rows_beyond <- 4

#' Original values to processed values; NaN stays NaN
#' @noRd
scale_values <- function(scaling, x) {
  switch(scaling$method,
    score = {
      ends <- range(scaling$value)
      x <- pmin(pmax(x, ends[1L]), ends[2L])
      out <- rep(NaN, length(x))
      known <- !is.na(x)
      out[known] <- score_map(scaling)(x[known])
      out
    },
    quantile = {
      p <- quantile_probability(scaling, x)
      pmax(pmin(stats::qnorm(p), clip_score), -clip_score)
    },
    minmax = (x - scaling$low) / (scaling$high - scaling$low),
    none = x,
    constant = ifelse(is.na(x), NaN, 0)
  )
}

score_map <- function(scaling) stats::splinefun(scaling$value, scaling$score, method = "monoH.FC")

#' Values of given scores: bisection between two quantiles
#' @noRd
unscale_scores <- function(scaling, z) {
  map <- score_map(scaling)
  m <- length(scaling$score)
  known <- !is.na(z)
  z <- pmin(pmax(z, scaling$score[1L]), scaling$score[m])
  at <- findInterval(z[known], scaling$score, rightmost.closed = TRUE)
  low <- scaling$value[at]
  high <- scaling$value[at + 1L]
  for (step in seq_len(60L)) {
    middle <- (low + high) / 2
    below <- map(middle) < z[known]
    low <- ifelse(below, middle, low)
    high <- ifelse(below, high, middle)
  }
  out <- rep(NaN, length(z))
  out[known] <- high
  out
}

quantile_probability <- function(scaling, x) {
  value <- scaling$value
  m <- length(value)
  p <- rep(NaN, length(x))
  known <- !is.na(x)
  left <- findInterval(x[known], value)
  inside <- left > 0L & left < m
  p[known] <- ifelse(left == 0L, 0, 1)
  i <- left[inside]
  z <- x[known][inside]
  rise <- scaling$lower[i + 1L] - scaling$upper[i]
  between <- rise / (value[i + 1L] - value[i]) * (z - value[i]) + scaling$upper[i]
  # the slope between tiny values, and the distance between huge ones, can be beyond the range of numbers
  between <- ifelse(is.finite(between), between, rise * share_of_way(z, value[i], value[i + 1L]) + scaling$upper[i])
  p[known][inside] <- ifelse(z == value[i], (scaling$lower[i] + scaling$upper[i]) / 2, between)
  p[known & x <= value[1L]] <- 0
  p
}

#' How far z is on its way from a to b, whatever their size
#' @noRd
share_of_way <- function(z, a, b) {
  size <- pmax(abs(a), abs(b))
  (z / size - a / size) / (b / size - a / size)
}

#' Processed values to original values
#'
#' Exact for min-max and none. For quantiles the inverse interpolates between quantiles, and scores within a tie give
#' the tied value.
#' @noRd
unscale_values <- function(scaling, z) {
  switch(scaling$method,
    score = unscale_scores(scaling, z),
    quantile = {
      p <- stats::pnorm(z)
      # clipped scores stand for the ends
      p[z <= -clip_score] <- 0
      p[z >= clip_score] <- 1
      knots <- c(rbind(scaling$lower, scaling$upper))
      keep <- !duplicated(knots)
      value <- rep(scaling$value, each = 2L)
      stats::approx(knots[keep], value[keep], p, rule = 2L)$y
    },
    minmax = scaling$low + z * (scaling$high - scaling$low),
    none = z,
    constant = ifelse(is.na(z), NaN, scaling$value)
  )
}
