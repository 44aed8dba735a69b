# How far an axis of values reaches. A few values far from all others must not press the curve into a corner: the axis
# covers nearly all rows, and a note at the foot of the page describes what lies beyond.

rare_values <- 0.01 # share of the rows at either end that may be remote
rare_value <- 0.05 # or, of the outermost value alone
few_points <- 12L # values that are drawn one by one, with a tick each

#' The part of an axis that is shown
#'
#' @param x,share Values and their shares of the rows.
#' @param options list(xlim, log)
#' @param feature Its name, as in `options`.
#' @return list(limits: in drawing coordinates; ratio: is the axis logarithmic?; beyond: values left out, or NULL)
#' @noRd
value_span <- function(x, share, facts, options, feature) {
  known <- is.finite(x)
  x <- x[known]
  share <- share[known]
  ratio <- wants_log(x, facts$type, options$log, feature)
  given <- term_ends(options$xlim, feature)
  if (is.numeric(given)) {
    if (ratio && given[1L] <= 0) {
      pn_abort("{.arg xlim} of a logarithmic axis must be positive.", class = "argument", arg = "xlim")
    }
    return(list(limits = if (ratio) log(given) else given, ratio = ratio, given = TRUE))
  }
  whole <- range(x, if (!length(x)) facts$range %||% c(0, 1))
  value <- if (ratio) log(x) else x
  limits <- if (identical(given, "range")) range(value, if (!length(x)) whole) else bulk_range(value, share, whole)
  outside <- value < limits[1L] | value > limits[2L]
  list(limits = limits, ratio = ratio, beyond = if (any(outside)) {
    list(below = any(value < limits[1L]), above = any(value > limits[2L]), share = sum(share[outside]) / sum(share))
  })
}

#' Range of the values without those far from nearly all rows
#' @param whole The range of no values at all.
#' @noRd
bulk_range <- function(x, share, whole = range(x)) {
  seen <- !is.na(share) & share > 0
  if (!any(seen)) seen[] <- TRUE
  at <- sort(unique(x[seen]))
  if (length(at) <= few_points) {
    return(range(x, if (!length(x)) whole))
  }
  part <- cumsum(rowsum(ifelse(seen, share, 0)[seen] + 1e-300, match(x[seen], at))[, 1L])
  part <- part / part[length(part)]
  # where there are few rows, the outermost value at either end may be remote
  n <- length(at)
  low <- at[max(1L + (part[1L] <= rare_value), findInterval(rare_values, part) + 1L)]
  high <- at[min(n - (1 - part[n - 1L] <= rare_value), findInterval(1 - rare_values, part, left.open = TRUE) + 1L)]
  width <- high - low
  if (width <= 0) {
    return(range(x))
  }
  near <- range(x[x >= low - width & x <= high + width])
  # the gain must justify the note
  if (diff(range(x)) <= 1.4 * diff(near)) range(x) else near
}

#' Is the axis of a feature logarithmic?
#' @noRd
wants_log <- function(x, type, log, feature) {
  named <- feature %in% log
  if (!named && !identical(log, "x")) {
    return(FALSE)
  }
  number <- type %in% c("numeric", "difftime")
  if (number && length(x) && all(x > 0)) {
    return(TRUE)
  }
  if (named && !identical(log, "x")) {
    reason <- if (number) "has values of 0 or less" else "is not a number"
    pn_abort("{.arg log}: {.field {feature}} {reason}.", class = "argument", arg = "log")
  }
  if (number) {
    pn_inform("{.field {feature}} has values of 0 or less; its axis stays linear.", class = "log")
  }
  FALSE
}

#' The axis of a span
#' @noRd
span_axis <- function(span, facts, ticks, title = NULL) {
  limits <- spread(span$limits, 0.02)
  if (span$ratio) {
    return(axis_effect(limits, TRUE, ticks, title))
  }
  axis_number(limits, facts$type, ticks, title, facts$unit %||% "UTC")
}

#' Facts about a feature in the coordinates of its span
#' @param rows Rows of its curve: x (already in these coordinates), density.
#' @noRd
span_facts <- function(facts, span, rows) {
  if (span$ratio) {
    facts$rug <- log(facts$rug[facts$rug > 0])
    facts$range <- log(facts$range)
  }
  if (span$ratio || isTRUE(span$given) || !is.null(span$beyond)) {
    here <- which(rows$density > 0 & rows$x >= span$limits[1L] & rows$x <= span$limits[2L])
    here <- here[!duplicated(rows$x[here])]
    here <- here[order(rows$x[here])]
    facts$density <- if (length(here)) density_table(rows$x[here], rows$density[here])
  }
  facts
}

#' Curves that end at the ends of a span
#' @param rows series, x, effect, lower, upper, ...
#' @noRd
trim_curve <- function(rows, limits) {
  if (!nrow(rows) || all(rows$x >= limits[1L] & rows$x <= limits[2L])) {
    return(rows)
  }
  parts <- lapply(split(rows, rows$series), function(curve) {
    curve <- curve[order(curve$x), , drop = FALSE]
    n <- nrow(curve)
    at_end <- function(i, j, end) {
      row <- curve[i, , drop = FALSE]
      share <- (end - curve$x[i]) / (curve$x[j] - curve$x[i])
      for (column in c("effect", "lower", "upper")) {
        row[[column]] <- curve[[column]][i] + share * (curve[[column]][j] - curve[[column]][i])
      }
      row$x <- end
      row$density <- 0
      row
    }
    first <- sum(curve$x < limits[1L])
    last <- sum(curve$x <= limits[2L])
    inside <- if (last > first) curve[(first + 1L):last, , drop = FALSE]
    rbind(
      if (first > 0L && first < n && curve$x[first + 1L] > limits[1L]) at_end(first, first + 1L, limits[1L]), inside,
      if (last > 0L && last < n && curve$x[last] < limits[2L]) at_end(last, last + 1L, limits[2L])
    )
  })
  out <- do.call(rbind, unname(parts))
  if (is.null(out)) rows[0L, , drop = FALSE] else out
}

#' What lies beyond an axis, in words
#' @noRd
beyond_words <- function(span, facts, label) {
  if (is.null(span$beyond)) {
    return(NULL)
  }
  ends <- if (span$ratio) exp(span$limits) else span$limits
  text <- switch(facts$type,
    Date = format(as.Date(ends, origin = "1970-01-01")),
    POSIXct = format(as_time(ends, facts$unit %||% "UTC")),
    vapply(signif(ends, 4L), format, "")
  )
  where <- c(if (span$beyond$below) paste("below", text[1L]), if (span$beyond$above) paste("above", text[2L]))
  percent <- format(signif(100 * span$beyond$share, 2L), scientific = FALSE)
  sprintf("%s %s (%s %% of the rows)", label, paste(where, collapse = " and "), percent)
}

beyond_note <- function(panels) {
  words <- unique(unlist(lapply(panels, `[[`, "beyond")))
  if (length(words)) sprintf("Not shown: %s.", paste(words, collapse = "; "))
}
