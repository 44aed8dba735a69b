# Layer 0: a smooth additive model under the prototype layers (src/model_smooth.h, src/train_smooth.h). R decides
# which kind of term a feature has and where its knots are; the engine fits.
#
# A base is list(terms = list per feature of list(kind, knots, missing, values), handle = how much smoother than found,
# per feature, or NULL). Kinds: "spline" (two knots are a line), "levels" (a value per level, without order), "none".
# values: NULL, or the values of a spline's feature that have separate effects in addition to the spline.

max_base_columns <- 400L # coefficients of layer 0 in all
least_knots <- 20L
most_knots <- 30L

#' Knots that a spline may have: more with more rows, fewer with many features
#' @noRd
base_knots <- function(n, n_splines) {
  wanted <- min(max(least_knots, floor(n / 200)), most_knots)
  # with more coefficients than rows, signal could not be distinguished from noise
  columns <- min(max_base_columns, n / 4)
  max(2L, min(wanted, floor(columns / max(n_splines, 1L))))
}

many_knots <- 200L # of all splines together

#' Knots that leave a spline room for more than the degrees of freedom found
#'
#' The time of a fit grows with the third power of all knots together: where they are many, splines that hardly bend
#' have fewer.
#' @noRd
needed_knots <- function(freedom, most, handle = NULL) {
  freedom[(handle %||% 1) < 1] <- Inf
  as.integer(pmin(most, pmax(8, ceiling(3 * freedom) + 5)))
}

#' Terms of layer 0 for encoded training columns
#'
#' @param encoded From encode_training().
#' @param n Training rows.
#' @param kind "smooth", or "linear": straight lines and levels.
#' @param handle NULL or smoothness per feature, see protonam().
#' @param freedom NULL, or the degrees of freedom estimated from the data, per feature: splines have no more knots than
#'   that needs.
#' @noRd
base_terms <- function(encoded, n, kind = "smooth", handle = NULL, freedom = NULL) {
  nominal <- vapply(encoded$encoders, has_no_order, NA)
  distinct <- Map(distinct_values, encoded$features, encoded$counts)
  spline <- !nominal & vapply(distinct, function(x) length(x$value), 1L) > 2L
  knots <- if (kind == "linear") 2L else base_knots(n, sum(spline))
  if (!is.null(freedom) && knots * sum(spline) > many_knots) knots <- needed_knots(freedom, knots, handle)
  terms <- Map(function(encoder, distinct, nominal, knots) {
    values <- distinct$value
    missing <- encoder$has_missing && !is_categorical(encoder)
    if (nominal && length(values) > 2L) {
      # very many levels are sorted by frequency (levels_by()): the rare ones, nearest to the last knot, share an effect
      return(list(kind = "levels", knots = values[seq_len(min(length(values), max_levels))], missing = FALSE))
    }
    if (encoder$scaling$method == "quantile" && !nominal) values <- draw_in(values, distinct$count)
    if (length(values) < 2L) {
      return(list(kind = "none", knots = numeric(), missing = missing))
    }
    list(kind = "spline", knots = spread_out(values, knots, n), missing = missing)
  }, encoded$encoders, distinct, nominal, knots)
  list(terms = unname(terms), handle = handle)
}

#' Levels that have no order, or none together with a missing value
#' @noRd
has_no_order <- function(encoder) {
  encoder$type %in% c("factor", "character", "logical") || (encoder$type == "ordered" && encoder$has_missing)
}

#' Processed values that the training rows have, ascending, with their weights
#' @noRd
distinct_values <- function(feature, count) {
  known <- which(!is.nan(feature$values) & count > 0)
  sums <- rowsum(count[known], feature$values[known])
  list(value = sort(unique(feature$values[known])), count = as.vector(sums))
}

#' Normal scores with their ends at the middle of the weight there
#'
#' Quantile scaling sends the smallest and the largest value far out (+-5.2), even where many rows have them.
#' @noRd
draw_in <- function(values, count) {
  share <- count / sum(count)
  n <- length(values)
  low <- stats::qnorm(share[1L] / 2)
  high <- -stats::qnorm(share[n] / 2)
  unique(pmin(pmax(values, low), high))
}

#' At most k knots for ascending values
#'
#' Columns of few values that many rows share have knots at even ranks of these. In others the tails, where curves bend
#' too, would then have hardly a knot: there the knots lie half way between even ranks and even distances.
#' @param n Rows.
#' @noRd
spread_out <- function(values, k, n) {
  if (length(values) <= k) {
    return(values)
  }
  by_rank <- stats::quantile(values, seq(0, 1, length.out = k), names = FALSE)
  if (length(values) < n / 4 && length(values) < own_bins) {
    return(unique(by_rank))
  }
  unique((by_rank + seq(values[1L], values[length(values)], length.out = k)) / 2)
}

#' Splines whose single values may have separate effects: columns with few values, each shared by many rows
#' @return list of values per feature, NULL where this is out of the question
#' @noRd
value_candidates <- function(encoded, base, n) {
  all <- Map(distinct_values, encoded$features, encoded$counts)
  number <- vapply(all, function(x) length(x$value), 1L)
  may <- may_jump(base) & number >= least_values & number <= n / rows_per_value
  # within what layer 0 can have, columns of few values first
  may[may] <- cumsum(sort(number[may]))[rank(number[may], ties.method = "first")] <= max_base_columns
  Map(function(x, may) if (may) x$value, all, may)
}

least_values <- 5L
rows_per_value <- 20 # on average

has_values <- function(base) lengths(lapply(base$terms, `[[`, "values")) > 0L

with_values <- function(base, values) {
  base$terms <- Map(function(term, values) c(term, list(values = values)), base$terms, values)
  base
}

#' Features that may have prototype layers in order 1: numbers and ordered levels with three values or more
#'
#' Levels without order are free in layer 0, and two values make a line.
#' @noRd
may_jump <- function(base) {
  vapply(base$terms, function(term) term$kind == "spline" && length(term$knots) > 2L, NA)
}

#' Initial prototypes at quantiles of the distinct values: rows that share a value do not draw them all
#' @return matrix [prototypes, features]
#' @noRd
distinct_centers <- function(features, prototypes) {
  probs <- seq_len(prototypes) / (prototypes + 1)
  one <- function(feature) {
    values <- sort(unique(feature$values[!is.nan(feature$values)]))
    if (length(values)) stats::quantile(values, probs, names = FALSE) else 0 * probs
  }
  matrix(vapply(features, one, probs), prototypes)
}

#' The effects table with what each term is made of: degrees of freedom of its smooth part, evidence for prototypes
#' @noRd
describe_parts <- function(object, effects) {
  if (!has_base(object)) {
    return(effects)
  }
  edf <- rowMeans(matrix(vapply(object$members, function(m) m$base$edf, numeric(nrow(effects) / n_outputs_of(effects))),
    ncol = length(object$members)
  )) / n_outputs_of(effects)
  z <- object$evidence$z %||% rep(NA_real_, length(edf))
  has <- seq_along(edf) %in% engine_of(object)$net
  effects <- cbind(effects, edf = edf, evidence = z, prototypes = has)
  effects$step <- object$evidence$steps %||% NA_real_
  effects$values <- ifelse(has_values(object$base), object$evidence$values %||% NA_real_, NA_real_)
  if (!is.null(object$found)) effects$edf_found <- object$found / n_outputs_of(effects)
  effects
}

n_outputs_of <- function(effects) length(unique(effects$output))

#' Layer 0 alone, fitted to all rows
#' @return list(fitted = values, eta = [rows, task x output])
#' @noRd
fit_base <- function(config, data, base, straight = FALSE) {
  alone <- without_prototypes(config, length(data$features))
  options <- list(irls = 40, newton = 12, straight = straight, tolerance = 1e-7, strengths = NULL)
  out <- .Call(ffi_smooth_fit, alone, data, base, options)
  list(fitted = out$fitted, eta = t(out$eta))
}

#' A configuration whose prototype layers have some features only
#' @param net Feature numbers.
#' @noRd
with_prototypes_for <- function(config, net, n_columns = config$n_features) {
  config$net <- as.integer(net)
  config$n_columns <- as.integer(n_columns)
  config$n_features <- length(net)
  config$components <- matrix(seq_along(net), nrow = 1L)
  config
}

without_prototypes <- function(config, n_columns = config$n_features) with_prototypes_for(config, integer(), n_columns)
