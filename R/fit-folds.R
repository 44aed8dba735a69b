# Folds that members leave out: how many, and which row is in which.

#' How many folds there can be: no more than groups, or rows of the rarest class
#' @param units From fold_units().
#' @noRd
resolve_members <- function(ensemble, units) {
  asked <- ensemble %||% default_members
  n <- units$n
  limits <- fold_limits(units)
  k <- max(min(asked, limits), 1)
  if (k < asked && !(is.null(ensemble) && k == 1 && n < 4)) {
    least <- min(limits)
    what <- names(limits)[which.min(limits)]
    if (what == "row{?s}") least <- n # a fold has two rows at least
    pn_inform(
      c(
        paste0(
          "There {cli::qty(least)}{?is/are} only {least} ", what, ", so there {cli::qty(k)}{?is/are} {k} member{?s}",
          " instead of {asked}."
        ),
        i = if (k == 1) "One model has no band and no out-of-fold predictions."
      ),
      class = "fewer_members"
    )
  }
  k
}

#' What folds are drawn from: the training rows, of copies of a row one
#'
#' A row with a weight of k and k copies of it are the same to the draw. (Trials are copies of a row that differ by
#' their class.)
#' @param rows Row numbers of the data.
#' @param weights NULL, or as counts.
#' @return list(n, groups, classes, counts; unit = of every training row, NULL if each is its own)
#' @noRd
fold_units <- function(rows, groups, classes, weights) {
  key <- if (is.null(classes)) rows else rows + max(rows) * classes
  if (!anyDuplicated(key)) {
    return(list(n = length(rows), groups = groups, classes = classes, counts = weights))
  }
  first <- which(!duplicated(key))
  unit <- match(key, key[first])
  list(
    n = length(first), groups = groups[first], classes = classes[first],
    counts = as.vector(rowsum(weights %||% rep(1, length(rows)), unit)), unit = unit
  )
}

#' How many folds there can be, and why not more
#' @noRd
fold_limits <- function(units) {
  classes <- units$classes
  rarest <- if (is.null(classes)) Inf else min(tabulate(match(classes, unique(classes))))
  c(
    "group{?s}" = if (is.null(units$groups)) Inf else length(unique(units$groups)),
    "row{?s} of the rarest class" = rarest, "row{?s}" = max(floor(units$n / 2), 1)
  )
}

#' A fold for every training row: classes alike, groups whole
#' @noRd
member_folds <- function(k, units, seed) {
  if (k < 2) {
    return(NULL)
  }
  fold <- if (is.null(units$groups)) {
    draw_folds(k, units$classes, units$n, seed)
  } else {
    draw_grouped(k, units$groups, units$classes, seed, units$counts)
  }
  as.integer(if (is.null(units$unit)) fold else fold[units$unit])
}
