# Jumps of a fit: steps (R/fit-steps.R) of the features that have prototypes, found in all rows and checked on halves,
# and, before the members train, steps as evidence that a feature needs prototypes.

profile_drop <- jump_drop(0.999)

#' Steps of every feature next to layer 0 alone, as evidence for prototypes
#'
#' Prototypes trained on half of the rows miss a jump that all rows show. So a feature also has evidence if a step
#' improves its spline by far.
#' @param alone list(base, fitted, eta): layer 0, fitted to all rows.
#' @return |z| of the best step, or of the best two, on a scale on which step_cut() is the cut; NA for features that
#'   cannot jump
#' @noRd
step_evidence <- function(job, alone) {
  data <- job$data
  working <- working_rows(job$config, data, alone$eta, job$groups)
  values <- lapply(data$features, `[[`, "values")
  model <- list(base = alone$base, members = list(list(base = alone$fitted)))
  effect <- smooth_terms(model, 1L, value_rows(values))
  may <- may_jump(alone$base)
  cut <- step_cut(sum(may))
  vapply(seq_along(values), function(i) {
    if (!may[i]) {
      return(NA_real_)
    }
    code <- encoded_index(data$features[[i]], data$n)
    max(vapply(seq_len(ncol(working$response)), function(u) {
      cells <- step_cells(values[[i]], code, working$information[, u], effect[code, i, u] + working$response[, u])
      found <- best_steps(cells, alone$base$terms[[i]]$knots)
      max(found[["single"]], found[["double"]] * cut / pair_cut(cut))
    }, 0))
  }, 0)
}

#' Jumps of the features that have prototypes
#'
#' @param model The fitted object's fields, or a model of crossfit_model().
#' @param groups NULL or groups of the training rows.
#' @return list(found, near). found: data frame, one row per jump: feature, output (numbers), position, size, se (units
#'   of the response), z, check (z of both halves together, each at the place that the other found), members (that show
#'   it), rank (share of rows below). near: data frame (jump, lower, upper, drop): borders at which it may lie as well,
#'   and by how much the likelihood ratio is smaller there
#' @noRd
fit_jumps <- function(model, data, groups, threads) {
  net <- intersect(engine_of(model)$net, which(may_jump(model$base)))
  members <- seq_along(model$members)
  eta <- Reduce(`+`, lapply(members, function(m) all_links(model, m, data, threads))) / length(members)
  working <- working_rows(model$config, data, eta, groups)
  values <- lapply(seq_along(data$features), function(i) if (i %in% net) data$features[[i]]$values else numeric())
  rows <- value_rows(values)
  curves <- lapply(members, function(m) raw_components(model, m, rows, threads = threads))
  half <- jump_halves(model$fold, data$n, groups)
  found <- list()
  for (i in net) {
    code <- encoded_index(data$features[[i]], data$n)
    for (u in seq_len(ncol(eta))) {
      each <- vapply(curves, function(curve) curve[seq_along(values[[i]]), i, u, 1L], values[[i]])
      response <- rowMeans(each)[code] + working$response[, u]
      cells_of <- function(use) step_cells(values[[i]], code, working$information[, u] * use, response)
      cells <- list(all = cells_of(1), first = cells_of(half == 1L), second = cells_of(half == 2L))
      steps <- describe_steps(cells, model$base$terms[[i]]$knots, step_cut(length(net)), model$encoder[[i]])
      if (is.null(steps)) next
      scale <- rep_len(model$response$scale, ncol(eta))[u]
      steps$members <- count_standing(cells$all, each[cells$all$at, , drop = FALSE], steps)
      steps[c("size", "se")] <- steps[c("size", "se")] * scale
      found <- c(found, list(cbind(feature = i, output = u, steps)))
    }
  }
  split_profiles(do.call(rbind, c(list(no_steps), found)))
}

no_steps <- data.frame(
  feature = integer(), output = integer(), position = numeric(), rank = numeric(), z = numeric(), size = numeric(),
  se = numeric(), check = numeric(), near = I(list()), members = integer()
)

#' A table of steps and their borders, both of plain columns
#' @noRd
split_profiles <- function(steps) {
  jump <- rep(seq_len(nrow(steps)), vapply(steps$near, nrow, 1L))
  none <- data.frame(lower = numeric(), upper = numeric(), drop = numeric())
  near <- do.call(rbind, c(list(none), unclass(steps$near)))
  steps$near <- NULL
  rownames(steps) <- rownames(near) <- NULL
  list(found = steps, near = cbind(jump = jump, near))
}

#' Halves of the rows: the odd and the even folds, or groups in turn
#' @noRd
jump_halves <- function(fold, n, groups) {
  turn <- fold %||% if (is.null(groups)) seq_len(n) else match(groups, unique(groups))
  as.integer(turn %% 2L) + 1L
}

#' The steps of one curve in all rows, with the results of their halves
#' @param cells list(all, first, second) from step_cells().
#' @noRd
describe_steps <- function(cells, knots, cut, encoder) {
  steps <- find_steps(cells$all, knots, cut)
  if (!length(steps)) {
    return(NULL)
  }
  place <- border_places(encoder, cells$all$z)
  below <- cumsum(cells$all$rows) / sum(cells$all$rows)
  parts <- lapply(seq_along(steps), function(j) {
    scan <- scan_steps(cells$all, knots, steps[-j])
    k <- steps[j]
    drop <- scan$z[k]^2 - ifelse(sign(scan$z) == sign(scan$z[k]), scan$z, 0)^2
    near <- which(drop <= profile_drop & abs(below[-length(below)] - below[k]) <= near_share)
    data.frame(
      position = place$at[k], rank = below[k], z = scan$z[k], size = scan$size[k],
      # a spline's strength is uncertain, too: no smaller than the ratio implies
      se = max(scan$se[k], abs(scan$size[k] / scan$z[k])), check = check_step(cells, knots, steps, j),
      near = I(list(data.frame(lower = place$lower[near], upper = place$upper[near], drop = drop[near])))
    )
  })
  do.call(rbind, parts)
}

near_share <- 0.1 # of the rows: what is further away is another jump

#' A step found on one half of the rows, checked on the other, both ways
#' @param j Which of the steps; the others are given.
#' @return z of both halves together, in the direction of the step
#' @noRd
check_step <- function(cells, knots, steps, j) {
  scans <- lapply(cells[c("first", "second")], scan_steps, knots = knots, steps = steps[-j])
  direction <- sign(scan_steps(cells$all, knots, steps[-j])$z[steps[j]])
  below <- cumsum(cells$all$rows) / sum(cells$all$rows)
  z <- vapply(1:2, function(h) {
    k <- which.max(direction * scans[[h]]$z)
    # another place: not found again
    if (abs(below[k] - below[steps[j]]) > near_share) 0 else direction * scans[[3L - h]]$z[k]
  }, 0)
  sum(z) / sqrt(2)
}

#' Members whose curve changes by at least half of a step's size where the step is
#' @param curves Matrix [cells, members].
#' @noRd
count_standing <- function(cells, curves, steps) {
  below <- cumsum(cells$rows) / sum(cells$rows)
  vapply(seq_len(nrow(steps)), function(j) {
    left <- max(1L, sum(below < steps$rank[j] - standing_share))
    right <- min(length(below), sum(below < steps$rank[j] + standing_share) + 1L)
    sum((curves[right, ] - curves[left, ]) * sign(steps$size[j]) >= abs(steps$size[j]) / 2)
  }, 0L)
}

standing_share <- 0.015 # of the rows, to both sides

#' Borders between processed values in the units of the column: where a step is drawn, and between which values it lies
#' @noRd
border_places <- function(encoder, z) {
  n <- length(z)
  if (is.null(encoder$bins)) {
    x <- unscale_values(encoder$scaling, z)
    return(list(at = (x[-1L] + x[-n]) / 2, lower = x[-n], upper = x[-1L]))
  }
  breaks <- encoder$bins$breaks
  at <- pmin(pmax(findInterval((z[-1L] + z[-n]) / 2, encoder$bins$value), 1L), length(breaks))
  list(at = breaks[at], lower = breaks[pmax(at - 1L, 1L)], upper = breaks[pmin(at + 1L, length(breaks))])
}
