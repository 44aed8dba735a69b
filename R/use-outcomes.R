# Outcomes: rows with what was observed and what was predicted, out of fold or in new data. What validate_protonam(),
# calibration(), discrimination() and decision_curve() have in common.

#' A fit, and nothing else
#' @noRd
need_fit <- function(fit, arg = "fit") {
  refuse_if(!inherits(fit, "protonam"), fit, arg, "a protonam fit")
  check_fit(fit)
}

#' Outcomes of a fit
#'
#' @param newdata NULL for out-of-fold predictions.
#' @param data NULL, or the data of the fit, for `by` and groups.
#' @param by NULL, or a role (R/data-frame.R): groups to be told apart.
#' @param caller Where the fit's call is evaluated to find its data.
#' @param dots Further arguments of predict().
#' @return list(sets: a list of outcomes (R/model-measures.R), one per response, named after it; by: NULL or a factor
#'   per row; by_name; source: words for where the rows come from;
#'   unit: what an observation is)
#' @noRd
outcomes_of <- function(fit, newdata, data = NULL, by = NULL, caller = globalenv(), dots = list()) {
  out <- if (is.null(newdata)) outcomes_left_out(fit, data, by, caller, dots) else outcomes_new(fit, newdata, by, dots)
  out$unit <- if (isTRUE(fit$response$trials)) "trial" else "row"
  out
}

outcomes_left_out <- function(fit, data, by, caller, dots) {
  need_out_of_fold(
    fit, "fit",
    hint = "Give {.arg newdata}, or use {.code validate_protonam(fit, \"bootstrap\")}."
  )
  check_dots_empty(dots, character())
  groups <- row_roles(fit, data, by, caller)
  known <- which(!is.na(fit$out_of_fold[, 1L]))
  list(
    sets = outcome_sets(fit, fit$out_of_fold, fit$y, fit$weights, groups$group, known),
    by = groups$by[known], by_name = groups$by_name, source = "out of fold"
  )
}

#' Groups of the rows of a fit, and those of `by`
#' @return list(group, by, by_name), NULL for none
#' @noRd
row_roles <- function(fit, data, by, caller) {
  asked <- if (is.call(fit$call)) fit$call[["groups"]]
  if (is.null(by) && is.null(asked)) {
    return(list())
  }
  if (is.null(asked) && !inherits(by, "formula") && length(by) == fit$nobs && is.null(data)) {
    return(list(by = group_factor(by), by_name = "by"))
  }
  own <- role_data(fit, data, caller, needed = !is.null(by) || !is.null(data))
  if (!is.list(own)) {
    return(list())
  }
  take <- function(role, arg) {
    if (is.null(role)) {
      return(NULL)
    }
    role <- resolve_role(role, own$columns, fit$env, arg, own$n)
    list(value = take_rows(role$value, own$rows, own$n), name = role$name)
  }
  by <- take(by, "by")
  if (!is.null(by)) refuse_numbers(by$value, by$name, "by")
  list(
    group = take(call_argument(fit, "groups", caller), "groups")$value, by = if (!is.null(by)) group_factor(by$value),
    by_name = by$name
  )
}

#' The data of a fit; where they cannot be found, an error if they are needed, and otherwise a warning
#' @noRd
role_data <- function(fit, data, caller, needed) {
  tryCatch(fit_data(fit, data, caller), protonam_error_data_not_found = function(e) {
    # there is an answer, though one that is too sure of itself
    if (needed) stop(e)
    pn_warn(
      c(
        "The groups of the fit are not known, so intervals treat rows as independent.",
        i = "{.arg data}, the data of the fit, would give them."
      ),
      class = "groups_unknown", arg = "data"
    )
  })
}

outcomes_new <- function(fit, newdata, by, dots) {
  check_predict_dots(dots)
  columns <- newdata_columns(newdata, empty = FALSE)
  n <- data_rows(columns)
  value <- new_response(fit, columns)
  by <- resolve_role(by, columns, fit$env, "by", n, "newdata")
  if (!is.null(by)) refuse_numbers(by$value, by$name, "by")
  link <- as.matrix(do.call(predict.protonam, c(list(fit, newdata, type = "link"), dots)))
  weights <- new_weights(fit, columns, n)
  y <- if (!isTRUE(fit$response$trials)) apply_response(fit$response, value)
  copies <- if (is.null(y)) new_trials(value, fit$response$name)
  kept <- if (is.null(y)) which(seq_len(n) %in% copies$at) else which(!rowSums(!is.na(y)) == 0)
  if (!length(kept)) {
    pn_abort("No row has a value of the response {.field {fit$response$name}}.", class = "no_rows", arg = "newdata")
  }
  if (length(kept) < n) {
    pn_inform(
      paste0(
        "{n - length(kept)} row{?s} {?is/are} left out because the response {.field {fit$response$name}} is missing",
        if (is.null(y)) " or counts no trials", "."
      ),
      class = "dropped_rows"
    )
  }
  if (!is.null(copies)) {
    # an event and a non-event of each row
    link <- link[copies$at, , drop = FALSE]
    y <- matrix(copies$event)
    weights <- copies$count * (weights %||% rep(1, n))[copies$at]
    kept <- seq_along(copies$at)
  }
  sets <- outcome_sets(fit, link, y, weights, NULL, kept)
  check_both_classes(fit, sets)
  list(
    sets = sets, by = if (!is.null(by)) group_factor(by$value)[copies$at %||% kept], by_name = by$name,
    source = "new data"
  )
}

#' The response as new data have it
#' @noRd
new_response <- function(fit, columns) {
  name <- fit$response$name
  expr <- if (!is.null(fit$formula)) fit$formula[[2L]] else as.name(name)
  wanted <- all.vars(expr)
  absent <- setdiff(intersect(wanted, c(fit$data_names, name)), names(columns))
  if (is.null(fit$formula)) absent <- setdiff(fit$response$names %||% name, names(columns))
  if (length(absent)) {
    pn_abort(
      c(
        "{.arg newdata} lacks the response {.field {name}}: without it, predictions cannot be compared with anything.",
        i = if (is.null(fit$formula)) "Add it as {cli::qty(absent)}column{?s} {.field {absent}}."
      ),
      class = "missing_column", arg = "newdata"
    )
  }
  if (is.null(fit$formula) && !is.null(fit$response$names)) {
    return(unclass(columns)[fit$response$names])
  }
  evaluate_response(expr, columns, fit$env)$value
}

#' Case weights of new rows, where the data have them
#' @noRd
new_weights <- function(fit, columns, n) {
  weights <- if (is.call(fit$call)) fit$call[["weights"]]
  needed <- if (is.language(weights)) all.vars(weights)
  if (length(needed) && all(needed %in% names(columns))) check_weights(eval(weights, columns, fit$env), n, seq_len(n))
}

#' Two classes must both be there
#' @noRd
check_both_classes <- function(fit, sets) {
  if (fit$family$family != "binomial") {
    return(invisible())
  }
  for (name in names(sets)) {
    if (length(unique(sets[[name]]$y)) < 2L) {
      levels <- fit$response$levels
      if (is.list(levels)) levels <- levels[[match(name, names(sets))]]
      only <- levels[sets[[name]]$y[1L] + 1L]
      pn_abort(
        c(
          "All rows of {.arg newdata} have {.field {name}} {.val {only}}.",
          i = "Discrimination and calibration need both classes."
        ),
        class = "one_class", arg = "newdata"
      )
    }
  }
}

#' Outcomes of every response
#' @param link [rows, visible outputs]; y [rows, responses]; weights, group: NULL or per row; at: rows to use
#' @noRd
outcome_sets <- function(fit, link, y, weights, group, at) {
  family <- fit$family
  link <- unname(link)
  mean <- unname(as.matrix(from_link(fit, link, "response")))
  names <- fit$response$names %||% fit$response$name
  several <- family$family == "multinomial"
  sets <- lapply(seq_along(names), function(j) {
    rows <- list(
      family = family, y = y[, j], mean = if (several) mean else mean[, j], link = if (!several) link[, j],
      weights = weights, group = group, index = seq_len(nrow(y))
    )
    # case weights multiply the trials, as in glm()
    if (isTRUE(fit$response$trials)) rows$trials <- weights
    rows$event <- if (family$family == "binomial" && is.null(rows$trials)) {
      (if (is.list(fit$response$levels)) fit$response$levels[[j]] else fit$response$levels)[2L]
    }
    keep <- at[!is.na(rows$y[at])]
    out <- take_outcomes(rows, keep)
    out$index <- match(keep, at)
    out
  })
  stats::setNames(sets, names)
}

#' Groups as a factor, missing ones as a level
#' @noRd
group_factor <- function(value) {
  id <- if (is.factor(value)) droplevels(value) else factor(value)
  if (anyNA(id)) {
    id <- factor(ifelse(is.na(id), missing_level, as.character(id)), levels = unique(c(levels(id), missing_level)))
  }
  id
}

#' The parts of outcomes that are looked at one by one: responses or classes, and groups
#'
#' @param classes Of several classes, each against the rest?
#' @return list of outcomes with the fields `response`, `class` and `group_name`, NA where there is only one
#' @noRd
split_outcomes <- function(fit, outcomes, classes = FALSE) {
  several <- length(outcomes$sets) > 1L
  parts <- list()
  for (name in names(outcomes$sets)) {
    rows <- outcomes$sets[[name]]
    rows$response <- if (several) name else NA_character_
    rows$class <- NA_character_
    own <- if (classes && is.matrix(rows$mean)) class_outcomes(rows, fit$response$levels) else list(rows)
    for (part in own) {
      part$group_name <- NA_character_
      parts <- c(parts, list(part))
      for (level in levels(outcomes$by)) {
        at <- outcomes$by[rows$index] == level
        one <- take_outcomes(part, at)
        one$group_name <- level
        if (any(at)) parts <- c(parts, list(one))
      }
    }
  }
  parts
}

#' Each class against the rest, as outcomes of two classes
#' @noRd
class_outcomes <- function(rows, levels) {
  lapply(seq_along(levels), function(k) {
    one <- rows
    one$family <- stats::binomial()
    one$y <- as.double(rows$y == k - 1)
    one$mean <- rows$mean[, k]
    inside <- pmin(pmax(one$mean, 1e-12), 1 - 1e-12)
    one$link <- stats::qlogis(inside)
    one$class <- levels[k]
    one$event <- levels[k]
    one
  })
}

#' Columns that identify parts, those with more than one value
#' @noRd
part_columns <- function(parts) {
  field <- function(name) vapply(parts, `[[`, "", name)
  table <- data.frame(response = field("response"), class = field("class"), group = field("group_name"))
  table$group[is.na(table$group)] <- all_rows
  table[c(!all(is.na(table$response)), !all(is.na(table$class)), any(table$group != all_rows))]
}

all_rows <- "(all)"

#' The one outcome of two classes that a decision or a ROC curve is about
#' @param response NULL, or a response or class by name.
#' @return outcomes with one set
#' @noRd
choose_event <- function(fit, outcomes, response) {
  family <- fit$family$family
  if (!family %in% c("binomial", "multinomial")) {
    pn_abort("This needs classes; the fit is a {family} fit.", class = "family", arg = "fit")
  }
  choices <- if (family == "multinomial") fit$response$levels else fit$response$names
  pick <- choose_output(choices, response)
  if (is.null(choices)) {
    return(outcomes)
  }
  rows <- if (family == "multinomial") {
    class_outcomes(outcomes$sets[[1L]], choices)[[pick]]
  } else {
    outcomes$sets[[pick]]
  }
  outcomes$sets <- stats::setNames(list(rows), response)
  outcomes
}

#' Which of several outputs
#' @noRd
choose_output <- function(choices, response) {
  if (is.null(choices)) {
    if (!is.null(response)) {
      pn_abort(
        "{.arg response} selects one of several; this fit has one response.",
        class = "argument", arg = "response"
      )
    }
    return(1L)
  }
  if (!is.character(response) || length(response) != 1L || !response %in% choices) {
    given <- describe(response)
    pn_abort(
      c("{.arg response} must be one of {.or {.val {choices}}}, not {given}.", suggest(response, choices)),
      class = "argument", arg = "response"
    )
  }
  match(response, choices)
}
