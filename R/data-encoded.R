# Encoded rows: what the engine reads. The only file that packs and unpacks codes.
#
# An encoded feature is list(values, codes, width): processed distinct values (NaN = missing), and per row the 0-based
# position among them as `width` (1, 2 or 4) bytes in a raw vector.

#' A feature from its table and, per row, the position in it
#' @param index From 1.
#' @noRd
encoded_feature <- function(values, index) {
  width <- if (length(values) <= 256L) 1L else if (length(values) <= 65536L) 2L else 4L
  list(values = values, codes = writeBin(as.integer(index) - 1L, raw(), size = width), width = width)
}

#' Positions of rows in a feature's table, from 1
#' @noRd
encoded_index <- function(feature, n = length(feature$codes) / feature$width) {
  readBin(feature$codes, "integer", n, size = feature$width, signed = feature$width == 4L) + 1L
}

#' Some rows of encoded features
#' @noRd
encoded_slice <- function(features, rows, n) {
  lapply(features, function(feature) {
    feature$codes <- writeBin(encoded_index(feature, n)[rows] - 1L, raw(), size = feature$width)
    feature
  })
}

#' Rows for the engine (src/r_parse.c)
#'
#' @param features List of encoded features.
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
