# Where shape functions jump.
#
# The nearest prototype acts alone, so an effect is smooth within a cell of prototypes and jumps midway between adjacent
# ones. Cells are in processed units; the user sees positions in the units of the column.

border_width <- 1e-5 # of a feature's processed range: borders closer than this are one
visible_jump <- 1e-3 # of an effect's range: smaller jumps cannot be seen
max_jumps <- 250L

#' Midpoints between adjacent prototypes, all layers and members, within a range of processed values
#' @return matrix (low, high), one row per group of borders that lie together, ascending
#' @noRd
cell_borders <- function(object, i, range) {
  config <- engine_of(object)
  i <- net_position(object, i)
  if (is.na(i) || !config$use_prototypes || config$n_prototypes < 2L || !(range[2L] > range[1L])) {
    return(matrix(0, 0L, 2L))
  }
  layout <- .Call(ffi_layout, config)
  borders <- lapply(object$members, function(member) {
    centers <- slab_tensor(member$params, layout, "center")
    apply(matrix(centers[, , i], config$n_layers), 1L, function(center) {
      center <- sort(center)
      (center[-1L] + center[-length(center)]) / 2
    })
  })
  borders <- sort(unlist(borders))
  gap <- border_width * (range[2L] - range[1L])
  borders <- borders[borders > range[1L] + gap & borders < range[2L] - gap]
  if (!length(borders)) {
    return(matrix(0, 0L, 2L))
  }
  group <- cumsum(c(TRUE, diff(borders) > 2 * gap))
  low <- borders[!duplicated(group)]
  high <- borders[!duplicated(group, fromLast = TRUE)]
  cbind(low = low - gap / 2, high = high + gap / 2)
}

#' Visible jumps of the effects of the requested features
#'
#' @param wanted Feature numbers; categorical ones have no jumps.
#' @return list by feature of data frames (x, left, right): position in the units of the column, processed values just
#'   left and right of the jump. One of the two is the processed value of x, so that predictions at x agree with it.
#' @noRd
feature_jumps <- function(object, wanted, layers, threads) {
  encoders <- object$encoder
  none <- data.frame(x = numeric(), left = numeric(), right = numeric())
  jumps <- rep(list(none), length(encoders))
  borders <- lapply(seq_along(encoders), function(i) {
    known <- finite_support(encoders[[i]])$value
    if (!i %in% wanted || is_categorical(encoders[[i]]) || length(known) < 2L) {
      return(matrix(0, 0L, 2L))
    }
    cell_borders(object, i, range(process_numbers(encoders[[i]], known)))
  })
  if (!any(vapply(borders, nrow, 1L) > 0L)) {
    return(jumps)
  }
  ends <- lapply(encoders, function(encoder) process_numbers(encoder, finite_support(encoder)$value))
  values <- Map(function(border, end) if (nrow(border)) c(t(border), end) else numeric(), borders, ends)
  effects <- main_effects(object, values, layers, threads = threads)$mean
  for (i in which(vapply(borders, nrow, 1L) > 0L)) {
    size <- jump_sizes(effects[[i]], nrow(borders[[i]]))
    kept <- which(size > visible_jump)
    kept <- sort(kept[order(-size[kept])][seq_len(min(length(kept), max_jumps))])
    if (length(kept)) jumps[[i]] <- place_jumps(encoders[[i]], borders[[i]][kept, , drop = FALSE], size[kept])
  }
  jumps
}

#' Size of each jump as a share of the effect's range: the largest over outputs and layers
#' @param effect [left, right, left, right, ..., support values; output; layer]
#' @noRd
jump_sizes <- function(effect, n) {
  flat <- matrix(effect, dim(effect)[1L])
  range <- apply(flat, 2L, function(x) diff(range(x)))
  step <- abs(flat[2L * seq_len(n), , drop = FALSE] - flat[2L * seq_len(n) - 1L, , drop = FALSE])
  apply(step / rep(pmax(range, .Machine$double.xmin), each = n), 1L, max)
}

#' From borders in processed units to positions in the units of the column
#' @noRd
place_jumps <- function(encoder, borders, size) {
  if (!is.null(encoder$bins)) {
    return(place_between_bins(encoder, borders))
  }
  ties <- tied_borders(encoder, borders)
  free <- is.na(ties)
  x <- unscale_values(encoder$scaling, borders[free, 2L])
  jumps <- data.frame(x = x, left = borders[free, 1L], right = process_numbers(encoder, x))
  if (!all(free)) {
    # of several borders in one gap between values, the largest counts
    rank <- which(!free)[order(-size[!free])]
    rank <- rank[!duplicated(ties[rank])]
    jumps <- rbind(jumps, place_between_values(encoder, ties[rank], borders[rank, 1L]))
  }
  jumps <- jumps[order(jumps$x), ]
  rownames(jumps) <- NULL
  jumps
}

#' Bins are what the engine sees: a border acts at the break between the bins that it separates
#' @noRd
place_between_bins <- function(encoder, borders) {
  value <- encoder$bins$value
  left <- unique(findInterval(rowMeans(borders), value))
  left <- left[left > 0L & left < length(value)]
  data.frame(x = encoder$bins$breaks[left], left = value[left], right = value[left + 1L])
}

#' Values that training data can have: neighbours of a jump
#' @noRd
known_values <- function(encoder) {
  scaling <- encoder$scaling
  sort(unique(c(finite_support(encoder)$value, scaling$value[scaling$upper > scaling$lower])))
}

#' Quantile scaling: which gap between known values holds a border that falls within a repeated value's scores?
#'
#' Scores within a tie belong only to the tied value, which lies in their middle; the jump is then visible between this
#' value and its neighbour.
#' @return position of the lower value among known_values(), NA for borders outside ties
#' @noRd
tied_borders <- function(encoder, borders) {
  scaling <- encoder$scaling
  gap <- rep(NA_integer_, nrow(borders))
  if (scaling$method != "quantile") {
    return(gap)
  }
  p <- stats::pnorm(rowMeans(borders))
  k <- pmax(findInterval(p, scaling$lower), 1L)
  tied <- scaling$upper[k] > scaling$lower[k] & p <= scaling$upper[k]
  known <- known_values(encoder)
  at <- match(scaling$value[k], known)
  above <- rowMeans(borders) >= process_numbers(encoder, scaling$value[k])
  gap[tied] <- pmin(pmax(at - !above, 1L), length(known) - 1L)[tied]
  gap
}

#' A jump between two adjacent values is drawn midway
#' @noRd
place_between_values <- function(encoder, gap, border) {
  known <- known_values(encoder)
  x <- (known[gap] + known[gap + 1L]) / 2
  middle <- process_numbers(encoder, x)
  # the midpoint belongs to one side: the other side is shown with the value next to it
  data.frame(
    x = x,
    left = ifelse(middle <= border, middle, process_numbers(encoder, known[gap])),
    right = ifelse(middle <= border, process_numbers(encoder, known[gap + 1L]), middle)
  )
}

#' Observed finite values with their weights; infinite ones count at the ends, to which scaling maps them
#' @noRd
finite_support <- function(encoder) {
  value <- encoder$support$value
  count <- encoder$support$count
  finite <- which(is.finite(value))
  if (length(finite) && length(finite) < length(value)) {
    ends <- range(finite)
    count[ends[1L]] <- count[ends[1L]] + sum(count[value == -Inf])
    count[ends[2L]] <- count[ends[2L]] + sum(count[value == Inf])
  }
  list(value = value[finite], count = count[finite])
}
