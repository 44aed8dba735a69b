# Terms of an order 2 model, from its exact components and the tables of main effects (R/effects-purify.R).
#
# For a component (a, b):  pure interaction = centred contribution - g(a) - h(b);  main effect of a = sum of its g
# over pairs, plus the component (a, a) that a feature without a pair has.

#' Main effects from the tables kept in the fit
#' @return list of arrays [values, task x output, 1]
#' @noRd
stored_main_effects <- function(object, values) {
  tables <- lapply(object$purified$parts, lapply, function(x) array(x, c(dim(x), 1L)))
  sum_parts(object, values, tables, own_components(object, values, layers = FALSE))
}

#' Main effects of one member
#' @return list of arrays [values, task x output, layers or 1]
#' @noRd
member_pair_effects <- function(object, m, values, layers, threads) {
  tables <- member_parts(object, m, pair_components(object), layers, which(lengths(values) > 0L), threads)
  sum_parts(object, values, tables, own_components(object, values, layers, m, threads))
}

#' @param tables List by pair of list(first, second), arrays [nodes, task x output, layer]
#' @param effects List by feature of arrays to which the tables are added.
#' @noRd
sum_parts <- function(object, values, tables, effects) {
  pairs <- object$config$components[, pair_components(object), drop = FALSE]
  for (i in which(lengths(values) > 0L)) {
    place <- locate(object$purified$axes[[i]]$nodes, values[[i]])
    for (p in which(pairs[1L, ] == i | pairs[2L, ] == i)) {
      table <- tables[[p]][[if (pairs[1L, p] == i) "first" else "second"]]
      effects[[i]] <- effects[[i]] + as.vector(interpolate(matrix(table, dim(table)[1L]), place))
    }
  }
  effects
}

#' Effects of components (i, i), zero for features without one
#' @param members Which members to average over.
#' @return list by feature of arrays [values, task x output, layers or 1]
#' @noRd
own_components <- function(object, values, layers, members = seq_along(object$members), threads = resolve_threads()) {
  config <- object$config
  alone <- setdiff(seq_len(ncol(config$components)), pair_components(object))
  alone <- alone[config$components[1L, alone] %in% which(lengths(values) > 0L)]
  so <- config$n_tasks * config$n_outputs
  depth <- if (layers) n_shown_layers(object) else 1L
  effects <- lapply(values, function(value) array(0, c(length(value), so, depth)))
  if (!length(alone)) {
    return(effects)
  }
  rows <- value_rows(values)
  scale <- rep_len(object$response$scale, so) / length(members)
  for (m in members) {
    value <- if (has_base(object)) {
      component_values(object, m, rows, layers, threads)[, alone, , ]
    } else {
      component_values(object, m, rows, layers, threads, keep = alone)
    }
    means <- object$centering[[m]][alone, , , drop = FALSE]
    if (!layers) means <- apply(means, c(1L, 2L), sum)
    value <- array(value, c(rows$n, length(alone), so, depth)) - rep(means, each = rows$n)
    for (k in seq_along(alone)) {
      i <- config$components[1L, alone[k]]
      n <- length(values[[i]])
      effects[[i]] <- effects[[i]] + array(value[seq_len(n), k, , ], c(n, so, depth)) * rep(scale, each = n)
    }
  }
  effects
}

#' Terms of rows: main effects of all features, then pure interactions
#'
#' @param contributions [rows, component, task x output], centred, units of the response (engine_terms()).
#' @param data,unknown The same rows, encoded, and the rows in which features are unknown; there the feature has no main
#'   effect.
#' @param parts Tables of main effects: by pair list(first, second), matrices [nodes, task x output].
#' @return array [rows, features + pairs, task x output]
#' @noRd
pair_terms <- function(object, contributions, data, unknown, parts = object$purified$parts) {
  config <- object$config
  size <- dim(contributions)
  n <- size[1L]
  features <- seq_len(config$n_features)
  pure <- pair_components(object)
  out <- array(0, c(n, length(features) + length(pure), size[3L]))
  out[, length(features) + seq_along(pure), ] <- contributions[, pure, ]
  for (c in setdiff(seq_len(size[2L]), pure)) {
    i <- config$components[1L, c]
    out[, i, ] <- out[, i, , drop = FALSE] + contributions[, c, , drop = FALSE]
  }
  for (i in features) {
    feature <- data$features[[i]]
    code <- encoded_index(feature, n)
    place <- locate(object$purified$axes[[i]]$nodes, feature$values)
    for (p in which(config$components[1L, pure] == i | config$components[2L, pure] == i)) {
      side <- if (config$components[1L, pure[p]] == i) "first" else "second"
      part <- interpolate(parts[[p]][[side]], place)[code, , drop = FALSE]
      part[unknown[[i]], ] <- 0
      out[, i, ] <- out[, i, ] + part
      out[, length(features) + p, ] <- out[, length(features) + p, ] - part
    }
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
