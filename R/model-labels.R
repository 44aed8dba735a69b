# Values and levels as text.

#' Numbers of a column as short text: at least four digits and all before the point, dates as dates
#' @noRd
format_values <- function(encoder, number) {
  short <- function(x) {
    digits <- pmax(4, ifelse(is.finite(x) & x != 0, floor(log10(abs(x))) + 1, 4))
    vapply(signif(x, digits), format, "", digits = 15L)
  }
  text <- switch(encoder$type,
    numeric = short(number),
    difftime = paste(short(number), encoder$unit),
    POSIXct = format(decode_numbers(encoder, number), "%Y-%m-%d %H:%M"),
    format(decode_numbers(encoder, number))
  )
  ifelse(is.na(number), "(missing)", text)
}

missing_level <- "(missing)"
