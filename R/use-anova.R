# Comparing fits by their out-of-fold losses, and methods that have no meaning here and name an alternative.

#' Compare fits out of fold
#'
#' Compares two or more fits to the same rows by the losses of their out-of-fold predictions, row by row.
#'
#' Nested models are usually compared by the change of the deviance in relation to the degrees of freedom. The degrees
#' of freedom of these models are not known well enough for that, and screening and smoothing have used the data
#' already. Out of fold, a model with more terms can be worse, and no correction is needed: each row is
#' predicted by a member that was not trained on it, and the difference of the losses of two fits is averaged over rows.
#'
#' The interval is based on the standard error of this mean over rows, or over groups if the fits have `groups`. It
#' covers the rows, not the choice of the folds: fits with the same seed have the same folds, which makes the
#' comparison more precise, and differences much smaller than those between two seeds mean nothing.
#'
#' @param object A cross-fitted model, as [protonam()] fits by default.
#' @param ... Further fits to the same rows, each compared with the one before it. With a single fit, the result is that
#'   of [term_evidence()].
#' @param level Level of the intervals, between 0 and 1.
#' @param x A table.
#' @param digits Significant digits of the largest difference.
#'
#' @return A data frame of class `protonam_anova`, one row per fit (and response): `model` (the call's formula), `task`,
#'   `loss`, and, from the second fit on, `difference` (loss minus that of the fit before, negative if this one is
#'   better), its interval `lower`, `upper`, and `z`, the difference in standard errors.
#' @seealso [term_evidence()], [cv_protonam()].
#' @examples
#' small <- protonam(mpg ~ wt, mtcars, epochs = 20, seed = 1)
#' large <- update(small, . ~ . + hp)
#' anova(small, large)
#' @export
anova.protonam <- function(object, ..., level = 0.95) {
  level <- check_number(level %||% 0.95, "level", above = 0, below = 1)
  others <- list(...)
  if (!length(others)) {
    return(term_evidence(object, level = level))
  }
  fits <- lapply(c(list(object), others), check_compared)
  for (fit in fits[-1L]) check_same_rows(fits[[1L]], fit)
  first <- fits[[1L]]
  losses <- lapply(fits, function(fit) link_losses(fit, fit$out_of_fold, fit$y))
  weights <- first$weights %||% rep(1, first$nobs)
  group <- first$groups %||% seq_len(first$nobs)
  tasks <- first$response$names %||% NA_character_
  rows <- lapply(seq_along(tasks), function(j) {
    each <- lapply(losses, function(loss) loss[, j])
    known <- !is.na(Reduce(`+`, each))
    compare_losses(lapply(each, `[`, known), weights[known], group[known], stats::qnorm((1 + level) / 2))
  })
  number <- length(fits)
  table <- data.frame(model = rep(model_names(fits), length(tasks)), task = rep(tasks, each = number))
  structure(
    cbind(table, do.call(rbind, rows)),
    class = c("protonam_anova", "data.frame"), level = level, loss = loss_names[[first$family$family]],
    units = error_units(first), same_folds = all(vapply(fits, function(fit) identical(fit$fold, first$fold), NA))
  )
}

#' Losses of fits, and their differences from one to the next
#' @noRd
compare_losses <- function(each, weights, group, width) {
  loss <- vapply(each, weighted_mean, 0, weights)
  difference <- error <- rep(NA_real_, length(each))
  for (k in seq_along(each)[-1L]) {
    change <- each[[k]] - each[[k - 1L]]
    difference[k] <- weighted_mean(change, weights)
    error[k] <- mean_error(change, weights, group)
  }
  data.frame(
    loss = loss, difference = difference, lower = difference - width * error, upper = difference + width * error,
    z = ifelse(error > 0, difference / error, 0)
  )
}

model_names <- function(fits) {
  vapply(fits, function(fit) {
    paste(trimws(deparse(formula.protonam(fit), width.cutoff = 500L)), collapse = " ")
  }, "")
}

check_compared <- function(fit) {
  if (!inherits(fit, "protonam")) {
    pn_abort("{.fn anova} compares fits from {.fn protonam}, not {describe(fit)}.", class = "argument", arg = "...")
  }
  fit <- check_fit(fit)
  need_out_of_fold(
    fit, "object", "{.fn anova} compares out-of-fold predictions, which one of these fits does not have."
  )
  fit
}

#' Stop unless two fits have the same rows, responses and weights
#' @noRd
check_same_rows <- function(one, other) {
  problem <- if (one$family$family != other$family$family) {
    "families"
  } else if (!identical(dim(one$y), dim(other$y)) || !isTRUE(all.equal(unname(one$y), unname(other$y)))) {
    "rows or responses"
  } else if (!isTRUE(all.equal(one$weights, other$weights))) {
    "weights"
  } else if (!identical(is.na(one$out_of_fold[, 1L]), is.na(other$out_of_fold[, 1L]))) {
    "validation rows"
  }
  if (!is.null(problem)) {
    pn_abort(
      c("These fits have different {problem}, so their losses cannot be compared.",
        i = "Fit them to the same rows; rows with missing values stay in a fit ({.code na.action = na.pass})."
      ),
      class = "not_comparable", arg = "..."
    )
  }
}

#' @rdname anova.protonam
#' @export
print.protonam_anova <- function(x, digits = 3, ...) {
  if (is.null(attr(x, "loss")) || !all(c("model", "loss", "difference", "lower", "upper") %in% names(x)) || !nrow(x)) {
    return(print_used(x, nrow(x)))
  }
  cat("Out-of-fold ", attr(x, "loss"), " of ", count(length(unique(x$model)), "model"), "\n\n", sep = "")
  number <- decimal_text(c(x$difference, (x$upper - x$lower) / 2), digits)
  lines <- data.frame(
    model = x$model, task = x$task, loss = number(x$loss),
    difference = ifelse(is.na(x$difference), "", sprintf(
      "%s (%s to %s)", number(x$difference), number(x$lower), number(x$upper)
    ))
  )
  print(lines[c(TRUE, !all(is.na(x$task)), TRUE, TRUE)], row.names = FALSE, right = FALSE)
  cat("\n")
  cat(strwrap(comparison_note(x)), sep = "\n")
  invisible(x)
}

comparison_note <- function(x) {
  paste0(
    sprintf(
      "Differences to the model above, with %s %% intervals over %s; negative: ",
      format(100 * attr(x, "level"), digits = 3L), attr(x, "units") %||% "rows"
    ),
    "this model is better.", if (!isTRUE(attr(x, "same_folds"))) " The models have different folds, which adds noise."
  )
}

# What does not exist -------------------------------------------------------------------------------------------------

#' Methods that a fit does not have
#'
#' `AIC()` and `BIC()` need the degrees of freedom of a likelihood, `vcov()` and `confint()` coefficients. A protonam
#' fit has neither, so these methods are errors that name what to use instead: [anova()][anova.protonam] and
#' [term_evidence()] compare fits and terms out of fold; [effect_table()] and the bands of [shapes()] are the intervals
#' of effects.
#' @param object A fit.
#' @param ... Nothing.
#' @return Nothing: an error of class `protonam_error_not_defined`.
#' @name no-methods
#' @examples
#' fit <- protonam(mpg ~ wt, mtcars, epochs = 20, seed = 1)
#' try(AIC(fit))
NULL

abort_not_defined <- function(name, reason, instead) {
  pn_abort(
    c(paste0("{.fn {name}} is not defined for a protonam fit: ", reason), i = instead),
    class = "not_defined", arg = "object"
  )
}

compare_instead <- "Use {.code anova(fit1, fit2)} to compare fits out of fold, or {.fn term_evidence} for terms."
intervals_instead <- "Use {.fn effect_table} for effects with intervals, {.fn shapes} for bands of whole curves."

#' @rdname no-methods
#' @importFrom stats AIC BIC anova confint vcov
#' @export
AIC.protonam <- function(object, ...) { # nolint: object_name_linter.
  abort_not_defined("AIC", "the degrees of freedom of its likelihood are not known.", compare_instead)
}

#' @rdname no-methods
#' @export
BIC.protonam <- function(object, ...) { # nolint: object_name_linter.
  abort_not_defined("BIC", "the degrees of freedom of its likelihood are not known.", compare_instead)
}

#' @rdname no-methods
#' @export
vcov.protonam <- function(object, ...) {
  abort_not_defined("vcov", "its parameters have no meaning one by one.", intervals_instead)
}

#' @rdname no-methods
#' @export
confint.protonam <- function(object, ...) {
  abort_not_defined("confint", "its parameters have no meaning one by one.", intervals_instead)
}
