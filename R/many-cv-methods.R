# Printing and drawing a cross-validation.

#' Print or plot a cross-validation
#'
#' @param x From [cv_protonam()].
#' @param which `"scores"` of the folds, or out-of-fold `"predictions"`: plotted against the observed values or, for two
#'   classes, the observed share of events against the predicted probability in ten groups of rows.
#' @param digits Number of digits to show.
#' @param ... Passed to [plot()].
#' @return `x`, invisibly.
#' @examples
#' cv <- cv_protonam(mpg ~ wt, mtcars, folds = 2, epochs = 5, hidden = 8, prototypes = 4, seed = 1)
#' plot(cv, which = "predictions")
#' @export
plot.protonam_cv <- function(x, which = c("scores", "predictions"), ...) {
  which <- check_choice(which, c("scores", "predictions"), "which")
  if (which == "scores") plot_fold_scores(x, ...) else plot_out_of_fold(x, ...)
  invisible(x)
}

plot_fold_scores <- function(x, ...) {
  names <- unique(x$summary$score)
  folds <- unique(x$scores$fold)
  responses <- unique(x$scores$response)
  several <- length(responses) > 1L
  series <- if (several) match(x$scores$response, responses) else 1L
  colours <- if (several) series_colours(length(responses)) else "black"
  labels <- shorten(folds, 12L)
  # long names are set vertically below the axis
  upright <- max(nchar(labels)) * length(labels) > 24L
  below <- if (upright) 1.2 + 0.55 * max(nchar(labels)) else 4.1
  old <- graphics::par(
    mfrow = grDevices::n2mfrow(length(names)), mar = c(below, 4.1, 1.1, 1.1), oma = c(0, 0, if (several) 2 else 0, 0)
  )
  on.exit(graphics::par(old))
  for (name in names) {
    value <- x$scores[[name]]
    draw_points(match(x$scores$fold, folds), value, list(
      xlim = range(seq_along(folds)), ylim = if (any(is.finite(value))) NULL else 0:1, xaxt = "n",
      xlab = if (upright) "" else "Fold", ylab = score_labels[[name]], pch = 19, col = colours[series]
    ), list(...))
    graphics::axis(1L, seq_along(folds), labels, las = if (upright) 2L else 1L)
    if (!any(is.finite(value))) graphics::text(mean(seq_along(folds)), 0.5, "not defined in any fold")
    graphics::abline(h = x$summary$mean[x$summary$score == name], lty = 2L, col = colours)
  }
  if (several) {
    # over all panels, in the outer margin
    graphics::par(fig = c(0, 1, 0, 1), oma = numeric(4), mar = numeric(4), new = TRUE)
    graphics::plot.new()
    graphics::legend("top", legend = responses, col = colours, pch = 19, lty = 2L, bty = "n", horiz = TRUE)
  }
}

#' Points with labels and limits that the user may replace
#' @noRd
draw_points <- function(x, y, defaults, given) {
  defaults <- defaults[!vapply(defaults, is.null, NA)]
  do.call(graphics::plot, c(list(x, y), utils::modifyList(defaults, given)))
}

plot_out_of_fold <- function(x, ...) {
  if (x$family$family == "multinomial" || is.matrix(x$predictions)) {
    pn_abort("{.code which = \"predictions\"} is available only for one numeric response or two classes.",
      class = "argument", arg = "which"
    )
  }
  known <- !is.na(x$predictions) & !is.na(x$y)
  mean <- x$predictions[known]
  y <- x$y[known]
  if (x$family$family == "binomial") {
    breaks <- unique(stats::quantile(mean, 0:10 / 10))
    group <- findInterval(mean, breaks, rightmost.closed = TRUE)
    weights <- if (is.null(x$weights)) rep(1, length(y)) else x$weights[known]
    total <- rowsum(weights, group)
    draw_points(rowsum(weights * mean, group) / total, rowsum(weights * y, group) / total, list(
      xlim = 0:1, ylim = 0:1, pch = 19, xlab = "Predicted probability", ylab = "Observed share"
    ), list(...))
  } else {
    draw_points(mean, y, list(xlab = "Out-of-fold prediction", ylab = x$name), list(...))
  }
  graphics::abline(0, 1, lty = 2L)
}

#' @rdname plot.protonam_cv
#' @export
print.protonam_cv <- function(x, digits = 4L, ...) {
  folds <- unique(x$scores$fold)
  scored <- !is.na(x$folds) & !x$folds %in% x$failed
  cat(sprintf(
    "Cross-validation of a protonam model, %d folds, %d rows, family %s\n", nlevels(x$folds), sum(scored),
    x$family$family
  ))
  if (length(x$failed)) cat("Failed and left out: fold", paste(x$failed, collapse = ", "), "\n")
  for (response in unique(x$summary$response) %||% NA) {
    mine <- if (is.na(response)) x$summary else x$summary[x$summary$response == response, ]
    cat(if (is.na(response)) "\n" else sprintf("\n%s\n", response))
    table <- as.matrix(mine[c("mean", "sd", "pooled")])
    dimnames(table) <- list(score_labels[mine$score], c("mean of folds", "sd", "all rows"))
    print(table, digits = digits)
  }
  if (length(folds) <= 10L && is.null(x$scores$response)) {
    cat("\nBy fold\n")
    print(x$scores, digits = digits, row.names = FALSE)
  }
  invisible(x)
}
