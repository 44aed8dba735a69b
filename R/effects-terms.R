# Terms: what each component adds to the prediction, centred over the training rows, and the constant that remains.

#' Intercepts of all engine outputs in units of the response: biases and mean contributions, averaged over members
#' @return vector [task x output]
#' @noRd
model_constant <- function(object) {
  config <- object$config
  layout <- .Call(ffi_layout, engine_of(object))
  so <- config$n_tasks * config$n_outputs
  each <- vapply(seq_along(object$members), function(m) {
    biases <- lapply(seq_len(config$n_layers) - 1L, function(l) {
      # [task, output] -> task x output with outputs fastest
      as.vector(t(slab_tensor(object$members[[m]]$params, layout, paste0("agg_b", l))))
    })
    below <- object$members[[m]]$base$intercept %||% 0
    Reduce(`+`, biases) + below + apply(object$centering[[m]], 2L, sum)
  }, numeric(so))
  mean <- rowMeans(matrix(each, so))
  rep_len(object$response$center, so) + rep_len(object$response$scale, so) * mean
}

#' Terms at encoded rows: main effects of all features, then pure interactions
#'
#' Without pairs, terms are components. With pairs, the tables hold the main effects g and h within each component (a,
#' b) (R/effects-purify.R): the interaction is the component minus g(a) and h(b), and the main effect of a is the sum of
#' its g over pairs, plus the component (a, a) of a feature that has one. A feature that is unknown in a row has no main
#' effect there.
#'
#' @param members Members over which to average.
#' @param unknown,layers As for component_values().
#' @param tables By pair list(first = g, second = h): arrays [nodes, task x output, layers or 1], or matrices.
#' @param terms Positions of the terms wanted; NULL for all.
#' @return array [rows, terms, task x output, layers or 1], centred, in units of the response
#' @noRd
term_values <- function(object, members, data, unknown = NULL, tables = object$purified$parts, layers = FALSE,
                        terms = NULL, threads = resolve_threads()) {
  pure <- pair_components(object)
  n_features <- length(object$encoder)
  terms <- terms %||% seq_len(n_features + length(pure))
  if (!length(pure)) {
    value <- component_values(object, members, data, unknown, layers, threads)
    return(if (identical(terms, seq_len(n_features))) value else value[, terms, , , drop = FALSE])
  }
  term_of <- object$config$components[1L, ]
  term_of[pure] <- n_features + seq_along(pure)
  keep <- which(term_of %in% terms)
  value <- component_values(object, members, data, unknown, layers, threads, if (!all(term_of %in% terms)) keep)
  out <- array(0, c(data$n, length(terms), dim(value)[3:4]))
  out[, match(term_of[keep], terms), , ] <- value
  pairs <- object$config$components[, pure, drop = FALSE]
  for (i in seq_len(n_features)) {
    of_pair <- which((pairs[1L, ] == i | pairs[2L, ] == i) & (i %in% terms | (n_features + seq_along(pure)) %in% terms))
    if (!length(of_pair)) next
    feature <- data$features[[i]]
    code <- encoded_index(feature, data$n)
    place <- locate(object$purified$axes[[i]]$nodes, feature$values)
    for (p in of_pair) {
      table <- tables[[p]][[if (pairs[1L, p] == i) "first" else "second"]]
      part <- interpolate(matrix(table, nrow(table)), place)[code, , drop = FALSE]
      part[unknown[[i]], ] <- 0
      at <- match(c(i, n_features + p), terms)
      if (!is.na(at[1L])) out[, at[1L], , ] <- as.vector(out[, at[1L], , ]) + as.vector(part)
      if (!is.na(at[2L])) out[, at[2L], , ] <- as.vector(out[, at[2L], , ]) - as.vector(part)
    }
  }
  out
}

#' predict(type = "terms")
#' @param new From encode_newdata().
#' @param se Also the standard errors (R/effects-bands.R)?
#' @noRd
predict_terms <- function(object, new, terms, threads, se = FALSE) {
  check_readable(object, "type = \"terms\"")
  keep <- select_terms(object, terms)
  value <- term_values(object, seq_along(object$members), new$data, new$unknown, threads = threads)
  fit <- visible_terms(object, array(value, dim(value)[1:3]), new, keep)
  fit <- structure(fit, constant = visible_constant(object, new), offset = new$offset)
  if (!se) {
    return(fit)
  }
  error <- over_members(object, function(m) list(member_terms(object, m, new, threads)))$sd[[1L]]
  error <- floor_term_errors(object, error, new$data)
  list(fit = fit, se.fit = visible_terms(object, error, new, keep))
}

#' Terms of one member: [rows, term, task x output]
#' @noRd
member_terms <- function(object, m, new, threads) {
  tables <- member_parts(object, m, layers = FALSE, threads = threads)
  value <- term_values(object, m, new$data, new$unknown, tables, threads = threads)
  array(value, dim(value)[1:3])
}

#' Terms that a row has: its group's, for group tasks
#' @param value [rows, term, task x output]
#' @param keep Which terms.
#' @return matrix [rows, term], or array [rows, term, visible output]
#' @noRd
visible_terms <- function(object, value, new, keep) {
  names <- shown_terms(object)
  n <- new$n
  if (!is.null(object$task)) {
    o <- object$config$n_outputs
    n_terms <- length(names)
    own <- array(0, c(n, n_terms, o))
    for (k in seq_len(o)) {
      column <- (new$task - 1L) * o + k
      own[, , k] <- value[cbind(rep(seq_len(n), n_terms), rep(seq_len(n_terms), each = n), rep(column, n_terms))]
    }
    value <- own
  }
  value <- value[, keep, , drop = FALSE]
  if (dim(value)[3L] == 1L) {
    return(matrix(value, n, length(keep), dimnames = list(new$row_names, names[keep])))
  }
  dimnames(value) <- list(new$row_names, names[keep], visible_names(object))
  value
}

#' The constant that belongs to visible_terms(); one per row for group tasks
#' @noRd
visible_constant <- function(object, new) {
  constant <- model_constant(object)
  if (!is.null(object$task)) {
    o <- object$config$n_outputs
    constant <- matrix(constant, o)[, new$task, drop = FALSE]
    return(if (o == 1L) as.vector(constant) else t(constant))
  }
  if (length(constant) > 1L) names(constant) <- visible_names(object)
  constant
}
