# effect_table(): differences of effects to a reference, the second table of a clinical paper.

#' Table of effects
#'
#' Compares the effects of a feature at given values, or of its levels, with the effect at a reference, with intervals:
#' log odds, odds ratios, rate ratios, or differences of the response.
#'
#' A shape function describes a feature at all of its values; a paper reports some of them. For each value, the table
#' has the difference between the effect there and that at the reference. The differences are taken within each member
#' of the fit, so that their intervals include the covariance of the two effects: they are the bands of
#' `shapes(reference = )` at these values, and narrower than what the bands of [shapes()] suggest. See Bands there for
#' what the intervals cover.
#'
#' In fits of `order = 2`, the table compares main effects, that is, effects averaged over the interactions (see
#' [purification]). A fit with more interactions has no effects of single features.
#'
#' @param fit A fit of `order` 1 or 2, see [protonam()].
#' @param at Named list of values or levels, such as `list(age = c(40, 60, 80), sex = "female")`; `NA` is the missing
#'   value, if the training data had any. `NULL` for all features: their levels, all of at most six values, or the 10,
#'   25, 50, 75 and 90 % quantiles (observed values), and the missing value.
#' @param reference Named list with one value for each feature, such as `list(age = 60)`. By default the most frequent
#'   level, `FALSE`, the smaller of two values, or the median (an observed value). Values outside the range of the
#'   training data are allowed, both here and in `at`, and marked.
#' @param scale `"link"`: differences on the link scale. `"odds ratio"` (binomial and multinomial), `"rate ratio"`
#'   (poisson) or `"hazard ratio"` (Cox): their exponentials. `"response"`: the ratio that the family has.
#' @param level Level of the intervals, between 0 and 1.
#' @param terms Names of features, if `at` is `NULL`; or a number, for that many of the most important ones.
#' @param threads See [protonam()].
#' @param x A table.
#' @param digits Decimals; for a gaussian fit, significant digits of the narrowest interval's width.
#' @param ... Nothing.
#'
#' @return A data frame of class `protonam_effect_table`, one row per value (and group, response or class):
#' \describe{
#'   \item{`term`, `task`, `output`}{the feature; the group or response, and the class, `NA` if there is only one}
#'   \item{`value`, `reference`}{the value and the reference as text}
#'   \item{`x`, `level`}{the value as a number, or the level; `"(missing)"` for the missing value}
#'   \item{`estimate`, `lower`, `upper`}{the difference or ratio and its interval; `NA` for a single model and in the
#'     row of the reference}
#'   \item{`se`}{standard error on the link scale}
#'   \item{`count`}{training rows (by weight) with this level or with a missing value; `NA` for numbers}
#'   \item{`outside`}{does the value, or the reference, lie outside the range of the training data?}
#'   \item{`is_reference`}{is this the row of the reference?}
#' }
#' @seealso [shapes()] with `reference`, [term_importance()].
#' @examples
#' icu <- simulate_icu(400, seed = 1)
#' fit <- protonam(died ~ age + lactate + admission_type, icu, epochs = 10, seed = 1)
#' effect_table(fit, at = list(age = c(40, 60, 80)), reference = list(age = 60), scale = "odds ratio")
#' effect_table(fit, scale = "odds ratio")
#' @export
effect_table <- function(fit, at = NULL, reference = NULL,
                         scale = c("link", "odds ratio", "hazard ratio", "rate ratio", "response"), level = 0.95,
                         terms = NULL, threads = NULL) {
  fit <- check_readable(fit, "effect_table()")
  scale <- check_scale(fit, scale, c("link", "odds ratio", "hazard ratio", "rate ratio", "response"))
  level <- check_number(level %||% 0.95, "level", above = 0, below = 1)
  at <- check_feature_values(fit, at, "at")
  features <- table_features(fit, at, terms)
  names <- feature_names(fit)
  reference <- resolve_reference(fit, reference, features)
  values <- lapply(seq_along(names), function(i) {
    if (!i %in% features) {
      return(NULL)
    }
    given <- at[[names[i]]]
    if (is.null(given)) default_values(fit$encoder[[i]]) else feature_values(fit$encoder[[i]], given, "at")
  })
  features <- features[lengths(reference[features]) > 0L] # a column without values has no effect
  several <- length(fit$members) > 1L
  effects <- main_effects(
    fit, lapply(seq_along(names), function(i) if (i %in% features) values[[i]]$z else numeric()),
    spread = several, threads = resolve_threads(threads), reference = lapply(reference, `[[`, "z")
  )
  rows <- lapply(features, function(i) {
    contrast_rows(fit, names[i], values[[i]], reference[[i]], effects$mean[[i]], effects$sd[[i]])
  })
  new_effect_table(fit, do.call(rbind, rows), scale, level)
}

#' Positions of the features of a table
#' @noRd
table_features <- function(object, at, terms) {
  names <- feature_names(object)
  if (length(at)) {
    if (!is.null(terms)) {
      pn_abort("Give {.arg at} or {.arg terms}, not both.", class = "argument", arg = "terms")
    }
    return(match(names(at), names))
  }
  chosen <- select_terms(object, terms)
  pairs <- chosen > length(names)
  if (is.character(terms) && any(pairs)) {
    pn_abort(
      c("{.val {shown_terms(object)[chosen[pairs][1L]]}} is a pair; a table has features.", i = "See {.fn shapes}."),
      class = "unknown_term", arg = "terms"
    )
  }
  chosen[!pairs]
}

#' Rows of one feature
#' @param values,reference From feature_values().
#' @param mean,sd Arrays [values, task x output, 1]; sd may be NULL.
#' @noRd
contrast_rows <- function(object, term, values, reference, mean, sd) {
  labels <- output_labels(object)
  n <- nrow(values)
  each <- rep(seq_len(n), nrow(labels))
  output <- rep(seq_len(nrow(labels)), each = n)
  same <- values$text == reference$text & (values$z %in% reference$z | values$level %in% reference$level)
  se <- if (is.null(sd)) rep(NA_real_, length(each)) else as.vector(sd)
  data.frame(
    term = term, task = labels$task[output], output = labels$output[output], value = values$text[each],
    reference = reference$text, x = values$x[each], level = values$level[each], estimate = as.vector(mean),
    se = ifelse(same[each], NA_real_, se), count = values$count[each],
    outside = (values$outside | reference$outside)[each], is_reference = same[each]
  )
}

table_columns <- c(
  "term", "task", "output", "value", "reference", "x", "level", "estimate", "lower", "upper", "se", "count", "outside",
  "is_reference"
)

new_effect_table <- function(object, frame, scale, level) {
  half <- if (length(object$members) > 1L) band_width(object, level) * frame$se else NA_real_
  frame$lower <- frame$estimate - half
  frame$upper <- frame$estimate + half
  if (scale == "response" && object$family$family != "gaussian") {
    columns <- c("estimate", "lower", "upper")
    frame[columns] <- lapply(frame[columns], exp)
  }
  rownames(frame) <- NULL
  structure(
    frame[table_columns],
    class = c("protonam_effect_table", "data.frame"), scale = scale, scale_label = scale_label(object, scale),
    level = level, response = object$response$name, family = object$family$family, order = object$order,
    members = length(object$members), band = describe_bars(object, level), words = feature_words(object)
  )
}

outside_note <- "* The value or its reference lies outside the range of the training data."

shows_ratios <- function(x) attr(x, "scale") == "response" && attr(x, "family") != "gaussian"

#' What the numbers of a table are
#' @noRd
effect_title <- function(x) {
  scale <- attr(x, "scale_label")
  if (attr(x, "family") == "gaussian") {
    sub("^effect", "difference", scale)
  } else {
    paste0(if (!shows_ratios(x)) "difference of ", scale)
  }
}

#' @rdname effect_table
#' @export
print.protonam_effect_table <- function(x, digits = 2, ...) {
  if (is.null(attr(x, "scale_label")) || !all(table_columns %in% names(x)) || !nrow(x)) {
    return(print_used(x, nrow(x))) # columns were removed
  }
  ratio <- shows_ratios(x)
  title <- effect_title(x)
  substr(title, 1L, 1L) <- toupper(substr(title, 1L, 1L))
  of <- if (attr(x, "family") %in% c("binomial", "poisson")) paste(" of", attr(x, "response"))
  several <- !all(is.na(x$lower))
  percent <- format(100 * attr(x, "level"), digits = 3L)
  cat(title, of, if (several) sprintf(" (%s %% interval)", percent), "\n\n", sep = "")
  print(effect_lines(x, ratio, digits), row.names = FALSE, right = FALSE)
  cat("\n")
  notes <- c(
    if (attr(x, "order") == 2) "Main effects, averaged over the interactions.",
    sub("^Lines: .*intervals, ", "Intervals: ", attr(x, "band")),
    if (any(x$outside)) outside_note
  )
  for (note in notes) cat(strwrap(note), sep = "\n")
  invisible(x)
}

#' @export
`[.protonam_effect_table` <- function(x, ...) with_attributes_of(x, NextMethod())

#' The lines of a printed table: a term is named once
#' @noRd
effect_lines <- function(x, ratio, digits) {
  decimals <- if (attr(x, "family") == "gaussian") table_decimals(x, digits) else digits
  number <- function(value) {
    text <- fixed_text(value, decimals)
    small <- ratio & !is.na(value) & value < 0.5 * 10^-decimals
    ifelse(small, formatC(value, digits = digits, format = "g"), text)
  }
  text <- ifelse(
    is.na(x$lower), number(x$estimate), sprintf("%s (%s to %s)", number(x$estimate), number(x$lower), number(x$upper))
  )
  text[x$is_reference] <- paste(if (ratio) "1" else "0", "(reference)")
  shown <- data.frame(
    term = x$term, task = x$task, output = x$output, value = paste0(x$value, ifelse(x$outside, "*", "")),
    rows = ifelse(is.na(x$count), "", format(x$count, big.mark = ",", trim = TRUE, digits = 1L, scientific = FALSE)),
    compared = x$reference, effect = text
  )
  # where the reference is a row of its term, it need not be repeated
  curve <- paste(x$term, x$task, x$output, sep = "\r")
  own <- curve %in% curve[x$is_reference]
  shown$compared[own] <- ""
  repeated <- c(FALSE, curve[-1L] == curve[-length(curve)])
  for (column in c("term", "task", "output")) shown[[column]][repeated] <- ""
  keep <- c(
    TRUE, !all(is.na(x$task)), !all(is.na(x$output)), TRUE, any(nzchar(shown$rows)), any(nzchar(shown$compared)), TRUE
  )
  names(shown)[6L] <- "against"
  names(shown)[7L] <- if (ratio) "ratio" else "difference"
  shown[is.na(shown)] <- ""
  shown[keep]
}

#' Decimals with which the narrowest interval has so many digits
#' @noRd
table_decimals <- function(x, digits) {
  size <- x$upper - x$lower
  if (!any(is.finite(size) & size > 0)) size <- abs(x$estimate)
  size <- size[is.finite(size) & size > 0]
  if (!length(size)) digits else min(max(0, digits - 1 - floor(log10(min(size)))), 8)
}
