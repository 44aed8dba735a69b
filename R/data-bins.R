# Bins: a limit on the number of distinct values of a numeric column.

far_score <- 4 # normal scores beyond stand for the ends

#' A few representative values: at most `bins` groups of about equal weight
#'
#' Each value is assigned to the group that contains the middle of its weight, so that heavy values stay separate, and
#' each group is represented by the mean of its processed values.
#' @param order Positions of the values that count, ascending.
#' @param tails Use half of the bins for equal distances of the processed values, so that few rows share a bin at the
#'   extremes?
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
  # between the ends of the group regardless of rounding, even where it removes all weights
  value <- pmin(pmax(mean, values[order][c(1L, last + 1L)], na.rm = TRUE), values[order][c(last, length(order))])
  breaks <- (number[order][last] + number[order][last + 1L]) / 2
  # neighbours so close that their midpoint is the lower one: the upper one is the first of its group
  clash <- breaks <= number[order][last]
  breaks[clash] <- number[order][last + 1L][clash]
  map <- findInterval(number, breaks) + 1L
  missing <- is.nan(number)
  map[missing] <- length(value) + 1L
  list(bins = list(breaks = breaks, value = value), values = c(value, if (any(missing)) NaN), map = map)
}
