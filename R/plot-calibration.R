# Figures of calibration(): one panel per response, class or group.

strip_share <- 0.17 # of the height of the curve that the histogram below it has

#' @rdname calibration
#' @param main,cex Title of the figure, and relative size of its text.
#' @export
plot.protonam_calibration <- function(x, main = NULL, cex = 1, ...) {
  draw_simple(x, calibration_figure, list(main = main, cex = cex), list(...))
}

# nolint start: object_name_linter.
#' @rdname calibration
#' @param object From `calibration()`.
#' @param size,page See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_calibration <- function(object, main = NULL, cex = 1, size = NULL, page = NULL, ...) {
  gg_simple(object, calibration_figure, list(main = main, cex = cex), list(...), size, page)
}
# nolint end

calibration_figure <- function(x, options) {
  titles <- part_titles(x$summary)
  parts <- titles %||% ""
  binary <- x$family == "binomial"
  of <- function(table, part) if (is.null(titles)) table else table[part_titles(table) == part, ]
  ends <- calibration_ends(x, binary)
  pages <- panel_pages(rep(FALSE, length(parts)), square_room(options))
  columns <- pages[[1L]]$columns
  xlab <- if (binary) "predicted probability" else "predicted"
  ylab <- if (binary) "observed share" else "observed"
  panels <- lapply(parts, function(part) {
    tables <- lapply(x[c("curve", "groups", "histogram", "summary")], of, part)
    panel <- calibration_panel(tables, ends, binary, max(columns, min(length(parts), 2L)))
    panel$title <- if (!is.null(titles)) wrap_name(part, panel_chars(pages[[1L]], options$room))
    panel$x$title <- xlab
    if (length(parts) == 1L) panel$y$title <- ylab
    panel
  })
  band <- if (x$smooth == "spline") sprintf("Band and bars: %s %%, pointwise.", format(100 * x$level))
  list(
    panels = panels, pages = pages, series = no_series, key = NULL,
    ylab = if (length(parts) > 1L) ylab, xlab = xlab, title = options$main,
    caption = c(
      sprintf("Predictions %s; points: tenths of the rows.", x$source), band,
      if (binary) "Below: events (up) and others (down), on separate scales."
    ),
    cex = options$cex, room = options$room
  )
}

#' From where to where the axes run, the same for all panels
#' @noRd
calibration_ends <- function(x, binary) {
  if (!binary) {
    shown <- c("predicted", "observed")
    return(range(x$groups[c(shown, "lower", "upper")], x$curve[shown], na.rm = TRUE))
  }
  most <- max(x$curve$predicted, x$groups$upper, x$groups$observed, 0.1, na.rm = TRUE)
  c(0, min(1, ceiling(10 * most) / 10))
}

calibration_panel <- function(tables, ends, binary, columns) {
  size <- diff(ends)
  bottom <- ends[1L] - strip_share * size
  inside <- function(v) pmin(pmax(v, ends[1L]), ends[2L])
  curve <- tables$curve[tables$curve$observed >= ends[1L] & tables$curve$observed <= ends[2L], ]
  groups <- tables$groups
  groups[c("lower", "upper")] <- lapply(groups[c("lower", "upper")], inside)
  marks <- group_marks(groups)
  marks$guide <- data.frame(x = ends[1L], y = ends[1L], xend = ends[2L], yend = ends[2L])
  one <- rep(1L, nrow(curve))
  marks$curve <- data.frame(x = curve$predicted, y = curve$observed, piece = one, series = one)
  banded <- curve[is.finite(curve$lower), ]
  marks$band <- data.frame(
    x = banded$predicted, lower = inside(banded$lower), upper = inside(banded$upper), piece = rep(1L, nrow(banded)),
    series = rep(1L, nrow(banded))
  )
  strip <- histogram_marks(tables$histogram, bottom, strip_share * size, binary)
  strip$zero$xend <- min(max(strip$zero$xend, ends[2L]), ends[2L])
  strip$shade <- strip$shade[strip$shade$xmin < ends[2L], ]
  lines <- calibration_lines(tables$summary, columns)
  if (length(lines)) {
    marks$note <- data.frame(
      x = ends[1L] + 0.02 * size, y = ends[2L], label = paste(lines, collapse = "\n"), adjust = 0
    )
  }
  x <- axis_number(ends + c(-1, 1) * 0.02 * size, n = c(5L, 4L, 3L)[min(columns, 3L)])
  y <- axis_number(c(bottom - 0.02 * size, ends[2L] + 0.02 * size))
  kept <- y$at >= ends[1L]
  y[c("at", "labels")] <- list(y$at[kept], y$labels[kept])
  list(title = NULL, kind = "scatter", x = x, y = y, marks = c(marks, strip))
}

#' Bars of a histogram in a strip: events upwards and others downwards of a line, or all rows upwards
#' @noRd
histogram_marks <- function(histogram, bottom, height, binary) {
  middle <- bottom + if (binary) height / 2 else 0
  reach <- 0.45 * height * if (binary) 1 else 2
  bars <- function(count, direction, opacity) {
    seen <- count > 0
    tip <- middle + direction * reach * count / max(count, 1)
    data.frame(
      xmin = histogram$from, xmax = histogram$to, ymin = pmin(middle, tip), ymax = pmax(middle, tip),
      opacity = rep(opacity, length(count))
    )[seen, ]
  }
  list(
    shade = rbind(if (binary) bars(histogram$events, 1, 1), bars(histogram$others, if (binary) -1 else 1, 0.55)),
    zero = data.frame(x = min(histogram$from), y = middle, xend = max(histogram$to), yend = middle)
  )
}

#' The numbers printed in a panel: fewer where panels are small
#' @noRd
calibration_lines <- function(summary, columns) {
  number <- function(v, digits = 2L) sub("^-(0[.]?0*)$", "\\1", formatC(v, digits = digits, format = "f"))
  with_interval <- function(label, name) {
    value <- summary[[name]]
    if (is.na(value)) {
      return(NULL)
    }
    lower <- summary[[paste0(name, "_lower")]]
    range <- if (columns < 2L) sprintf(" (%s to %s)", number(lower), number(summary[[paste0(name, "_upper")]]))
    paste0(label, " ", number(value), range)
  }
  c(
    with_interval("slope", "slope"), if (columns < 2L) with_interval("in the large", "intercept"),
    if (!is.na(summary$ici)) paste("ICI", number(summary$ici, 3L))
  )
}

#' Options for panels that are about as high as wide, and are read by their coordinates: fewer side by side
#' @noRd
square_room <- function(options) {
  if (!isTRUE(options$room$taken)) {
    most <- as.integer(pmax(floor(options$room$size[2:1] / c(1.4, 1.7)), 1))
    options$limits <- pmin(options$limits, most)
  }
  options
}
