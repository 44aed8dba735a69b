# Evidence: which features need prototypes, or effects of single values. Models fitted to halves or three
# quarters of the rows are judged on the others.

screening_share <- 0.5 # of the epochs
screening_lr <- 1e-3 # with longer steps, networks for all features fit more noise

scarce_rows <- 3000 # see equivalent_rows()

values_cut <- 3 # in standard errors: single values make a restless curve

#' Parts of the rows, each left out once: digits of the fold's number, so that parts of two rounds cut across each other
#'
#' Halves; quarters where rows are few, so that models see more of them.
#' @noRd
screening_parts <- function(job, fold, round) {
  parts <- if (equivalent_rows(job$config, job$data) < scarce_rows && max(fold) >= 4L) 4L else 2L
  as.integer(((fold - 1L) %/% 2^(round - 1)) %% parts) + 1L
}

#' Members on parts of the rows: which features need prototypes
#' @return list(z = evidence per feature, NA where prototypes are out of the question, gain = per row and feature)
#' @noRd
screen_features <- function(job, design, fold) {
  design$control <- screening_control(design$control)
  gains_in_rounds(job, fold, screening_round(job, design, fold, 1L), function(features, round) {
    design$net <- features
    screening_round(job, design, fold, round)
  })
}

screening_control <- function(control) {
  control$epochs <- max(20, ceiling(control$epochs * screening_share))
  control$lr <- min(control$lr, screening_lr)
  control
}

#' A larger network with a weaker penalty, where it predicts left-out rows better
#'
#' Many rows with little noise may have more structure than a small network can follow. The features remain those that
#' the screening has found. One part of the rows judges, because the larger network takes long.
#' @noRd
prefer_larger <- function(job, design, fold) {
  if (!length(design$net)) {
    return(design)
  }
  part <- screening_parts(job, fold, 1L)
  out <- part == 1L
  weights <- job$data$weights %||% rep(1, job$data$n)
  loss_of <- function(design) {
    model <- crossfit_model(job, design, part, 1L)
    loss <- row_losses(job$config, job$data, all_links(model, 1L, job$data, job$threads))
    replace(loss * weights, is.na(loss), 0)[out]
  }
  control <- settle_control(job$control, job$data$n, 1)
  larger <- lapply(control$variation %||% clean_strengths, function(factor) {
    one <- design
    one$control <- control
    one$config <- sized_config(design$config, control)
    one$centers <- distinct_centers(job$data$features, control$prototypes)
    set_strength(one, factor, job$rows)
  })
  short <- function(one) replace(one, "control", list(screening_control(one$control)))
  loss <- loss_of(short(larger[[1L]]))
  gain <- mean_in_errors(loss_of(design) - loss, (job$groups %||% seq_len(job$data$n))[out])
  if (gain <= larger_cut) {
    return(design)
  }
  losses <- c(sum(loss), vapply(larger[-1L], function(one) sum(loss_of(short(one))), 0))
  larger[[which.min(losses)]]
}

larger_cut <- 2 # in standard errors

#' Effects of single values, for columns in which they reduce the loss clearly, and by more than prototypes
#'
#' Prototypes find a few steps. Where many single values stand out, each by itself (sums of money that a law favours),
#' their effects become part of layer 0, shrunk to the spline, and the feature needs no prototypes.
#' @noRd
choose_values <- function(job, design, fold) {
  values <- value_candidates(job$encoded, design$base, job$rows)
  may <- which(lengths(values) > 0L)
  if (design$control$base != "smooth" || !length(may)) {
    return(design)
  }
  may <- may[promising_values(job, design, fold, may)]
  if (!length(may)) {
    return(design)
  }
  only <- function(features) Map(function(v, use) if (use) v, values, seq_along(values) %in% features)
  round_with <- function(features, round) {
    full <- design
    full$net <- integer()
    full$base <- with_values(full$base, only(features))
    screening_round(job, full, fold, round)
  }
  found <- gains_in_rounds(job, fold, round_with(may, 1L), round_with)
  prototypes <- design$evidence$gain %||% matrix(0, job$data$n, length(values))
  prototypes[, setdiff(seq_along(values), design$net)] <- 0
  group <- job$groups %||% seq_len(job$data$n)
  better <- apply((found$gain - prototypes) * (job$data$weights %||% 1), 2L, mean_in_errors, group)
  chosen <- which(found$z > values_cut & better > 1)
  if (length(chosen)) design$base <- with_values(design$base, only(chosen))
  design$net <- setdiff(design$net, chosen)
  design$evidence$values <- found$z
  design
}

#' Features whose single values might stand out: a quick look before anything is fitted
#'
#' The slopes of the smooth model's loss, summed by value over the rows of the other parts, give shrunken effects by one
#' Newton step from zero, and each part judges them.
#' @param features Candidates.
#' @return logical, per candidate
#' @noRd
promising_values <- function(job, design, fold, features) {
  part <- screening_parts(job, fold, 1L)
  smooth <- smooth_parts(job, design, part, 1L)
  data <- job$data
  weights <- data$weights %||% rep(1, data$n)
  links <- lapply(seq_len(max(part)), function(k) all_links(smooth, k, data, job$threads))
  slopes <- lapply(links, function(eta) loss_slopes(job$config, data, eta))
  gain_of <- function(i) {
    code <- encoded_index(data$features[[i]], data$n)
    gain <- numeric(data$n)
    for (k in seq_len(max(part))) {
      out <- part == k
      step <- vapply(seq_len(ncol(slopes[[k]])), function(u) {
        -shrunken_steps(slopes[[k]][!out, u], weights[!out], code[!out], max(code))[code]
      }, numeric(data$n))
      loss <- row_losses(job$config, data, links[[k]]) - row_losses(job$config, data, links[[k]] + step)
      gain[out] <- loss[out]
    }
    mean_in_errors(gain * weights, job$groups %||% seq_len(data$n))
  }
  vapply(features, gain_of, 0) > promising
}

promising <- 1 # in standard errors

#' Sums of slopes by value to steps: random effects whose variance is that of the largest marginal likelihood
#' @param slope Of each row's loss; their mean square stands for the curvature.
#' @noRd
shrunken_steps <- function(slope, weights, code, n_values) {
  slope[is.na(slope)] <- 0
  sums <- information <- numeric(n_values)
  by_value <- rowsum(cbind(weights * slope, weights), code)
  at <- as.integer(rownames(by_value))
  curvature <- sum(weights * slope^2) / sum(weights)
  sums[at] <- by_value[, 1L]
  information[at] <- by_value[, 2L] * curvature
  variances <- 4^(-6:3)
  likelihood <- vapply(variances, function(v) {
    sum(sums^2 * v / (1 + v * information) - log1p(v * information))
  }, 0)
  if (max(likelihood) <= 0) {
    return(0 * sums)
  }
  sums / (information + 1 / variances[which.max(likelihood)])
}

#' Gains per row and feature, and their means in standard errors
#'
#' Features that look as if they might need more are screened once more, without the others, on parts that cut across
#' the first.
#' @param first Gains in the first round.
#' @param again Function(features, round) for those of a later one.
#' @noRd
gains_in_rounds <- function(job, fold, first, again) {
  weights <- job$data$weights %||% 1
  group <- job$groups %||% seq_len(job$data$n)
  in_errors <- function(gain) apply(gain * weights, 2L, mean_in_errors, group)
  gain <- first
  done <- rep(1, ncol(gain))
  z <- in_errors(gain)
  rounds <- min(2, 1 + floor(log2(max(fold) / max(screening_parts(job, fold, 1L)))))
  for (round in seq_len(rounds)[-1L]) {
    features <- which(z > 0)
    if (!length(features)) break
    done[features] <- round
    gain[, features] <- gain[, features] + again(features, round)[, features]
    z[features] <- in_errors(gain[, features, drop = FALSE])
  }
  list(z = z, gain = sweep(gain, 2L, done, "/"))
}

#' Gains of prototypes, or of effects of single values, on parts of the rows that models did not see
#' @noRd
screening_round <- function(job, design, fold, round) {
  part <- screening_parts(job, fold, round)
  full <- crossfit_model(job, design, part, seq_len(max(part)))
  gains_of_roughness(full, smooth_parts(job, design, part, round), job$data, part, job$threads)
}

#' Layer 0 alone without each part of a round, fitted once
#' @noRd
smooth_parts <- function(job, design, part, round) {
  name <- as.character(round)
  if (is.null(job$smooth[[name]])) {
    design$net <- integer()
    design$base <- with_values(design$base, list(NULL))
    job$smooth[[name]] <- crossfit_model(job, design, part, seq_len(max(part)))
  }
  job$smooth[[name]]
}

#' What prototypes, or effects of single values, add to each feature, out of fold
#'
#' For each feature: the out-of-fold loss of every row when the feature's shape is replaced by what a spline of the
#' strength that layer 0 alone would have gives for it, minus the loss with the shape as it is. What a spline can
#' represent, too, does not count; nor does what the feature has taken over from others, or given to them.
#' @param full,smooth Models with and without them, members in the same order, member k without part k.
#' @param part Part of every row.
#' @return matrix [rows, features], NA for features that have neither in `full`
#' @noRd
gains_of_roughness <- function(full, smooth, data, part, threads) {
  config <- full$config
  so <- config$n_tasks * config$n_outputs
  rough <- union(engine_of(full)$net, which(has_values(full$base)))
  eta <- link_left_out(full, data, part, threads)
  change <- array(0, c(data$n, config$n_features, so))
  codes <- lapply(data$features, function(feature) encoded_index(feature, data$n))
  for (k in seq_len(max(part))) {
    out <- part == k
    shape <- raw_components(full, k, data, threads = threads)
    base <- smooth$members[[k]]$base
    for (i in rough) {
      values <- data$features[[i]]$values
      count <- tabulate(codes[[i]][!out], length(values))
      first <- match(seq_along(values), codes[[i]])
      for (u in seq_len(so)) {
        effect <- shape[first, i, u, 1L]
        rest <- effect - smoothed(full$base$terms[[i]], values, effect, count, base, i, u)
        change[out, i, u] <- rest[codes[[i]][out]]
      }
    }
  }
  loss <- row_losses(config, data, eta)
  gain <- matrix(NA_real_, data$n, config$n_features)
  for (i in rough) {
    gain[, i] <- row_losses(config, data, eta - array(change[, i, ], c(data$n, so))) - loss
  }
  gain
}

#' Link of every row, offset included, by the member that did not see its fold; NA where there is none
#' @noRd
link_left_out <- function(model, data, fold, threads) {
  eta <- matrix(NA_real_, data$n, model$config$n_tasks * model$config$n_outputs)
  for (k in seq_along(model$members)) {
    rows <- fold == model$members[[k]]$skip
    eta[rows, ] <- all_links(model, k, data, threads)[rows, ]
  }
  eta
}

#' Link of every row by one member, offset included
#' @noRd
all_links <- function(model, k, data, threads) {
  link <- layer_predictions(model, k, data, threads)
  add_offset(data, matrix(link[, dim(link)[2L], ], data$n))
}

#' An effect as a spline with layer 0's strengths would have it
#' @param effect At the feature's values; NA where no row has one.
#' @param count Rows at each value.
#' @param base A fit of layer 0 alone.
#' @noRd
smoothed <- function(term, values, effect, count, base, i, u) {
  use <- which(count > 0 & !is.nan(values))
  out <- effect
  if (!length(use)) {
    return(out)
  }
  basis <- base_basis(list(kind = "spline", knots = term$knots, missing = FALSE), values)
  strength <- base$penalties$strength[base$penalties$feature == i & base$penalties$curvature]
  weight <- count[use] * base$information[u]
  seen <- basis[use, , drop = FALSE]
  gram <- crossprod(seen, weight * seen)
  size <- mean(diag(gram))
  penalty <- curvature_penalty(term$knots)
  # a strength without bounds means a straight line
  strength <- min(strength, 1e6 * size / mean(diag(penalty)))
  gram <- gram + strength * penalty + diag(1e-9 * size, ncol(gram))
  coefficient <- solve(gram, crossprod(seen, weight * effect[use]), tol = 0)
  known <- !is.nan(values)
  out[known] <- basis[known, , drop = FALSE] %*% coefficient
  out
}

#' Integrated squared second derivative of a natural cubic spline, as a form in its values at the knots
#' @noRd
curvature_penalty <- function(knots) {
  m <- length(knots)
  second <- vapply(seq_len(m), function(k) {
    stats::splinefun(knots, as.double(seq_len(m) == k), method = "natural")(knots, deriv = 2L)
  }, knots)
  width <- diff(knots)
  mass <- matrix(0, m, m)
  for (j in seq_len(m - 1L)) {
    mass[j:(j + 1L), j:(j + 1L)] <- mass[j:(j + 1L), j:(j + 1L)] + width[j] * matrix(c(2, 1, 1, 2), 2L) / 6
  }
  crossprod(second, mass %*% second)
}

#' A mean in standard errors, rows of a group taken together
#' @noRd
mean_in_errors <- function(x, group) {
  if (anyNA(x)) {
    return(NA_real_)
  }
  total <- if (length(unique(group)) == length(group)) x else as.vector(rowsum(x, group))
  spread <- stats::sd(total)
  if (!is.finite(spread) || spread == 0) 0 else mean(total) / (spread / sqrt(length(total)))
}

#' Do both measures together call for prototypes?
#'
#' Networks on parts of the rows have little power, steps in all rows have more, and each of them is misled by other
#' smooth curves. So a step must be a little clearer than step_cut() by itself, unless networks confirm it; networks
#' alone must be very sure.
#' @param z,steps Evidence per feature: gains of networks in standard errors, and |z| of steps.
#' @noRd
has_evidence <- function(z, steps, n_candidates) {
  steps + pmax(z, least_z) * z_share > step_cut(n_candidates) + step_margin
}

z_share <- 1 / 3
least_z <- -2
step_margin <- 0.4
