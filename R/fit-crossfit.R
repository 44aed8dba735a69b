# The default procedure: layer 0 below the prototype layers, members that each leave one fold out, no selection by
# chance. (The paper's procedure is in R/fit-recipe.R.)
#
# A job is list(config, data, rows, encoded, control, groups, seed, threads, verbose, store): what does not change from
# one training to the next; rows: how many there are, with their weights. A design is what is decided from the data
# before the members train: list(base, engine, control, centers, evidence, strengths).

#' Which features may have prototypes
#' @param for_features NULL (the evidence decides), TRUE, or names.
#' @return feature numbers
#' @noRd
prototype_candidates <- function(for_features, base, names) {
  may <- may_jump(base)
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
  refuse_if(!is.character(x), x, "prototypes_for", "NULL, TRUE or names of features")
  check_features(x, names, "prototypes_for")
  x
}

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
  first <- lean_base(job, job$handle)
  base <- first$base
  eta <- first$eta
  explained <- explained_share(config, data, eta)
  control <- settle_control(control, data$n, 0)
  spread <- score_spread(config, data, eta)
  config <- sized_config(config, control)
  candidates <- prototype_candidates(wanted, base, names)
  design <- list(
    base = base, config = config, control = control, centers = distinct_centers(data$features, control$prototypes),
    net = candidates, spread = spread
  )
  design$found <- found_freedom(config, data, base)
  design <- set_strength(design, control$variation %||% noisy_strength, job$rows)
  if (!length(candidates) || is.null(fold)) {
    # without folds there is no evidence, and without evidence no prototypes but those the user requested
    if (is.null(wanted)) design$net <- integer()
    return(design)
  }
  if (is.null(wanted)) {
    screening <- screen_features(job, design, fold)
    design$evidence <- c(screening, list(steps = step_evidence(job, c(first$alone, list(eta = eta)))))
    asked <- has_evidence(screening$z, design$evidence$steps, length(candidates))
    design$net <- candidates[which(asked[candidates])]
    design <- choose_values(job, design, fold)
  }
  if (explained > clean_share && data$n >= clean_rows) design <- prefer_larger(job, design, fold)
  design
}

design_without_base <- function(job, control) {
  list(
    base = NULL, config = sized_config(job$config, control), control = control,
    centers = distinct_centers(job$data$features, control$prototypes)
  )
}

#' Pairs, or all features together: above a smooth layer 0 where the data support it
#'
#' On clean data a surface without its smooth margins can be rougher than the surface, and the network is better off
#' alone. Members of both kinds are trained, and the kind with the smaller loss on the folds left out is kept.
#' @noRd
pair_design <- function(job, fold, order) {
  given <- "base" %in% attr(job$control, "given")
  if (job$control$base == "none" || (order > 2 && is.finite(order)) || (is.null(fold) && !given)) {
    return(design_without_base(job, settle_control(job$control, job$data$n, 1, pairs = TRUE)))
  }
  first <- lean_base(job)
  explained <- explained_share(job$config, job$data, first$eta)
  control <- settle_control(job$control, job$data$n, explained, pairs = TRUE)
  alone <- over <- design_without_base(job, control)
  over$base <- first$base
  over$net <- seq_along(job$data$features)
  over$joint <- is.infinite(order) # one component, even if there are two features
  if (!is.null(fold)) {
    single <- over
    single$config$components <- matrix(over$net, nrow = 1L)
    over$base <- choose_values(job, single, fold)$base
  }
  if (given) {
    return(over)
  }
  # whole members, on as many folds as have rows enough to judge them; those of the better design are kept
  skip <- seq_len(min(max(fold), max(2, ceiling(max(fold) * judging_rows / job$data$n))))
  designs <- lapply(list(alone, over), function(design) {
    design$ready <- crossfit_model(job, design, fold, skip, crossfit_seeds(job$seed, max(fold), order)[skip])
    design
  })
  loss <- vapply(designs, function(design) {
    link <- link_left_out(design$ready, job$data, fold, job$threads)
    sum(row_losses(job$config, job$data, link) * (job$data$weights %||% 1), na.rm = TRUE)
  }, 0)
  designs[[which.min(loss)]]
}

judging_rows <- 1000

#' Layer 0 with the knots that its fit to all rows needs, and that fit
#' @return list(base, eta = linear predictors of layer 0 alone, offset included, alone = list(base, fitted): that fit)
#' @noRd
lean_base <- function(job, handle = NULL) {
  control <- job$control
  n <- job$rows
  base <- base_terms(job$encoded, n, control$base, handle)
  alone <- fit_base(job$config, job$data, base)
  list(
    base = base_terms(job$encoded, n, control$base, handle, alone$fitted$edf), eta = add_offset(job$data, alone$eta),
    alone = list(base = base, fitted = alone$fitted)
  )
}

#' Degrees of freedom estimated from the data, where the user requests others
#' @noRd
found_freedom <- function(config, data, base) {
  if (is.null(base$handle)) {
    return(NULL)
  }
  base["handle"] <- list(NULL)
  fit_base(config, data, base)$fitted$edf
}

noisy_strength <- 0.3 # of the penalty on variation
clean_strengths <- c(0.1, 0.03)

#' The engine's penalty on variation: a factor, in units of the sampling variability of the loss
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

#' Members of a design, as far as the effects core needs a model
#' @param fold Fold of every training row, or NULL.
#' @param skip Folds that the members leave out, 0 for none.
#' @param seeds One per member.
#' @noRd
crossfit_model <- function(job, design, fold, skip, seeds = rep(job$seed, length(skip)), verbose = FALSE) {
  model <- list(config = design$config, base = design$base, order = 1)
  model$engine <- if (is.null(design$base)) {
    design$config
  } else if (nrow(design$config$components) > 1L) {
    over_base(design$config)
  } else {
    with_prototypes_for(design$config, design$net, length(job$data$features))
  }
  if (!is.null(design$base) && !isTRUE(design$joint)) model$config <- with_own_components(design$config)
  # the user's degree of smoothness acts on prototypes, too
  if (!is.null(design$base$handle)) model$engine$variation_weight <- design$base$handle[design$net]
  data <- job$data
  data$fold <- fold
  centers <- design$centers[, model$engine$net %||% seq_along(data$features), drop = FALSE]
  training <- list(
    config = model$engine, data = data, centers = centers, control = design$control, base = design$base,
    store = job$store
  )
  members <- train_ensemble(
    training, seeds, as.integer(skip), job$threads_given, verbose
  )
  model$seconds <- Reduce(`+`, lapply(members, `[[`, "seconds"))
  model$members <- keep_finite(members, design$control)
  model
}

#' The whole of it: design, members, out-of-fold predictions
#' @return list(config, engine, base, members, fold, evidence, control)
#' @noRd
crossfit <- function(job, k, order) {
  job$smooth <- new.env() # smooth models of the screening, by round: fitted once
  fold <- member_folds(k, job$units, job$seed)
  # a single model has no folds, but its features are screened all the same
  few <- if (k < 2) min(4, fold_limits(job$units)) else k
  design <- crossfit_design(job, fold %||% member_folds(few, job$units, job$seed), order)
  model <- crossfit_members(job, design, fold, k, order)
  model[c("fold", "control", "evidence", "strength", "found")] <-
    list(fold, design$control, design$evidence[c("z", "values", "steps")], design$strength, design$found)
  model
}

#' All members of a design, those included that its choice has trained
#' @noRd
crossfit_members <- function(job, design, fold, k, order) {
  seeds <- crossfit_seeds(job$seed, k, order)
  if (is.null(fold)) {
    return(crossfit_model(job, design, NULL, 0L, seeds, job$verbose))
  }
  ready <- design$ready
  skip <- setdiff(seq_len(k), vapply(ready$members, `[[`, 0L, "skip"))
  if (!length(skip)) {
    return(ready)
  }
  model <- crossfit_model(job, design, fold, skip, seeds[skip], job$verbose)
  model$members <- c(ready$members, model$members)
  model$seconds <- model$seconds + (ready$seconds %||% 0)
  model
}

#' Seeds of the members
#'
#' In order 1 members share one, so that they differ by their rows alone. Interactions depend far more on where the
#' training begins, and their mean over a few seeds is better than any of them.
#' @noRd
crossfit_seeds <- function(seed, k, order) {
  number <- if (order > 1) min(pair_seeds, max(k %/% 2, 1)) else 1
  vapply((seq_len(k) - 1) %% number + 1, member_seed, 0, seed = seed)
}

pair_seeds <- 4

#' Link of every training row from the member not trained on it: matrix as `fitted`, units of the response, NA otherwise
#' @param at Positions of the training rows among all rows.
#' @noRd
out_of_fold <- function(fields, data, at, task, threads) {
  out <- fields$fitted
  out[] <- NA_real_
  for (m in seq_along(fields$members)) {
    rows <- which(fields$fold == fields$members[[m]]$skip)
    part <- encoded_data(encoded_slice(data$features, rows, data$n), length(rows))
    link <- engine_link(fields, part, NULL, threads, members = m)
    out[at[rows], ] <- visible_link(fields, link, task[at[rows]], fields$offset_values[at[rows]])
  }
  out
}
