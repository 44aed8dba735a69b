# What columns are called: labels and units that other packages attach to them.

#' Label and units of a column, as its attributes say
#' @return list(label, units), each NULL where there is none; NULL if there is neither
#' @noRd
column_words <- function(x) {
  word <- function(what) {
    text <- attr(x, what, exact = TRUE)
    if (is.character(text) && length(text) == 1L && !is.na(text) && nzchar(text)) as.vector(text)
  }
  words <- list(label = word("label"), units = if (!inherits(x, "difftime")) word("units"))
  words <- Filter(Negate(is.null), words)
  if (length(words)) words
}
