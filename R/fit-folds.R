# Folds that members leave out: how many, and which row is in which.

#' How many folds there can be: no more than groups, or rows of the rarest class
#' @param classes NULL or the training rows' classes.
#' @noRd
resolve_members <- function(ensemble, n, groups, classes) {
  asked <- ensemble %||% default_members
  limits <- fold_limits(n, groups, classes)
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

#' How many folds there can be, and why not more
#' @noRd
fold_limits <- function(n, groups, classes) {
  rarest <- if (is.null(classes)) Inf else min(tabulate(match(classes, unique(classes))))
  c(
    "group{?s}" = if (is.null(groups)) Inf else length(unique(groups)), "row{?s} of the rarest class" = rarest,
    "row{?s}" = max(floor(n / 2), 1)
  )
}

#' A fold for every training row: classes alike, groups whole
#' @noRd
member_folds <- function(k, n, groups, classes, seed) {
  if (k < 2) {
    return(NULL)
  }
  as.integer(if (is.null(groups)) draw_folds(k, classes, n, seed) else draw_grouped(k, groups, classes, seed))
}
