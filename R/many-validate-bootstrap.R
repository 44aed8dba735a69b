# Optimism-corrected validation: the whole procedure repeated in bootstrap samples.

most_kept <- 5e6 # predictions of all samples together that are kept for stability()

#' @param way list(repeats, seed, threads, verbose, checkpoint), as given
#' @return fields of a validation: scores, repeats, seed, bootstrap
#' @noRd
validate_bootstrap <- function(fit, data, by, caller, level, way) {
  repeats <- check_number(way$repeats, "repeats", min = 2, max = 1e5, whole = TRUE)
  verbose <- check_flag(way$verbose, "verbose")
  store <- open_checkpoint(way$checkpoint, "validation")
  job <- fit_job(fit, data, caller)
  seed <- settle_seed(way$seed, store)
  begin_checkpoint(store, job_digests(job, list(seed, repeats)), seed, "sample")
  original <- original_outcomes(fit, job, by)
  # of many rows some are kept, evenly spread
  n <- length(job$rows)
  kept <- unique(round(seq(1, n, length.out = min(n, max(1, floor(most_kept / repeats))))))
  items <- lapply(seq_len(repeats), function(k) list(number = k, seed = member_seed(seed, k)))
  names(items) <- paste("sample", seq_len(repeats))
  done <- 0L
  results <- map_work(items, bootstrap_sample,
    job = slim_job(job), shape = fit_shape(fit), original = original, kept = kept, threads = way$threads,
    packages = job$packages, store = store,
    each = if (verbose) {
      function(i, value) {
        done <<- done + 1L
        pn_inform("Sample {i} done, {done} of {repeats}.", class = "progress")
      }
    }
  )
  close_checkpoint(store)
  results <- Filter(Negate(is.null), results)
  table <- measure_parts(split_outcomes(fit, original))
  collect <- function(what) do.call(rbind, lapply(results, `[[`, what))
  optimism <- sample_optimism(table, collect("apparent"), collect("test"))
  mean_optimism <- colMeans(optimism, na.rm = TRUE)
  # the mean over few samples is uncertain itself
  monte_carlo <- apply(optimism, 2L, stats::sd, na.rm = TRUE) / sqrt(colSums(!is.na(optimism)))
  error <- sqrt(table$error^2 + ifelse(is.na(monte_carlo), 0, monte_carlo)^2)
  list(
    scores = validation_table(table, table$value, table$value - mean_optimism, error, table$value, level),
    repeats = length(results), seed = seed,
    bootstrap = list(
      apparent = collect("apparent"), test = collect("test"), rows = kept,
      predictions = lapply(seq_along(original$sets), function(j) {
        lapply(results, function(one) one$predictions[[j]])
      }),
      original = lapply(original$sets, function(rows) take_outcomes(rows, match(kept, rows$index, nomatch = 0L))),
      levels = fit$response$levels
    )
  )
}

#' Optimism in each sample
#'
#' A slope is a factor: its optimism is taken as a ratio. Harrell's fits by maximum likelihood have slopes of 1 in their
#' samples, where this is the same; those of penalised fits are well above 1.
#' @param apparent,test [samples, rows of the table]
#' @noRd
sample_optimism <- function(table, apparent, test) {
  optimism <- apparent - test
  for (j in which(table$measure == "slope")) {
    ratio <- test[, j] / apparent[, j]
    own <- table$value[j]
    if (isTRUE(own > 0) && all(apparent[, j] > 0, na.rm = TRUE)) optimism[, j] <- own * (1 - ratio)
  }
  optimism
}

#' What the measures of other fits need to know of the original one
#' @noRd
fit_shape <- function(fit) fit[c("family", "response", "task", "config")]

#' Outcomes of the original fit on the rows of the job, in their order
#' @noRd
original_outcomes <- function(fit, job, by) {
  at <- job$at
  by <- resolve_role(by, job$columns, job$env, "by", job$n)
  if (!is.null(by)) refuse_numbers(by$value, by$name, "by")
  list(
    sets = outcome_sets(
      fit, fit$fitted[at, , drop = FALSE], fit$y[at, , drop = FALSE], fit$weights[at], job$groups[job$rows],
      seq_along(at)
    ),
    by = if (!is.null(by)) group_factor(take_rows(by$value, job$rows, job$n)), by_name = by$name
  )
}

#' One bootstrap sample: the procedure repeated, and measured in the sample and on all rows
#' @param original From original_outcomes(); shape from fit_shape().
#' @return list(apparent, test: measures; predictions: of the kept rows, per response)
#' @noRd
bootstrap_sample <- function(item, threads, job, shape, original, kept) {
  n <- length(job$rows)
  counts <- bootstrap_counts(n, job$groups[job$rows], item$seed)
  fit <- fit_rows(job, job$rows[rep(seq_len(n), counts)], item$seed, threads, store = item$store)
  mean <- withCallingHandlers(
    predict(fit, take_data(job, job$rows), type = "response", offset = job$total_offset[job$rows], threads = threads),
    # rare values that the sample lacks are a part of what is measured
    protonam_warning_unknown_values = function(w) invokeRestart("muffleWarning"),
    protonam_message_extrapolation = function(m) invokeRestart("muffleMessage")
  )
  mean <- unname(as.matrix(mean))
  if (shape$family$family == "multinomial") mean <- all_classes(mean, fit$response$levels, shape$response$levels)
  sets <- lapply(seq_along(original$sets), function(j) {
    rows <- original$sets[[j]]
    own <- mean[rows$index, if (shape$family$family == "multinomial") seq_len(ncol(mean)) else j]
    rows$mean <- own
    if (!is.null(rows$link)) rows$link <- to_link(shape$family, own)
    rows
  })
  names(sets) <- names(original$sets)
  values <- function(counts) {
    outcomes <- list(by = original$by, sets = lapply(sets, function(rows) {
      weights <- rows$weights %||% rep(1, length(rows$y))
      rows$weights <- if (is.null(counts)) weights else weights * counts[rows$index]
      rows
    }))
    unlist(lapply(split_outcomes(shape, outcomes), function(part) {
      vapply(measure_outcomes(part), `[[`, 0, "value")
    }), use.names = FALSE)
  }
  list(
    apparent = values(counts), test = values(NULL),
    predictions = lapply(sets, function(rows) {
      at <- match(kept, rows$index, nomatch = 0L)
      if (is.matrix(rows$mean)) rows$mean[at, , drop = FALSE] else rows$mean[at]
    })
  )
}

# The job
# ---------------------------------------------------------------------------------------------------------------

# arguments of protonam() that do not define the model, or are handled by name
other_arguments <- c(
  "", "formula", "data", "x", "y", "family", "task", "weights", "offset", "subset", "na.action", "groups", "seed",
  "threads", "verbose", "checkpoint", "start", "validation"
)

#' The procedure of a fit, to be repeated on some of its rows (resampling_job())
#' @return A job whose rows are those that the fit learned from, in the order of the fit; `at`: their positions there
#' @noRd
fit_job <- function(fit, data, caller) {
  if (!is.call(fit$call)) data_not_found(fit, "data")
  if (!is.null(fit$call[["start"]])) {
    pn_abort(
      c(
        "A fit with {.arg start} cannot be repeated in samples of its rows: it depends on an earlier fit.",
        i = "Use {.code method = \"out-of-fold\"}."
      ),
      class = "start", arg = "fit"
    )
  }
  own <- fit_data(fit, data, caller)
  argument <- function(name) call_argument(fit, name, caller)
  paper <- identical(fit$control$procedure %||% "paper", "paper")
  given <- names(as.list(fit$call))
  dots <- lapply(stats::setNames(nm = setdiff(given, other_arguments)), argument)
  # in the default procedure validation rows only judge; in the paper's they choose the epoch
  if (paper) dots$validation <- argument("validation")
  source <- job_source(fit, own)
  job <- withCallingHandlers(
    resampling_job(
      source$formula, source$data,
      list(weights = fit$call[["weights"]], offset = fit$call[["offset"]], subset = fit$call[["subset"]]), caller,
      list(
        task = argument("task"), groups = argument("groups"), folds = NULL, family = fit$family,
        na_action = argument("na.action") %||% stats::na.pass
      ), dots
    ),
    protonam_message = function(m) invokeRestart("muffleMessage")
  )
  job$at <- if (paper) seq_along(job$rows) else fit$train
  job$response$y <- job$response$y[job$at, , drop = FALSE]
  job$rows <- job$rows[job$at]
  job
}

#' Formula and data of a fit; of protonam(x, y) made from its columns
#' @noRd
job_source <- function(fit, own) {
  if (!is.null(fit$formula)) {
    return(list(formula = fit$formula, data = own$data))
  }
  columns <- own$columns
  data <- as.data.frame(own$data)
  names(data) <- names(columns)
  y <- own$response
  name <- fit$response$name
  if (is.matrix(y)) y <- lapply(seq_len(ncol(y)), function(j) y[, j])
  if (!is.list(y)) y <- stats::setNames(list(y), name) else names(y) <- fit$response$names
  data[names(y)] <- y
  left <- if (length(y) > 1L) as.call(c(list(quote(cbind)), lapply(names(y), as.name))) else as.name(name)
  right <- Reduce(function(a, b) call("+", a, b), lapply(feature_names(fit), as.name))
  list(formula = stats::as.formula(call("~", left, right), globalenv()), data = data)
}
