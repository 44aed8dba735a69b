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
  effects <- pair_effects(object, wanted, lapply(grids, `[[`, "z"), layers, spread, threads)
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

#' Pure interactions at grids: mean over members and, on request, their standard error
#' @param wanted Numbers of pairs.
#' @param values List by feature of processed values.
#' @return list(mean, sd): lists by pair of arrays [values of a x values of b, task x output, layers or 1]
#' @noRd
pair_effects <- function(object, wanted, values, layers, spread, threads) {
  pairs <- object$config$components[, pair_components(object)[wanted], drop = FALSE]
  over_members(object, function(m) {
    tables <- effect_parts(object, m, layers, spread, pairs = wanted, threads = threads)
    out <- vector("list", length(wanted))
    for (a in unique(pairs[1L, ])) {
      of_first <- which(pairs[1L, ] == a)
      rows <- grid_rows(values, a, max(lengths(values[pairs[2L, of_first]])))
      terms <- length(values) + wanted[of_first]
      value <- term_values(object, m, rows, NULL, tables, layers, terms, threads)
      for (k in seq_along(of_first)) {
        p <- of_first[k]
        out[[p]] <- first_rows(value, length(values[[a]]) * length(values[[pairs[2L, p]]]), k)
      }
    }
    out
  }, spread)
}

#' Rows in which feature a runs over its values for each of the first `longest` values of all others
#' @noRd
grid_rows <- function(values, a, longest) {
  features <- lapply(seq_along(values), function(i) {
    z <- values[[i]] %||% 0
    if (i == a) {
      encoded_feature(z, rep(seq_along(z), longest))
    } else {
      encoded_feature(z, rep(pmin(seq_len(longest), length(z)), each = length(values[[a]])))
    }
  })
  encoded_data(features, length(values[[a]]) * longest)
}
