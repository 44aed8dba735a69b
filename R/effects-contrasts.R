# Contrasts: effects as differences to the effect at a reference value of their feature, as in the tables of a paper.
#
# A difference is taken within each member, so that its standard error includes the covariance of both effects. It is
# no smaller than the posterior standard deviation of the difference in layer 0 (R/effects-bands.R).

effect_scales <- c("link", "response", "odds ratio", "hazard ratio", "rate ratio")

#' Reference values of features
#'
#' @param reference NULL, TRUE (a default for each of `features`), or a named list or vector of values. A reference
#'   outside the range of the data is allowed.
#' @param features Positions of features that have a reference even if none is given; those given are added.
#' @return list by feature of NULL or list(z, text, outside)
#' @noRd
resolve_reference <- function(object, reference, features = integer()) {
  names <- feature_names(object)
  if (isTRUE(reference)) {
    features <- seq_along(names)
    reference <- NULL
  }
  given <- check_feature_values(object, reference, "reference")
  out <- vector("list", length(names))
  for (i in union(features, match(names(given), names))) {
    encoder <- object$encoder[[i]]
    value <- given[[names[i]]]
    if (!is.null(value) && length(value) != 1L) {
      pn_abort("{.arg reference} of {.field {names[i]}} must be one value, not {length(value)}.",
        class = "argument", arg = "reference"
      )
    }
    out[[i]] <- if (is.null(value)) default_reference(encoder) else feature_values(encoder, value, "reference")
  }
  out
}

#' Values given by feature, as a named list
#' @noRd
check_feature_values <- function(object, values, arg) {
  if (is.null(values)) {
    return(list())
  }
  if (!is.list(values) && is.atomic(values) && !is.null(names(values))) values <- as.list(values)
  refuse_if(
    !is.list(values) || !length(values) || is.null(names(values)) || anyDuplicated(names(values)), values, arg,
    "a list with names of features, each once",
    c(i = "For instance {.code {arg} = list({feature_names(object)[1L]} = ...)}.")
  )
  check_features(names(values), feature_names(object), arg)
  values
}

#' Values of a feature given by the user: processed, as text, and whether they lie outside the data
#' @return data frame (z, x, level, text, outside, count); count is that of a level, or of the missing value
#' @noRd
feature_values <- function(encoder, values, arg) {
  if (!length(values)) {
    pn_abort("{.arg {arg}} of {.field {encoder$name}} has no values.", class = "argument", arg = arg)
  }
  if (is_categorical(encoder)) check_levels_known(encoder, values, arg)
  if (is.numeric(values) && any(is.infinite(values))) {
    pn_abort("{.arg {arg}} of {.field {encoder$name}} must be finite.", class = "argument", arg = arg)
  }
  if (anyNA(values) && !encoder$has_missing) {
    pn_abort(
      "{.arg {arg}} of {.field {encoder$name}} has a missing value, but the training data had none in this column.",
      class = "unknown_values", arg = arg
    )
  }
  described_values(encoder, given_grid(encoder, values, arg))
}

described_values <- function(encoder, grid) {
  seen <- finite_support(encoder)$value
  data.frame(
    z = grid$z, x = grid$x, level = grid$level,
    text = if (is_categorical(encoder)) grid$level else format_values(encoder, grid$x),
    outside = !is.na(grid$x) & (grid$x < min(seen, Inf) | grid$x > max(seen, -Inf)),
    count = ifelse(is.na(grid$level), NA_real_, grid$density)
  )
}

#' Stop at a level that the training data did not have, with the closest one
#' @noRd
check_levels_known <- function(encoder, values, arg) {
  text <- as.character(values)
  for (value in setdiff(text[!is.na(text)], encoder$levels)) {
    pn_abort(
      c(
        "{.arg {arg}} has {.val {value}}, which is not a level of {.field {encoder$name}}.",
        suggest(value, encoder$levels) %||% c(i = "The levels are {some(shown_levels(encoder))}.")
      ),
      class = "unknown_values", arg = arg
    )
  }
}

table_probs <- c(0.1, 0.25, 0.5, 0.75, 0.9)
few_values <- 6L

#' Values of a feature at which a table shows its effect by default: levels, few values, or quantiles; then missing
#' @noRd
default_values <- function(encoder) {
  support <- encoder$support
  if (is_categorical(encoder)) {
    return(described_values(encoder, ordered_levels(encoder, level_grid(encoder, support$value, support$count))))
  }
  value <- finite_support(encoder)$value
  if (length(value) > few_values) value <- unique(observed_quantile(encoder, table_probs))
  if (encoder$has_missing) value <- c(value, NA)
  described_values(encoder, given_grid(encoder, decode_numbers(encoder, value)))
}

#' The reference by default: the most frequent level, FALSE, the smaller of two values, or the median
#' @return one row as feature_values(); NULL for a column without values
#' @noRd
default_reference <- function(encoder) {
  values <- default_values(encoder)
  known <- !values$level %in% missing_level
  if (!any(known)) {
    return(NULL)
  }
  if (is_categorical(encoder)) {
    values <- values[known, ]
    false <- if (encoder$type == "logical") match("FALSE", values$level)
    return(values[false %||% which.max(values$count), ])
  }
  value <- finite_support(encoder)$value
  value <- if (length(value) <= 2L) value[1L] else observed_quantile(encoder, 0.5)
  described_values(encoder, given_grid(encoder, decode_numbers(encoder, value)))
}

#' Observed values nearest to quantiles of the training rows
#' @noRd
observed_quantile <- function(encoder, probs) {
  seen <- finite_support(encoder)
  at <- weighted_quantile(seen$value, seen$count, probs)
  vapply(at, function(x) seen$value[which.min(abs(seen$value - x))], 0)
}

#' The scale of effects: "link", or "response" for the ratio of this family
#' @noRd
check_scale <- function(object, scale, choices = effect_scales) {
  scale <- check_choice(scale, choices, "scale")
  if (scale %in% c("link", "response")) {
    return(scale)
  }
  family <- object$family$family
  own <- ratio_names[family]
  if (!identical(unname(own), scale)) {
    hint <- if (is.na(own)) {
      "Its effects are differences of the response: use {.code scale = \"link\"}."
    } else {
      "Use {.code scale = {.val {unname(own)}}}."
    }
    pn_abort(c("A {family} fit has no {scale}s.", i = hint), class = "scale", arg = "scale")
  }
  "response"
}

ratio_names <- c(binomial = "odds ratio", multinomial = "odds ratio", poisson = "rate ratio", cox = "hazard ratio")
