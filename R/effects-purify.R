# Purification: a model of pairs is decomposed into main effects and pure interactions.
#
# A component f(a, b) of an order 2 model contains main effects of its features as well. Under the training distribution
# w it is split, uniquely, into f(a, b) = mean + g(a) + h(b) + pure(a, b),   sum_b w(a, b) pure(a, b) = 0 for all a,
# and the same over a for all b, which is the weighted least-squares fit of g + h. Axes are cut into bins (single
# values where there are few, levels, the missing value) that are represented by observed values; the joint weights of
# the bins are kept in the fit. With m(a) = sum_b w(b | a) f(a, b) the solution is g(a) = m(a) - sum_b w(b | a) h(b)
# at the bins, and the same formula continues g to any value of a, with w(b | a) interpolated between bins: g is
# tabulated at up to 1000 values per feature, jumps included. A main effect is the sum of its contributions over pairs,
# and a pure interaction is the remainder of the exact component, so that all terms add up to the prediction.
#
# fit$purified is a list:
#   axes    per feature: bins (processed values, NaN last if missing values occur), number (the same in original units),
#           nodes (processed values of the tables), at (bins among nodes), left and share (bins below nodes), weight
#           (of nodes, so that sum(weight * table) is the table's mean over the training rows)
#   joint   per pair the weights [bins of a, bins of b], integer if there are no case weights
#   parts   per pair list(first = g, second = h): [nodes, task x output], centred, own units, mean over members
# term_values() (R/effects-terms.R) reads it.

#' Main effects and pure interactions of an order 2 fit
#'
#' A model of pairs ([protonam()] with `order = 2`) has no separate effects of single features: these are distributed
#' over all pairs that contain the feature. [shapes()], `predict(type = "terms")`, [term_importance()] and
#' [contributions()] decompose the pairs into an intercept, main effects and pure interactions (functional analysis of
#' variance). Nothing is refitted, and all terms still add up to the prediction.
#'
#' @section What is pure: An interaction of `a` and `b` is pure if, averaged over the training rows (by weight), it
#' vanishes at every value of `a` and at every value of `b`. Any component of a pair that is a function of `a` or of `b`
#' alone then belongs to the main effects. This decomposition depends on the joint distribution of the features, not
#' only on the model. Where two features never occur together in the training rows, their interaction is made as small
#' as possible under independence.
#'
#' @section How it is computed: Each level, the missing value, and each value of a column with at most 64 distinct
#' values forms a separate bin: the decomposition is then exact on the observed grid. Other columns are cut into at most
#' 64 bins of about equal weight, each represented by an observed value, and the main effects are extended to all values
#' in between (tables of up to 1000 values per feature, jumps included). With fewer than 6400 training rows there are
#' fewer bins, each with about 100 rows, because sampling variability in smaller bins would make the main effects
#' ragged. Interactions are the remainder of the exact pair, so that predictions and terms agree up to rounding.
#' `interaction_bins` of [protonam_control()] sets the number of bins; with more than about 500 pairs there are fewer.
#'
#' The tables are computed at the end of a fit and stored in it; with very many pairs they take at most about 50 MB.
#'
#' @references Lengerich, Tan, Chang, Hooker and Caruana (2020), Purifying interaction effects with the functional
#'   ANOVA: an efficient algorithm for recovering identifiable additive models, AISTATS,
#'   \doi{10.48550/arXiv.1911.04974}.
#' @name purification
#' @examples
#' fit <- protonam(mpg ~ wt + hp + factor(cyl), mtcars, order = 2, ensemble = 2, epochs = 30, seed = 1)
#' term_importance(fit)
#' terms <- predict(fit, mtcars, type = "terms")
#' all.equal(attr(terms, "constant") + rowSums(terms), predict(fit, mtcars))
NULL

# Limits that bound memory and time for any number of pairs
pair_cells <- 2e6 # joint weights
pair_values <- 4e6 # values of all parts
pair_evaluations <- 1e7 # components evaluated for the tables of one member
max_nodes <- 1000L

#' Bins per axis and nodes per table
#'
#' Bins with few rows would transfer sampling variability to the main effects, as ragged curves: unless their number is
#' given, columns with many values get bins of 100 rows or more.
#' @param rows Number of training rows; Inf: as many bins as possible.
#' @return list(exact = number of values up to which each forms a bin, bins = number of bins otherwise, nodes)
#' @noRd
purify_sizes <- function(config, bins, rows = Inf) {
  n <- ncol(config$components)
  exact <- max(4, min(bins, floor(sqrt(pair_cells / n))))
  bins <- min(exact, max(16, floor(rows / 100)))
  outputs <- config$n_tasks * config$n_outputs
  nodes <- min(max_nodes, pair_values / (2 * n * outputs), pair_evaluations / (2 * n * exact))
  list(exact = exact, bins = bins, nodes = max(bins, floor(nodes)))
}

#' Fields of an order 2 fit that describe its terms
#' @param encoded The training rows, from encode_sample().
#' @param table From effect_rows().
#' @noRd
purified_effects <- function(object, encoded, table, threads) {
  found <- purify(object, encoded$data, encoded$counts, threads)
  object$purified <- found$purified
  list(purified = found$purified, effects = summarise_effects(object, table, found$members, threads))
}

#' Decompose the pairs of a fitted model
#'
#' @param data,counts Encoded training rows, and the weights of each feature's values.
#' @return list(purified = list(axes, joint, parts), members = parts of each member)
#' @noRd
purify <- function(object, data, counts, threads) {
  asked <- "interaction_bins" %in% attr(object$control, "given")
  size <- purify_sizes(object$config, object$control$interaction_bins, if (asked) Inf else data$n)
  components <- pair_components(object)
  pairs <- object$config$components[, components, drop = FALSE]
  binned <- lapply(seq_along(object$encoder), function(i) {
    pair_axis(object, i, data$features[[i]]$values, counts[[i]], size)
  })
  codes <- Map(function(axis, feature) axis$bin[encoded_index(feature, data$n)], binned, data$features)
  axes <- lapply(binned, function(axis) axis[names(axis) != "bin"])
  joint <- lapply(seq_len(ncol(pairs)), function(p) {
    a <- pairs[1L, p]
    b <- pairs[2L, p]
    joint_weights(codes[[a]], codes[[b]], length(axes[[a]]$bins), length(axes[[b]]$bins), data$weights)
  })
  purified <- list(axes = axes, joint = joint)
  object$purified <- purified
  members <- lapply(seq_along(object$members), function(m) {
    as_tables(member_parts(object, m, layers = FALSE, threads = threads))
  })
  total <- Reduce(function(x, y) Map(function(x, y) Map(`+`, x, y), x, y), members)
  purified$parts <- lapply(total, lapply, `/`, length(members))
  list(purified = purified, members = members)
}

#' Parts of one layer, or of all together, as matrices [nodes, task x output]
#' @noRd
as_tables <- function(parts) lapply(parts, lapply, function(x) matrix(x, dim(x)[1L]))

#' A feature's bins and nodes
#' @param values,counts Processed training values and their weights.
#' @noRd
pair_axis <- function(object, i, values, counts, size) {
  encoder <- object$encoder[[i]]
  support <- if (is_categorical(encoder)) encoder$support else finite_support(encoder)
  z <- process_numbers(encoder, support$value)
  first <- !duplicated(z)
  weight <- as.vector(rowsum(support$count, cumsum(first)))
  number <- support$value[first]
  z <- z[first]
  group <- axis_groups(weight, if (is_categorical(encoder) || length(z) <= size$exact) Inf else size$bins)
  pick <- vapply(split(seq_along(z), group), function(at) at[which(cumsum(weight[at]) >= sum(weight[at]) / 2)[1L]], 1L)
  last <- which(diff(group) > 0L)
  breaks <- (z[last] + z[last + 1L]) / 2

  nodes <- z[union(pick, axis_picks(weight, if (is_categorical(encoder)) Inf else size$nodes))]
  if (!is_categorical(encoder) && length(z) > 1L) {
    borders <- cell_borders(object, i, range(z))
    if (nrow(borders) <= size$nodes / 4) nodes <- c(nodes, borders)
  }
  nodes <- sort(unique(nodes))
  missing <- encoder$has_missing && !is_categorical(encoder)
  axis <- list(
    bins = c(z[pick], if (missing) NaN), number = c(number[pick], if (missing) NA), nodes = c(nodes, if (missing) NaN)
  )
  axis$at <- match(axis$bins, axis$nodes)
  axis[c("left", "share")] <- locate(axis$bins, axis$nodes)
  axis$weight <- node_weights(axis$nodes, values, counts)
  axis$bin <- findInterval(values, breaks) + 1L
  axis$bin[is.nan(values)] <- length(axis$bins)
  axis
}

#' At most `most` groups of about equal weight; single values if there are few
#' @noRd
axis_groups <- function(weight, most) {
  if (length(weight) <= most) {
    return(seq_along(weight))
  }
  middle <- (cumsum(weight) - weight / 2) / sum(weight)
  cumsum(!duplicated(floor(middle * most)))
}

#' Positions of at most `most` values, the ends among them, at even ranks
#' @noRd
axis_picks <- function(weight, most) {
  if (length(weight) <= most) {
    return(seq_along(weight))
  }
  match(thin_support(seq_along(weight), weight, 0, most)$value, seq_along(weight))
}

#' Where values lie in a table's argument: position of the entry at or below, and share of the next one
#' @param table Ascending, NaN last if at all.
#' @noRd
locate <- function(table, values) {
  numbers <- table[!is.nan(table)]
  m <- length(numbers)
  if (m < 2L) {
    left <- rep(1L, length(values))
    share <- numeric(length(values))
  } else {
    left <- pmin(pmax(findInterval(values, numbers), 1L), m - 1L)
    share <- pmin(pmax((values - numbers[left]) / (numbers[left + 1L] - numbers[left]), 0), 1)
  }
  missing <- is.nan(values)
  left[missing] <- length(table)
  share[missing] <- 0
  list(left = left, share = share)
}

#' Entries of a table [entries, ...columns], or of a vector, at located places
#' @noRd
interpolate <- function(table, place) {
  table <- as.matrix(table)
  right <- pmin(place$left + 1L, nrow(table))
  (1 - place$share) * table[place$left, , drop = FALSE] + place$share * table[right, , drop = FALSE]
}

#' Weights of nodes so that a weighted sum over a table's nodes is its interpolated mean over the training rows
#' @noRd
node_weights <- function(nodes, values, counts) {
  place <- locate(nodes, values)
  weight <- numeric(length(nodes))
  at <- c(place$left, pmin(place$left + 1L, length(nodes)))
  sums <- rowsum(c(counts * (1 - place$share), counts * place$share), at)
  weight[as.integer(rownames(sums))] <- sums
  weight / sum(weight)
}

#' Weights of the cells of two features' bins
#'
#' Every row counts with at least 1e-12 of the largest weight: smaller shares would be lost in sums, leaving an empty
#' bin.
#' @noRd
joint_weights <- function(a, b, n_a, n_b, weights) {
  cell <- a + n_a * (b - 1L)
  if (is.null(weights)) {
    return(matrix(tabulate(cell, n_a * n_b), n_a, n_b))
  }
  sums <- rowsum(pmax(weights, 1e-12 * max(weights)), cell)
  joint <- matrix(0, n_a, n_b)
  joint[as.integer(rownames(sums))] <- sums
  joint
}

#' Main-effect tables (g and h) of one member
#'
#' @param pairs Numbers of the pairs whose tables are requested.
#' @param sides Features whose tables are requested; others stay NULL.
#' @return list by pair of list(first, second): centred arrays [nodes, task x output, layers or 1], units of the
#'   response
#' @noRd
member_parts <- function(object, m, layers, pairs = seq_along(pair_components(object)),
                         sides = seq_along(object$encoder), threads) {
  components <- pair_components(object)
  features <- object$config$components[, components, drop = FALSE]
  parts <- rep(list(list(first = NULL, second = NULL)), length(components))
  for (a in intersect(sides, features[, pairs])) {
    of_pair <- pairs[features[1L, pairs] == a | features[2L, pairs] == a]
    found <- star_parts(object, m, a, components[of_pair], layers, threads)
    for (k in seq_along(of_pair)) {
      parts[[of_pair[k]]][[if (features[1L, of_pair[k]] == a) "first" else "second"]] <- found[[k]]
    }
  }
  parts
}

#' Main-effect tables with which to evaluate a member, for the mean over members or for their spread
#'
#' Tables are linear in the members: for a mean, the means kept in the fit serve all of them.
#' @noRd
effect_parts <- function(object, m, layers, spread, ...) {
  if (layers || spread) member_parts(object, m, layers, ...) else object$purified$parts
}

#' Tables that belong to one feature in all its pairs
#'
#' The feature runs over its nodes and all its partners run over their bins at the same time.
#' @return list by component of arrays [nodes, task x output, layers or 1]
#' @noRd
star_parts <- function(object, m, a, components, layers, threads) {
  pairs <- object$config$components[, components, drop = FALSE]
  axes <- object$purified$axes
  own <- axes[[a]]
  first <- pairs[1L, ] == a
  partners <- ifelse(first, pairs[2L, ], pairs[1L, ])
  joint <- object$purified$joint[match(components, pair_components(object))]
  joint[!first] <- lapply(joint[!first], t)
  depth <- max(vapply(joint, ncol, 1L))
  columns <- object$config$n_tasks * object$config$n_outputs * if (layers) n_shown_layers(object) else 1L
  mean <- lapply(partners, function(b) matrix(0, length(own$nodes), columns))
  table <- lapply(partners, function(b) array(0, c(length(own$bins), length(axes[[b]]$bins), columns)))
  for (range in row_chunks(length(own$nodes), depth * length(partners) * columns, least = 16)) {
    nodes <- seq.int(range[1L], range[2L])
    rows <- star_rows(object, a, own$nodes[nodes], partners, depth)
    value <- raw_components(object, m, rows, layers, threads, keep = components)
    value <- array(value, c(depth, length(nodes), length(partners), columns))
    for (k in seq_along(partners)) {
      wide <- ncol(joint[[k]])
      here <- array(value[seq_len(wide), , k, ], c(wide, length(nodes), columns))
      share <- t(interpolate(joint[[k]] / rowSums(joint[[k]]), lapply(own[c("left", "share")], `[`, nodes)))
      mean[[k]][nodes, ] <- colSums(here * as.vector(share))
      at <- match(own$at, nodes, nomatch = 0L)
      table[[k]][at > 0L, , ] <- aperm(here[, at, , drop = FALSE], c(2L, 1L, 3L))
    }
  }
  scale <- rep_len(object$response$scale, object$config$n_tasks * object$config$n_outputs)
  lapply(seq_along(partners), function(k) {
    # always as [first, second], so that both features of the pair get tables of the same solution
    other <- if (first[k]) {
      additive_fit(joint[[k]], table[[k]])$h
    } else {
      additive_fit(t(joint[[k]]), aperm(table[[k]], c(2L, 1L, 3L)))$g
    }
    # g(a) = m(a) - sum_b w(b | a) h(b)
    rest <- interpolate(joint[[k]] %*% other / rowSums(joint[[k]]), own[c("left", "share")])
    part <- mean[[k]] - rest
    part <- part - rep(colSums(own$weight * part), each = nrow(part))
    size <- c(nrow(part), length(scale), columns / length(scale))
    array(part, size) * rep(scale, each = size[1L])
  })
}

#' Rows in which one feature takes given values, each with all bins of its partners in turn
#' @noRd
star_rows <- function(object, a, values, partners, depth) {
  axes <- object$purified$axes
  n <- length(values) * depth
  features <- lapply(seq_along(axes), function(i) {
    if (i == a) {
      encoded_feature(values, rep(seq_along(values), each = depth))
    } else if (i %in% partners) {
      bins <- axes[[i]]$bins
      encoded_feature(bins, rep(pmin(seq_len(depth), length(bins)), length(values)))
    } else {
      encoded_feature(0, rep(1L, n))
    }
  })
  encoded_data(features, n)
}
