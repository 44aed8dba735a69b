# Shape functions as panels: from a data frame of class protonam_shapes to marks with coordinates, no graphics.
#
# A panel is list(title, kind, x, y, marks): x and y are axes (R/plot-axes.R), `marks` a named list of data frames. The
# name of a mark is its role; R/plot-marks.R defines what a role looks like, and R/plot-base.R and
# R/plot-ggplot-layers.R draw it. Coordinates of marks:
#   bars and tiles   xmin, xmax, ymin, ymax, and `opacity` or `value`
#   bands            x, lower, upper, piece
#   lines            x, y, piece
#   segments         x, y, xend, yend
#   points, text     x, y
# `series` is the number of the group, response or class that a row belongs to. A piece is a stretch of a shape
# function without a jump.
#
# Kinds: "curve" (numbers, dates), "levels" (categorical), "pair" (two features).

#' What a feature is: type, density bars and so on; a guess where the data frame lost its attributes
#' @noRd
feature_facts <- function(shapes, feature) {
  c(attr(shapes, "terms")[[feature]] %||% list(type = "numeric"), list(name = feature))
}

#' Panel of a numeric main effect
#'
#' @param rows Rows of one term (and layer): series, x, level, effect, lower, upper.
#' @param facts See feature_facts().
#' @param y Axis of effects.
#' @param options list(density, rug: logical; ticks: about how many).
#' @noRd
panel_curve <- function(rows, facts, y, title, options) {
  absent <- rows$level %in% missing_level
  curve <- rows[!absent & is.finite(rows$x), , drop = FALSE]
  # the two limits of a jump are not values
  if (isTRUE(facts$points)) curve <- curve[!(curve$density %in% 0 & has_twin(curve)), , drop = FALSE]
  first <- curve$series == curve$series[1L]
  span <- value_span(curve$x[first], curve$density[first], facts, options, rows$term[1L])
  if (span$ratio) curve$x <- log(curve$x)
  facts <- span_facts(facts, span, curve[first, , drop = FALSE])
  single <- single_values(curve, facts)
  if (!isTRUE(span$given)) span$limits <- spread(span$limits, if (length(single) == 2L) 0.2 else 0)
  x <- span_axis(span, facts, options$ticks)
  if (length(single)) x <- value_ticks(x, single, facts)
  # a curve is interrupted between isolated values and where there are no rows
  inside <- curve$x >= x$limits[1L] & curve$x <= x$limits[2L]
  curve <- if (isTRUE(facts$points)) curve[inside, , drop = FALSE] else trim_curve(curve, span$limits)
  marks <- list()
  has_bars <- options$density && length(facts$density$share) > 0L
  if (has_bars) marks$shade <- density_bars_of(facts, single, rows, x, y)
  end <- x$limits[2L]
  if (any(absent)) {
    slot <- missing_slot(x)
    x <- slot$axis
    share <- min(1, (facts$missing_share %||% 0) / max(facts$density$share, 1e-12))
    if (has_bars) {
      marks$shade <- rbind(
        marks$shade,
        data.frame(
          xmin = slot$from, xmax = x$limits[2L], ymin = y$limits[1L], ymax = y$limits[2L], opacity = 0.45 * share
        )
      )
    }
    marks$divider <- data.frame(x = slot$from, y = y$limits[1L], xend = slot$from, yend = y$limits[2L])
    marks <- c(marks, missing_marks(rows[absent, , drop = FALSE], slot$at, slot$width))
  }
  marks$zero <- zero_line(x, y)
  at <- facts$rug[facts$rug >= x$limits[1L] & facts$rug <= end]
  if (options$rug && length(at)) {
    marks$rug <- data.frame(x = at, y = y$limits[1L], xend = at, yend = y$limits[1L] + 0.025 * diff(y$limits))
  }
  own <- if (isTRUE(facts$points)) value_marks(curve, diff(span$limits)) else curve_marks(curve)
  marks$interval <- rbind(marks$interval, own$interval)
  marks <- c(marks, own[names(own) != "interval"])
  list(
    title = title, kind = "curve", x = x, y = y, marks = marks, beyond = beyond_words(span, facts, strip_lines(title))
  )
}

#' Rows whose series has another row at the same x
#' @noRd
has_twin <- function(rows) {
  key <- paste(rows$series, format(rows$x, digits = 17L))
  key %in% key[duplicated(key)]
}

strip_lines <- function(text) gsub("\n", " ", text %||% "", fixed = TRUE)

#' Values that are drawn one by one and are few enough for a tick each
#' @noRd
single_values <- function(curve, facts) {
  values <- sort(unique(curve$x))
  if (isTRUE(facts$points) && length(values) <= few_points) values
}

#' An axis with a tick at each of some values
#' @noRd
value_ticks <- function(axis, values, facts) {
  if (!facts$type %in% c("numeric", "difftime") || isTRUE(axis$ratio)) {
    return(axis)
  }
  axis$at <- values[values >= axis$limits[1L] & values <= axis$limits[2L]]
  axis$labels <- vapply(signif(axis$at, 6L), format_ticks, "")
  axis
}

#' The background: shares of the rows in 20 bars, or at single values
#' @noRd
density_bars_of <- function(facts, single, rows, x, y) {
  if (length(single)) {
    half <- 0.3 * min(diff(single), diff(x$limits))
    share <- vapply(single, function(value) max(rows$density[rows$x %in% value], 0), 0)
    bars <- data.frame(xmin = single - half, xmax = single + half, opacity = shade_opacity(share))
  } else {
    breaks <- facts$density$breaks
    bars <- data.frame(
      xmin = breaks[-length(breaks)], xmax = breaks[-1L], opacity = shade_opacity(facts$density$share)
    )
  }
  bars$ymin <- rep(y$limits[1L], nrow(bars))
  bars$ymax <- rep(y$limits[2L], nrow(bars))
  clip_bars(bars, x$limits)
}

#' Room for the effect of missing values to the right of an axis
#' @return list(axis, from, at, width)
#' @noRd
missing_slot <- function(axis) {
  width <- diff(axis$limits)
  from <- axis$limits[2L] + 0.02 * width
  at <- axis$limits[2L] + 0.1 * width
  # a tick label near the slot would run into the word below it
  keep <- axis$at <= axis$limits[2L] - 0.12 * width
  if (any(keep)) {
    axis$at <- axis$at[keep]
    axis$labels <- axis$labels[keep]
  }
  axis$limits[2L] <- axis$limits[2L] + 0.18 * width
  axis$extra <- list(at = at, label = "missing")
  list(axis = axis, from = from, at = at, width = 0.12 * width)
}

#' Isolated effects, such as that of the missing value: a symbol with an interval, side by side for several series
#' @noRd
missing_marks <- function(rows, at, width) {
  x <- at + dodge(rows$series, width)
  marks <- list(missing = data.frame(x = x, y = rows$effect, series = rows$series))
  known <- is.finite(rows$lower) & is.finite(rows$upper)
  if (any(known)) {
    marks$interval <- data.frame(
      x = x[known], y = rows$lower[known], xend = x[known], yend = rows$upper[known], series = rows$series[known]
    )
  }
  marks
}

#' Effects of single values: a point and its interval each, small where they are many
#' @param width Of the range of values.
#' @noRd
value_marks <- function(rows, width) {
  if (!nrow(rows)) {
    return(list())
  }
  few <- length(unique(rows$x)) <= few_points
  marks <- missing_marks(rows, rows$x, if (few) 0.04 * width else 0)
  names(marks)[1L] <- if (few) "point" else "dot"
  marks
}

#' Offsets of series around a common position
#' @noRd
dodge <- function(series, width) {
  n <- length(unique(series))
  if (n < 2L) rep(0, length(series)) else (match(series, sort(unique(series))) - (n + 1) / 2) * width / n
}

#' Curves with their bands, broken at jumps (two rows with the same x, the limits from the left and from the right)
#' @noRd
curve_marks <- function(rows) {
  if (!nrow(rows)) {
    return(list())
  }
  # rows of one series are in the order of x already; a stable sort keeps the two limits of a jump in order
  rows <- rows[order(rows$series, rows$x), , drop = FALSE]
  n <- nrow(rows)
  same <- c(FALSE, rows$series[-1L] == rows$series[-n])
  jump <- same & c(FALSE, rows$x[-1L] == rows$x[-n])
  piece <- cumsum(jump | !same)
  marks <- list()
  if (any(is.finite(rows$lower) & is.finite(rows$upper))) {
    marks$band <- data.frame(x = rows$x, lower = rows$lower, upper = rows$upper, piece = piece, series = rows$series)
  }
  at <- which(jump)
  if (length(at)) {
    marks$jump <- data.frame(
      x = rows$x[at], y = rows$effect[at - 1L], xend = rows$x[at], yend = rows$effect[at], series = rows$series[at]
    )
  }
  alone <- stats::ave(rep(1, n), piece, FUN = sum) == 1
  if (any(alone)) {
    marks$dot <- data.frame(x = rows$x[alone], y = rows$effect[alone], series = rows$series[alone])
  }
  marks$curve <- data.frame(x = rows$x, y = rows$effect, piece = piece, series = rows$series)
  marks
}

#' Panel of a categorical main effect: levels along x, see flip_panel()
#' @noRd
panel_levels <- function(rows, facts, y, title, options) {
  absent <- rows$level %in% missing_level
  levels <- unique(c(intersect(facts$levels, rows$level), rows$level[!absent]))
  n <- length(levels)
  extra <- if (any(absent)) list(at = n + 1.25, label = "missing")
  x <- axis_level(level_names(levels, options$level_labels[[rows$term[1L]]]), extra = extra)
  seen <- rows[!absent, , drop = FALSE]
  at <- match(seen$level, levels)
  place <- at + dodge(seen$series, 0.6)
  marks <- list()
  if (options$density) {
    first <- !duplicated(rows$level)
    position <- ifelse(absent, n + 1.25, match(rows$level, levels))[first]
    share <- rows$density[first]
    share[is.na(share)] <- 0
    marks$shade <- data.frame(
      xmin = position - 0.42, xmax = position + 0.42, ymin = y$limits[1L], ymax = y$limits[2L],
      opacity = shade_opacity(share)
    )
  }
  marks$zero <- zero_line(x, y)
  known <- is.finite(seen$lower) & is.finite(seen$upper)
  if (any(known)) {
    marks$interval <- data.frame(
      x = place[known], y = seen$lower[known], xend = place[known], yend = seen$upper[known],
      series = seen$series[known]
    )
  }
  marks$point <- data.frame(x = place, y = seen$effect, series = seen$series)
  if (any(absent)) {
    divider <- n + 0.625
    marks$divider <- data.frame(x = divider, y = y$limits[1L], xend = divider, yend = y$limits[2L])
    extra_marks <- missing_marks(rows[absent, , drop = FALSE], n + 1.25, 0.6)
    marks$missing <- extra_marks$missing
    marks$interval <- rbind(marks$interval, extra_marks$interval)
  }
  list(title = title, kind = "levels", x = x, y = y, marks = marks)
}

#' Levels as they are shown: labels that were given, and a word for a name that cannot be seen
#' @noRd
level_names <- function(levels, labels = NULL) {
  given <- unname(labels[match(levels, names(labels))])
  shown <- ifelse(nzchar(trimws(levels)), levels, "(empty)")
  if (length(labels)) ifelse(is.na(given), shown, given) else shown
}

#' The line of no effect (0, or 1 for ratios: their logarithm is 0)
#' @noRd
zero_line <- function(x, y) data.frame(x = x$limits[1L], y = 0, xend = x$limits[2L], yend = 0)

#' Bars cut off at the ends of the axis
#' @noRd
clip_bars <- function(bars, limits) {
  bars$xmin <- pmax(bars$xmin, limits[1L])
  bars$xmax <- pmin(bars$xmax, limits[2L])
  bars[bars$xmin < bars$xmax, , drop = FALSE]
}

#' A panel with its axes exchanged, the first level on top
#' @noRd
flip_panel <- function(panel) {
  from <- c("x", "y", "xend", "yend", "xmin", "xmax", "ymin", "ymax")
  to <- c("y", "x", "yend", "xend", "ymin", "ymax", "xmin", "xmax")
  panel[c("x", "y")] <- panel[c("y", "x")]
  mirror <- sum(panel$y$limits)
  panel$y$at <- mirror - panel$y$at
  if (!is.null(panel$y$extra)) {
    panel$y$extra$at <- mirror - panel$y$extra$at
  }
  panel$marks <- lapply(panel$marks, function(mark) {
    known <- names(mark) %in% from
    names(mark)[known] <- to[match(names(mark)[known], from)]
    upright <- intersect(names(mark), c("y", "yend", "ymin", "ymax"))
    mark[upright] <- mirror - mark[upright]
    mark
  })
  panel$flipped <- TRUE
  panel
}
