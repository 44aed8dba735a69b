# print() and summary(): what was fitted, to which data, how well it predicts, and what each term does.

validation_labels <- c(mse = "RMSE", auc = "AUC", logloss = "log-loss", deviance = "deviance")

model_title <- function(object) {
  order <- object$order
  name <- if (order == 1) "ProtoNAM" else sprintf("ProtoNA%sM", if (is.infinite(order)) "n" else format(order))
  kind <- c(gaussian = "regression", binomial = "two classes", multinomial = "several classes", poisson = "counts")
  sprintf("%s (order %s), %s", name, format(order), kind[[object$family$family]])
}

#' The call without data that were passed by value
#' @noRd
format_call <- function(call) {
  for (i in if (is.call(call)) seq_along(call)[-1L]) {
    if (is.null(call[[i]])) next
    if (!is.language(call[[i]]) && (is.list(call[[i]]) || length(call[[i]]) > 5L)) {
      call[[i]] <- as.name(paste0("<", class(call[[i]])[1L], ">"))
    }
  }
  text <- deparse(call, width.cutoff = 76L)
  if (length(text) > 4L) text <- c(text[1:4], "    ...")
  text
}

#' Lines "label  value" of the header
#' @noRd
model_facts <- function(object) {
  encoders <- object$encoder
  categorical <- sum(vapply(encoders, is_categorical, NA))
  missing <- sum(vapply(encoders, `[[`, NA, "has_missing"))
  features <- c(
    count(length(encoders), "feature"),
    if (categorical) paste(categorical, "categorical"),
    if (missing) paste(missing, "with missing values")
  )
  response <- object$response
  trials <- isTRUE(response$trials)
  rows <- if (trials) {
    trials_fact(object)
  } else {
    c(
      count(object$n_train, "training row"),
      if (object$n_validation > 0) count(object$n_validation, "validation row")
    )
  }
  what <- if (!is.null(response$names)) {
    paste0(length(response$names), " responses: ", some(response$names, quote = ""))
  } else if (trials) {
    paste0(response$name, ", successes and failures")
  } else if (object$family$family == "binomial") {
    paste0(response$name, ", event ", encodeString(response$levels[2L], quote = "\""))
  } else if (object$family$family == "multinomial") {
    paste0(response$name, ", ", length(response$levels), " classes: ", some(response$levels))
  } else {
    response$name
  }
  facts <- c(
    Response = what,
    Rows = paste(rows, collapse = ", "),
    Features = paste(features, collapse = ", "),
    if (object$order > 1) c(Components = format(length(object$term_names), big.mark = ",")),
    if (!is.null(object$task)) c(Task = paste0(object$task$name, ": ", some(object$task$levels))),
    if (object$control$procedure %||% "paper" == "crossfit") own_facts(object) else paper_facts(object)
  )
  c(facts, if (!is.null(object$elapsed)) c(Time = format_seconds(object$elapsed)))
}

#' Facts about a fit by the paper's procedure
#' @noRd
paper_facts <- function(object) {
  c(
    if (length(object$members) > 1L) c(Ensemble = ensemble_fact(object)),
    Validation = validation_fact(object)
  )
}

#' Facts about a fit by the package's default procedure: members, features with prototypes, scores of rows left out
#' @noRd
own_facts <- function(object) {
  members <- length(object$members)
  names <- feature_names(object)[engine_of(object)$net]
  single <- if (has_base(object)) has_values(object$base) else FALSE
  judged <- object$judged
  scores <- judged$scores
  number <- function(x) formatC(x, digits = 3L, format = "fg", flag = "#")
  text <- if (is.null(scores)) {
    if (is.null(judged)) "none: one model" else NULL
  } else {
    interval <- sprintf(" (%s to %s)", number(scores$lower), number(scores$upper))
    paste0(scores$score, " ", number(scores$value), ifelse(is.na(scores$lower), "", interval))
  }
  # one score to a line, under one label
  label <- if (identical(judged$rows, "validation")) "Validation" else "Out of fold"
  labels <- c(label, rep("", max(length(text), 1L) - 1L))
  facts <- c(
    Members = if (members > 1L) sprintf("%d, each without one fold of the rows", members) else "1 (no band)",
    if (has_base(object)) {
      none <- if (any(single)) "none" else "none: all shapes are smooth"
      c(
        if (object$order > 1) {
          c("Smooth part" = "below the network, which predicts better with it out of fold")
        } else {
          c(Prototypes = if (length(names)) some(names, quote = "") else none)
        },
        "Single values" = if (any(single)) some(feature_names(object)[single], quote = "")
      )
    },
    if (length(text)) stats::setNames(text, labels[seq_along(text)])
  )
  if (isTRUE(object$gain < 1)) {
    facts <- c(facts, Note = "nothing was learned that holds out of fold")
  } else if (!is.null(object$calibration)) {
    line <- object$calibration
    facts <- c(facts, Note = if (line[["slope"]] == 1) {
      sprintf("recalibrated by a shift of %s", number(line[["intercept"]]))
    } else {
      sprintf("recalibrated by a slope of %s", number(line[["slope"]]))
    })
  }
  facts
}

#' How many members there are, and how each performs
#' @noRd
ensemble_fact <- function(object) {
  paste(c(
    count(length(object$members), "member"), if (isTRUE(object$bootstrap)) "each on rows drawn with replacement",
    if (!is.null(object$ensemble_score)) paste(judged_by(object), members_range(object))
  ), collapse = ", ")
}

#' Mean and range of the members' scores
#' @noRd
members_range <- function(object) {
  scores <- member_scores(object)
  text <- vapply(c(mean(scores), range(scores)), format, "", digits = 4L)
  sprintf("%s on average, %s to %s", text[1L], text[2L], text[3L])
}

member_scores <- function(object) {
  scores <- vapply(object$members, `[[`, 1, "score")
  if (object$members[[1L]]$score_name == "mse") sqrt(scores) else scores
}

judged_by <- function(object) {
  name <- object$members[[1L]]$score_name
  paste0(validation_labels[[name]], if (name == "mse" && !is.null(object$response$names)) " (standardised)")
}

#' Best score and epoch; for an ensemble the score of its average, else mean and range over the members
#' @noRd
validation_fact <- function(object) {
  members <- object$members
  epochs <- vapply(members, function(member) nrow(member$history), 1L)
  best <- vapply(members, `[[`, 1L, "best_epoch")
  same <- min(best) == max(best)
  where <- if (same) sprintf("best epoch %d", best[1L]) else sprintf("best epochs %d to %d", min(best), max(best))
  where <- sprintf("%s of %d", where, as.integer(object$control$epochs))
  if (max(epochs) < object$control$epochs) where <- paste0(where, ", stopped at ", max(epochs))
  scores <- member_scores(object)
  if (all(is.na(scores))) {
    return(sprintf("none, last epoch %d", max(epochs)))
  }
  one <- object$ensemble_score %||% if (length(scores) == 1L) scores
  paste0(judged_by(object), " ", if (is.null(one)) members_range(object) else format(one, digits = 4L), "; ", where)
}

format_seconds <- function(seconds) {
  if (seconds < 59.95) sprintf("%.1f s", seconds) else sprintf("%d min %02d s", seconds %/% 60, round(seconds %% 60))
}

cat_facts <- function(facts) {
  cat(paste0("  ", format(names(facts)), "  ", facts, "\n"), sep = "")
}

#' Print and summarise a fit
#'
#' `print()` shows which model was fitted, to how many rows, which features have prototypes, and how well the fit
#' predicts rows that were left out. `summary()` adds the settings and a table of the terms: their importance (mean
#' absolute effect over the training rows), the range of their effects, and the effect of a missing value with the
#' number of rows on which it is based. Effects are on the link scale, centred over the training rows.
#'
#' @section Scores: Scores of the default fit are out-of-fold scores: each row is predicted by the member that was not
#' trained on it. With `validation` they are those of the validation rows. The intervals are 95 % intervals: for
#' log-loss, deviance and mean squared error they are based on the standard error of the mean over rows, or over groups;
#' for the AUC, on Newcombe's score method with the standard error of Hanley and McNeil. The calibration slope is that
#' of a regression of the response on the linear predictor; a slope below 1 indicates that predictions are too extreme.
#' If the gain over a model without features is less than one standard error, `print()` reports that nothing was
#' learned.
#'
#' @section Evidence: In the table of terms, `edf` gives the effective degrees of freedom of the smooth component.
#' `prototypes` gives the evidence from the screening: z, by how many standard errors a feature's prototypes reduce the
#' loss of left-out rows further than a smooth curve does, and "step", the z of the clearest step in all rows; see
#' [protonam()] for how they are combined. Values in parentheses were not sufficient, and the feature is smooth.
#' `jumps` lists the positions of jumps that hold. "single values" denotes a feature whose values have separate effects
#' in addition to the curve, see [protonam()], with the z on which this was decided. These are screening measures, not
#' tests.
#'
#' @param object,x A fit, or its summary.
#' @param n Maximum number of terms to print, the most important ones first.
#' @param digits Significant digits.
#' @param ... Nothing.
#' @return `summary()` returns a list of class `summary.protonam` with `call`, `facts`, `effects` (the term table, a
#'   data frame), `judged` (the scores of left-out rows with their intervals, a data frame, or `NULL`), `scores` (one
#'   row per member), `task_scores` (one row per group or response, for the training rows, for the same rows out of
#'   fold, and for the validation rows; `NULL` if there is only one) and `control`. `print()` returns its argument,
#'   invisibly.
#' @examples
#' fit <- protonam(mpg ~ wt + hp + qsec, mtcars, epochs = 20, seed = 1)
#' fit
#' summary(fit)
#' @export
summary.protonam <- function(object, ...) {
  object <- check_fit(object)
  scores <- data.frame(
    member = seq_along(object$members), seed = vapply(object$members, `[[`, 1, "seed"),
    best_epoch = vapply(object$members, `[[`, 1L, "best_epoch"), score = vapply(object$members, `[[`, 1, "score"),
    score_name = vapply(object$members, `[[`, "", "score_name")
  )
  effects <- object$effects
  if (!is.null(effects)) {
    # the number of rows on which the effect of a missing value is based
    absent <- vapply(object$encoder, function(encoder) encoder$support$missing %||% 0, 0)
    if (!is.null(object$jumps)) effects$jumps <- jumps_in_words(object)
    effects$missing_rows <- ifelse(is.na(effects$missing), NA, absent[match(effects$term, feature_names(object))])
    effects <- effects[order(match(effects$output, unique(effects$output)), -effects$importance), ]
    rownames(effects) <- NULL
  }
  structure(
    list(
      title = model_title(object), call = object$call, facts = model_facts(object), effects = effects, scores = scores,
      judged = object$judged$scores, task_scores = object$task_scores, control = object$control, order = object$order,
      link = object$family$link,
      task_kind = if (is.null(object$task)) "response" else object$task$name
    ),
    class = "summary.protonam"
  )
}

#' @rdname summary.protonam
#' @export
print.protonam <- function(x, ...) {
  given <- x
  x <- check_fit(x)
  cat(model_title(x), "\n\n", sep = "")
  cat(paste0("  ", format_call(x$call), "\n"), sep = "")
  cat("\n")
  cat_facts(model_facts(x))
  invisible(given)
}

#' @rdname summary.protonam
#' @export
print.summary.protonam <- function(x, n = 30, digits = 3, ...) {
  cat(x$title, "\n\n", sep = "")
  cat(paste0("  ", format_call(x$call), "\n"), sep = "")
  cat("\n")
  cat_facts(c(x$facts, Settings = format_settings(x$control)))
  if (!is.null(x$task_scores)) print_task_scores(x$task_scores, x$task_kind)
  if (!is.null(x$effects)) {
    print_effects(x$effects, n, digits, x$link)
  } else if (x$order <= 2) {
    cat("\nNo effects of the terms: they could not be computed after training.\n")
  }
  invisible(x)
}

format_settings <- function(control) {
  size <- sprintf("%d prototypes, %d layers, %d hidden units", control$prototypes, control$layers, control$hidden)
  sprintf("%s; batches of %d, learning rate %s", size, control$batch_size, format(control$lr))
}

print_effects <- function(effects, n, digits, link) {
  outputs <- unique(effects$output)
  scale <- if (link == "identity") "" else paste0(" on the ", link, " scale")
  cat("\nEffects of the terms", scale, ", centred over the training rows\n", sep = "")
  for (output in outputs) {
    table <- effects[effects$output == output, ]
    shown <- utils::head(table, n)
    if (length(outputs) > 1L) cat("\n", output, "\n", sep = "")
    # as many decimals as give the largest importance its digits
    largest <- max(table$importance)
    decimals <- if (largest > 0) max(0, digits - 1 - floor(log10(largest))) else digits
    number <- function(x) fixed_text(x, decimals)
    range <- paste(format(number(shown$low), justify = "right"), "to", format(number(shown$high), justify = "right"))
    lines <- data.frame(
      term = shown$term, importance = format(number(shown$importance), justify = "right"),
      bar = strrep("#", round(10 * shown$importance / max(table$importance, 1e-300))),
      range = range
    )
    if (!is.null(table$edf)) {
      lines$edf <- formatC(shown$edf, digits = 1L, format = "f")
      if (!is.null(table$edf_found)) lines$edf <- sprintf("%s (found %.1f)", lines$edf, shown$edf_found)
      lines$prototypes <- evidence_text(shown)
    }
    if (any(nzchar(table$jumps %||% ""))) lines$jumps <- shown$jumps
    if (any(!is.na(table$missing))) {
      rows <- format(shown$missing_rows, digits = 1L, big.mark = ",", scientific = FALSE, trim = TRUE)
      text <- ifelse(is.na(shown$missing), "", paste0(number(shown$missing), " (n = ", rows, ")"))
      lines$missing <- format(text, justify = "right")
    }
    names(lines)[names(lines) == "bar"] <- ""
    width <- max(nchar(lines$term, "width"))
    lines$term <- formatC(lines$term, width = -width, flag = "-")
    print(lines, row.names = FALSE, right = FALSE)
    if (nrow(table) > n) cat("... and ", count(nrow(table) - n, "more term", "more terms"), "\n", sep = "")
  }
}

#' The evidence for prototypes, in a word or two
#' @noRd
evidence_text <- function(effects) {
  z <- ifelse(is.na(effects$evidence), "", sprintf("z = %.1f", effects$evidence))
  step <- effects$step %||% rep(NA_real_, nrow(effects))
  z <- ifelse(is.na(step), z, sprintf("%s, step %.1f", z, step))
  text <- ifelse(effects$prototypes, ifelse(nzchar(z), z, "yes"), ifelse(nzchar(z), paste0("(", z, ")"), "-"))
  ifelse(is.na(effects$values), text, sprintf("single values, z = %.1f", effects$values))
}
