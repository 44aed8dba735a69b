# Importance, range and missing effect of every term, at the end of a fit.

#' Importance, range and missing effect of the terms over the rows of a table
#'
#' @param table From effect_rows().
#' @param parts Per member, its tables of main effects (R/effects-purify.R); NULL for models without pairs.
#' @return data frame with columns term, output, importance (mean absolute centred effect over the training rows), low,
#'   high, missing, all in units of the response, and error, of the importance, if there are several members
#' @noRd
summarise_effects <- function(object, table, parts, threads) {
  terms <- shown_terms(object)
  members <- seq_along(object$members)
  size <- c(length(terms), object$config$n_tasks * object$config$n_outputs)
  importance <- array(0, size)
  each <- rep(list(importance), length(members))
  low <- array(Inf, size)
  high <- -low
  absent <- array(NA_real_, size)
  total <- 0
  # tables of main effects are in units of the response; without them the unit waits until members are summed
  unit <- rep_len(if (is.null(parts)) object$response$scale else 1, size[2L])
  if (is.null(parts)) object$response$scale <- 1
  for (range in row_chunks(table$data$n, 3 * prod(size))) {
    part <- slice_range(table$data, range[1L], range[2L])
    weights <- matrix(table$weights(seq.int(range[1L], range[2L])), part$n, length(terms))
    value <- 0
    for (m in members) {
      one <- term_values(object, m, part, NULL, parts[[m]], threads = threads)
      one <- array(one, dim(one)[1:3])
      each[[m]] <- each[[m]] + colSums(abs(one) * as.vector(weights)) * rep(unit, each = size[1L])
      value <- value + one / length(members)
    }
    value <- value * rep(unit, each = part$n * size[1L])
    importance <- importance + colSums(abs(value) * as.vector(weights))
    total <- total + colSums(weights)
    value[as.vector(weights == 0)] <- NA
    for (i in which(vapply(object$encoder, `[[`, NA, "has_missing"))) {
      code <- encoded_index(part$features[[i]], part$n)
      gone <- is_missing_code(object$encoder[[i]], part$features[[i]])[code] & weights[, i] > 0
      if (any(gone)) absent[i, ] <- value[which(gone)[1L], i, ]
      value[gone, i, ] <- NA
    }
    low <- pmin(low, apply(value, 2:3, min, Inf, na.rm = TRUE))
    high <- pmax(high, apply(value, 2:3, max, -Inf, na.rm = TRUE))
  }
  out <- data.frame(
    term = rep(terms, size[2L]), output = rep(output_names(object), each = length(terms)),
    importance = as.vector(importance / total), low = as.vector(replace(low, is.infinite(low), NA)),
    high = as.vector(replace(high, is.infinite(high), NA)), missing = as.vector(absent)
  )
  if (length(members) > 1L) {
    out$error <- as.vector(over_members(object, function(m) each[m])$sd[[1L]] / total)
  }
  out
}

#' Which entries of a feature's table represent the missing value
#' @noRd
is_missing_code <- function(encoder, feature) {
  if (is_categorical(encoder)) {
    feature$values == process_numbers(encoder, length(encoder$levels))
  } else {
    is.nan(feature$values)
  }
}
