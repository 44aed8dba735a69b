# From a frame to a fitted model: spec -> sample -> encoded rows -> members -> fields -> scores and effects. The one
# place where the default procedure (R/fit-crossfit.R) and that of the paper separate.

#' Fit a model
#'
#' @param frame,columns,explicit See fit_sample().
#' @param spec From fit_spec().
#' @param call The user's call.
#' @param effects FALSE for a fit that only has to predict: purified effects and summaries, which can take longer than
#'   the training, are left out.
#' @noRd
fit_model <- function(frame, columns, spec, call = NULL, explicit = character(), effects = TRUE) {
  started <- now()
  threads <- resolve_threads(spec$threads)
  spec <- open_fit(spec)
  sample <- fit_sample(frame, columns, spec, explicit)
  check_start(spec$start, spec, sample)
  resolved <- check_trainable(resolve_control(spec$control, length(sample$split$train)))
  control <- if (spec$paper) resolved else with_own_bins(spec$control)
  encoded <- encode_sample(sample, spec, control)
  if (!is.null(spec$checkpoint)) {
    begin_checkpoint(spec$store, fit_digests(spec, sample, encoded), spec$seed, "member")
  }
  config <- spec$start$config %||% sample_config(sample, spec, encoded, resolved)
  model <- if (!is.null(spec$start)) {
    warm_members(sample, encoded, spec)
  } else if (spec$paper) {
    paper_members(config, sample, encoded, spec, control)
  } else {
    own_members(config, sample, encoded, spec, control)
  }
  if (config$family == "multinomial") model$members <- lapply(model$members, center_classes, model$engine)
  model$order <- spec$order
  table <- effect_rows(model$config, encoded$data, encoded$counts)
  model$centering <- lapply(seq_along(model$members), function(m) {
    if (effects || spec$order == 1) mean_contributions(model, m, table, threads)
  })
  fields <- c(list(call = call), fit_fields(sample, spec, encoded, model))
  if (inherits(call$formula, "formula")) environment(fields$call$formula) <- fields$env
  parts <- list(
    list(at = sample$split$train, data = encoded$data), if (!sample$separate) encoded$held_out, encoded$rest
  )
  fields$fitted <- fitted_link(fields, parts, sample$task$id, threads)
  if (!is.null(model$fold)) {
    fields$out_of_fold <- out_of_fold(fields, encoded$data, sample$split$train, sample$task$id, threads)
    fields <- recalibrate(fields, sample$weights)
  }
  judged <- judged_part(fields, sample, encoded, threads)
  if (!effects) {
    fields$loss <- if (!spec$paper) left_out_loss(fields, judged, sample$weights)
    return(new_protonam(fields))
  }
  fields <- add_scores(fields, sample, judged, spec$paper)
  found <- after_training(switch(as.character(spec$order),
    "1" = list(effects = describe_parts(fields, summarise_effects(fields, table, NULL, threads))),
    "2" = purified_effects(fields, encoded, table, threads)
  ), "effects")
  fields[names(found)] <- found
  fields <- add_evidence(fields, encoded$data, sample, threads)
  fields$nearest <- after_training(
    lapply(fields$members, count_nearest, model$engine, encoded$data$features, encoded$counts), "counts of prototypes"
  )
  fields$seconds <- model$seconds
  fields$elapsed <- now() - started
  fit <- new_protonam(fields)
  close_checkpoint(spec$store)
  fit
}

#' The engine's description of the model
#' @noRd
sample_config <- function(sample, spec, encoded, control) {
  names <- names(sample$frame$columns)
  response <- sample$response
  classes <- if (response$family$family == "multinomial") length(response$levels)
  components <- if (is.null(spec$pairs)) {
    model_components(length(names), spec$order)
  } else {
    choose_pairs(spec$pairs, names, spec$order, function(number) {
      screen_pairs(encoded$data, encoded$counts, number, classes, sample$seed)
    })
  }
  outputs <- list(
    n_outputs = classes %||% 1L, n_tasks = max(length(sample$task$levels), length(response$names), 1L),
    task_kind = if (!is.null(sample$task)) "group" else if (!is.null(response$names)) "response" else "none"
  )
  model_config(control, components, length(names), response$family$family, outputs)
}

#' The paper's procedure: members with different seeds, the best epoch chosen by validation rows
#' @return list(config, engine, members, control, seconds)
#' @noRd
paper_members <- function(config, sample, encoded, spec, control) {
  seeds <- vapply(seq_len(spec$ensemble %||% 1L), member_seed, 0, seed = sample$seed)
  training <- list(
    config = config, data = encoded$data, validation = encoded$held_out$data, centers = encoded$centers,
    control = control, bootstrap = if (spec$bootstrap) list(groups = sample$groups[sample$split$train]),
    store = spec$store
  )
  members <- train_ensemble(training, seeds, NULL, spec$threads, spec$verbose)
  list(
    config = config, engine = config, control = control, seconds = Reduce(`+`, lapply(members, `[[`, "seconds")),
    members = keep_finite(members, control)
  )
}

#' The default procedure
#' @return What crossfit() returns.
#' @noRd
own_members <- function(config, sample, encoded, spec, control) {
  tell_validation(encoded$held_out$data$n %||% 0)
  train <- sample$split$train
  strata <- strata_of(sample$response, sample$task)[train]
  units <- fold_units(sample$rows$index[train], sample$groups[train], strata, encoded$data$weights)
  job <- list(
    config = config, data = encoded$data, rows = sum(encoded$data$weights %||% encoded$data$n), encoded = encoded,
    control = control, units = units, groups = (sample$groups %||% copies(sample$rows$index))[train],
    handle = smoothness_handle(spec$smoothness, names(sample$frame$columns)), seed = sample$seed,
    threads = resolve_threads(spec$threads), threads_given = spec$threads, verbose = spec$verbose, store = spec$store
  )
  crossfit(job, resolve_members(spec$ensemble, units), spec$order)
}

#' Fields of the fitted object that are known before anything is predicted (R/model-object.R)
#' @noRd
fit_fields <- function(sample, spec, encoded, model) {
  frame <- sample$frame
  # a formula made inside a function must not drag the function's variables along
  env <- slim_environment(c(frame$variables, frame$offset, sample$task$expr), frame$data_names, frame$env)
  if (!is.null(frame$formula)) environment(frame$formula) <- env
  response <- encoded$response
  list(
    formula = frame$formula, order = spec$order, family = response$family, control = model$control,
    config = model$config, engine = model$engine, base = model$base, evidence = model$evidence,
    strength = model$strength, fold = model$fold, found = model$found, smoothness = spec$smoothness,
    seed = sample$seed, bootstrap = spec$bootstrap, variables = frame$variables, data_names = frame$data_names,
    env = env, encoder = encoded$encoders,
    term_names = component_names(names(frame$columns), model$config$components, spec$order),
    response = response[names(response) != "y"],
    task = if (!is.null(sample$task)) sample$task[c("name", "expr", "levels")], offset = sample$offset_from,
    members = lapply(model$members, own_score, response), centering = model$centering, y = response$y,
    weights = sample$weights, groups = row_groups(sample), offset_values = sample$offset, rows = sample$rows$kept,
    row_names = frame$row_names[sample$rows$index], na.action = sample$rows$omitted, train = sample$split$train,
    nobs = length(sample$rows$index), n_train = length(sample$split$train),
    n_validation = encoded$held_out$data$n %||% 0
  )
}

#' Numbers of the groups of all rows; copies of a row are one
#' @noRd
row_groups <- function(sample) {
  groups <- sample$groups %||% copies(sample$rows$index)
  if (!is.null(groups)) match(groups, unique(groups))
}

fitted_part <- function(fields, sample, at) {
  c(list(link = fields$fitted[at, , drop = FALSE]), sample_part(sample, at)[c("y", "task", "weights")])
}

#' The rows that judge the fit: validation rows, inside or outside the data
#' @noRd
judged_part <- function(fields, sample, encoded, threads) {
  if (sample$separate) {
    return(outside_part(fields, encoded$outside, encoded$held_out, threads))
  }
  fitted_part(fields, sample, sample$split$validation)
}

#' Scores of training rows, out of fold, and of validation rows
#' @noRd
add_scores <- function(fields, sample, judged, paper) {
  train <- fitted_part(fields, sample, sample$split$train)
  left_out <- if (!is.null(fields$out_of_fold)) {
    replace(train, "link", list(fields$out_of_fold[sample$split$train, , drop = FALSE]))
  }
  parts <- list(training = train, "out of fold" = left_out, validation = judged)
  fields$task_scores <- after_training(task_scores(fields, parts), "scores by task")
  fields$ensemble_score <- after_training(if (paper) ensemble_score(fields, judged), "score of the ensemble")
  if (!paper) {
    fields[c("judged", "gain")] <- after_training(judge_fit(fields, judged, sample), "scores")
  }
  fields
}

#' What terms add out of fold, and where they jump
#' @noRd
add_evidence <- function(fields, data, sample, threads) {
  train <- sample$split$train
  groups <- fields$groups[train]
  if (!is.null(fields$out_of_fold) && !is.null(fields$effects)) {
    fields$dropped <- after_training(
      dropped_terms(fields, data, train, sample$task$id, groups, threads), "losses without a term"
    )
  }
  if (fields$order == 1 && has_base(fields)) {
    fields$jumps <- after_training(fit_jumps(fields, data, groups, threads), "jumps")
  }
  fields
}

#' The role of validation rows in the default procedure
#' @noRd
tell_validation <- function(n) {
  if (n > 0) {
    pn_inform(
      "The {n} validation row{?s} {?is/are} not trained on: {?it judges/they judge} the fit, and choose{?s/} nothing.",
      class = "validation"
    )
  }
}

#' Scores of a default fit: of validation rows where there are any, else out of fold
#' @noRd
judge_fit <- function(fields, judged, sample) {
  if (nrow(judged$link)) {
    scores <- judge(fields, judged$link, judged$y, judged$weights)
    return(list(list(rows = "validation", scores = scores), NA_real_))
  }
  if (is.null(fields$out_of_fold)) {
    return(list(NULL, NA_real_))
  }
  link <- fields$out_of_fold
  list(
    list(rows = "out of fold", scores = judge(fields, link, fields$y, sample$weights, sample$clusters)),
    gain_over_nothing(fields, link, fields$y, sample$weights, sample$groups)
  )
}
