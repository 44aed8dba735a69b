# Training: the only call of the engine's training entry, the members of an ensemble, and what is learned afterwards
# from the training rows (means that centre the effects, importance).

#' Train all members of an ensemble on the same rows
#'
#' A single member uses all threads; several train in parallel, one thread each, on one encoded copy of the data.
#' @param training See train_ensemble().
#' @param seeds One per member.
#' @param skip NULL, or per member the fold (data$fold) that it leaves out, 0 for none.
#' @return list of members, see new_protonam(), each with a `status` and its time per phase, `seconds`
#' @noRd
train_members <- function(training, seeds, skip, threads, verbose) {
  validation <- training$validation
  seeds <- as.double(seeds)
  keys <- if (!is.null(training$store)) member_keys(training, seeds, skip) else seeds
  fits <- train_with_checkpoint(training$store, keys, function(at, states, save) {
    bar <- if (verbose) progress_bar(training$control$epochs, length(at))
    on.exit(if (verbose) bar$done())
    train <- train_settings(training$control, seeds[at], threads, skip[at])
    train[c("save", "save_seconds")] <- list(save, training$store$core$every)
    start <- list(
      centers = training$centers, seed = seeds[at], relation = response_relation(training$config, training$data),
      base = training$base, states = states, params = training$params[, at, drop = FALSE]
    )
    with_kernels(expr = .Call(ffi_fit, training$config, training$data, validation, start, train, bar$update))
  })
  Map(function(fit, seed, skip) {
    list(
      params = fit$params, running = fit$running,
      history = data.frame(
        epoch = seq_len(fit$epochs_run), loss = fit$loss, score = fit$score, lr = fit$lr, temperature = fit$temperature
      ),
      best_epoch = fit$best_epoch, score = if (is.null(validation)) NA_real_ else fit$score[fit$best_epoch],
      score_name = fit$score_name, seed = seed, skip = skip, base = fit$base, seconds = fit$seconds, status = fit$status
    )
  }, fits, seeds, skip %||% 0L)
}

#' Settings of the training as the engine takes them (src/r_fit.c)
#' @noRd
train_settings <- function(control, seeds, threads, skip = NULL) {
  list(
    epochs = control$epochs, batch_size = control$batch_size, lr = control$lr, weight_decay = control$weight_decay,
    tau = control$tau, patience = control$patience, seed = as.double(seeds), shuffle = TRUE, join_remainder = TRUE,
    equal_values = getOption("protonam.equal_values", TRUE), threads = threads, skip = skip,
    skipped = control$skipped %||% 0
  )
}

#' Refuse a fit that needs more memory than is available, before allocating any
#' @noRd
check_memory <- function(training, seeds, threads) {
  config <- training$config
  control <- training$control
  bytes <- .Call(ffi_fit_bytes, config, training$data, training$validation, train_settings(control, seeds, threads))
  if (bytes[1L] <= bytes[2L]) {
    return(invisible())
  }
  size <- vapply(bytes, function(x) format(structure(x, class = "object_size"), units = "auto", standard = "SI"), "")
  pn_abort(
    c(
      "This fit needs {size[1L]} of memory, and there is {size[2L]}.",
      i = "It has {length(seeds)} member{?s}, {format(control$hidden, scientific = FALSE)} hidden units,
        {config$n_features} feature{?s}, {ncol(config$components)} component{?s}
        and {control$batch_size} row{?s} per batch."
    ),
    class = "memory", bytes = bytes[1L], available = bytes[2L]
  )
}

#' Members whose loss and parameters stayed finite; an error if there are none
#' @noRd
keep_finite <- function(members, control) {
  diverged <- vapply(members, function(member) {
    member$status == "diverged" || !all(is.finite(member$params))
  }, NA)
  if (all(diverged)) {
    abort_diverged(members[[1L]], control)
  }
  if (any(diverged)) {
    pn_warn(
      "{sum(diverged)} of {length(members)} members diverged, left out; lower {.arg lr} (now {control$lr}).",
      class = "diverged"
    )
  }
  lapply(members[!diverged], function(member) member[setdiff(names(member), c("status", "seconds"))])
}

abort_diverged <- function(member, control) {
  epoch <- nrow(member$history)
  pn_abort(
    c(
      "Training diverged: the loss was no longer finite in epoch {epoch}.",
      i = "Lower {.arg lr} (now {control$lr}), by a factor of 10 to begin with.",
      i = if (control$scaling == "none") "Columns on very different scales: use {.code scaling = \"quantile\"}.",
      i = if (!control$scale_response) "A response with large values: use {.code scale_response = TRUE}."
    ),
    class = "diverged", arg = "lr", epoch = epoch
  )
}

#' A progress bar over all epochs of all members
#'
#' When members train in parallel, the bar follows those of the main thread, which represent the others.
#' @return list(update = function(member, epoch, loss, score) for the engine, done = function())
#' @noRd
progress_bar <- function(epochs, ensemble) {
  env <- environment()
  id <- cli::cli_progress_bar(
    format = paste0(
      "{cli::pb_bar} ", if (ensemble > 1L) "member {cli::pb_extra$member}/{cli::pb_extra$members}, ",
      "epoch {cli::pb_extra$epoch}/{cli::pb_extra$epochs}{cli::pb_extra$score} | {cli::pb_eta_str}"
    ),
    total = epochs * ensemble, clear = TRUE, .auto_close = FALSE, .envir = env,
    extra = list(member = 1L, members = ensemble, epoch = 0, epochs = epochs, score = "")
  )
  shown <- -Inf
  list(
    update = function(member, epoch, loss, score) {
      # drawing costs more than a short epoch
      if (now() - shown > 0.1 || epoch == epochs) {
        shown <<- now()
        score <- if (is.finite(score)) paste0(" | validation ", formatC(score, digits = 4L, format = "f")) else ""
        cli::cli_progress_update(
          set = (member - 1) * epochs + epoch, id = id, .envir = env,
          extra = list(member = member, members = ensemble, epoch = epoch, epochs = epochs, score = score)
        )
      }
    },
    done = function() cli::cli_progress_done(id = id, .envir = env)
  )
}

#' Rows at which every component's contribution can be averaged over the training rows
#'
#' In order 1 a contribution depends on one feature's value alone, so row r of the table holds the r-th distinct value
#' of every feature (short columns repeat their last one with weight zero). Otherwise the table is the training data.
#' @param counts List of the weights of each feature's values.
#' @return list(data, weights = function(rows) -> matrix [rows, components] or vector)
#' @noRd
effect_rows <- function(config, data, counts) {
  if (nrow(config$components) > 1L) {
    weights <- data$weights
    return(list(data = data, weights = function(rows) if (is.null(weights)) rep(1, length(rows)) else weights[rows]))
  }
  sizes <- vapply(data$features, function(feature) length(feature$values), 1L)
  n <- max(sizes)
  features <- lapply(data$features, function(feature) {
    encoded_feature(feature$values, pmin(seq_len(n), length(feature$values)))
  })
  weights <- function(rows) {
    vapply(counts, function(count) ifelse(rows <= length(count), count[rows], 0), numeric(length(rows)))
  }
  list(data = encoded_data(features, n), weights = function(rows) matrix(weights(rows), nrow = length(rows)))
}

#' Mean contribution of every component over the training rows
#' @return array [component, task x output, layer] in the engine's units
#' @noRd
mean_contributions <- function(object, m, table, threads) {
  config <- object$config
  size <- c(ncol(config$components), config$n_tasks * config$n_outputs, n_shown_layers(object))
  sums <- array(0, size)
  total <- 0
  for (range in row_chunks(table$data$n, prod(size))) {
    part <- slice_range(table$data, range[1L], range[2L])
    value <- raw_components(object, m, part, layers = TRUE, threads)
    weights <- table$weights(seq.int(range[1L], range[2L]))
    # a matrix of weights, or a vector, recycles over outputs and layers
    sums <- sums + array(colSums(value * as.vector(weights)), size)
    total <- total + if (is.matrix(weights)) colSums(weights) else sum(weights)
  }
  sums / total
}

#' A part of a fit that is computed after training: NULL and a warning if that fails, so that the training is not lost
#' @param what The part's name.
#' @noRd
after_training <- function(expr, what) {
  tryCatch(expr, error = function(e) {
    reason <- conditionMessage(e)
    pn_warn(
      c("The fit is returned without its {what}, which could not be computed.", x = "{reason}"),
      class = "incomplete", part = what, parent = e
    )
    NULL
  })
}
