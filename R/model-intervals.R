# Intervals of shares and means.

#' Wilson's interval of a share
#' @param size Number of rows, or the effective number of weighted ones.
#' @return list(lower, upper), NA where there are no rows
#' @noRd
wilson_interval <- function(share, size, level = 0.95) {
  z <- stats::qnorm((1 + level) / 2)
  middle <- (share + z^2 / (2 * size)) / (1 + z^2 / size)
  half <- z * sqrt(share * (1 - share) / size + z^2 / (4 * size^2)) / (1 + z^2 / size)
  none <- is.na(share) | size <= 0
  list(lower = ifelse(none, NA_real_, pmax(middle - half, 0)), upper = ifelse(none, NA_real_, pmin(middle + half, 1)))
}

#' Student's interval of a mean
#' @return c(lower, upper), NA for fewer than two numbers
#' @noRd
mean_interval <- function(x, level = 0.95) {
  x <- x[is.finite(x)]
  n <- length(x)
  if (n < 2L) {
    return(c(NA_real_, NA_real_))
  }
  mean(x) + c(-1, 1) * stats::qt((1 + level) / 2, n - 1) * stats::sd(x) / sqrt(n)
}
