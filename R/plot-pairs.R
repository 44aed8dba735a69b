# Interactions as panels: heat maps over the grid of two features, or the paper's coloured scatter.
#
# The rows of a pair hold one effect per cell of a grid: x or level along one axis, y or level2 along the other. Cells
# of numbers reach half way to the next grid value, cells of levels have width 1, missing values a separate slot. Heat
# maps leave out cells that have no training rows near, where an interaction would be a guess.

#' Panel of an interaction
#'
#' @param rows Rows of one pair (one layer, task and output): x, level, y, level2, effect, density.
#' @param facts,names Lists or vectors of two: see feature_facts(); the features' labels.
#' @param style "heat" or "scatter": every observed cell as a point whose area shows its share of the training rows.
#' @noRd
panel_pair <- function(rows, facts, names, title, style, options) {
  across <- grid_axis(rows$x, rows$level, facts[[1L]], names[1L], options)
  up <- grid_axis(rows$y, rows$level2, facts[[2L]], names[2L], options)
  rugs <- list(facts[[1L]]$rug, facts[[2L]]$rug)
  # names of levels are read along y; with two categorical features, the longer list stands there
  if (across$levels > up$levels) {
    kept <- across
    across <- up
    up <- kept
    rugs <- rev(rugs)
  }
  if (up$levels) up <- mirror_axis(up)
  i <- across$index
  j <- up$index
  marks <- list()
  if (style == "heat") {
    tile <- data.frame(
      xmin = across$from[i], xmax = across$to[i], ymin = up$from[j], ymax = up$to[j], value = rows$effect
    )
    unseen <- unseen_cells(rows)
    marks$tile <- tile[!unseen, , drop = FALSE]
    if (any(unseen)) marks$blank <- transform(tile[unseen, c("xmin", "xmax", "ymin", "ymax")], opacity = 1)
  } else {
    # whole points at the ends of the range
    if (!across$levels) across$axis$limits <- spread(across$axis$limits, 0.02)
    if (!up$levels) up$axis$limits <- spread(up$axis$limits, 0.02)
    share <- rows$density
    share[is.na(share)] <- 0
    seen <- if (any(share > 0)) share > 0 else rep(TRUE, nrow(rows))
    # areas show shares; points of a fine grid are smaller, so that neighbours stay apart
    size <- (0.4 + 0.6 * sqrt(share[seen] / max(share, 1e-300))) * min(1, max(0.5, 20 / sqrt(max(i) * max(j))))
    marks$cell <- data.frame(
      x = across$middle[i][seen], y = up$middle[j][seen], value = rows$effect[seen], size = size
    )
  }
  marks$divider <- rbind(
    if (!is.null(across$divider)) {
      data.frame(x = across$divider, y = up$axis$limits[1L], xend = across$divider, yend = up$axis$limits[2L])
    },
    if (!is.null(up$divider)) {
      data.frame(x = across$axis$limits[1L], y = up$divider, xend = across$axis$limits[2L], yend = up$divider)
    }
  )
  if (options$rug) {
    marks$rug <- rbind(rug_along(rugs[[1L]], across$axis, up$axis), swap_ends(rugs[[2L]], up$axis, across$axis))
  }
  list(title = title, kind = "pair", x = across$axis, y = up$axis, marks = marks)
}

seen_reach <- 2L # cells of a grid of about 64 by 64

#' Which cells of a pair's grid have no training rows in them or near them
#'
#' Near: within some cells along numbers; levels and the missing value have no neighbours.
#' @param rows Rows of one pair (one layer, task and output).
#' @return logical, one per row
#' @noRd
unseen_cells <- function(rows) {
  share <- rows$density
  if (all(is.na(share) | share <= 0)) {
    return(rep(FALSE, nrow(rows)))
  }
  across <- grid_places(rows$x, rows$level)
  up <- grid_places(rows$y, rows$level2)
  seen <- matrix(FALSE, max(across$index), max(up$index))
  seen[cbind(across$index, up$index)] <- !is.na(share) & share > 0
  near <- across$near %*% seen %*% up$near > 0
  !near[cbind(across$index, up$index)]
}

#' Numbers of a grid's places along one axis, and which of them are near each other
#' @return list(index, near: matrix of 0 and 1)
#' @noRd
grid_places <- function(value, level) {
  numbers <- sort(unique(value[is.na(level)]))
  names <- unique(level[!is.na(level)])
  n <- length(numbers) + length(names)
  near <- diag(n)
  here <- seq_along(numbers)
  near[here, here] <- abs(outer(here, here, `-`)) <= seen_reach
  list(index = ifelse(is.na(level), match(value, numbers), length(numbers) + match(level, names)), near = near)
}

#' Ticks of observed values along x
#' @noRd
rug_along <- function(values, x, y) {
  values <- values[values >= x$limits[1L] & values <= (x$end %||% x$limits[2L])]
  if (!length(values)) {
    return(NULL)
  }
  data.frame(x = values, y = y$limits[1L], xend = values, yend = y$limits[1L] + 0.02 * diff(y$limits))
}

# the same along y
swap_ends <- function(values, y, x) {
  rug <- rug_along(values, y, x)
  if (!is.null(rug)) data.frame(x = rug$y, y = rug$x, xend = rug$yend, yend = rug$xend)
}

#' One axis of a grid
#'
#' @return list(axis, index: the cell of every row, from, to, middle: of every cell, divider: start of
#'   the missing slot or NULL, levels: how many)
#' @noRd
grid_axis <- function(value, level, facts, name, options) {
  absent <- level %in% missing_level
  levels <- unique(c(intersect(facts$levels, level), level[!absent & !is.na(level)]))
  if (length(levels)) {
    n <- length(levels)
    middle <- c(seq_len(n), if (any(absent)) n + 1.25)
    axis <- axis_level(levels, title = name, extra = if (any(absent)) list(at = n + 1.25, label = "missing"))
    axis$limits <- c(0.5, max(middle) + 0.5)
    index <- ifelse(absent, n + 1L, match(level, levels))
    from <- middle - 0.5
    to <- middle + 0.5
    divider <- if (any(absent)) n + 0.625
  } else {
    middle <- sort(unique(value[!absent]))
    edges <- cell_edges(middle, facts$range)
    n <- length(middle)
    axis <- axis_number(range(edges), facts$type, options$ticks, title = name, tz = facts$unit %||% "UTC")
    axis$end <- axis$limits[2L]
    index <- match(value, middle)
    from <- edges[-length(edges)]
    to <- edges[-1L]
    divider <- NULL
    if (any(absent)) {
      slot <- missing_slot(axis)
      axis <- slot$axis
      divider <- slot$from
      index[absent] <- n + 1L
      middle <- c(middle, slot$at)
      from <- c(from, slot$from + 0.02 * diff(axis$limits))
      to <- c(to, axis$limits[2L])
    }
  }
  list(
    axis = axis, index = index, from = from, to = to, middle = middle, divider = divider, levels = length(levels)
  )
}

#' The first level on top
#' @noRd
mirror_axis <- function(up) {
  sum <- sum(up$axis$limits)
  up$axis$at <- sum - up$axis$at
  if (!is.null(up$axis$extra)) up$axis$extra$at <- sum - up$axis$extra$at
  from <- up$from
  up$from <- sum - up$to
  up$to <- sum - from
  up$middle <- sum - up$middle
  if (!is.null(up$divider)) up$divider <- sum - up$divider
  up
}

#' Edges half way between grid values; the outer ones at the ends of the observed range
#' @noRd
cell_edges <- function(middle, range = NULL) {
  n <- length(middle)
  if (n < 2L) {
    return(spread(c(middle, range)))
  }
  inner <- (middle[-1L] + middle[-n]) / 2
  first <- min(middle[1L], range[1L])
  last <- max(middle[n], range[2L])
  # a grid value at the very end of the range still needs a cell that can be seen
  least <- 0.005 * (last - first)
  c(min(first, inner[1L] - least), inner, max(last, inner[n - 1L] + least))
}
