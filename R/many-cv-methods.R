# Printing a cross-validation.

#' Print a cross-validation
#'
#' @param x From [cv_protonam()].
#' @param digits Number of digits to show.
#' @param ... Not used.
#' @return `x`, invisibly.
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
