# Names that fit: titles in at most two lines, level names cut in the middle, numbers at ticks.

#' Shorten strings to a number of characters by leaving out the middle
#'
#' Names of columns and levels often differ at their ends only, so both ends stay. Different strings stay different:
#' where shortening makes two alike, they are numbered.
#' @noRd
shorten <- function(x, width) {
  width <- max(5L, as.integer(width))
  size <- nchar(x, type = "width")
  long <- !is.na(x) & size > width
  if (!any(long)) {
    return(x)
  }
  short <- x
  front <- ceiling((width - 3) / 2)
  short[long] <- paste0(
    substr(x[long], 1L, front), "...",
    substr(x[long], nchar(x[long]) - (width - 3 - front) + 1L, nchar(x[long]))
  )
  alike <- short %in% short[duplicated(short) & !duplicated(x)]
  if (any(alike)) {
    short[alike] <- shorten_difference(x[alike], width)
    alike <- short %in% short[duplicated(short) & !duplicated(x)]
  }
  if (any(alike)) {
    number <- match(x[alike], unique(x[alike]))
    tail <- paste0("..", number)
    short[alike] <- paste0(substr(x[alike], 1L, pmax(1L, width - nchar(tail))), tail)
  }
  short
}

#' Shorten strings that are alike at both ends to the part in which they differ
#' @noRd
shorten_difference <- function(x, width) {
  letters <- strsplit(unique(x), "", fixed = TRUE)
  least <- min(lengths(letters))
  same <- function(i, from_end) {
    length(unique(vapply(letters, function(each) if (from_end) each[length(each) + 1L - i] else each[i], ""))) == 1L
  }
  front <- 0L
  while (front < least && same(front + 1L, FALSE)) front <- front + 1L
  back <- 0L
  while (back < least - front && same(back + 1L, TRUE)) back <- back + 1L
  core <- substr(x, front + 1L, nchar(x) - back)
  if (front + max(nchar(core)) + 2L <= width) {
    return(ifelse(nchar(x) <= width, x, paste0(substr(x, 1L, width - 2L), "..")))
  }
  # two dots at either end, and a little of what they share
  room <- width - 4L
  lead <- max(0L, min(front, (room - max(nchar(core))) %/% 2L))
  part <- substr(x, front - lead + 1L, front - lead + room)
  paste0(if (front > lead) "..", part, ifelse(front - lead + room < nchar(x), "..", ""))
}

#' "age = 76" in a number of characters: the value stays whole as far as possible
#' @param value NA or "" where there is none.
#' @noRd
shorten_pairs <- function(names, value, width) {
  none <- is.na(value) | !nzchar(value)
  value <- ifelse(none, "", paste(" =", shorten(ifelse(none, "", value), max(5L, width %/% 2L))))
  left <- width - nchar(value, type = "width")
  short <- names
  for (room in unique(left)) {
    # all of them are shortened, so that different names stay different
    short[left == room] <- shorten(names, room)[left == room]
  }
  paste0(short, value)
}

#' Break one name into lines of at most `width` characters
#'
#' Lines end at a space, else after a mark such as "_", in the middle of a word only when there is neither. What does
#' not fit in `lines` lines is shortened first.
#' @return one string with "\n"
#' @noRd
wrap_name <- function(x, width, lines = 2L) {
  x <- shorten(x, width * lines - (lines - 1L) * 2L)
  out <- character()
  while (nchar(x, type = "width") > width && length(out) < lines - 1L) {
    at <- line_end(x, width, nchar(x) - width * (lines - 1L - length(out)))
    out <- c(out, trimws(substr(x, 1L, at)))
    x <- trimws(substr(x, at + 1L, nchar(x)))
  }
  paste(c(out, x), collapse = "\n")
}

#' Where the first line of a name ends
#' @param least The rest must fit in the lines that follow.
#' @noRd
line_end <- function(x, width, least) {
  # a mark counts when no dot follows: "..." stays whole
  for (pattern in c("[[:space:]]", "[])}_.,;:/+-](?![.])")) {
    marks <- gregexpr(pattern, x, perl = TRUE)[[1L]]
    # an early break would leave too much for the next lines
    good <- marks[marks <= width & marks >= max(width / 3, least)]
    if (length(good)) {
      return(max(good))
    }
  }
  at <- width
  while (at > 1L && substr(x, at, at) == "." && substr(x, at + 1L, at + 1L) == ".") at <- at - 1L
  at
}

#' Numbers at ticks: the fewest digits that distinguish them, thousands abbreviated only when they are whole
#' @noRd
format_ticks <- function(at) {
  if (!length(at)) {
    return(character())
  }
  most <- max(abs(at))
  if (most >= 1e7 || (most > 0 && most < 1e-4)) {
    return(format(at, trim = TRUE, digits = 3L, scientific = TRUE))
  }
  at <- zapsmall(at, digits = 10L)
  if (most >= 1e4) {
    return(format(at, trim = TRUE, big.mark = ",", scientific = FALSE))
  }
  format(at, trim = TRUE, scientific = FALSE)
}

#' Numbers with as many decimals as the largest of `like` needs for three digits
#' @noRd
format_alike <- function(x, like = x, signed = FALSE) {
  most <- max(abs(like[is.finite(like)]), 0)
  decimals <- if (most > 0) min(max(2 - floor(log10(most)), 0), 10) else 0
  text <- formatC(x, digits = decimals, format = "f", big.mark = ",")
  # not "-0.00"
  text <- sub("^-(0[.]?0*)$", "\\1", text)
  if (signed) paste0(ifelse(x > 0, "+", ""), text) else text
}

#' A probability with two digits of itself and of its complement: 0.40, 0.031, 0.968
#' @noRd
format_probability <- function(p) {
  if (p < 1e-4 || p > 1 - 1e-4) {
    return(if (p < 0.5) "below 0.0001" else "above 0.9999")
  }
  least <- min(p, 1 - p)
  formatC(p, digits = max(2, ceiling(-log10(least)) + (least < 0.1)), format = "f")
}
