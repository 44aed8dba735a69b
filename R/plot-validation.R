# Figures of validate_protonam(): measures with their intervals.

#' @rdname validate_protonam
#' @param main,cex Title of the figure, and relative size of its text.
#' @export
plot.protonam_validation <- function(x, main = NULL, cex = 1, ...) {
  draw_simple(x, validation_figure, list(main = main, cex = cex), list(...))
}

# nolint start: object_name_linter.
#' @rdname validate_protonam
#' @param object From `validate_protonam()`.
#' @param size See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_validation <- function(object, main = NULL, cex = 1, size = NULL, ...) {
  gg_simple(object, validation_figure, list(main = main, cex = cex), list(...), size)
}
# nolint end

# where a measure should be
ideal_values <- c(intercept = 0, slope = 1)

#' One panel per measure, one line per response or group: corrected values with intervals, apparent ones as diamonds
#' @noRd
validation_figure <- function(x, options) {
  table <- x$scores
  titles <- part_titles(table)
  parts <- unique(titles) %||% "corrected"
  if (is.null(titles)) titles <- rep("corrected", nrow(table))
  measures <- unique(table$measure)
  panels <- lapply(measures, function(name) {
    rows <- table[table$measure == name, ]
    at <- length(parts) + 1 - match(titles[table$measure == name], parts)
    apparent <- is.finite(rows$apparent)
    lines <- parts
    if (identical(parts, "corrected")) {
      # one value: the apparent one has a separate line
      lines <- c("corrected", "apparent")
      at <- 2
    }
    down <- if (length(lines) > length(parts)) 1 else 0
    ideal <- if (name %in% names(ideal_values)) ideal_values[[name]]
    known <- is.finite(rows$corrected)
    bounded <- known & is.finite(rows$lower)
    names <- axis_level(rev(shorten(lines, 24L)))
    list(
      title = measure_label(name), kind = "scores", flipped = TRUE,
      x = axis_number(spread(c(rows$corrected, rows$lower, rows$upper, rows$apparent, ideal), 0.08), n = 4L), y = names,
      marks = list(
        guide = if (!is.null(ideal)) data.frame(x = ideal, y = names$limits[1L], xend = ideal, yend = names$limits[2L]),
        interval = data.frame(
          x = rows$lower, y = at, xend = rows$upper, yend = at, series = rep(1L, nrow(rows))
        )[bounded, ],
        point = data.frame(x = rows$corrected, y = at, series = rep(1L, nrow(rows)))[known, ],
        missing = data.frame(x = rows$apparent, y = at - down, series = rep(1L, nrow(rows)))[apparent, ]
      )
    )
  })
  list(
    panels = panels,
    pages = line_pages(length(panels), max(2L, length(parts)), options, across = 2L),
    series = no_series, key = NULL, ylab = NULL, xlab = NULL, title = options$main,
    caption = c(
      sprintf("Points: values (%s), with %s %% intervals.", validation_words(x), format(100 * x$level)),
      if (any(is.finite(table$apparent))) "Diamonds: apparent values, on the training rows."
    ),
    cex = options$cex, room = options$room
  )
}
