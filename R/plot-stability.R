# Figures of stability(): predictions of other models against those of the fit.

most_dots <- 4000L
most_lines <- 100L

#' @rdname stability
#' @param which Panels: `"predictions"` of the models against those of the fit, `"mape"` of rows, `"calibration"` curves
#'   of the models (if the response is known), `"changed"` sides of the threshold. By default all that there are.
#' @param main,cex Title of the figure, and relative size of its text.
#' @export
plot.protonam_stability <- function(x, which = NULL, main = NULL, cex = 1, ...) {
  draw_simple(x, function(x, options) stability_figure(x, which, options), list(main = main, cex = cex), list(...))
}

# nolint start: object_name_linter.
#' @rdname stability
#' @param object From `stability()`.
#' @param size See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_stability <- function(object, which = NULL, main = NULL, cex = 1, size = NULL, ...) {
  make <- function(x, options) stability_figure(x, which, options)
  gg_simple(object, make, list(main = main, cex = cex), list(...), size)
}
# nolint end

stability_figure <- function(x, which, options) {
  known <- c(
    "predictions", "mape", if (!is.null(x$y) && x$family == "binomial") "calibration",
    if (!is.null(x$threshold)) "changed"
  )
  which <- which %||% known
  if (!is.character(which) || !length(which) || !all(which %in% known)) {
    bad <- if (is.character(which) && length(which)) setdiff(which, known)[1L] else which
    pn_abort(
      "{.arg which} must be one or more of {.or {.val {known}}} here, not {describe(bad)}.",
      class = "argument", arg = "which"
    )
  }
  what <- if (x$family == "binomial") "probability" else "prediction"
  ends <- if (x$family == "binomial") {
    c(0, min(1, ceiling(10 * max(x$rows$prediction, stats::quantile(x$rows$upper, 0.99))) / 10))
  } else {
    range(x$rows[c("prediction", "lower", "upper")])
  }
  build <- list(
    predictions = function() prediction_panel(x, ends, what),
    mape = function() scatter_panel(x, "mape", "mean difference", ends, what),
    calibration = function() models_panel(x, ends),
    changed = function() scatter_panel(x, "changed", "changed sides", ends, what)
  )
  panels <- lapply(which, function(one) build[[one]]())
  k <- length(panels)
  list(
    panels = panels, pages = panel_pages(rep(FALSE, k), square_room(options)),
    series = no_series, key = NULL, ylab = NULL, xlab = paste(what, "by the fit"), title = options$main,
    caption = c(
      paste0(toupper(substr(x$source, 1L, 1L)), substring(x$source, 2L), "."),
      if ("predictions" %in% which) sprintf("Lines: %s %% of the models.", format(100 * x$level)),
      if ("mape" %in% which) "Mean difference: of the models from the fit, without sign.",
      if ("changed" %in% which) {
        sprintf("Changed sides: share of models across the threshold of %s.", format(x$threshold))
      }
    ),
    cex = options$cex, room = options$room
  )
}

fit_axis <- function(ends, what) axis_number(spread(ends, 0.02), n = 4L, title = paste(what, "by the fit"))

#' Predictions of all models against those of the fit, with the range of most
#' @noRd
prediction_panel <- function(x, ends, what) {
  n <- nrow(x$rows)
  each <- max(1L, floor(most_dots / ncol(x$predictions)))
  at <- unique(round(seq(1, n, length.out = min(n, each))))
  dots <- data.frame(
    x = rep(x$rows$prediction[at], ncol(x$predictions)), y = as.vector(x$predictions[at, ]), series = 1L
  )
  dots <- dots[dots$y <= ends[2L] & dots$y >= ends[1L], ]
  line <- function(y) stats::lowess(x$rows$prediction, y, f = 0.2)
  edges <- lapply(list(x$rows$lower, x$rows$upper), line)
  edge <- do.call(rbind, lapply(1:2, function(k) {
    data.frame(x = edges[[k]]$x, y = pmin(pmax(edges[[k]]$y, ends[1L]), ends[2L]), piece = k, series = 1L)
  }))
  list(
    title = "predictions", kind = "scatter", x = fit_axis(ends, what),
    y = axis_number(spread(ends, 0.02), n = 4L),
    marks = list(
      guide = data.frame(x = ends[1L], y = ends[1L], xend = ends[2L], yend = ends[2L]), faint = dots,
      curve = edge[!duplicated(edge[c("x", "piece")]), ]
    )
  )
}

#' One number per row against the prediction
#' @noRd
scatter_panel <- function(x, column, title, ends, what) {
  rows <- thin_rows(x$rows[order(x$rows$prediction), ], most_dots)
  list(
    title = title, kind = "scatter", x = fit_axis(ends, what),
    y = axis_number(c(0, 1.05 * max(x$rows[[column]], 1e-6)), n = 4L),
    marks = list(faint = data.frame(x = rows$prediction, y = rows[[column]], series = 1L))
  )
}

#' Calibration curves of the models on the rows of the fit
#' @noRd
models_panel <- function(x, ends) {
  curve_of <- function(mean, piece) {
    rows <- list(
      family = stats::binomial(), y = x$y, mean = mean, link = to_link(stats::binomial(), mean)
    )
    curve <- calibration_curve(rows, "spline", 0.95)
    if (is.null(curve)) {
      return(NULL)
    }
    grid <- thin_rows(data.frame(at = prediction_grid(mean)), 60L)$at
    out <- data.frame(x = grid, y = curve$at(grid)$observed, piece = piece, series = 1L)
    out[out$x <= ends[2L] & out$y <= ends[2L], ]
  }
  models <- unique(round(seq(1, ncol(x$predictions), length.out = min(most_lines, ncol(x$predictions)))))
  thin <- do.call(rbind, lapply(models, function(k) curve_of(x$predictions[, k], k)))
  list(
    title = "calibration", kind = "scatter",
    x = axis_number(spread(ends, 0.02), n = 4L, title = "probability by the model"),
    y = axis_number(spread(ends, 0.02), n = 4L),
    marks = list(
      guide = data.frame(x = ends[1L], y = ends[1L], xend = ends[2L], yend = ends[2L]), thin = thin,
      curve = curve_of(x$rows$prediction, 0L)
    )
  )
}
