# Printing and drawing a cross-validation.

#' Print or plot a cross-validation
#'
#' @param x From [cv_protonam()].
#' @param which `"scores"` of the folds, or out-of-fold `"predictions"`: against the observed values, or for two classes
#'   the observed share of events against the predicted probability, in ten groups of rows.
#' @param digits Digits to show.
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
  names <- x$summary$score
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(names)))
  on.exit(graphics::par(old))
  fold <- match(x$scores$fold, unique(x$scores$fold))
  for (name in names) {
    graphics::plot(fold, x$scores[[name]], xlab = "Fold", ylab = score_labels[[name]], pch = 19, xaxt = "n", ...)
    graphics::axis(1L, seq_along(unique(fold)), unique(x$scores$fold))
    graphics::abline(h = x$summary$mean[x$summary$score == name], lty = 2L)
  }
}

plot_out_of_fold <- function(x, ...) {
  if (x$family$family == "multinomial" || is.matrix(x$predictions)) {
    pn_abort("{.code which = \"predictions\"} draws one number or two classes only.", class = "argument", arg = "which")
  }
  known <- !is.na(x$predictions) & !is.na(x$y)
  mean <- x$predictions[known]
  y <- x$y[known]
  if (x$family$family == "binomial") {
    breaks <- unique(stats::quantile(mean, 0:10 / 10))
    group <- findInterval(mean, breaks, rightmost.closed = TRUE)
    weights <- if (is.null(x$weights)) rep(1, length(y)) else x$weights[known]
    total <- rowsum(weights, group)
    mean <- rowsum(weights * mean, group) / total
    y <- rowsum(weights * y, group) / total
    graphics::plot(mean, y,
      xlim = 0:1, ylim = 0:1, pch = 19, xlab = "Predicted probability", ylab = "Observed share", ...
    )
  } else {
    graphics::plot(mean, y, xlab = "Out-of-fold prediction", ylab = x$name, ...)
  }
  graphics::abline(0, 1, lty = 2L)
}

#' @rdname plot.protonam_cv
#' @export
print.protonam_cv <- function(x, digits = 4L, ...) {
  folds <- unique(x$scores$fold)
  cat(sprintf(
    "Cross-validation of a protonam model, %d folds, %d rows, family %s\n", nlevels(x$folds), sum(!is.na(x$folds)),
    x$family$family
  ))
  if (length(x$failed)) cat("Failed and left out: fold", paste(x$failed, collapse = ", "), "\n")
  cat("\n")
  table <- as.matrix(x$summary[c("mean", "sd", "pooled")])
  rownames(table) <- score_labels[x$summary$score]
  colnames(table) <- c("mean of folds", "sd", "all rows")
  print(table, digits = digits)
  if (length(folds) <= 10L && is.null(x$scores$response)) {
    cat("\nBy fold\n")
    print(x$scores, digits = digits, row.names = FALSE)
  }
  invisible(x)
}
