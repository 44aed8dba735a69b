# Axes as data: where a panel begins and ends and the labels of its ticks.
#
# An axis is a list:
#   limits, at   in drawing coordinates: the values themselves, but the logarithms of ratios (odds ratios)
#   labels       one string per tick;  tight  NULL or shorter ones for where there is little room
#   title        NULL or a string
#   extra        NULL or list(at, label): the mark of missing values, drawn even where it comes close to a tick
#   named        TRUE when the ticks are names, none of which may be left out
#   plain        TRUE when they are untransformed numbers, not dates
#   ratio        TRUE when the axis is logarithmic

#' The axis of a number, a date or a time
#'
#' @param limits Two numbers.
#' @param type "Date" and "POSIXct" (with time zone `tz`) get calendar ticks.
#' @param n About how many ticks.
#' @noRd
axis_number <- function(limits, type = "numeric", n = 5L, title = NULL, tz = "UTC") {
  limits <- spread(limits)
  if (type %in% c("Date", "POSIXct")) {
    ends <- if (type == "Date") as.Date(limits, origin = "1970-01-01") else as_time(limits, tz)
    ticks <- pretty(ends, n = max(2L, n - 1L))
    at <- as.numeric(ticks)
    labels <- attr(ticks, "labels")
  } else {
    at <- pretty(limits, n = n)
    labels <- NULL
  }
  inside <- at >= limits[1L] - 1e-9 * diff(limits) & at <= limits[2L] + 1e-9 * diff(limits)
  labels <- if (is.null(labels)) format_ticks(at[inside]) else labels[inside]
  list(limits = limits, at = at[inside], labels = labels, title = title, plain = !type %in% c("Date", "POSIXct"))
}

as_time <- function(x, tz) as.POSIXct(x, origin = "1970-01-01", tz = tz)

#' The axis of effects; of their logarithms for ratios
#' @param limits Two numbers, logarithms for ratios.
#' @noRd
axis_effect <- function(limits, ratio = FALSE, n = 5L, title = NULL) {
  if (!ratio) {
    return(axis_number(limits, n = n, title = title))
  }
  limits <- spread(limits)
  at <- grDevices::axisTicks(limits / log(10), log = TRUE, nint = n)
  at <- at[log(at) >= limits[1L] & log(at) <= limits[2L]]
  if (length(at) < 2L) {
    at <- pretty(exp(limits), n = n)
    at <- at[at > 0]
    at <- at[log(at) >= limits[1L] & log(at) <= limits[2L]]
  }
  list(limits = limits, at = log(at), labels = format_tick_each(at), title = title, ratio = TRUE)
}

# 0.5, 1, 2 rather than 0.5, 1.0, 2.0
format_tick_each <- function(at) vapply(at, format_ticks, "")

#' The axis of named levels at positions 1, 2, ...
#' @param extra NULL or list(at, label).
#' @noRd
axis_level <- function(levels, title = NULL, extra = NULL) {
  most <- max(length(levels), extra$at, 1)
  list(
    limits = c(0.4, most + 0.6), at = seq_along(levels), labels = levels, title = title, extra = extra, named = TRUE
  )
}

#' Limits with room: never of zero width
#' @noRd
spread <- function(limits, by = 0) {
  limits <- range(limits[is.finite(limits)], if (!any(is.finite(limits))) c(-1, 1))
  width <- diff(limits)
  if (width <= 1e-12 * max(abs(limits), 1e-300)) {
    width <- max(abs(limits[1L]) * 0.1, 1e-3)
    limits <- limits + c(-1, 1) * width / 2
  }
  limits + c(-1, 1) * by * width
}

#' Every tick, every second, ...: the most for which labels do not touch; 0 stays when it is there
#' @noRd
thin_ticks <- function(at, width) {
  n <- length(at)
  zero <- max(1L, match(0, at, nomatch = 1L))
  for (by in seq_len(n)) {
    kept <- which((seq_len(n) - zero) %% by == 0L)
    gap <- diff(at[kept]) - (width[kept][-1L] + width[kept][-length(kept)]) / 2
    if (all(gap > 0.4 * mean(width))) {
      return(kept)
    }
  }
  kept
}

#' An axis with as many ticks as have room, given how many characters fit side by side
#' @noRd
thin_axis <- function(axis, room) {
  if (isTRUE(axis$named) || length(axis$at) < 2L) {
    return(axis)
  }
  kept <- thin_ticks(axis$at, nchar(axis$labels, type = "width") * diff(axis$limits) / room)
  axis$at <- axis$at[kept]
  axis$labels <- axis$labels[kept]
  axis
}
