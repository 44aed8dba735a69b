# Figures of discrimination(): ROC curves.

most_points <- 1000L # of a curve

#' @rdname discrimination
#' @param main,cex Title of the figure, and relative size of its text.
#' @export
plot.protonam_discrimination <- function(x, main = NULL, cex = 1, ...) {
  draw_simple(x, roc_figure, list(main = main, cex = cex), list(...))
}

# nolint start: object_name_linter, object_length_linter.
#' @rdname discrimination
#' @param object From `discrimination()`.
#' @param size See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_discrimination <- function(object, main = NULL, cex = 1, size = NULL, ...) {
  gg_simple(object, roc_figure, list(main = main, cex = cex), list(...), size)
}
# nolint end

#' All curves in one panel; the area under each in the panel, or in the legend
#' @noRd
roc_figure <- function(x, options) {
  titles <- part_titles(x$summary)
  parts <- titles %||% ""
  number <- function(v) formatC(v, digits = 3L, format = "f")
  text <- ifelse(
    is.na(x$summary$auc), "not defined",
    paste0(number(x$summary$auc), ifelse(
      is.na(x$summary$lower), "", sprintf(" (%s to %s)", number(x$summary$lower), number(x$summary$upper))
    ))
  )
  curve <- x$curve
  curve$series <- if (is.null(titles)) rep(1L, nrow(curve)) else match(part_titles(curve), parts)
  curve <- do.call(rbind, lapply(split(curve, curve$series), thin_rows, most_points))
  one <- length(parts) == 1L
  marks <- list(
    guide = data.frame(x = 0, y = 0, xend = 1, yend = 1),
    band = data.frame(
      x = curve$fpr, lower = curve$lower, upper = curve$upper, piece = curve$series, series = curve$series
    ),
    curve = data.frame(x = curve$fpr, y = curve$tpr, piece = curve$series, series = curve$series),
    label = if (one) data.frame(x = 0.97, y = 0.06, label = paste("AUC", text), adjust = 1)
  )
  # bands of several curves would hide each other
  if (length(parts) > 3L) marks$band <- NULL
  axis <- function(title) axis_number(c(-0.02, 1.02), title = title)
  k <- length(parts)
  list(
    panels = list(list(
      title = NULL, kind = "scatter", x = axis("1 - specificity"), y = axis("sensitivity"), marks = marks
    )),
    pages = list(list(panels = 1L, rows = 1L, columns = 1L)),
    series = list(
      labels = if (one) character() else paste0(shorten(parts, 20L), ": ", sub("NA", "-", number(x$summary$auc))),
      colours = series_colours(k), lines = series_line_types(k)
    ),
    key = NULL, ylab = NULL, xlab = NULL, title = options$main,
    caption = c(
      sprintf("Predictions %s.", x$source), if (!one) "Legend: areas under the curves.",
      if (!is.null(marks$band)) sprintf("Band: %s %%, pointwise.", format(100 * x$level))
    ),
    cex = options$cex, room = options$room
  )
}

#' About so many of the rows, ends included
#' @noRd
thin_rows <- function(table, most) {
  if (nrow(table) <= most) table else table[unique(round(seq(1, nrow(table), length.out = most))), , drop = FALSE]
}
