# Figures of fairness().


#' One panel per measure, one line per group, one colour per model
#' @noRd
fairness_figure <- function(x, options) {
  groups <- levels(factor(x$group, levels = unique(as.character(x$group))))
  models <- unique(x$model)
  rows <- data.frame(
    at = length(groups) + 1 - match(x$group, groups), series = if (is.null(models)) 1L else match(x$model, models)
  )
  k <- max(1L, length(models))
  rows$at <- rows$at + (if (k > 1L) 0.4 * (0.5 - (rows$series - 1) / (k - 1)) else 0)
  panels <- lapply(names(fairness_titles), function(measure) {
    value <- x[[measure]]
    all <- c(value, if (measure == "predicted") x$base_rate)
    axis <- axis_number(spread(all, 0.08), n = 4L)
    known <- !is.na(value)
    marks <- list(point = data.frame(x = value, y = rows$at, series = rows$series)[known, ])
    if (measure == "predicted") {
      # how far off, and the observed rate as a diamond
      marks$interval <- data.frame(
        x = value, y = rows$at, xend = x$base_rate, yend = rows$at, series = rows$series
      )[known, ]
      marks$missing <- data.frame(x = x$base_rate, y = rows$at, series = rows$series)[known, ]
    }
    names <- axis_level(rev(shorten(groups, 24L)))
    list(title = fairness_titles[[measure]], kind = "fairness", flipped = TRUE, x = axis, y = names, marks = marks)
  })
  columns <- min(length(panels), 3L, options$limits[2L])
  series <- list(
    labels = if (k > 1L) models else character(), colours = series_colours(k), lines = rep(1L, k), filled = TRUE
  )
  note <- c(
    "Points: predicted; diamonds: observed.",
    sprintf("Rates at a threshold of %s.", format(attr(x, "threshold")))
  )
  list(
    panels = panels,
    pages = list(list(panels = seq_along(panels), rows = ceiling(length(panels) / columns), columns = columns)),
    series = series, key = NULL, ylab = NULL, xlab = NULL, title = options$main, caption = note
  )
}

#' @rdname fairness
#' @param main Title of the figure.
#' @export
plot.protonam_fairness <- function(x, main = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_fairness)))
  options <- plot_options(main = main, limits = device_limits())
  draw_pages(fairness_figure(x, options), FALSE)
  invisible(x)
}

# nolint start: object_name_linter.
#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_fairness <- function(object, main = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_fairness)))
  gg_pages(fairness_figure(object, plot_options(main = main)), NULL)
}
