# Importance, range and missing effect of every term, at the end of a fit.

#' Sum up what terms do, range of rows by range of rows
#'
#' @param ranges From row_chunks().
#' @param look Function(range) -> list(value = [rows, term, task x output] in own units, weights = [rows] or
#'   [rows, term], gone = [rows, term]: which stand for the missing value)
#' @return data frame with columns term, output, importance (mean absolute centred effect over the training rows), low,
#'   high, missing; effects in the response's own units
#' @noRd
summarise_terms <- function(object, terms, ranges, look) {
  so <- object$config$n_tasks * object$config$n_outputs
  importance <- total <- matrix(0, length(terms), so)
  low <- matrix(Inf, length(terms), so)
  high <- -low
  absent <- matrix(NA_real_, length(terms), so)
  for (range in ranges) {
    here <- look(range)
    value <- here$value
    importance <- importance + colSums(abs(value) * as.vector(here$weights))
    total <- total + colSums(array(here$weights, dim(value)))
    value[as.vector(here$weights == 0)] <- NA
    for (j in which(colSums(here$gone) > 0)) {
      absent[j, ] <- value[which(here$gone[, j])[1L], j, ]
      value[here$gone[, j], j, ] <- NA
    }
    low <- pmin(low, apply(value, 2:3, min, Inf, na.rm = TRUE))
    high <- pmax(high, apply(value, 2:3, max, -Inf, na.rm = TRUE))
  }
  data.frame(
    term = rep(terms, so), output = rep(output_names(object), each = length(terms)),
    importance = as.vector(importance / total), low = as.vector(replace(low, is.infinite(low), NA)),
    high = as.vector(replace(high, is.infinite(high), NA)), missing = as.vector(absent)
  )
}

#' Terms of an order 1 model, at all values
#' @param table From effect_rows().
#' @param missing Per feature, the position of the missing value in its table, or NA.
#' @return As summarise_terms(), with `error`, of the importance, if there are several members.
#' @noRd
summarise_effects <- function(object, table, missing, threads) {
  n_terms <- ncol(object$config$components)
  so <- object$config$n_tasks * object$config$n_outputs
  scale <- rep_len(object$response$scale, so)
  members <- length(object$members)
  each <- array(0, c(n_terms, so, members))
  total <- 0
  look <- function(range) {
    rows <- seq.int(range[1L], range[2L])
    weights <- table$weights(rows)
    part <- slice_range(table$data, range[1L], range[2L])
    effect <- 0
    for (m in seq_len(members)) {
      one <- member_contributions(object, m, part, NULL, threads)
      each[, , m] <<- each[, , m] + as.vector(colSums(abs(one) * as.vector(weights))) * rep(scale, each = n_terms)
      effect <- effect + one / members
    }
    total <<- total + colSums(weights)
    list(
      value = effect * rep(scale, each = length(rows) * n_terms), weights = weights,
      gone = outer(rows, missing, `==`) & !is.na(rep(missing, each = length(rows)))
    )
  }
  out <- summarise_terms(object, object$term_names, row_chunks(table$data$n, n_terms * so), look)
  if (members > 1L) out$error <- importance_error(object, each, total)
  out
}

#' Standard error of importances
#' @param each Sums of absolute effects [terms, outputs, members].
#' @param total Weights that they were summed over.
#' @noRd
importance_error <- function(object, each, total) {
  as.vector(over_members(object, function(m) list(each[, , m]))$sd[[1L]] / total)
}

#' Terms of an order 2 model, at the training rows
#' @param parts Per member, its tables of main effects.
#' @noRd
summarise_pairs <- function(object, data, parts, threads) {
  terms <- shown_terms(object)
  so <- object$config$n_tasks * object$config$n_outputs
  members <- length(object$members)
  each <- array(0, c(length(terms), so, members))
  total <- 0
  look <- function(range) {
    part <- slice_range(data, range[1L], range[2L])
    gone <- matrix(FALSE, part$n, length(terms))
    for (i in which(vapply(object$encoder, `[[`, NA, "has_missing"))) {
      gone[, i] <- is_missing_code(object$encoder[[i]], part$features[[i]])[encoded_index(part$features[[i]], part$n)]
    }
    weights <- if (is.null(data$weights)) rep(1, part$n) else data$weights[seq.int(range[1L], range[2L])]
    effect <- 0
    for (m in seq_len(members)) {
      one <- pair_terms(object, engine_terms(object, part, NULL, threads, members = m), part, NULL, parts[[m]])
      each[, , m] <<- each[, , m] + colSums(abs(one) * weights)
      effect <- effect + one / members
    }
    total <<- total + sum(weights)
    list(value = effect, weights = weights, gone = gone)
  }
  out <- summarise_terms(object, terms, row_chunks(data$n, 3 * length(terms) * so), look)
  if (members > 1L) out$error <- importance_error(object, each, total)
  out
}
