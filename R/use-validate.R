# The table of a validation: measures of every response and group, with what they were on the training rows.

#' Measures of parts of outcomes, one below the other
#' @param parts From split_outcomes().
#' @return data frame: columns that identify parts, n, measure, value, error
#' @noRd
measure_parts <- function(parts) {
  labels <- part_columns(parts)
  do.call(rbind, lapply(seq_along(parts), function(i) {
    table <- cbind(n = outcome_count(parts[[i]]), measure_table(parts[[i]]))
    if (ncol(labels)) cbind(labels[rep(i, nrow(table)), , drop = FALSE], table, row.names = NULL) else table
  }))
}

#' A validation's table from measures on the training rows and on others
#' @param corrected Values that hold for new rows; error: their standard errors, `at`: the values these belong to.
#' @noRd
validation_table <- function(table, apparent, corrected, error, at, level) {
  interval <- vapply(seq_along(corrected), function(i) {
    measure_interval(table$measure[i], corrected[i], error[i], level, at[i])
  }, numeric(2L))
  out <- table[setdiff(names(table), c("value", "error"))]
  data.frame(out,
    apparent = apparent, optimism = apparent - corrected, corrected = corrected, lower = interval[1L, ],
    upper = interval[2L, ], row.names = NULL, check.names = FALSE
  )
}

#' @param fields scores, method, level and so on, see validate_protonam()
#' @noRd
new_validation <- function(fields) structure(fields, class = "protonam_validation")

#' @rdname validate_protonam
#' @param x From `validate_protonam()`.
#' @param digits Number of digits to show.
#' @export
print.protonam_validation <- function(x, digits = 3, ...) {
  cat("Validation of a protonam fit, ", validation_words(x), "\n", sep = "")
  table <- x$scores
  key <- part_titles(table) %||% rep("", nrow(table))
  number <- function(v) ifelse(is.na(v), "", sub("^-(0[.]?0*)$", "\\1", formatC(v, digits = digits, format = "f")))
  # errors may be in any unit
  small <- function(v) formatC(ifelse(abs(v) < 1e-10, 0, v), digits = digits, format = "fg", flag = "#")
  for (part in unique(key)) {
    rows <- table[key == part, ]
    cat("\n", if (nzchar(part)) paste0(part, ", "), count(rows$n[1L], x$unit %||% "row"), "\n", sep = "")
    unit <- rows$measure %in% c("rmse", "mae", "deviance", "intercept") & x$family$family != "binomial"
    show <- function(v) ifelse(unit & !is.na(v), small(v), number(v))
    interval <- ifelse(is.na(rows$lower), "", paste(show(rows$lower), "to", show(rows$upper)))
    shown <- cbind(
      apparent = show(rows$apparent), optimism = show(rows$optimism), corrected = show(rows$corrected), interval
    )
    dimnames(shown) <- list(
      measure_label(rows$measure), replace(colnames(shown), 4L, sprintf("%s %% interval", format(100 * x$level)))
    )
    # the groups of new rows are not known for the training rows
    shown <- shown[, c(if (!all(is.na(rows$apparent))) 1:2, 3:4), drop = FALSE]
    print(shown, quote = FALSE, right = TRUE)
  }
  if (isTRUE(x$moved)) cat("\nOut-of-fold values, corrected for what the fit gains over its members.\n")
  invisible(x)
}

validation_words <- function(x) {
  switch(x$method,
    bootstrap = sprintf("%d bootstrap samples, all steps repeated in each", x$repeats),
    newdata = "by new data",
    "by out-of-fold predictions"
  )
}
