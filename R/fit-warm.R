# Warm starts: a fit whose members begin from those of an earlier fit to some of the same rows.
#
# Everything that was decided from the data of the earlier fit is kept: scaling, levels, bins, knots, which features
# have prototypes, sizes, the strength of the penalty on variation. Parameters, and layer 0 with its smoothing
# parameters, are trained further, in the last third of the usual schedule. Rows keep their folds, so that member k has
# never seen those that it leaves out.

warm_share <- 1 / 3 # of the epochs

# settings that a warm start may change
warm_settings <- c("epochs", "batch_size", "lr", "weight_decay", "tau", "output_penalty", "patience")

abort_start <- function(message, .envir = parent.frame()) {
  pn_abort(c(message, i = "Fit a new model, without {.arg start}."), class = "start", arg = "start", .envir = .envir)
}

#' Can a fit with this spec begin from `start`?
#' @noRd
check_start <- function(start, spec, sample) {
  if (is.null(start)) {
    return(invisible())
  }
  if (!inherits(start, "protonam")) {
    pn_abort("{.arg start} must be a fit, not {describe(start)}.", class = "argument", arg = "start")
  }
  if (spec$paper || start$control$procedure == "paper") {
    abort_start("Warm starts are for the default procedure, not for {.code procedure = {.val paper}}.")
  }
  if (is.numeric(spec$validation) && !identical(as.double(spec$validation), 0) || is.logical(spec$validation)) {
    abort_start(
      "Validation rows within {.arg data} may be rows that {.arg start} has seen; give a data frame of others."
    )
  }
  response <- sample$response
  outputs <- function(response, task) list(response$levels, response$names, task$levels)
  differs <- c(
    features = !identical(names(sample$frame$columns), feature_names(start)),
    order = !identical(as.double(spec$order), as.double(start$order)),
    family = !identical(response$family$family, start$family$family),
    "response or task" = !identical(outputs(response, sample$task), outputs(start$response, start$task)),
    ensemble = !is.null(spec$ensemble) && spec$ensemble != max(start$fold, 1),
    smoothness = !identical(as.double(spec$smoothness), as.double(start$smoothness))
  )
  given <- setdiff(attr(spec$control, "given"), warm_settings)
  differs[given] <- !vapply(given, function(name) isTRUE(all.equal(spec$control[[name]], start$control[[name]])), NA)
  if (any(differs)) {
    different <- names(differs)[differs]
    abort_start("The fit differs from {.arg start} in {.and {different}}.")
  }
  invisible()
}

#' The response on the scale of the earlier fit, before that was recalibrated
#' @noRd
start_scale <- function(start) {
  line <- start$calibration %||% c(intercept = 0, slope = 1)
  list(
    center = (start$response$center - line[["intercept"]]) / line[["slope"]],
    scale = start$response$scale / line[["slope"]]
  )
}

#' Folds of the training rows: old rows keep theirs, new rows (or groups) are assigned at random
#' @param labels,y Names and responses of the training rows.
#' @noRd
warm_folds <- function(start, labels, y, groups, seed) {
  old_labels <- fitted_row_labels(start)[start$train]
  at <- match(old_labels, labels)
  if (anyNA(at) || !identical(unname(y[at, , drop = FALSE]), unname(start$y[start$train, , drop = FALSE]))) {
    abort_start(
      "{.arg data} must contain the rows of {.arg start}, under the same row names: without them it is not known which
       rows its members have seen, and out-of-fold predictions would not be honest."
    )
  }
  if (is.null(start$fold)) {
    return(NULL)
  }
  fold <- start$fold[match(labels, old_labels)]
  unit <- match(groups %||% seq_along(labels), unique(groups %||% seq_along(labels)))
  known <- tapply(fold, unit, function(x) c(x[!is.na(x)], NA)[1L])
  new <- which(is.na(known))
  k <- max(start$fold)
  known[new] <- with_seed(seed, sample(rep_len(seq_len(k), length(new))))
  as.integer(ifelse(is.na(fold), known[unit], fold))
}

fitted_row_labels <- function(object) object$row_names %||% as.character(object$rows %||% seq_len(object$nobs))

#' Members that begin from those of `start`
#' @return As crossfit().
#' @noRd
warm_members <- function(sample, encoded, spec) {
  start <- spec$start
  train <- sample$split$train
  labels <- (sample$frame$row_names[sample$rows$index] %||% as.character(sample$rows$index))[train]
  groups <- (sample$groups %||% copies(sample$rows$index))[train]
  fold <- warm_folds(start, labels, sample$response$y[train, , drop = FALSE], groups, sample$seed)
  control <- start$control
  given <- intersect(warm_settings, attr(spec$control, "given"))
  control[given] <- unclass(spec$control)[given]
  control$batch_size <- min(control$batch_size, encoded$data$n)
  model <- start[c("config", "engine", "base", "evidence", "strength", "found")]
  # the penalty on variation falls with the root of the number of rows
  ratio <- sqrt(start$n_train / encoded$data$n)
  for (part in c("config", "engine")) model[[part]]$variation <- model[[part]]$variation * ratio
  data <- encoded$data
  data$fold <- fold
  short <- control
  short$epochs <- ceiling(control$epochs * warm_share)
  short$skipped <- control$epochs - short$epochs
  training <- list(
    config = engine_of(model), data = data, control = short, base = start$base, store = spec$store,
    params = vapply(start$members, `[[`, numeric(length(start$members[[1L]]$params)), "params")
  )
  skip <- if (!is.null(fold)) vapply(start$members, function(m) as.integer(m$skip), 1L) else 0L
  seeds <- vapply(start$members, function(m) as.double(m$seed), 0) + sample$seed
  members <- train_members(training, seeds, skip, resolve_threads(spec$threads), spec$verbose)
  model$seconds <- Reduce(`+`, lapply(members, `[[`, "seconds"))
  model$members <- keep_finite(members, control)
  c(model, list(fold = fold, control = control))
}
