# Figures of a cross-validation: scores of the folds, or out-of-fold predictions against what was observed.

#' Plot a cross-validation
#'
#' @param x,object From [cv_protonam()].
#' @param which `"scores"` of the folds and their mean with its 95 % interval (Student's, over folds; as folds share
#'   training rows, it tends to be a little too short), or out-of-fold `"predictions"`: observed values against
#'   predictions or, for two classes, the observed share of events against the predicted probability in ten groups of
#'   rows, with 95 % intervals.
#' @param main,cex,col Title of the figure, relative size of its text, colours of the responses.
#' @param size See [autoplot.protonam()].
#' @param ... Not used.
#' @return `x`, invisibly; `autoplot()` returns a ggplot object.
#' @examples
#' cv <- cv_protonam(mpg ~ wt, mtcars, folds = 2, epochs = 5, hidden = 8, prototypes = 4, seed = 1)
#' plot(cv, which = "predictions")
#' @export
plot.protonam_cv <- function(x, which = c("scores", "predictions"), main = NULL, cex = 1, col = NULL, ...) {
  draw_simple(x, function(x, options) cv_figure(x, which, options), list(main = main, cex = cex, col = col), list(...))
}

# nolint start: object_name_linter.
#' @rdname plot.protonam_cv
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_cv <- function(object, which = c("scores", "predictions"), main = NULL, cex = 1, col = NULL,
                                 size = NULL, ...) {
  make <- function(x, options) cv_figure(x, which, options)
  gg_simple(object, make, list(main = main, cex = cex, col = col), list(...), size)
}
# nolint end

cv_figure <- function(x, which, options) {
  which <- check_choice(which, c("scores", "predictions"), "which")
  responses <- if (which == "scores") unique(x$scores$response)
  several <- length(responses) > 1L
  panels <- if (which == "scores") fold_panels(x, responses) else list(observed_panel(x))
  k <- max(1L, length(responses))
  pages <- line_pages(length(panels), k * length(panels[[1L]]$y$labels), options)
  list(
    panels = panels, pages = pages,
    series = list(
      labels = if (several) responses else character(), colours = series_colours(k, options$col), lines = rep(1L, k),
      filled = TRUE
    ),
    key = NULL, ylab = NULL, xlab = NULL, title = options$main,
    caption = if (which == "scores") "Points: folds. Diamonds and dashed lines: their means with 95 % intervals.",
    cex = options$cex, room = options$room
  )
}

#' One panel per score: a point per fold, and the mean of the folds
#' @noRd
fold_panels <- function(x, responses) {
  folds <- unique(x$scores$fold)
  series <- if (is.null(responses)) rep(1L, nrow(x$scores)) else match(x$scores$response, responses)
  # the mean is in the last line
  at <- length(folds) + 2 - match(x$scores$fold, folds)
  lapply(unique(x$summary$score), function(name) {
    value <- x$scores[[name]]
    known <- is.finite(value)
    means <- score_means(value, series)
    axis <- axis_number(spread(c(value, unlist(means)), 0.08), n = 4L)
    names <- axis_level(c("mean", rev(shorten(folds, 12L))))
    marks <- list(point = data.frame(x = value, y = at + dodge(series, 0.5), series = series)[known, ])
    here <- is.finite(means$mean)
    if (any(here)) {
      place <- 1 + dodge(seq_along(here), 0.5)
      marks$missing <- data.frame(x = means$mean, y = place, series = seq_along(here))[here, ]
      marks$guide <- data.frame(x = means$mean, y = place, xend = means$mean, yend = names$limits[2L])[here, ]
      wide <- here & is.finite(means$lower)
      marks$interval <- data.frame(
        x = means$lower, y = place, xend = means$upper, yend = place, series = seq_along(here)
      )[wide, ]
    }
    if (!any(known)) {
      marks$label <- data.frame(x = mean(axis$limits), y = mean(names$limits), label = "not defined in any fold")
    }
    list(title = score_labels[[name]], kind = "scores", flipped = TRUE, x = axis, y = names, marks = marks)
  })
}

#' Means of the folds and their intervals, one line per response
#' @noRd
score_means <- function(value, series) {
  each <- lapply(split(value, series), function(x) c(mean(x[is.finite(x)]), mean_interval(x)))
  out <- as.data.frame(do.call(rbind, each))
  stats::setNames(out, c("mean", "lower", "upper"))
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

#' Ten groups of rows by prediction: share of events with its interval
#' @noRd
shares_in_groups <- function(mean, y, weights) {
  groups <- prediction_groups(list(family = stats::binomial(), y = y, mean = mean, weights = weights))
  group_marks(groups)
}

#' Points with intervals
#' @param groups From prediction_groups().
#' @noRd
group_marks <- function(groups) {
  list(
    point = data.frame(x = groups$predicted, y = groups$observed, series = 1L),
    interval = data.frame(
      x = groups$predicted, y = groups$lower, xend = groups$predicted, yend = groups$upper, series = 1L
    )
  )
}
