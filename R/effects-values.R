# Effects of single features at given values, for shapes, jumps and tables.
#
# Processed values go straight to the engine: row r of a synthetic table holds the r-th value of every feature, so one
# call evaluates all features. Effects are centred over the training rows and in the units of the response.

#' A fit whose effects can be shown one by one
#' @noRd
check_readable <- function(object, what) {
  if (!inherits(object, "protonam")) {
    pn_abort("{what} needs a fit from {.fn protonam}, not {describe(object)}.", class = "argument", arg = "fit")
  }
  object <- check_fit(object)
  if (object$order > 2) {
    number <- if (is.infinite(object$order)) "all" else object$order
    pn_abort(
      c(
        "{what} needs a fit of {.code order = 1} or {.code order = 2}; this one has {.code order = {object$order}}.",
        i = "With {number} features interacting there are no effects of single features or pairs."
      ),
      class = "order", arg = "order"
    )
  }
  if (is.null(object$effects)) {
    pn_abort(
      c("{what} needs effects, which this fit lacks.", i = "They could not be computed after its training."),
      class = "incomplete", arg = "fit"
    )
  }
  object
}

#' Which response and class each of the engine's outputs stands for
#' @return data frame (task, output), one row per output, NA where there is only one
#' @noRd
output_labels <- function(object) {
  classes <- if (object$family$family == "multinomial") object$response$levels else NA_character_
  tasks <- object$task$levels %||% object$response$names %||% NA_character_
  data.frame(task = rep(tasks, each = length(classes)), output = rep(classes, length(tasks)))
}

#' Names of the terms that a user sees: features, then pairs
#' @noRd
shown_terms <- function(object) {
  c(feature_names(object), object$term_names[pair_components(object)])
}

#' Features of each of these terms, by position: one feature, or the two of a pair
#' @noRd
term_features <- function(object) {
  pairs <- object$config$components[, pair_components(object), drop = FALSE]
  c(as.list(seq_along(object$encoder)), lapply(seq_len(ncol(pairs)), function(p) pairs[, p]))
}

#' The same by name, for figures and for finding a term
#' @noRd
named_features <- function(object) {
  names <- feature_names(object)
  stats::setNames(lapply(term_features(object), function(at) names[at]), shown_terms(object))
}

feature_names <- function(object) encoder_names(object$encoder)

#' Components of two different features: their positions among the components
#' @noRd
pair_components <- function(object) {
  components <- object$config$components
  which(components[1L, ] != components[nrow(components), ])
}

#' Original values (codes for categoricals) to processed values, as for new data; NaN for missing
#' @noRd
process_numbers <- function(encoder, number) {
  if (is.null(encoder$bins)) {
    return(scale_values(encoder$scaling, number))
  }
  value <- encoder$bins$value[findInterval(number, encoder$bins$breaks) + 1L]
  replace(value, is.na(number), NaN)
}

#' Rows that hold, in row r, the r-th of each feature's processed values
#' @param values List with one vector per feature; short ones repeat their last value, empty ones hold a zero.
#' @noRd
value_rows <- function(values) {
  n <- max(lengths(values), 1L)
  features <- lapply(values, function(value) {
    if (!length(value)) value <- 0
    encoded_feature(value, pmin(seq_len(n), length(value)))
  })
  encoded_data(features, n)
}

#' Main effects at processed values: mean over members and, on request, their standard error
#'
#' @param values List with one vector of processed values per feature; empty for features that are not requested.
#' @param layers Effects of each layer, or summed over layers?
#' @param spread Also the standard error?
#' @param reference NULL, or list by feature of NULL or one processed value: effects are differences to the effect
#'   there, member by member.
#' @return list(mean, sd): lists with one array [values, task x output, layers or 1] per feature; sd is NULL unless
#'   requested
#' @noRd
main_effects <- function(object, values, layers = FALSE, spread = FALSE, threads = resolve_threads(),
                         reference = NULL) {
  none <- rep(list(NULL), length(values))
  compared <- lengths(reference %||% none) > 0L & lengths(values) > 0L
  reference <- replace(none, compared, reference[compared])
  each <- member_effects(object, Map(c, values, reference), layers, spread, threads)
  out <- over_members(object, function(m) Map(subtract_last, each(m), compared), spread)
  if (object$order == 1 && !layers && !is.null(out$sd)) out$sd <- floor_errors(object, out$sd, values, reference)
  out
}

#' Effects [values, output, layer] compared with the last of them: the others minus it
#' @noRd
subtract_last <- function(effect, compared) {
  if (!compared) {
    return(effect)
  }
  n <- dim(effect)[1L]
  rest <- effect[-n, , , drop = FALSE]
  rest - rep(effect[n, , ], each = n - 1L)
}

#' A function of a member's number that gives its effects at processed values
#' @noRd
member_effects <- function(object, values, layers, spread, threads) {
  wanted <- which(lengths(values) > 0L)
  rows <- value_rows(values)
  function(m) {
    tables <- effect_parts(object, m, layers, spread, sides = wanted, threads = threads)
    value <- term_values(object, m, rows, NULL, tables, layers, wanted, threads)
    lapply(seq_along(values), function(i) first_rows(value, length(values[[i]]), match(i, wanted, nomatch = 0L)))
  }
}

#' A term's values at the first rows: array [rows, task x output, layer]
#' @param value From term_values().
#' @noRd
first_rows <- function(value, n, term) array(value[seq_len(n), term, , ], c(n, dim(value)[3:4]))

#' The features of a term according to its data frame; one made by hand may lack this information
#' @noRd
term_parts <- function(term, features) features[[term]] %||% strsplit(term, ":", fixed = TRUE)[[1L]]
