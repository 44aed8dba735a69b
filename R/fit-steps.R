# Steps of a curve: where, and by how much, a feature's effect changes at once, beyond what a smooth curve can follow.
#
# The linear predictor and the response give each row a working response (of one Fisher scoring step) and its
# information; rows of equal values are added up in cells. The model of a feature is a penalised spline and steps at
# borders between neighbouring cells. For a spline of given strength, P = W - W B (B'WB + S)^-1 B'W, a step s has the
# size s'Py / s'Ps and improves the criterion by (s'Py)^2 / s'Ps; all of these come from sums from the right. The
# strength is the best one with the step and the best one without: a jump makes a spline rougher than it has to be.

step_share <- 0.02 # of the rows: least distance of steps, from each other and from the ends
step_rows <- 20
most_steps <- 8L
step_strengths <- 10^seq(-7, 5, by = 0.5)
pair_borders <- 60L

#' |z| beyond which a step is one: by chance in about three of a hundred features without a step, fewer of many features
#' @noRd
step_cut <- function(n_features) sqrt(3.4^2 + 2 * log(max(n_features, 10) / 10))

#' Rows of a feature added up by value
#' @param values Processed, distinct; NaN for missing.
#' @param code Position of each row's value.
#' @param information,response Of each row. Rows without information do not count.
#' @return list(z = ascending values, weight = information, y = mean response, rows, at = positions among `values`)
#' @noRd
step_cells <- function(values, code, information, response) {
  at <- which(!is.nan(values))
  at <- at[order(values[at])]
  use <- which(information > 0)
  sums <- matrix(0, length(values), 3L)
  by_value <- rowsum(cbind(information, information * response, 1)[use, , drop = FALSE], code[use])
  sums[as.integer(rownames(by_value)), ] <- by_value
  sums <- sums[at, , drop = FALSE]
  y <- ifelse(sums[, 1L] > 0, sums[, 2L] / sums[, 1L], 0)
  list(z = values[at], weight = sums[, 1L], y = y, rows = sums[, 3L], at = at)
}

#' Three values, and a response that varies and is finite
#' @noRd
can_have_steps <- function(cells) {
  variation <- sum(cells$weight * cells$y^2)
  length(cells$z) >= 3L && is.finite(variation) && variation > 0
}

#' Sums for steps at all borders, given a spline and other steps, for each strength of the spline
#' @param cells From step_cells().
#' @param knots Of the spline.
#' @param steps Borders that have a step: border k lies between the cells k and k + 1.
#' @return list(base = criterion without a further step, top, below = [borders, strengths]; sums, weight, inverse)
#' @noRd
step_sums <- function(cells, knots, steps = integer()) {
  n <- length(cells$z)
  m <- length(knots)
  basis <- base_basis(list(kind = "spline", knots = knots, missing = FALSE), cells$z)
  design <- cbind(basis, vapply(steps, function(k) as.double(seq_len(n) > k), numeric(n)))
  gram <- crossprod(design, cells$weight * design)
  ridge <- 1e-9 * mean(diag(gram)) + .Machine$double.xmin
  gram <- gram + diag(ridge, ncol(gram))
  right <- crossprod(design, cells$weight * cells$y)
  penalty <- matrix(0, ncol(design), ncol(design))
  penalty[seq_len(m), seq_len(m)] <- curvature_penalty(knots)
  from_right <- function(x) rev(cumsum(rev(x)))[-1L]
  sums <- apply(cells$weight * design, 2L, from_right)
  weight <- from_right(cells$weight)
  unit <- sum(diag(gram)[seq_len(m)]) / sum(diag(penalty))
  each <- lapply(unit * step_strengths, function(strength) {
    # a strong penalty drowns the ridge
    root <- chol(gram + strength * penalty + diag(1e-12 * strength * mean(diag(penalty)), ncol(gram)))
    inverse <- chol2inv(root)
    coefficient <- inverse %*% right
    list(
      # minus twice the restricted log-likelihood, up to what does not depend on the strength
      base = 2 * sum(log(diag(root))) - (m - 2) * log(strength) - sum(right * coefficient),
      top = from_right(cells$weight * (cells$y - as.vector(design %*% coefficient))),
      below = pmax(weight - rowSums((sums %*% inverse) * sums), 1e-12 * sum(cells$weight)), inverse = inverse
    )
  })
  list(
    base = vapply(each, `[[`, 0, "base"), top = vapply(each, `[[`, weight, "top"),
    below = vapply(each, `[[`, weight, "below"), inverse = lapply(each, `[[`, "inverse"), sums = sums, weight = weight
  )
}

#' A further step at each border
#' @param found From step_sums().
#' @return data frame (z = signed root of the likelihood ratio, size, se), one row per border
#' @noRd
single_steps <- function(found) {
  n <- length(found$weight)
  criterion <- rep(found$base, each = n) - found$top^2 / found$below
  best <- cbind(seq_len(n), max.col(-criterion, ties.method = "first"))
  ratio <- pmax(min(found$base) - criterion[best], 0)
  data.frame(
    z = sign(found$top[best]) * sqrt(ratio), size = (found$top / found$below)[best], se = 1 / sqrt(found$below[best])
  )
}

#' The best two further steps of some borders: between two steps a curve may return, as if there were none
#' @param at Borders, ascending.
#' @return list(at = two borders, z)
#' @noRd
double_steps <- function(found, at) {
  best <- list(at = integer(), z = 0)
  if (length(at) < 2L) {
    return(best)
  }
  sums <- found$sums[at, , drop = FALSE]
  both <- outer(seq_along(at), seq_along(at), pmax)
  both <- matrix(found$weight[at][both], length(at))
  least <- Inf
  for (l in seq_along(found$base)) {
    cross <- both - sums %*% found$inverse[[l]] %*% t(sums)
    top <- found$top[at, l]
    own <- found$below[at, l]
    determinant <- outer(own, own) - cross^2
    gain <- (outer(top^2, own) + outer(own, top^2) - 2 * outer(top, top) * cross) / determinant
    gain[lower.tri(gain, diag = TRUE) | determinant <= 1e-6 * outer(own, own)] <- -Inf
    if (found$base[l] - max(gain) < least) {
      least <- found$base[l] - max(gain)
      best$at <- at[which(gain == max(gain), arr.ind = TRUE)[1L, ]]
    }
  }
  best$z <- sqrt(max(min(found$base) - least, 0))
  best
}

#' Borders at which a step may lie: with enough rows to both sides and to other steps
#' @noRd
open_borders <- function(cells, steps = integer()) {
  total <- cumsum(cells$rows)
  n <- total[length(total)]
  least <- max(step_share * n, step_rows)
  left <- total[-length(total)]
  open <- left >= least & n - left >= least
  for (k in steps) open <- open & abs(left - left[k]) >= least
  open
}

#' Some of the open borders, evenly
#' @noRd
some_borders <- function(cells, steps = integer()) {
  open <- which(open_borders(cells, steps))
  open[unique(round(seq(1, length(open), length.out = min(length(open), pair_borders))))]
}

#' Single steps at open borders; z is 0 at the others
#' @noRd
scan_steps <- function(cells, knots, steps = integer(), found = step_sums(cells, knots, steps)) {
  scan <- single_steps(found)
  scan$z[!open_borders(cells, steps)] <- 0
  scan
}

#' All steps of a curve, the largest first; each is placed again when the others are known
#' @param cut From step_cut().
#' @return borders, ascending
#' @noRd
find_steps <- function(cells, knots, cut) {
  steps <- integer()
  if (!can_have_steps(cells)) {
    return(steps)
  }
  while (length(steps) < most_steps) {
    found <- step_sums(cells, knots, steps)
    scan <- scan_steps(cells, knots, steps, found)
    new <- which.max(abs(scan$z))
    if (abs(scan$z[new]) < cut) {
      pair <- double_steps(found, some_borders(cells, steps))
      if (pair$z < pair_cut(cut)) break
      new <- pair$at
    }
    steps <- place_steps(cells, knots, c(steps, new))
  }
  drop_steps(cells, knots, steps, cut)
}

#' The same cut for two steps together
#' @noRd
pair_cut <- function(cut) sqrt(cut^2 + 7)

#' Likelihood ratios, as roots, of the best step and of the best two
#' @noRd
best_steps <- function(cells, knots) {
  if (!can_have_steps(cells)) {
    return(c(single = 0, double = 0))
  }
  found <- step_sums(cells, knots)
  single <- scan_steps(cells, knots, integer(), found)$z
  c(single = max(abs(single)), double = double_steps(found, some_borders(cells))$z)
}

#' Each step placed again, given the others
#' @noRd
place_steps <- function(cells, knots, steps) {
  for (round in 1:3) {
    before <- steps
    for (j in seq_along(steps)) {
      scan <- scan_steps(cells, knots, steps[-j])
      steps[j] <- which.max(abs(scan$z))
    }
    if (identical(before, steps)) break
  }
  unique(steps)
}

#' Without steps that others have replaced
#' @noRd
drop_steps <- function(cells, knots, steps, cut) {
  while (length(steps)) {
    z <- vapply(seq_along(steps), function(j) abs(scan_steps(cells, knots, steps[-j])$z[steps[j]]), 0)
    if (min(z) >= min(cut, least_step)) break
    steps <- steps[-which.min(z)]
  }
  sort(steps)
}

least_step <- 3 # |z| of a step given the others
