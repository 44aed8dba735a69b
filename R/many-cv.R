# Cross-validation: folds, one fit per fold, scores of the predictions for the rows left out.

#' Cross-validate a protonam model
#'
#' Fits the model once per fold to the rows of the other folds and scores its predictions for the rows of that fold.
#' Everything learned from the data, including scaling and levels, is learned anew in every fit. Folds run on the
#' workers of a `future::plan()` if one is set; the results are the same.
#'
#' A default fit already reports out-of-fold scores. However, its folds are formed after the screening of the features
#' and the choice of sizes, which use all rows. Here all of this, including the members, is repeated within each fold: a
#' cross-validation of the entire procedure, at the cost of one default fit per fold.
#'
#' @param formula,data,weights,offset,subset,family,task,na.action See [protonam()].
#' @param folds Number of folds, or a fold for every row of `data`: a vector, the name of a column, or `~ column`. Folds
#'   drawn at random are stratified by class (and keep groups together).
#' @param groups `~ id`, a column name or a vector: rows of one group are never divided between folds, nor between
#'   training and validation.
#' @param ... Further arguments of [protonam()], such as `order`, `ensemble` and settings; `ensemble = 1` is faster.
#'   `validation` may be a fraction or a data frame.
#' @param seed A whole number; `NULL` draws one from R's generator.
#' @param threads,verbose See [protonam()]. Under a parallel plan the threads are divided among the workers.
#' @param checkpoint `NULL`, or the name of a file in which finished folds, and the state of a fold in progress, are
#'   kept: if R is killed, the same call resumes from there. See section Checkpoints of [protonam()].
#'
#' @return A list of class `protonam_cv`, with methods for `print()` and `plot()`:
#' * `scores`: data frame with one row per fold (and response), columns `fold`, `n` and the scores: `rmse`, `mae`, `r2`,
#'   `deviance` for numbers, `deviance`, `rmse`, `mae` for counts, `auc`, `logloss`, `brier`, `accuracy`, `deviance` for
#'   classes; deviances are means over rows, and case weights are used;
#' * `summary`: data frame with (`response`,) `score`, `mean` and `sd` over folds and `pooled`, the score of all rows
#'   together;
#' * `predictions`: out-of-fold predictions, as from `predict(type = "response")`, one per row of `data`; missing for
#'   rows not used;
#' * `folds`: the fold of every row; `y`: the response as numbers; `seed`, `call`, `family`, `levels`.
#' @examples
#' cv <- cv_protonam(
#'   mpg ~ wt + hp, mtcars,
#'   folds = 3, epochs = 10, hidden = 8, prototypes = 4, seed = 1
#' )
#' cv
#' cv$scores
#' @export
cv_protonam <- function(formula, data, folds = 5, groups = NULL, ..., weights = NULL, offset = NULL, subset = NULL,
                        family = NULL, task = NULL, na.action = stats::na.pass, # nolint: object_name_linter.
                        seed = NULL, threads = NULL, verbose = interactive(), checkpoint = NULL) {
  call <- match.call()
  verbose <- check_flag(verbose, "verbose")
  store <- open_checkpoint(checkpoint, "cross-validation")
  job <- resampling_job(
    formula, data, list(weights = substitute(weights), offset = substitute(offset), subset = substitute(subset)),
    parent.frame(), list(groups = groups, task = task, folds = folds, family = family, na_action = na.action),
    list(...)
  )
  seed <- settle_seed(seed, store)
  fold <- make_folds(folds, job, seed)
  begin_checkpoint(store, job_digests(job, list(seed, fold$id)), seed, "fold")
  items <- lapply(seq_along(fold$names), function(k) {
    list(name = fold$names[k], test = which(fold$id == k), train = which(fold$id != k), seed = member_seed(seed, k))
  })
  names(items) <- paste("fold", fold$names)
  done <- 0L
  results <- map_work(items, fit_fold,
    job = slim_job(job), threads = threads, packages = job$packages, store = store,
    each = if (verbose) {
      function(i, value) {
        done <<- done + 1L
        pn_inform("Fold {fold$names[i]} done, {done} of {length(items)}.", class = "progress")
      }
    }
  )
  cv <- finish_cv(job, fold, items, results, call, seed)
  close_checkpoint(store)
  cv
}

#' What fits to subsets of the data need: checked once, small enough to be sent to workers
#' @param given Unevaluated weights, offset and subset.
#' @param roles list(task, groups, folds, family, na_action)
#' @return list(formula, packages, columns, rows (row numbers that take part), weights, offset, given (the two
#'   unevaluated), total_offset, groups, response, task, na_action, dots, env); vectors over all rows of the data
#' @noRd
resampling_job <- function(formula, data, given, caller, roles, dots) {
  task <- roles$task
  groups <- roles$groups
  if (!inherits(formula, "formula")) {
    pn_abort("{.arg formula} must be a formula, not {describe(formula)}.", class = "argument", arg = "formula")
  }
  if (missing(data) || is.environment(data)) {
    pn_abort("{.arg data} must be a data frame.", class = "data", arg = "data")
  }
  check_settings(dots)
  columns <- as_columns(data, "data")
  env <- environment(formula)
  special <- c(
    unlist(lapply(roles[c("task", "groups", "folds")], role_names)),
    vapply(Filter(is.symbol, given[1:2]), as.character, "")
  )
  frame <- formula_frame(formula, columns, special)
  tell_left_out(setdiff(frame$left_out, role_names(task)))
  value <- evaluate_arguments(given, columns, env, caller)
  refuse_survival(frame$response)
  task_role <- resolve_role(task, columns, env, "task", frame$n)
  if (!is.null(task_role) && is.null(task_role$expr)) {
    pn_abort("{.arg task} must name a column here, as in {.code ~ sex}.", class = "task", arg = "task")
  }
  group_role <- resolve_role(groups, columns, env, "groups", frame$n)
  rows <- used_rows(
    frame, task_role, value$weights, value$offset, value$subset, roles$na_action, roles$family
  )$index
  tell_suspects(frame$columns, rows, frame$n)
  check_weights(value$weights, frame$n, rows)
  observed <- take_rows(frame$response$value, rows, frame$n)
  if (!is.null(count_trials(observed, frame$response$name, roles$family))) {
    refuse_with_trials("Cross-validation, search and validation by bootstrap", "formula")
  }
  response <- read_response(observed, frame$response$name, roles$family)
  check_groups(group_role, frame$n, rows)
  columns <- add_outside(columns, frame, env)
  portable <- portable_formula(frame$formula, names(columns))
  if (inherits(task, "formula")) {
    portable_task <- portable_formula(task, names(columns))
    task <- portable_task$formula
    portable$packages <- union(portable$packages, portable_task$packages)
  }
  list(
    formula = portable$formula, packages = portable$packages, columns = columns, n = frame$n, rows = rows,
    row_names = frame$row_names %||% as.character(seq_len(frame$n)), weights = value$weights, offset = value$offset,
    total_offset = spread_rows(check_offset(value$offset, frame$offset, columns, env, frame$n, rows), rows, frame$n),
    given = given[c("weights", "offset")], groups = group_role$value, response = response, task = task,
    na_action = roles$na_action, dots = dots, env = env
  )
}

#' Variables of the formula that stand beside the data, with a value per row: they are split like columns
#' @noRd
add_outside <- function(columns, frame, env) {
  for (name in setdiff(all.vars(frame$formula), names(columns))) {
    value <- get0(name, env, inherits = TRUE)
    if (!is.function(value) && frame$n > 1L && NROW(value) == frame$n) columns[[name]] <- value
  }
  columns
}

#' The subset of a job that fits need, as it is sent to workers
#' @noRd
slim_job <- function(job) {
  job$columns <- job$columns[names(job$columns) %in% needed_columns(job)]
  job[names(job) != "env"]
}

needed_columns <- function(job) {
  c(all.vars(job$formula), role_names(job$task), unlist(lapply(job$given, all.vars)))
}

spread_rows <- function(x, rows, n) if (!is.null(x)) replace(rep(NA_real_, n), rows, x)

#' Settings that protonam() would reject later, rejected at once
#' @noRd
check_settings <- function(dots) {
  arguments <- names(formals(protonam.formula))
  given <- names(dots) %||% rep("", length(dots))
  merge_control(dots$control %||% protonam_control(), dots[!given %in% arguments | given == ""], arguments)
  if (!is.null(dots$ensemble)) check_number(dots$ensemble, "ensemble", min = 1, max = 1e5, whole = TRUE)
  validation <- dots$validation
  if (!is.null(validation) && !is.data.frame(validation) && !is_fraction(validation)) {
    pn_abort(
      "{.arg validation} must be a fraction or a data frame here, not {describe(validation)}.",
      class = "validation", arg = "validation"
    )
  }
}

#' Fit to some rows (row numbers of the data), for predictions only
#' @param control NULL, or settings in place of those given.
#' @param store NULL, or the part of a checkpoint that belongs to this fit.
#' @noRd
fit_rows <- function(job, rows, seed, threads, control = NULL, store = NULL) {
  columns <- take_data(job, rows)
  dots <- job$dots
  arguments <- names(formals(protonam.formula))
  control <- control %||% merge_control(dots$control %||% protonam_control(), dots[!names(dots) %in% arguments])
  frame <- formula_frame(job$formula, columns, role_names(job$task))
  frame$given <- job$given
  # the messages have already been given for the whole data
  withCallingHandlers(
    fit_model(frame, columns, fit_spec(c(
      job$dots[intersect(names(job$dots), c("order", "pairs", "validation", "ensemble", "smoothness", "bootstrap"))],
      list(
        family = job$response$family, task = job$task, weights = job$weights[rows], offset = job$offset[rows],
        na_action = job$na_action, groups = job$groups[rows] %||% copies(rows), control = control, seed = seed,
        threads = threads, verbose = FALSE, store = store
      )
    )), effects = FALSE),
    protonam_message = function(m) invokeRestart("muffleMessage"),
    protonam_warning = function(w) if (inherits(w, suspect_warnings)) invokeRestart("muffleWarning")
  )
}

#' Some rows of the data, as columns
#' @noRd
take_data <- function(job, rows) {
  data <- structure(lapply(job$columns, take_rows, rows, job$n), info = NULL)
  as_columns(structure(data, class = "data.frame", row.names = seq_along(rows)), "data")
}

#' One fold: the predictions for its rows
#' @param item list(name, test, train: positions among the rows that take part; seed)
#' @noRd
fit_fold <- function(item, threads, job) {
  fit <- fit_rows(job, job$rows[item$train], item$seed, threads, store = item$store)
  test <- job$rows[item$test]
  mean <- withCallingHandlers(
    predict(fit, take_data(job, test), type = "response", offset = job$total_offset[test], threads = threads),
    protonam_warning_unknown_values = function(w) {
      told <- strsplit(conditionMessage(w), "\n", fixed = TRUE)[[1L]][-1L]
      pn_warn(
        c("There are values that do not occur in the other folds.", escape_braces(told)),
        class = "unknown_values", columns = w$columns, levels = w$levels
      )
      invokeRestart("muffleWarning")
    },
    # the ends of a feature's range are always in some fold
    protonam_message_extrapolation = function(m) invokeRestart("muffleMessage")
  )
  list(mean = unname(as.matrix(mean)), levels = fit$response$levels, best_epoch = fit$members[[1L]]$best_epoch)
}

#' Put the folds together
#' @noRd
finish_cv <- function(job, fold, items, results, call, seed) {
  response <- job$response
  family <- response$family$family
  outputs <- if (family == "multinomial") response$levels else response$names
  predictions <- matrix(NA_real_, job$n, max(length(outputs), 1L), dimnames = list(job$row_names, outputs))
  for (k in seq_along(items)) {
    one <- results[[k]]
    if (is.null(one)) next
    mean <- if (family == "multinomial") all_classes(one$mean, one$levels, outputs) else one$mean
    predictions[job$rows[items[[k]]$test], ] <- mean
  }
  score <- function(at) score_rows(job, predictions, at)
  kept <- which(!vapply(results, is.null, NA))
  scores <- do.call(rbind, lapply(kept, function(k) {
    cbind(fold = fold$names[k], score(items[[k]]$test), stringsAsFactors = FALSE)
  }))
  pooled <- score(unlist(lapply(items[kept], `[[`, "test")))
  id <- rep(NA_integer_, job$n)
  id[job$rows] <- fold$id
  structure(class = "protonam_cv", list(
    call = call, scores = scores,
    summary = summarise_folds(scores, pooled),
    predictions = if (ncol(predictions) == 1L) predictions[, 1L] else predictions,
    folds = factor(fold$names[id], levels = fold$names), y = spread_response(job), weights = job$weights,
    family = response$family, levels = response$levels, name = response$name, seed = seed,
    failed = fold$names[setdiff(seq_along(items), kept)]
  ))
}

#' Probabilities of all classes from a fit that has seen some: the others have 0
#' @param mean [rows, classes seen]; a single column is the probability of the second of two.
#' @noRd
all_classes <- function(mean, seen, classes) {
  if (ncol(mean) == length(classes)) {
    return(mean)
  }
  if (ncol(mean) == 1L) mean <- cbind(1 - mean, mean)
  full <- matrix(0, nrow(mean), length(classes))
  full[, match(seen, classes)] <- mean
  full
}

#' Mean and standard deviation of every score over the folds, for each response
#' @param scores One row per fold and response; pooled: one row per response.
#' @noRd
summarise_folds <- function(scores, pooled) {
  names <- setdiff(names(pooled), c("response", "n"))
  several <- !is.null(pooled$response)
  lines <- lapply(seq_len(nrow(pooled)), function(j) {
    mine <- if (several) scores[scores$response == pooled$response[j], ] else scores
    over <- function(f) vapply(mine[names], function(x) if (all(is.na(x))) NA_real_ else f(x, na.rm = TRUE), 0)
    line <- data.frame(
      score = names, mean = over(mean), sd = over(stats::sd), pooled = unlist(pooled[j, names]), row.names = NULL
    )
    if (several) cbind(response = pooled$response[j], line) else line
  })
  do.call(rbind, lines)
}

spread_response <- function(job) {
  y <- matrix(NA_real_, job$n, ncol(job$response$y), dimnames = list(job$row_names, job$response$names))
  y[job$rows, ] <- job$response$y
  if (ncol(y) == 1L) y[, 1L] else y
}

#' Scores of some rows, one line per response
#' @param at Positions among the rows that take part.
#' @noRd
score_rows <- function(job, predictions, at) {
  family <- job$response$family$family
  rows <- job$rows[at]
  lines <- lapply(seq_len(ncol(job$response$y)), function(j) {
    mean <- if (family == "multinomial") predictions[rows, , drop = FALSE] else predictions[rows, j]
    y <- job$response$y[at, j]
    data.frame(n = sum(!is.na(y)), as.list(score_predictions(family, y, mean, job$weights[rows])))
  })
  lines <- do.call(rbind, lines)
  if (is.null(job$response$names)) lines else cbind(response = job$response$names, lines)
}
