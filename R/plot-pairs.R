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
  across <- grid_axis(rows[c("x", "level", "density")], facts[[1L]], names[1L], options)
  second <- data.frame(x = rows$y, level = rows$level2, density = rows$density)
  up <- grid_axis(second, facts[[2L]], names[2L], options)
  beyond <- c(across$beyond, up$beyond)
  rugs <- Map(function(fact, axis) if (isTRUE(axis$ratio)) log(fact$rug) else fact$rug, facts, list(across, up))
  # names of levels are read along y; with two categorical features, the longer list goes there
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
    shown <- tile$xmin < tile$xmax & tile$ymin < tile$ymax
    unseen <- unseen_cells(rows)
    marks$tile <- tile[shown & !unseen, , drop = FALSE]
    unseen <- shown & unseen
    if (any(unseen)) marks$blank <- transform(tile[unseen, c("xmin", "xmax", "ymin", "ymax")], opacity = 1)
  } else {
    # whole points at the ends of the range
    if (!across$levels) across$axis$limits <- spread(across$axis$limits, 0.02)
    if (!up$levels) up$axis$limits <- spread(up$axis$limits, 0.02)
    share <- rows$density
    share[is.na(share)] <- 0
    seen <- if (any(share > 0)) share > 0 else rep(TRUE, nrow(rows))
    seen <- seen & across$from[i] < across$to[i] & up$from[j] < up$to[j]
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
  list(title = title, kind = "pair", x = across$axis, y = up$axis, marks = marks, beyond = beyond)
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
#' @param rows Data frame: x, level, density.
#' @return list(axis, index: the cell of every row, from, to, middle: of every cell, divider: start of
#'   the missing slot or NULL, levels: how many, beyond: see beyond_words())
#' @noRd
grid_axis <- function(rows, facts, name, options) {
  absent <- rows$level %in% missing_level
  levels <- unique(c(intersect(facts$levels, rows$level), rows$level[!absent & !is.na(rows$level)]))
  if (length(levels)) {
    grid_levels(rows, absent, levels, facts, name, options)
  } else {
    grid_numbers(rows, absent, facts, name, options)
  }
}

grid_levels <- function(rows, absent, levels, facts, name, options) {
  n <- length(levels)
  middle <- c(seq_len(n), if (any(absent)) n + 1.25)
  shown <- level_names(levels, options$level_labels[[facts$name %||% ""]])
  axis <- axis_level(shown, title = name, extra = if (any(absent)) list(at = n + 1.25, label = "missing"))
  axis$limits <- c(0.5, max(middle) + 0.5)
  list(
    axis = axis, index = ifelse(absent, n + 1L, match(rows$level, levels)), from = middle - 0.5, to = middle + 0.5,
    middle = middle, divider = if (any(absent)) n + 0.625, levels = n
  )
}

grid_numbers <- function(rows, absent, facts, name, options) {
  value <- sort(unique(rows$x[!absent]))
  index <- match(rows$x, value)
  share <- vapply(split(rows$density[!absent], index[!absent]), sum, 0, na.rm = TRUE)
  span <- value_span(value, share, facts, options, facts$name %||% "")
  middle <- if (span$ratio) log(value) else value
  edges <- cell_edges(middle, if (span$ratio) log(facts$range) else facts$range)
  # cells beyond the axis have no width
  if (isTRUE(span$given) || !is.null(span$beyond)) edges <- pmin(pmax(edges, span$limits[1L]), span$limits[2L])
  n <- length(middle)
  axis <- if (span$ratio) {
    axis_effect(range(edges), TRUE, options$ticks, title = name)
  } else {
    axis_number(range(edges), facts$type, options$ticks, title = name, tz = facts$unit %||% "UTC")
  }
  axis$end <- axis$limits[2L]
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
  list(
    axis = axis, index = index, from = from, to = to, middle = middle, divider = divider, levels = 0L,
    beyond = beyond_words(span, facts, name), ratio = span$ratio
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
