# Row codes: what the engine reads of a column, and bins, which make the codes few.
#
# An encoded feature is list(values, codes, width): processed distinct values (NaN = missing), and per row the 0-based
# position among them as `width` (1, 2 or 4) bytes in a raw vector.

far_score <- 4 # normal scores beyond stand for the ends

code_width <- function(n_values) if (n_values <= 256L) 1L else if (n_values <= 65536L) 2L else 4L

#' Few values that stand for all: at most `bins` groups of about equal weight
#'
#' Each value goes to the group in which the middle of its weight falls, so that heavy values stay apart, and each
#' group is represented by the mean of its processed values.
#' @param order Positions of the values that count, ascending.
#' @param tails Spend half of the bins on equal distances of the processed values: in the tails few rows then share one.
#' @return list(bins = list(breaks, value), values, map = old table position -> new)
#' @noRd
bin_values <- function(number, values, counts, order, bins, tails = FALSE) {
  weight <- counts[order]
  middle <- (cumsum(weight) - weight / 2) / sum(weight)
  if (tails) {
    distance <- cumsum(c(0, diff(pmin(pmax(values[order], -far_score), far_score))))
    middle <- (middle + distance / (distance[length(distance)] * (1 + 1e-9))) / 2
  }
  group <- cumsum(!duplicated(floor(middle * bins)))
  last <- which(diff(group) == 1L)
  mean <- as.vector(rowsum(weight * values[order], group) / rowsum(weight, group))
  # between the ends of the group whatever rounding does, and also where all weights are lost in it
  value <- pmin(pmax(mean, values[order][c(1L, last + 1L)], na.rm = TRUE), values[order][c(last, length(order))])
  breaks <- (number[order][last] + number[order][last + 1L]) / 2
  # neighbours so close that their middle is the lower one: the upper one is the first of its group
  clash <- breaks <= number[order][last]
  breaks[clash] <- number[order][last + 1L][clash]
  map <- findInterval(number, breaks) + 1L
  missing <- is.nan(number)
  map[missing] <- length(value) + 1L
  list(bins = list(breaks = breaks, value = value), values = c(value, if (any(missing)) NaN), map = map)
}

#' Replace a feature's table: row codes go through `map` (1-based new position of each old value)
#' @noRd
recode <- function(feature, values, map) {
  n <- length(feature$codes) / feature$width
  width <- code_width(length(values))
  codes <- map[decode_codes(feature, n) + 1L] - 1L
  list(values = values, codes = writeBin(codes, raw(), size = width), width = width)
}

#' Row codes of a feature as integers, from 0
#' @noRd
decode_codes <- function(feature, n) {
  readBin(feature$codes, "integer", n, size = feature$width, signed = feature$width == 4L)
}

#' Some rows of encoded features
#' @param features List of list(values, codes, width).
#' @noRd
slice_features <- function(features, rows, n) {
  lapply(features, function(feature) {
    feature$codes <- writeBin(decode_codes(feature, n)[rows], raw(), size = feature$width)
    feature
  })
}
