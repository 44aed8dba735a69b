# Training and validation rows. Everything random here comes from the fit's seed, not from R's generator.

# Streams of the engine's counter-based generator that R uses
stream_split <- 1
stream_screen <- 2
stream_member <- 1000

#' A permutation of 1..n that depends only on seed and stream
#' @noRd
permutation <- function(n, seed, stream) .Call(ffi_permutation, as.double(n), as.double(seed), as.double(stream))

#' The seed of a fit: given, or one draw from R's generator
#' @noRd
resolve_seed <- function(seed) {
  if (is.null(seed)) {
    return(floor(stats::runif(1) * 2^32))
  }
  check_number(seed, "seed", whole = TRUE, min = -2^52, max = 2^52) %% 2^52
}

#' The seed of an ensemble's member: that of the fit for the first, scattered ones for the others
#' @noRd
member_seed <- function(seed, member) {
  if (member == 1L) {
    return(seed)
  }
  digits <- permutation(1024, seed, stream_member + member)[1:5] - 1
  sum(digits * 1024^(0:4))
}

#' Split rows into training and validation
#'
#' @param validation A fraction, row numbers of the data, or a logical with one value per row of the data.
#' @param rows Rows of the data used (row numbers). Copies of a row, as in a bootstrap, stay together.
#' @param n Rows of the data.
#' @param groups NULL or group ids of the rows used: a group is never split.
#' @param strata NULL or class ids of the rows used: the split is stratified by class.
#' @return list(train, validation): positions within `rows`, ascending
#' @noRd
split_rows <- function(validation, rows, n, groups, strata, seed) {
  m <- length(rows)
  if (is.logical(validation)) {
    if (length(validation) != n || anyNA(validation)) abort_validation(validation, n)
    held_out <- validation[rows]
  } else if (is_fraction(validation)) {
    if (validation == 0) {
      return(list(train = seq_len(m), validation = integer()))
    }
    first <- !duplicated(rows)
    held_out <- draw_fraction(validation, sum(first), groups[first], strata[first], seed)[match(rows, rows[first])]
    if (!any(held_out)) {
      pn_inform(
        "{m} row{?s} {?is/are} too few to hold out {validation * 100} % for validation; the last epoch is kept.",
        class = "no_validation"
      )
    }
  } else if (is.numeric(validation)) {
    # 1 could mean a row or all rows
    ambiguous <- length(validation) == 1L && isTRUE(validation == 1)
    if (length(validation) == 1L && isTRUE(validation > 1 & validation %% 1 == 0)) abort_one_number(validation, n)
    if (ambiguous || !all(validation %in% seq_len(n))) abort_validation(validation, n)
    held_out <- rows %in% validation
  } else {
    abort_validation(validation, n)
  }
  if (all(held_out)) {
    pn_abort("{.arg validation} leaves no row to train on.", class = "validation", arg = "validation")
  }
  if (!is.null(groups)) {
    divided <- intersect(unique(groups[held_out]), unique(groups[!held_out]))
    if (length(divided)) {
      pn_abort(
        "{.arg validation} splits {length(divided)} of the {.arg groups}: {some(divided)}.",
        class = "validation", arg = "groups"
      )
    }
  }
  list(train = which(!held_out), validation = which(held_out))
}

is_fraction <- function(x) is.numeric(x) && length(x) == 1L && !is.na(x) && x >= 0 && x < 1

abort_validation <- function(validation, n) {
  given <- describe(validation)
  pn_abort(
    c(
      "{.arg validation} must be a fraction, row numbers, a logical vector or a data frame, not {given}.",
      i = "A fraction is at least 0 and below 1, row numbers are from 1 to {n}, a logical has length {n} and no NA."
    ),
    class = "validation", arg = "validation"
  )
}

#' One number that is not a fraction: a percentage, a number of rows, or a row?
#' @noRd
abort_one_number <- function(validation, n) {
  percent <- if (validation < 100) sprintf("%s for %s %%", format(validation / 100), format(validation))
  rows <- if (validation < n) sprintf("sample(%d, %d) for %d rows", n, validation, validation)
  meant <- paste(c(percent, rows), collapse = ", or ")
  if (nzchar(meant)) meant <- paste0(": ", meant)
  pn_abort(
    c(
      "{.code validation = {format(validation)}} would mean row {format(validation)} only.",
      i = "{.arg validation} takes a fraction below 1, or the numbers of the rows{meant}."
    ),
    class = "validation", arg = "validation"
  )
}

#' Hold out a fraction of the rows, stratified by class, or of whole groups
#' @return logical, TRUE = held out
#' @noRd
draw_fraction <- function(fraction, n, groups, strata, seed) {
  held_out <- logical(n)
  if (!is.null(groups)) {
    ids <- match(groups, unique(groups))
    shuffled <- permutation(max(ids), seed, stream_split)
    if (length(shuffled) < 2L) {
      pn_abort(
        "{.arg groups} has only one group, so nothing can be held out.",
        class = "validation", arg = "groups"
      )
    }
    size <- cumsum(tabulate(ids)[shuffled])
    # the number of groups that comes closest to the desired number of rows, but neither none nor all
    k <- min(max(which.min(abs(size - fraction * n)), 1L), length(shuffled) - 1L)
    held_out[ids %in% shuffled[seq_len(k)]] <- TRUE
    return(held_out)
  }
  shuffled <- permutation(n, seed, stream_split)
  if (is.null(strata)) {
    held_out[shuffled[seq_len(min(round(fraction * n), n - 1L))]] <- TRUE
    return(held_out)
  }
  class <- match(strata, unique(strata))
  size <- tabulate(class)
  take <- share_out(fraction * size, round(fraction * n))
  take <- pmin(take, size - 1L) # every class is trained on
  within <- integer(n)
  by_class <- shuffled[order(class[shuffled])] # stable: the random order stays within a class
  within[by_class] <- sequence(size)
  held_out[within <= take[class]] <- TRUE
  held_out
}

#' Whole numbers near `share` with a given sum: round down, then give the rest to the largest remainders
#' @noRd
share_out <- function(share, total) {
  take <- floor(share)
  rest <- total - sum(take)
  if (rest > 0) {
    more <- order(take - share)[seq_len(min(rest, length(share)))]
    take[more] <- take[more] + 1
  }
  take
}

#' Rows dealt out in random order, class by class
#' @noRd
draw_folds <- function(k, classes, n, seed) {
  shuffled <- permutation(n, seed, stream_folds)
  if (!is.null(classes)) shuffled <- shuffled[order(classes[shuffled])]
  id <- integer(n)
  # dealing continues from class to class, so that fold sizes differ by at most one row
  id[shuffled] <- rep_len(seq_len(k), n)
  id
}

#' Whole groups, the largest first, each to the fold with the fewest rows (and rows of the rarest class) so far
#' @param counts NULL, or what each row counts for.
#' @noRd
draw_grouped <- function(k, groups, classes, seed, counts = NULL) {
  group <- match(groups, unique(groups))
  counts <- counts %||% rep(1, length(group))
  size <- as.vector(rowsum(counts, group))
  load <- cbind(size / sum(size))
  if (!is.null(classes)) {
    counts <- tapply(counts, list(group, classes), sum, default = 0)
    load <- cbind(load, t(t(counts) / colSums(counts)))
  }
  order <- permutation(length(size), seed, stream_folds)
  order <- order[order(-size[order])]
  filled <- matrix(0, k, ncol(load))
  fold <- integer(length(size))
  for (g in order) {
    after <- rowSums((filled + rep(load[g, ], each = k))^2) - rowSums(filled^2)
    fold[g] <- which.min(round(after, 12))
    filled[fold[g], ] <- filled[fold[g], ] + load[g, ]
  }
  fold[group]
}

stream_folds <- 3
