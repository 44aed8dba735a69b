# A sample: the rows that a fit is made from, with their roles. Encoded, they are what the engine reads.

#' Rows, roles and response of a fit
#'
#' @param frame From formula_frame() or table_frame().
#' @param columns All columns of the data, for roles and subset.
#' @param explicit Names written out in the formula: a task variable among them is removed with a message.
#' @return list(frame, n, rows, weights, offset, offset_from, response, task, groups, clusters, seed, split, separate,
#'   outside): vectors over the rows that take part; clusters: groups that were asked for, and not the rows of an
#'   observation of trials; separate: is the validation a data frame, `outside`?
#' @noRd
fit_sample <- function(frame, columns, spec, explicit) {
  refuse_survival(frame$response)
  task <- resolve_role(spec$task, columns, frame$env, "task", frame$n)
  groups <- resolve_role(spec$groups, columns, frame$env, "groups", frame$n)
  frame <- drop_task_feature(frame, task, explicit)
  n <- frame$n
  if (is.null(spec$pairs)) model_components(length(frame$columns), spec$order) # stops at what is too large
  rows <- used_rows(frame, task, spec$weights, spec$offset, spec$subset, spec$na_action, spec$family)
  tell_suspects(frame$columns, rows$index, n)
  value <- take_rows(frame$response$value, rows$index, n)
  trials <- count_trials(value, frame$response$name, spec$family)
  if (!is.null(trials)) {
    if (is.list(spec$validation)) refuse_with_trials("Validation data", "validation")
    trials <- expand_trials(trials, rows, frame$response$name)
    rows <- trials$rows
    value <- trials$event
  }
  weights <- check_weights(spec$weights, n, rows$index)
  if (!is.null(trials)) weights <- trials$count * (weights %||% 1)
  offset_from <- offset_source(frame, spec$offset)
  offset <- check_offset(spec$offset, frame$offset, columns, frame$env, n, rows$index)
  response <- read_response(value, frame$response$name, spec$family)
  response$trials <- if (!is.null(trials)) TRUE
  task <- read_task(task, n, rows$index, response)
  seed <- resolve_seed(spec$seed)
  separate <- is.list(spec$validation)
  clusters <- check_groups(groups, n, rows$index)
  groups <- clusters %||% if (!is.null(trials)) rows$index
  # rows of weight zero take no part in anything that is drawn
  used <- rows_of_weight(weights, length(rows$index))
  split <- split_rows(
    if (separate) 0 else spec$validation, rows$index[used], n, groups[used], strata_of(response, task)[used], seed
  )
  split <- c(lapply(split, function(at) used[at]), list(rest = setdiff(seq_along(rows$index), used)))
  check_training_rows(response, task, split$train)
  check_offset_size(response$family$family, offset)
  check_response_size(response, response$y, offset)
  list(
    frame = frame, n = n, rows = rows, weights = weights, offset = offset, offset_from = offset_from,
    response = response, task = task, groups = groups, clusters = clusters, seed = seed, split = split,
    separate = separate
  )
}

#' Some of the rows as a part (R/data-prepare.R)
#' @param at Positions among the rows that take part.
#' @noRd
sample_part <- function(sample, at) {
  list(
    at = at, n = length(at), columns = function(x) take_rows(x, sample$rows$index[at], sample$n),
    y = sample$response$y[at, , drop = FALSE], weights = engine_weights(sample$weights[at]),
    offset = sample$offset[at], task = sample$task$id[at]
  )
}

#' Encoders learned from the training rows, and all rows as the engine reads them
#' @return list(encoders, counts, centers, features; response with center and scale; data, held_out, rest:
#'   engine rows of training, validation and other rows; outside: validation data as a part, or NULL)
#' @noRd
encode_sample <- function(sample, spec, control) {
  train <- sample_part(sample, sample$split$train)
  response <- sample$response
  response[c("center", "scale")] <-
    if (is.null(spec$start)) {
      response_scale(train$y, response$family, train$weights, train$offset, control$scale_response)
    } else {
      start_scale(spec$start)
    }
  columns <- sample$frame$columns
  # the order of levels must come from the rows, not from their names: beyond order 1 the network sees them as numbers,
  # and in order 1 sums in another order would differ in their last bits, which training makes larger
  target <- if (!spec$paper) sorting_target(train$y, response$family$family, train$weights)
  encoded <- if (is.null(spec$start)) {
    encode_training(columns, train, control, target)
  } else {
    reencode_training(spec$start$encoder, columns, train)
  }
  encoded$response <- response
  encoded$data <- engine_rows(encoded$features, train, response)
  # whole weights count rows, in the smooth layer and wherever noise is estimated
  counts <- as_counts(train$weights)
  if (!spec$paper || identical(counts, train$weights)) encoded$data["weights"] <- list(counts)
  if (sample$separate) {
    encoded$outside <- validation_part(spec$validation, sample$frame, response, sample$task, sample$offset_from)
    encoded$held_out <- encode_part(encoded$encoders, encoded$outside, response)
  } else {
    encoded$held_out <- encode_part(
      encoded$encoders, sample_part(sample, sample$split$validation), response, columns
    )
  }
  encoded$rest <- encode_part(encoded$encoders, sample_part(sample, sample$split$rest), response, columns)
  encoded
}

#' One number per row by which levels without order are sorted
#' @noRd
sorting_target <- function(y, family, weights = NULL) {
  w <- relative_weights(weights) %||% rep(1, nrow(y))
  if (family == "multinomial") {
    return(as.double(y[, 1L] == which.max(tapply(w, factor(y[, 1L], 0:max(y[, 1L])), sum, default = 0)) - 1))
  }
  for (j in seq_len(ncol(y))) {
    seen <- !is.na(y[, j])
    rest <- y[, j] - weighted_mean(y[seen, j], w[seen])
    y[, j] <- rest / sqrt(weighted_mean(rest[seen]^2, w[seen]))
  }
  rowMeans(y, na.rm = TRUE)
}
