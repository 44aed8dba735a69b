# Two-way tables: the weighted least-squares fit of row effects plus column effects, on which purification is based.

#' The weighted least-squares fit table ~ g + h
#'
#' Eliminating g leaves S h = r with S = D_b - W' D_a^-1 W, scaled by D_b^-1/2 on both sides. S is singular: constants
#' can move between g and h, in every block of a disconnected table. A ridge fixes these free directions while
#' refinement removes its influence on the others; join_parts() then determines them.
#' @param weights [a, b]
#' @param table [a, b, columns]
#' @return list(g = [a, columns], h = [b, columns])
#' @noRd
additive_fit <- function(weights, table, ridge = 1e-6) {
  size <- dim(table)
  weights <- weights / sum(weights) # products of weights stay within reach
  weighted <- table * as.vector(weights)
  rows <- matrix(apply(weighted, c(1L, 3L), sum), size[1L])
  columns <- matrix(colSums(weighted), size[2L])
  a <- rowSums(weights)
  b <- sqrt(colSums(weights))
  normal <- diag(size[2L]) - crossprod(weights / sqrt(a)) / outer(b, b)
  root <- chol(normal + diag(ridge, size[2L]))
  right <- (columns - crossprod(weights, rows / a)) / b
  rest <- right
  h <- 0 * right
  for (step in seq_len(50L)) {
    h <- h + backsolve(root, backsolve(root, rest, transpose = TRUE))
    rest <- right - normal %*% h
    if (max(abs(rest)) <= 1e-13 * max(abs(columns))) break
  }
  h <- h / b
  g <- (rows - weights %*% h) / a
  join_parts(weights, table, g, h)
}

#' Determine the constants between the blocks of a disconnected table
#'
#' Adding c_k to g and subtracting it from h in block k changes nothing where there are training rows. The c_k are
#' chosen so that the interaction in the cells between blocks, weighted as if the features were independent, is as small
#' as possible. Thus a table that is additive everywhere is recognised as such.
#' @noRd
join_parts <- function(weights, table, g, h) {
  part <- connected_parts(weights > 0)
  if (max(part$rows) > 1L) {
    a <- rowSums(weights)
    b <- colSums(weights)
    cells <- outer(as.vector(rowsum(a, part$rows)), as.vector(rowsum(b, part$columns)))
    links <- cells + t(cells)
    diag(links) <- 0
    laplacian <- diag(rowSums(links)) - links
    for (k in seq_len(ncol(g))) {
      rest <- outer(a, b) * (table[, , k] - outer(g[, k], h[, k], `+`))
      sums <- t(rowsum(t(rowsum(rest, part$rows)), part$columns))
      move <- c(0, solve(laplacian[-1L, -1L], (rowSums(sums) - colSums(sums))[-1L]))
      g[, k] <- g[, k] + move[part$rows]
      h[, k] <- h[, k] - move[part$columns]
    }
  }
  list(g = g, h = h)
}

#' Blocks of a table between which no cell is filled
#' @return list(rows, columns): the number of the block to which each belongs
#' @noRd
connected_parts <- function(filled) {
  part_rows <- integer(nrow(filled))
  part_columns <- integer(ncol(filled))
  k <- 0L
  while (any(part_rows == 0L)) {
    k <- k + 1L
    rows <- seq_along(part_rows) == which(part_rows == 0L)[1L]
    repeat {
      columns <- colSums(filled[rows, , drop = FALSE]) > 0
      more <- rowSums(filled[, columns, drop = FALSE]) > 0 | rows
      if (all(more == rows)) break
      rows <- more
    }
    part_rows[rows] <- k
    part_columns[columns] <- k
  }
  list(rows = part_rows, columns = part_columns)
}
