# Pure interactions on grids, for shapes() of order 2 models.

pair_points <- 64L # per axis
max_pair_rows <- 2.5e5 # of all pairs together

#' Rows of pure interactions as lists of columns, one per requested pair
#' @param wanted Numbers of pairs.
#' @noRd
pair_shapes <- function(object, wanted, layers, points, spread, threads) {
  components <- pair_components(object)[wanted]
  pairs <- object$config$components[, components, drop = FALSE]
  most <- pair_grid_size(if (is.numeric(points)) points else pair_points, length(wanted))
  names <- feature_names(object)
  given <- if (is.list(points)) points
  grids <- lapply(seq_along(names), function(i) {
    if (i %in% pairs) pair_grid(object, i, most, given[[names[i]]])
  })
  effects <- pair_effects(object, components, lapply(grids, `[[`, "z"), layers, spread, threads)
  lapply(seq_along(wanted), function(p) {
    a <- grids[[pairs[1L, p]]]
    b <- grids[[pairs[2L, p]]]
    first <- rep(seq_len(nrow(a)), nrow(b))
    second <- rep(seq_len(nrow(b)), each = nrow(a))
    joint <- object$purified$joint[[wanted[p]]]
    share <- collect_cells(joint, attr(a, "cell"), nrow(a), attr(b, "cell"), nrow(b))
    grid <- list(
      x = a$x[first], level = a$level[first], y = b$x[second], level2 = b$level[second], density = as.vector(share),
      count = as.vector(share) * sum(joint)
    )
    shape_rows(object, object$term_names[components[p]], grid, effects$mean[[p]], effects$sd[[p]], layers)
  })
}

#' Points per axis such that all pairs together stay within max_pair_rows
#' @noRd
pair_grid_size <- function(most, n_pairs) max(2, min(most, floor(sqrt(max_pair_rows / n_pairs))))

#' Points of one axis: bins that represent the feature, or given values
#' @return data frame (x, level, z) with attribute "cell": the point that each bin is nearest to
#' @noRd
pair_grid <- function(object, i, most, values) {
  encoder <- object$encoder[[i]]
  axis <- object$purified$axes[[i]]
  if (is.null(values)) {
    weight <- axis_weight(object, i)
    missing <- is.nan(axis$bins)
    pick <- c(axis_picks(weight[!missing], if (is_categorical(encoder)) Inf else most), which(missing))
    z <- axis$bins[pick]
    number <- axis$number[pick]
    grid <- if (is_categorical(encoder)) {
      level_grid(encoder, number, 0)
    } else {
      data.frame(x = number, level = ifelse(is.nan(z), "(missing)", NA_character_), z = z)
    }
  } else {
    grid <- given_grid(encoder, values)
  }
  grid <- grid[c("x", "level", "z")]
  known <- which(!is.nan(grid$z))
  cell <- vapply(axis$bins, function(z) {
    at <- if (is.nan(z)) which(is.nan(grid$z))[1L] else known[which.min(abs(grid$z[known] - z))]
    if (length(at)) at else NA_integer_
  }, 1L)
  structure(grid, cell = cell)
}

#' Weight of a feature's bins, from any of its pairs
#' @noRd
axis_weight <- function(object, i) {
  pairs <- object$config$components[, pair_components(object), drop = FALSE]
  p <- which(pairs[1L, ] == i | pairs[2L, ] == i)[1L]
  if (pairs[1L, p] == i) rowSums(object$purified$joint[[p]]) else colSums(object$purified$joint[[p]])
}

#' Joint weights of coarser cells, as shares
#' @noRd
collect_cells <- function(joint, rows, n_rows, columns, n_columns) {
  out <- matrix(0, n_rows, n_columns)
  at <- cbind(rows[row(joint)], columns[col(joint)])
  seen <- !is.na(rowSums(at)) & joint > 0
  sums <- rowsum(joint[seen], (at[seen, 1L] + n_rows * (at[seen, 2L] - 1L)))
  out[as.integer(rownames(sums))] <- sums
  out / sum(joint)
}

#' Pure interactions at grids: mean over members and, on request, their standard deviation
#' @param components Numbers of the pairs' components.
#' @param values List by feature of processed values.
#' @return list(mean, sd): lists by pair of arrays [values of a x values of b, task x output, layers or 1]
#' @noRd
pair_effects <- function(object, components, values, layers, spread, threads) {
  places <- Map(function(axis, z) if (!is.null(z)) locate(axis$nodes, z), object$purified$axes, values)
  if (!spread && !layers) {
    # the tables are linear in the members, so their means serve all of them
    number <- match(components, pair_components(object))
    stored <- lapply(object$purified$parts[number], lapply, function(x) array(x, c(dim(x), 1L)))
  }
  over_members(object, function(m) {
    tables <- if (spread || layers) member_parts(object, m, components, layers, threads = threads) else stored
    member_pure(object, m, components, values, places, tables, layers, threads)
  }, spread)
}

#' Pure interactions of one member, given the main-effect tables to subtract
#' @noRd
member_pure <- function(object, m, components, values, places, tables, layers, threads) {
  config <- object$config
  pairs <- config$components[, components, drop = FALSE]
  so <- config$n_tasks * config$n_outputs
  depth <- if (layers) n_shown_layers(object) else 1L
  scale <- rep_len(object$response$scale, so)
  out <- vector("list", length(components))
  for (a in unique(pairs[1L, ])) {
    with <- which(pairs[1L, ] == a)
    longest <- max(lengths(values[pairs[2L, with]]))
    features <- lapply(seq_along(values), function(i) {
      z <- values[[i]] %||% 0
      if (i == a) {
        encoded_feature(z, rep(seq_along(z), longest))
      } else {
        encoded_feature(z, rep(pmin(seq_len(longest), length(z)), each = length(values[[a]])))
      }
    })
    rows <- encoded_data(features, length(values[[a]]) * longest)
    value <- component_values(object, m, rows, layers, threads, keep = components[with])
    means <- object$centering[[m]][components[with], , , drop = FALSE]
    if (!layers) means <- apply(means, c(1L, 2L), sum)
    value <- value - rep(means, each = rows$n)
    for (k in seq_along(with)) {
      p <- with[k]
      b <- pairs[2L, p]
      n_a <- length(values[[a]])
      n_b <- length(values[[b]])
      first <- flat_parts(tables[[p]]$first, places[[a]])
      second <- flat_parts(tables[[p]]$second, places[[b]])
      effect <- matrix(value[seq_len(n_a * n_b), k, , ], n_a * n_b) * rep(rep(scale, depth), each = n_a * n_b)
      effect <- effect - first[rep(seq_len(n_a), n_b), , drop = FALSE]
      effect <- effect - second[rep(seq_len(n_b), each = n_a), , drop = FALSE]
      out[[p]] <- array(effect, c(n_a * n_b, so, depth))
    }
  }
  out
}

flat_parts <- function(table, place) interpolate(matrix(table, dim(table)[1L]), place)
