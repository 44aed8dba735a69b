# Random search with successive halving: all trials are trained for a fraction of their epochs, the best are continued
# with more.

#' Search for good settings
#'
#' Draws settings at random and judges each by the loss of its fit on rows not used for training. For the default fit
#' this is the out-of-fold loss (mean squared error, log-loss, deviance), or that of the rows given as `validation`.
#' With `procedure = "paper"` it is the validation score of the best epoch, which for two classes is the AUC. Successive
#' halving saves time on unpromising settings: all trials are trained for a small fraction of their epochs, the better
#' ones again with `eta` times as many, and so on up to the full number. The first trial is `control` itself. All trials
#' share their folds, training and validation rows. Trials run on the workers of a `future::plan()` if one is set; the
#' results are the same.
#'
#' The default fit seldom needs a search: its sizes follow from the data, and its penalties are determined by restricted
#' maximum likelihood and by a screening. Each trial is a complete fit with all its members; a smaller `ensemble` makes
#' a search faster. The ranges of [protonam_space()] are those of the paper and suit its procedure; dropout is omitted
#' where it cannot be combined with the penalty on variation. The best score of many trials is optimistic: report a
#' score on other rows.
#'
#' With `procedure = "paper"`, no rows need to be held out once the settings are found: `validation = 0` trains on all
#' rows.
#'
#' @param formula,data,weights,offset,subset,groups,family,task,na.action See [protonam()].
#' @param n Number of trials.
#' @param space What to draw from, see [protonam_space()].
#' @param ... Further arguments of [protonam()], such as `order`, and settings that stay fixed even if `space` contains
#'   them.
#' @param control Settings that are not drawn.
#' @param eta One in `eta` trials is continued, with `eta` times the epochs. With 1, every trial is trained for all its
#'   epochs.
#' @param resume A previous result for the same data and formula: `n` further trials are added to it.
#' @param seed A whole number; `NULL` draws one from R's generator. A resumed search keeps its seed.
#' @param threads,verbose See [protonam()]. `verbose` reports the best trial so far.
#' @param checkpoint `NULL`, or the name of a file in which finished runs of trials, and the state of a run in progress,
#'   are kept: if R is killed, the same call resumes from there. See section Checkpoints of [protonam()].
#'
#' @return A list of class `protonam_tune`: `trials`, a data frame sorted by trial (settings, `epochs_full` of
#'   the trial, `rung` reached, `epochs` trained in its best run, `score`, `best_epoch`, `status`); `best`, the best
#'   [protonam_control()]; `best_trial`, `best_score`, `score_name`; `seconds` per trial; `space`, `seed`,
#'   `call`, `fingerprint` of the data.
#' @examples
#' space <- protonam_space(
#'   hidden = 8, prototypes = c(2, 4), layers = 1:2, epochs = 8, batch_size = 16,
#'   lr = search_range(1e-3, 1e-1)
#' )
#' found <- tune_protonam(
#'   mpg ~ wt + hp, mtcars,
#'   n = 3, space = space, seed = 1, hidden = 8, epochs = 8
#' )
#' found
#' fit <- protonam(mpg ~ wt + hp, mtcars, control = found$best)
#' @export
tune_protonam <- function(formula, data, n = 20, space = protonam_space(), ..., control = protonam_control(), eta = 4,
                          resume = NULL, weights = NULL, offset = NULL, subset = NULL, groups = NULL, family = NULL,
                          task = NULL, na.action = stats::na.pass, # nolint: object_name_linter.
                          seed = NULL, threads = NULL, verbose = interactive(), checkpoint = NULL) {
  call <- match.call()
  store <- open_checkpoint(checkpoint, "search")
  n <- check_number(n, "n", min = 1, max = 1e6, whole = TRUE)
  eta <- check_number(eta, "eta", min = 1, max = 1000)
  verbose <- check_flag(verbose, "verbose")
  space <- check_space(space)
  dots <- list(...)
  given <- names(dots) %||% rep("", length(dots))
  arguments <- names(formals(protonam.formula))
  fixed <- dots[!given %in% arguments | given == ""]
  control <- merge_control(control, fixed, arguments)
  space <- structure(unclass(space)[setdiff(names(space), names(fixed))], class = "protonam_space")
  own <- control$procedure == "crossfit"
  if (own && has_variation(control, dots$order %||% 1)) {
    # dropout cannot be combined with the penalty on variation
    space <- structure(unclass(space)[setdiff(names(space), c("dropout", "dropout_output"))], class = "protonam_space")
  }
  if (!own && identical(dots$validation, 0)) {
    pn_abort("A search needs validation rows to judge by.", class = "validation", arg = "validation")
  }
  if (own && identical(as.double(dots$ensemble), 1) && (is.null(dots$validation) || identical(dots$validation, 0))) {
    pn_abort(
      "A search needs rows to judge by: {.arg validation} rows, or an {.arg ensemble} of two members or more.",
      class = "validation", arg = "ensemble"
    )
  }
  job <- resampling_job(
    formula, data, list(weights = substitute(weights), offset = substitute(offset), subset = substitute(subset)),
    parent.frame(), list(groups = groups, task = task, family = family, na_action = na.action),
    dots[given %in% arguments]
  )
  fingerprint <- fingerprint_job(job, control$procedure)
  check_resume(resume, fingerprint)
  seed <- if (is.null(resume)) settle_seed(seed, store) else resume$seed
  first <- NROW(resume$trials)
  begin_checkpoint(store, job_digests(job, list(seed, n, eta, space, control, first)), seed, "run")
  job$explained <- if (own) larger_network(job, control, seed, threads, store_part(store, "level"))
  trials <- lapply(first + seq_len(n), function(trial) {
    trial_of(trial, if (trial == 1) list() else draw_settings(space, seed, trial), control, job)
  })
  way <- list(seed = seed, threads = threads, verbose = verbose, store = store)
  trials <- run_trials(trials, job, eta, way, resume)
  found <- finish_tune(trials, resume, call, space, seed, fingerprint)
  close_checkpoint(store)
  found
}

#' One trial before it runs
#' @noRd
trial_of <- function(number, settings, control, job) {
  control <- merge_control(control, settings)
  own <- control$procedure == "crossfit"
  rows <- length(job$rows)
  validation <- default_validation(job$dots$validation, !own)
  if (is_fraction(validation)) rows <- rows * (1 - validation)
  rows <- max(floor(rows), 1)
  if (own) {
    control <- with_own_bins(settle_control(control, rows, job$explained %||% 0, (job$dots$order %||% 1) > 1))
  } else {
    control <- resolve_control(control, rows)
  }
  list(
    trial = number, control = control, rung = 0L, epochs = NA_real_, score = NA_real_, score_name = NA_character_,
    best_epoch = NA_integer_, seconds = 0, status = "not run"
  )
}

#' Do the rows call for the larger network, on which defaults depend? 0 or 1
#' @noRd
larger_network <- function(job, control, seed, threads, store) {
  if ((job$dots$order %||% 1) > 1 || length(job$rows) < clean_rows) {
    return(0)
  }
  job$dots$ensemble <- 1
  one <- fit_rows(job, job$rows, seed, threads, control, store)
  as.double(isTRUE(one$control$clean))
}

#' Epochs of every rung as fractions of those of a trial; one trial remains at the last
#' @noRd
halving_parts <- function(n, eta) {
  rungs <- if (eta <= 1) 0 else floor(log(n) / log(eta) + 1e-9)
  eta^-(rungs:0)
}

#' Train the trials rung by rung
#' @param way list(seed, threads, verbose, store)
#' @param run Function(item, threads, job) that does one run of a trial.
#' @return list of trials with their results
#' @noRd
run_trials <- function(trials, job, eta, way, resume, run = fit_trial) {
  parts <- halving_parts(length(trials), eta)
  progress <- work_progress(sum(pmax(floor(length(trials) * eta^-(seq_along(parts) - 1) + 1e-9), 1)))
  alive <- seq_along(trials)
  packages <- job$packages
  job <- slim_job(job)
  for (rung in seq_along(parts)) {
    items <- lapply(trials[alive], function(trial) {
      list(control = trial$control, epochs = max(1, round(parts[rung] * trial$control$epochs)), seed = way$seed)
    })
    names(items) <- vapply(trials[alive], function(trial) paste("trial", trial$trial), "")
    done <- 0L
    take <- function(i, result) {
      at <- alive[i]
      trials[[at]] <<- update_trial(trials[[at]], result, rung)
      done <<- done + 1L
      if (way$verbose) tell_best(trials, resume, rung, length(parts), done, length(items))
    }
    results <- tryCatch(
      map_work(items, run,
        job = job, threads = way$threads, each = take, packages = packages, progress = progress, store = way$store
      ),
      error = function(e) if (rung == 1L) stop(e) else none_went_on(e, length(items))
    )
    for (i in which(vapply(results, is.null, NA))) trials[[alive[i]]]$status <- "failed"
    ran <- alive[!vapply(results, is.null, NA)]
    latest <- vapply(results, function(result) if (is.null(result)) NA_real_ else result$score, 0)
    latest <- latest[!is.na(latest)]
    names <- vapply(trials[ran], `[[`, "", "score_name")
    go_on <- min(max(floor(length(alive) / eta), 1), length(ran))
    if (!go_on) break
    if (rung < length(parts)) {
      best_first <- order(if (score_grows(names[1L])) -latest else latest)
      alive <- sort(ran[best_first[seq_len(go_on)]])
    }
  }
  trials
}

#' All trials of a later rung failed: the scores of their shorter runs are used
#' @noRd
none_went_on <- function(error, n) {
  reason <- sub("\n.*", "", conditionMessage(error))
  pn_warn(
    c("No trial could be continued with more epochs; scores are those of shorter runs.", x = escape_braces(reason)),
    class = "left_out"
  )
  vector("list", n)
}

#' One run of a trial
#' @noRd
fit_trial <- function(item, threads, job) {
  control <- item$control
  control$tau <- short_tau(control$tau, item$epochs)
  control$epochs <- item$epochs
  attr(control, "given") <- union(attr(control, "given"), names(control))
  started <- now()
  fit <- fit_rows(job, job$rows, item$seed, threads, control, item$store)
  members <- fit$members
  list(
    score = if (is.null(fit$loss)) finite_score(members, control$lr) else finite_score(list(fit$loss), control$lr),
    score_name = fit$loss$name %||% members[[1L]]$score_name, judged = fit$loss$rows %||% "validation",
    best_epoch = members[[1L]]$best_epoch, epochs = item$epochs, seconds = now() - started
  )
}

#' The members' mean score
#' @noRd
finite_score <- function(members, lr) {
  score <- mean(vapply(members, `[[`, 0, "score"))
  if (!is.finite(score)) {
    pn_abort(
      "Training diverged: the validation score is not a finite number ({.arg lr} is {lr}).",
      class = "diverged", arg = "lr"
    )
  }
  score
}

#' Keep the better of a trial's runs
#' @noRd
update_trial <- function(trial, result, rung) {
  trial$rung <- rung
  trial$status <- "ok"
  trial$seconds <- trial$seconds + result$seconds
  better <- is.na(trial$score) ||
    (if (score_grows(result$score_name)) result$score >= trial$score else result$score <= trial$score)
  taken <- intersect(c("score", "score_name", "judged", "best_epoch", "epochs"), names(result))
  if (better) trial[taken] <- result[taken]
  trial
}

tell_best <- function(trials, resume, rung, rungs, done, total) {
  scores <- c(resume$trials$score, vapply(trials, `[[`, 0, "score"))
  name <- stats::na.omit(vapply(trials, `[[`, "", "score_name"))[1L]
  best <- best_of(scores, name)
  label <- validation_label(name)
  pn_inform(
    "Rung {rung} of {rungs}, {done} of {total} done; best so far: trial {best}, {label} {signif(scores[best], 4)}.",
    class = "progress"
  )
}

best_of <- function(scores, name) if (score_grows(name)) which.max(scores) else which.min(scores)

#' The result, earlier trials first
#' @noRd
finish_tune <- function(trials, resume, call, space, seed, fingerprint) {
  settings <- union(names(space), setdiff(names(resume$trials), trial_fields))
  settings <- setdiff(union(settings, "epochs_full"), "epochs")
  table <- lapply(trials, function(trial) {
    own <- trial$control
    own$epochs_full <- own$epochs
    own <- lapply(stats::setNames(nm = settings), function(name) own[[name]] %||% NA)
    data.frame(
      trial = trial$trial, own, rung = trial$rung, epochs = trial$epochs, score = trial$score,
      best_epoch = trial$best_epoch, status = trial$status, stringsAsFactors = FALSE
    )
  })
  table <- do.call(rbind, c(list(fill_columns(resume$trials, names(table[[1L]]))), table))
  name <- stats::na.omit(c(resume$score_name, vapply(trials, `[[`, "", "score_name")))[1L]
  controls <- c(resume$controls, lapply(trials, `[[`, "control"))
  best <- best_of(table$score, name)
  control <- controls[[best]]
  control$tau <- short_tau(control$tau, table$epochs[best])
  control$epochs <- table$epochs[best]
  attr(control, "given") <- names(control)
  structure(class = "protonam_tune", list(
    trials = table, best = control, best_trial = table$trial[best], best_score = table$score[best], score_name = name,
    judged = resume$judged %||% unlist(lapply(trials, `[[`, "judged"))[1L],
    seconds = c(resume$seconds, vapply(trials, `[[`, 0, "seconds")), controls = controls, space = space,
    seed = seed, fingerprint = fingerprint, call = call
  ))
}

trial_fields <- c("trial", "rung", "epochs", "score", "best_epoch", "status")

#' Earlier trials with the present columns
#' @noRd
fill_columns <- function(trials, names) {
  if (is.null(trials)) {
    return(NULL)
  }
  for (name in setdiff(names, names(trials))) trials[[name]] <- NA
  trials[names]
}

check_resume <- function(resume, fingerprint) {
  if (is.null(resume)) {
    return(invisible())
  }
  if (!inherits(resume, "protonam_tune")) {
    pn_abort("{.arg resume} must come from {.fn tune_protonam}, not be {describe(resume)}.",
      class = "argument", arg = "resume"
    )
  }
  if (!identical(resume$fingerprint, fingerprint)) {
    pn_abort(
      c(
        "{.arg resume} comes from other data, or from another formula, order, family or validation.",
        i = "Scores would not be comparable; start a new search."
      ),
      class = "resume", arg = "resume"
    )
  }
  invisible()
}

#' @export
print.protonam_tune <- function(x, digits = 4L, ...) {
  ran <- sum(!is.na(x$trials$score))
  cat(sprintf("Random search, %s (%d with a score), %.0f s\n", count(nrow(x$trials), "trial"), ran, sum(x$seconds)))
  cat(sprintf(
    "Best: trial %d, %s %s %s\n\n", x$best_trial, x$judged %||% "validation", validation_label(x$score_name),
    format(x$best_score, digits = digits)
  ))
  # a column per trial: settings are too many for the width of a page
  best_first <- utils::head(order(if (score_grows(x$score_name)) -x$trials$score else x$trials$score), 5L)
  shown <- x$trials[best_first, setdiff(names(x$trials), c("trial", "rung", "best_epoch", "status"))]
  shown <- shown[c("score", "epochs", setdiff(names(shown), c("score", "epochs", "epochs_full")))]
  names(shown)[1:2] <- c(validation_label(x$score_name), "epochs trained")
  text <- vapply(shown, function(column) {
    vapply(column, function(value) format(value, digits = digits), "")
  }, character(nrow(shown)))
  text <- t(matrix(text, nrow(shown), dimnames = list(paste("trial", x$trials$trial[best_first]), names(shown))))
  print(text, quote = FALSE, right = TRUE)
  cat("\nSettings in $best, all trials in $trials\n")
  invisible(x)
}
