# Figures of fairness().

fairness_titles <- c(
  predicted = "predicted and observed rate", auc = "AUC", selection_rate = "selection rate", tpr = "true positive rate",
  fpr = "false positive rate"
)

#' One panel per measure, one line per group, one colour per model; all rates have one scale
#' @noRd
fairness_figure <- function(x, options) {
  groups <- levels(factor(x$group, levels = unique(as.character(x$group))))
  models <- unique(x$model)
  k <- max(1L, length(models))
  rows <- data.frame(
    at = length(groups) + 1 - match(x$group, groups), series = if (is.null(models)) 1L else match(x$model, models)
  )
  rows$at <- rows$at - dodge(rows$series, 0.6)
  rates <- setdiff(names(fairness_titles), "auc")
  ends <- lapply(c(rates, "auc", "base_rate"), function(measure) interval_of(x, measure))
  names(ends) <- c(rates, "auc", "base_rate")
  common <- unlist(c(x[c(rates, "base_rate")], ends[c(rates, "base_rate")]))
  pages <- line_pages(length(fairness_titles), k * length(groups), options)
  width <- panel_chars(pages[[1L]], options$room)
  names <- axis_level(rev(shorten(level_names(groups), max(8L, as.integer(0.5 * width)))))
  panels <- lapply(names(fairness_titles), function(measure) {
    value <- x[[measure]]
    limits <- if (measure == "auc") spread(c(value, unlist(ends$auc)), 0.05) else spread(common, 0.05)
    marks <- list(
      point = data.frame(x = value, y = rows$at, series = rows$series)[!is.na(value), ],
      interval = fairness_lines(ends[[measure]], rows$at, rows$series)
    )
    if (measure == "predicted") {
      # observed values are below predicted ones
      below <- rows$at - 0.3 / k
      marks$missing <- data.frame(x = x$base_rate, y = below, series = rows$series)[!is.na(x$base_rate), ]
      marks$interval <- rbind(marks$interval, fairness_lines(ends$base_rate, below, rows$series))
    }
    title <- wrap_name(fairness_titles[[measure]], max(12L, as.integer(0.9 * width)))
    axis <- axis_number(limits, n = 4L)
    list(title = title, kind = "fairness", flipped = TRUE, x = axis, y = names, marks = marks)
  })
  series <- list(
    labels = if (k > 1L) models else character(), colours = series_colours(k, options$col), lines = rep(1L, k),
    filled = TRUE
  )
  note <- c(
    "Points: predictions; diamonds: observed rates; lines: 95 % intervals.",
    sprintf("Rates at a threshold of %s.", format(attr(x, "threshold")))
  )
  list(
    panels = panels, pages = pages, series = series, key = NULL, ylab = NULL, xlab = NULL, title = options$main,
    caption = note, cex = options$cex, room = options$room
  )
}

#' Interval of a measure in each row of the table
#' @noRd
interval_of <- function(x, measure) {
  table <- attr(x, "intervals")
  table <- table[table$measure == measure, , drop = FALSE]
  key <- function(data) if (is.null(data$model)) as.character(data$group) else paste(data$model, data$group, sep = "\r")
  at <- match(key(x), key(table))
  list(lower = table$lower[at], upper = table$upper[at])
}

fairness_lines <- function(ends, at, series) {
  lines <- data.frame(x = ends$lower, y = at, xend = ends$upper, yend = at, series = series)
  lines[is.finite(lines$x) & is.finite(lines$xend), ]
}

#' @rdname fairness
#' @param main,cex,col Title of the figure, relative size of its text, colours of the models.
#' @export
plot.protonam_fairness <- function(x, main = NULL, cex = 1, col = NULL, ...) {
  draw_simple(x, fairness_figure, list(main = main, cex = cex, col = col), list(...))
}

# nolint start: object_name_linter.
#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_fairness <- function(object, main = NULL, cex = 1, col = NULL, size = NULL, ...) {
  gg_simple(object, fairness_figure, list(main = main, cex = cex, col = col), list(...), size)
}
# nolint end
