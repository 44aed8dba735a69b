# Figures of a cross-validation: scores of the folds, or out-of-fold predictions against what was observed.

#' Plot a cross-validation
#'
#' @param x,object From [cv_protonam()].
#' @param which `"scores"` of the folds, or out-of-fold `"predictions"`: observed values against predictions or, for two
#'   classes, the observed share of events against the predicted probability in ten groups of rows, with 95 % intervals.
#' @param main Title of the figure.
#' @param ... Not used.
#' @return `x`, invisibly; `autoplot()` returns a ggplot object.
#' @examples
#' cv <- cv_protonam(mpg ~ wt, mtcars, folds = 2, epochs = 5, hidden = 8, prototypes = 4, seed = 1)
#' plot(cv, which = "predictions")
#' @export
plot.protonam_cv <- function(x, which = c("scores", "predictions"), main = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_cv)))
  draw_pages(cv_figure(x, which, plot_options(main = main, limits = device_limits())), FALSE)
  invisible(x)
}

# nolint start: object_name_linter.
#' @rdname plot.protonam_cv
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_cv <- function(object, which = c("scores", "predictions"), main = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_cv)))
  gg_pages(cv_figure(object, which, plot_options(main = main)), NULL)
}
# nolint end

cv_figure <- function(x, which, options) {
  which <- check_choice(which, c("scores", "predictions"), "which")
  responses <- if (which == "scores") unique(x$scores$response)
  several <- length(responses) > 1L
  panels <- if (which == "scores") fold_panels(x, responses) else list(observed_panel(x))
  columns <- min(length(panels), options$limits[2L])
  k <- max(1L, length(responses))
  list(
    panels = panels,
    pages = list(list(panels = seq_along(panels), rows = ceiling(length(panels) / columns), columns = columns)),
    series = list(
      labels = if (several) responses else character(), colours = series_colours(k), lines = rep(1L, k), filled = TRUE
    ),
    key = NULL, ylab = NULL, xlab = NULL, title = options$main,
    caption = if (which == "scores") "Points: folds; dashed lines: their means."
  )
}

#' One panel per score: a point per fold, and the mean of the folds
#' @noRd
fold_panels <- function(x, responses) {
  folds <- unique(x$scores$fold)
  series <- if (is.null(responses)) rep(1L, nrow(x$scores)) else match(x$scores$response, responses)
  at <- length(folds) + 1 - match(x$scores$fold, folds)
  lapply(unique(x$summary$score), function(name) {
    value <- x$scores[[name]]
    known <- is.finite(value)
    mean <- x$summary$mean[x$summary$score == name]
    axis <- axis_number(spread(c(value, mean), 0.08), n = 4L)
    names <- axis_level(rev(shorten(folds, 12L)))
    marks <- list(point = data.frame(x = value, y = at + dodge(series, 0.5), series = series)[known, ])
    mean <- mean[is.finite(mean)]
    if (length(mean)) {
      marks$guide <- data.frame(x = mean, y = names$limits[1L], xend = mean, yend = names$limits[2L])
    }
    if (!any(known)) {
      marks$label <- data.frame(x = mean(axis$limits), y = mean(names$limits), label = "not defined in any fold")
    }
    list(title = score_labels[[name]], kind = "scores", flipped = TRUE, x = axis, y = names, marks = marks)
  })
}

#' Observations against out-of-fold predictions
#' @noRd
observed_panel <- function(x) {
  binary <- x$family$family == "binomial"
  if (x$family$family == "multinomial" || is.matrix(x$predictions)) {
    pn_abort("{.code which = \"predictions\"} is available only for one numeric response or two classes.",
      class = "argument", arg = "which"
    )
  }
  known <- !is.na(x$predictions) & !is.na(x$y)
  mean <- x$predictions[known]
  y <- x$y[known]
  weights <- if (is.null(x$weights)) rep(1, length(y)) else x$weights[known]
  marks <- if (binary) shares_in_groups(mean, y, weights) else list(dot = data.frame(x = mean, y = y, series = 1L))
  ends <- if (binary) c(0, 1) else range(mean, y)
  marks$guide <- data.frame(x = ends[1L], y = ends[1L], xend = ends[2L], yend = ends[2L])
  list(
    title = "Out-of-fold predictions", kind = "scatter",
    x = axis_number(spread(ends, 0.02), title = if (binary) "predicted probability" else "prediction"),
    y = axis_number(
      spread(c(ends, marks$interval$y, marks$interval$yend), 0.02),
      title = if (binary) "observed share" else x$name
    ),
    marks = marks
  )
}

#' Ten groups of rows by prediction: share of events with its interval (Wilson's)
#' @noRd
shares_in_groups <- function(mean, y, weights) {
  breaks <- unique(stats::quantile(mean, 0:10 / 10))
  group <- findInterval(mean, breaks, rightmost.closed = TRUE)
  total <- rowsum(weights, group)[, 1L]
  share <- rowsum(weights * y, group)[, 1L] / total
  size <- total^2 / rowsum(weights^2, group)[, 1L]
  z <- stats::qnorm(0.975)
  middle <- (share + z^2 / (2 * size)) / (1 + z^2 / size)
  half <- z * sqrt(share * (1 - share) / size + z^2 / (4 * size^2)) / (1 + z^2 / size)
  at <- rowsum(weights * mean, group)[, 1L] / total
  list(
    point = data.frame(x = at, y = share, series = 1L),
    interval = data.frame(x = at, y = middle - half, xend = at, yend = middle + half, series = 1L)
  )
}
