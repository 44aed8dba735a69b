# The package's own way to fit: layer 0 under the prototype layers, members that each leave one fold out, nothing
# selected by accident. (The paper's way, one model whose best epoch validation rows choose, is in R/protonam.R.)
#
# A job is list(config, data, encoded, control, groups, seed, threads, verbose): what does not change from one training
# to the next. A design is what is decided from the data before the members train: list(base, engine, control, centers,
# evidence, strengths).

default_members <- 8L
n_halves <- 2L # folds of the screening

# Folds -------------------------------------------------------------------------------------------------------------

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

# Screening ---------------------------------------------------------------------------------------------------------

#' Loss of each row, in the engine's units
#' @param eta [rows, task x output], offset included
#' @noRd
row_losses <- function(config, data, eta) {
  o <- config$n_outputs
  n <- data$n
  if (config$task_kind == "group") {
    at <- cbind(rep(seq_len(n), o), rep((data$task - 1L) * o, o) + rep(seq_len(o), each = n))
    eta <- matrix(eta[at], n, o)
  }
  y <- data$y
  softplus <- function(x) pmax(x, 0) + log1p(exp(-abs(x)))
  loss <- switch(config$family,
    gaussian = (y - eta)^2,
    binomial = softplus(eta) - y * eta,
    poisson = exp(pmin(eta, 50)) - y * eta,
    multinomial = {
      top <- do.call(pmax, as.data.frame(eta))
      log(rowSums(exp(eta - top))) + top - eta[cbind(seq_len(n), y[, 1L] + 1L)]
    }
  )
  if (is.matrix(loss)) rowMeans(loss, na.rm = TRUE) else loss
}

add_offset <- function(data, eta) if (is.null(data$offset)) eta else eta + data$offset

#' Derivative of a row's loss by its linear predictor: its spread, over rows and outputs
#' @noRd
score_spread <- function(config, data, eta) {
  y <- data$y
  if (config$family == "multinomial") {
    top <- do.call(pmax, as.data.frame(eta))
    p <- exp(eta - top)
    p <- p / rowSums(p)
    return(sqrt(mean(p * (1 - p))))
  }
  if (config$task_kind == "group") {
    step <- 1e-4 # only the row's own group has a loss
    slope <- (row_losses(config, data, eta + step) - row_losses(config, data, eta - step)) / (2 * step)
    return(sqrt(mean(slope^2)))
  }
  slope <- switch(config$family,
    gaussian = 2 * (eta - y),
    binomial = stats::plogis(eta) - y,
    poisson = exp(pmin(eta, 50)) - y
  )
  sqrt(mean(slope^2, na.rm = TRUE))
}

#' Share of the loss that layer 0 alone explains
#' @noRd
explained_share <- function(config, data, eta) {
  weights <- data$weights %||% rep(1, data$n)
  mean_loss <- function(eta) {
    loss <- row_losses(config, data, eta)
    sum((loss * weights)[is.finite(loss)]) / sum(weights[is.finite(loss)])
  }
  null <- fit_base(config, data, list(terms = rep(list(no_term), length(data$features)), handle = NULL))$eta
  explained <- 1 - mean_loss(eta) / mean_loss(add_offset(data, null))
  min(max(explained, 0), 1)
}

no_term <- list(kind = "none", knots = numeric(), missing = FALSE)

#' Which features may have prototypes
#' @param for_features NULL (the evidence decides), TRUE, or names.
#' @return feature numbers
#' @noRd
prototype_candidates <- function(for_features, base, names) {
  may <- if (is.null(base)) rep(TRUE, length(names)) else may_jump(base)
  if (is.null(for_features) || isTRUE(for_features)) {
    return(which(may))
  }
  which(may & names %in% for_features)
}

check_prototypes_for <- function(x, names) {
  if (is.null(x) || isTRUE(x)) {
    return(x)
  }
  if (isFALSE(x)) {
    return(character())
  }
  if (!is.character(x)) {
    pn_abort("{.arg prototypes_for} must be NULL, TRUE or names of features, not {describe(x)}.",
      class = "argument", arg = "prototypes_for"
    )
  }
  for (name in setdiff(x, names)) {
    pn_abort(
      c(
        "{.arg prototypes_for} names {.val {name}}, which is no feature.",
        suggest(name, names) %||% c(i = "The features are {some(names)}.")
      ),
      class = "unknown_term", arg = "prototypes_for"
    )
  }
  x
}

#' What prototypes, or effects of single values, add to each feature, out of fold
#'
#' For each feature: the out-of-fold loss of every row when the feature's shape is replaced by what a spline of the
#' strength that layer 0 alone would have makes of it, minus the loss with the shape as it is. What a spline can say,
#' too, does not count; nor does what the feature has taken over from others, or given to them.
#' @param full,smooth Models with and without them, members in the same order, member k without half k.
#' @param half Half of every row.
#' @return list(gain = [rows, features], NA for features that have neither in `full`; loss = of every row)
#' @noRd
gains_of_roughness <- function(full, smooth, data, half, threads) {
  config <- full$config
  so <- config$n_tasks * config$n_outputs
  rough <- union(engine_of(full)$net, which(has_values(full$base)))
  eta <- link_of_halves(full, data, half, threads)
  change <- array(0, c(data$n, config$n_features, so))
  codes <- lapply(data$features, function(feature) decode_codes(feature, data$n) + 1L)
  for (k in seq_len(n_halves)) {
    out <- half == k
    shape <- component_values(full, k, data, threads = threads)
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
  list(gain = gain, loss = loss)
}

#' Link of every row, offset included, by the member that did not see its half
#' @noRd
link_of_halves <- function(model, data, half, threads) {
  eta <- matrix(0, data$n, model$config$n_tasks * model$config$n_outputs)
  for (k in seq_len(n_halves)) {
    link <- layer_predictions(model, k, data, threads)
    eta[half == k, ] <- link[half == k, dim(link)[2L], ]
  }
  add_offset(data, eta)
}

#' An effect as a spline with layer 0's strengths would have it
#' @param effect At the feature's values; NA where no row has one.
#' @param count Rows at each value.
#' @param base A fit of layer 0 alone.
#' @noRd
smoothed <- function(term, values, effect, count, base, i, u) {
  use <- which(count > 0 & !is.nan(values))
  out <- effect
  basis <- base_basis(list(kind = "spline", knots = term$knots, missing = FALSE), values)
  strength <- base$penalties$strength[base$penalties$feature == i & base$penalties$curvature]
  weight <- count[use] * base$information[u]
  gram <- crossprod(basis[use, ], weight * basis[use, ])
  size <- mean(diag(gram))
  penalty <- curvature_penalty(term$knots)
  # a strength without bounds means a straight line
  strength <- min(strength, 1e6 * size / mean(diag(penalty)))
  gram <- gram + strength * penalty + diag(1e-9 * size, ncol(gram))
  coefficient <- solve(gram, crossprod(basis[use, ], weight * effect[use]), tol = 0)
  known <- !is.nan(values)
  out[known] <- basis[known, ] %*% coefficient
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

#' z beyond which a feature gets prototypes: a screening of many features needs a higher one, and so do few rows, where
#' a step that is not there costs most
#' @noRd
evidence_cut <- function(n_candidates, n) {
  max(1, stats::qnorm(1 - 1 / max(n_candidates, 2))) + if (n < cheap_rows) 0.4 else 0
}

# Design ------------------------------------------------------------------------------------------------------------

#' Decide from the data what the members will be
#' @noRd
crossfit_design <- function(job, fold, order) {
  control <- job$control
  config <- job$config
  data <- job$data
  names <- vapply(job$encoded$encoders, `[[`, "", "name")
  wanted <- check_prototypes_for(control$prototypes_for, names)
  if (order > 1) {
    return(pair_design(job, fold, order))
  }
  if (control$base == "none") {
    return(design_without_base(job, settle_control(control, data$n, 1)))
  }
  base <- base_terms(job$encoded, data$n, control$base, job$handle)
  alone <- fit_base(config, data, base)
  eta <- add_offset(data, alone$eta)
  control <- settle_control(control, data$n, explained_share(config, data, eta))
  spread <- score_spread(config, data, eta)
  config <- sized_config(config, control)
  candidates <- prototype_candidates(wanted, base, names)
  design <- list(
    base = base, config = config, control = control, centers = distinct_centers(data$features, control$prototypes),
    net = candidates, spread = spread
  )
  design$found <- found_freedom(config, data, base)
  strengths <- control$variation %||% design_strengths(control)
  if (!length(candidates) || is.null(fold) || (!is.null(wanted) && length(strengths) == 1L)) {
    # without folds there is no evidence, and without evidence no prototypes but those asked for
    if (is.null(wanted)) design$net <- integer()
    return(set_strength(design, strengths[1L], data$n))
  }
  screening <- screen_features(job, design, fold, strengths)
  design$evidence <- screening
  design <- set_strength(design, screening$strength, data$n)
  if (is.null(wanted)) {
    design$net <- candidates[which(screening$z[candidates] > evidence_cut(length(candidates), data$n))]
    design <- choose_values(job, design, fold)
  }
  design
}

design_without_base <- function(job, control) {
  list(
    base = NULL, config = sized_config(job$config, control), control = control,
    centers = distinct_centers(job$data$features, control$prototypes)
  )
}

#' Pairs, or all features together: over a smooth layer 0 where the rows speak for it
#'
#' On clean data a surface without its smooth margins can be rougher than the surface, and the network is better off
#' alone. Both are fitted to halves of the rows, and the one with the smaller loss of the other halves is kept.
#' @noRd
pair_design <- function(job, fold, order) {
  given <- "base" %in% attr(job$control, "given")
  if (job$control$base == "none" || (order > 2 && is.finite(order)) || (is.null(fold) && !given)) {
    return(design_without_base(job, settle_control(job$control, job$data$n, 1)))
  }
  base <- base_terms(job$encoded, job$data$n, job$control$base)
  eta <- add_offset(job$data, fit_base(job$config, job$data, base)$eta)
  control <- settle_control(job$control, job$data$n, explained_share(job$config, job$data, eta))
  alone <- over <- design_without_base(job, control)
  over$base <- base
  over$net <- seq_along(job$data$features)
  if (!is.null(fold)) {
    single <- over
    single$config$components <- matrix(over$net, nrow = 1L)
    over$base <- choose_values(job, single, fold)$base
  }
  if (given) {
    return(over)
  }
  half <- screening_halves(fold, 1L)
  loss <- lapply(list(alone, over), function(design) {
    design$control$epochs <- max(20, ceiling(control$epochs * screening_share))
    model <- crossfit_model(job, design, half, seq_len(n_halves))
    link <- link_of_halves(model, job$data, half, job$threads)
    sum(row_losses(job$config, job$data, link) * (job$data$weights %||% 1), na.rm = TRUE)
  })
  if (loss[[2L]] < loss[[1L]]) over else alone
}

#' Degrees of freedom that the data ask for, where the user wants others
#' @noRd
found_freedom <- function(config, data, base) {
  if (is.null(base$handle)) {
    return(NULL)
  }
  base["handle"] <- list(NULL)
  fit_base(config, data, base)$fitted$edf
}

#' Strengths of the penalty on variation to try: noisy data want the first
#' @noRd
design_strengths <- function(control) if (isTRUE(control$clean)) c(0.1, 0.03) else 0.3

#' The engine's penalty on variation: a factor, in units of what chance does to the loss
#' @noRd
set_strength <- function(design, factor, n) {
  design$strength <- factor
  design$config$variation <- factor * design$spread / sqrt(n)
  design
}

sized_config <- function(config, control) {
  config[c("hidden", "n_prototypes", "n_layers")] <-
    lapply(control[c("hidden", "prototypes", "layers")], as.integer)
  config
}

#' Two members per strength on halves of the rows: which strength, and which features need prototypes
#' @return list(z = evidence per feature, NA where prototypes are out of the question, gain = per row and feature,
#'   strength, tried)
#' @noRd
screen_features <- function(job, design, fold, strengths) {
  design$control$epochs <- max(20, ceiling(design$control$epochs * screening_share))
  round_with <- function(factor, round) screening_round(job, set_strength(design, factor, job$data$n), fold, round)
  first <- lapply(strengths, round_with, 1L)
  weights <- job$data$weights %||% 1
  best <- which.min(vapply(first, function(found) sum(found$loss * weights), 0))
  found <- gains_in_rounds(job, fold, first[[best]]$gain, function(features, round) {
    design$net <<- features
    round_with(strengths[best], round)$gain
  })
  c(found, list(strength = strengths[best], tried = strengths))
}

screening_share <- 0.5 # of the epochs
cheap_rows <- 3000

#' Gains per row and feature, and their means in standard errors
#'
#' Features that look as if they might need more are screened once more, without the others, on halves that cut across
#' the first; twice more where rows are few and cheap.
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
  rounds <- min(if (job$data$n < cheap_rows) 3L else 2L, floor(log2(max(fold))))
  for (round in seq_len(rounds)[-1L]) {
    features <- which(z > 0)
    if (!length(features)) break
    done[features] <- round
    gain[, features] <- gain[, features] + again(features, round)[, features]
    z[features] <- in_errors(gain[, features, drop = FALSE])
  }
  list(z = z, gain = sweep(gain, 2L, done, "/"))
}

#' Effects of single values, for columns whose rows ask for them: more than prototypes, and by far
#'
#' Prototypes find a few steps. Where many single values stand out, each by itself (sums of money that a law favours),
#' their effects become part of layer 0, shrunk to the spline, and the feature needs no prototypes.
#' @noRd
choose_values <- function(job, design, fold) {
  values <- value_candidates(job$encoded, design$base, job$data$n)
  if (design$control$base != "smooth" || all(lengths(values) == 0L)) {
    return(design)
  }
  only <- function(features) Map(function(v, use) if (use) v, values, seq_along(values) %in% features)
  round_with <- function(features, round) {
    full <- design
    full$net <- integer()
    full$base <- with_values(full$base, only(features))
    screening_round(job, full, fold, round)$gain
  }
  found <- gains_in_rounds(job, fold, round_with(which(lengths(values) > 0L), 1L), round_with)
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

values_cut <- 3 # in standard errors: single values make a restless curve

#' Halves of the rows: a binary digit of the fold's number, so that halves of two rounds cut across each other
#' @noRd
screening_halves <- function(fold, round) as.integer(((fold - 1L) %/% 2^(round - 1)) %% n_halves) + 1L

#' Gains of prototypes, or of effects of single values, on halves of the rows
#' @noRd
screening_round <- function(job, design, fold, round) {
  half <- screening_halves(fold, round)
  full <- crossfit_model(job, design, half, seq_len(n_halves))
  design$net <- integer()
  design$base <- with_values(design$base, list(NULL))
  smooth <- crossfit_model(job, design, half, seq_len(n_halves))
  gains_of_roughness(full, smooth, job$data, half, job$threads)
}

#' Members of a design, as far as the effects core needs a model
#' @param fold Fold of every training row, or NULL.
#' @param skip Folds that the members leave out, 0 for none.
#' @noRd
crossfit_model <- function(job, design, fold, skip, verbose = FALSE) {
  model <- list(config = design$config, base = design$base, order = 1)
  model$engine <- if (is.null(design$base)) {
    design$config
  } else if (nrow(design$config$components) > 1L) {
    over_base(design$config)
  } else {
    with_prototypes_for(design$config, design$net, length(job$data$features))
  }
  if (!is.null(design$base)) model$config <- with_own_components(design$config)
  # the user's degree of smoothness acts on prototypes, too
  if (!is.null(design$base$handle)) model$engine$variation_weight <- design$base$handle[design$net]
  data <- job$data
  data$fold <- fold
  centers <- design$centers[, model$engine$net %||% seq_along(data$features), drop = FALSE]
  members <- train_ensemble(
    model$engine, data, NULL, centers, design$control, rep(job$seed, length(skip)), job$threads_given, verbose,
    skip = as.integer(skip), base = design$base
  )
  model$seconds <- Reduce(`+`, lapply(members, `[[`, "seconds"))
  model$members <- keep_finite(members, design$control)
  model
}

#' The whole of it: design, members, out-of-fold predictions
#' @return list(config, engine, base, members, fold, evidence, control)
#' @noRd
crossfit <- function(job, k, order) {
  classes <- job$classes
  fold <- member_folds(k, job$data$n, job$groups, classes, job$seed)
  # one model has no folds of its own, but its features are screened all the same
  few <- if (k < 2) min(4, fold_limits(job$data$n, job$groups, classes)) else k
  design <- crossfit_design(job, fold %||% member_folds(few, job$data$n, job$groups, classes, job$seed), order)
  model <- crossfit_model(job, design, fold, if (is.null(fold)) 0L else seq_len(k), job$verbose)
  model[c("fold", "control", "evidence", "strength", "found")] <-
    list(fold, design$control, design$evidence[c("z", "tried", "values")], design$strength, design$found)
  model
}

#' Link of every training row by the member that did not see it: matrix as `fitted`, own units, NA for other rows
#' @param at Positions of the training rows among all rows.
#' @noRd
out_of_fold <- function(fields, data, at, task, threads) {
  out <- fields$fitted
  out[] <- NA_real_
  for (m in seq_along(fields$members)) {
    rows <- which(fields$fold == fields$members[[m]]$skip)
    part <- encoded_data(slice_features(data$features, rows, data$n), length(rows))
    link <- engine_link(fields, part, NULL, threads, members = m)
    out[at[rows], ] <- visible_link(fields, link, task[at[rows]], fields$offset_values[at[rows]])
  }
  out
}
