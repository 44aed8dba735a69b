# Encoded rows: features as tables of values and packed codes. Only this file packs and unpacks codes.


#' Rows for the engine (src/r_parse.c)
#'
#' @param features List of encoded features (R/codes.R).
#' @param y Double matrix in the engine's units, or NULL when only predicting.
#' @noRd
encoded_data <- function(features, n, y = NULL, task = NULL, weights = NULL, offset = NULL) {
  list(n = as.double(n), features = unname(features), y = y, task = task, weights = weights, offset = offset)
}

#' A range of rows of encoded data, for prediction
#' @noRd
slice_range <- function(data, from, to) {
  features <- lapply(data$features, function(feature) {
    feature$codes <- feature$codes[seq.int((from - 1) * feature$width + 1, to * feature$width)]
    feature
  })
  encoded_data(features, to - from + 1)
}

#' Ranges of rows such that `per_row` doubles per row stay near 128 MiB
#' @return list of c(from, to)
#' @noRd
row_chunks <- function(n, per_row, least = 1024) {
  size <- max(least, floor(2^24 / per_row))
  starts <- seq(1, max(n, 1), by = size)
  if (n == 0) list() else Map(c, starts, pmin(starts + size - 1, n))
}
