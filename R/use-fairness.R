# fairness(): how a classifier treats the groups of a variable. Its figure is in R/plot-fairness.R.

#' Fairness of a two-class model
#'
#' Compares a fit's predictions between the groups of any variable, whether this is the model's `task`, one of its
#' features, or not in the model at all. Several fits can be compared side by side.
#'
#' @param fit A fit for two classes, see [protonam()], or a named list of such fits. If there are several responses,
#'   `response` selects one. A fit for a numeric response that is always 0 or 1 is also accepted.
#' @param newdata A data frame with the features, preferably for rows on which the model was not trained.
#' @param response The observed classes: a column's name, a formula such as `~ died`, or a vector. By default the
#'   response of the fit, as found in `newdata`. Rows without one are left out, with a message.
#' @param group The groups: a column's name, a formula such as `~ gender`, or a vector. By default the fit's `task`.
#'   Rows without a group are shown as `"(missing)"`.
#' @param threshold Rows with a predicted probability above it are selected, that is, predicted to be events.
#' @param ... Further arguments of [predict.protonam()]: `task_default`, `offset` or `threads`.
#'
#' @return A data frame of class `protonam_fairness`, one row per group (and model, with a list of fits):
#' \describe{
#'   \item{`model`}{name of the fit, with a list of fits only}
#'   \item{`group`, `n`}{the group and its number of rows}
#'   \item{`base_rate`}{observed share of events}
#'   \item{`predicted`}{mean predicted probability}
#'   \item{`calibration`}{`predicted` minus `base_rate`: positive if the group's risk is overestimated}
#'   \item{`auc`}{area under the ROC curve within the group; `NA` for a group with only one class}
#'   \item{`selection_rate`}{share of rows selected at the threshold}
#'   \item{`tpr`, `fpr`}{share of rows selected among events (compared by equal opportunity) and among non-events}
#' }
#' Attributes: `"gaps"`, a data frame with, for each measure, the `gap` (largest minus smallest value over the groups),
#' the `ratio` (smallest to largest), and the groups that are `lowest` and `highest`; `"overall"`, the measures over all
#' rows; `"intervals"`, a data frame with a 95 % interval (`lower`, `upper`) for each `measure` in each group: Wilson's
#' for proportions, Student's for means, Newcombe's for the AUC; `"threshold"`. `summary()` returns the gaps.
#' @examples
#' icu <- simulate_icu(400, seed = 1)
#' fit <- protonam(died ~ age + lactate + sex, icu, task = ~ sex, epochs = 5, seed = 1)
#' f <- fairness(fit, icu, response = "died", group = "sex", threshold = 0.2)
#' f
#' summary(f)
#' plot(f)
#' @export
fairness <- function(fit, newdata, response = NULL, group = NULL, threshold = 0.5, ...) {
  need_newdata(if (!missing(newdata)) newdata)
  passed_on <- list(...)
  known <- c(names(formals(fairness)), "threads", "offset", "task_default")
  check_dots_empty(passed_on[!names(passed_on) %in% known], known)
  threshold <- check_number(threshold, "threshold", min = 0, max = 1)
  several <- is.list(fit) && !is.object(fit)
  fits <- check_fits(if (several) fit else list(fit), several)
  columns <- newdata_columns(newdata, empty = FALSE)
  parts <- lapply(fits, fairness_part, newdata, columns, response, group, threshold, passed_on)
  tables <- lapply(c(table = "table", gaps = "gaps", overall = "overall", intervals = "intervals"), function(what) {
    bind_models(lapply(parts, `[[`, what), if (several) names(fits))
  })
  structure(
    tables$table,
    class = c("protonam_fairness", "data.frame"), gaps = tables$gaps, overall = tables$overall,
    intervals = tables$intervals, threshold = threshold,
    response = parts[[1L]]$response, event = parts[[1L]]$event, group = parts[[1L]]$group
  )
}

fairness_measures <- c("base_rate", "predicted", "calibration", "auc", "selection_rate", "tpr", "fpr")

check_fits <- function(fits, several) {
  fits <- lapply(if (length(fits)) fits else list(NULL), check_two_classes)
  named <- !is.null(names(fits)) && all(nzchar(names(fits))) && !anyDuplicated(names(fits))
  if (several && !named) {
    pn_abort(
      "A list of fits must have names, as in {.code list(one = fit1, two = fit2)}.",
      class = "argument", arg = "fit"
    )
  }
  fits
}

check_two_classes <- function(fit) {
  refuse_if(!inherits(fit, "protonam"), fit, "fit", "a protonam fit or a list of them")
  fit <- check_fit(fit)
  if (!fit$family$family %in% c("binomial", "gaussian")) {
    pn_abort("{.fn fairness} compares two classes; this is a {fit$family$family} fit.", class = "family", arg = "fit")
  }
  fit
}

#' Tables of several models, one below the other
#' @noRd
bind_models <- function(tables, names) {
  if (is.null(names)) {
    return(tables[[1L]])
  }
  tables <- Map(function(table, name) cbind(model = name, table), tables, names)
  out <- do.call(rbind, tables)
  rownames(out) <- NULL
  out
}

#' One fit's tables
#' @return list(table, gaps, overall, response, event, group)
#' @noRd
fairness_part <- function(fit, newdata, columns, response, group, threshold, dots) {
  n <- data_rows(columns)
  observed <- observed_events(fit, columns, response, n)
  groups <- fairness_groups(fit, columns, group, n)
  prediction <- do.call(predict.protonam, c(list(fit, newdata), dots))
  if (is.matrix(prediction)) prediction <- prediction[, observed$column]
  known <- !is.na(observed$event)
  if (!any(known)) {
    pn_abort("No row has a value of the response {.field {observed$name}}.", class = "no_rows", arg = "response")
  }
  if (any(!known)) {
    pn_inform(
      "{sum(!known)} row{?s} {?is/are} left out because the response {.field {observed$name}} is missing.",
      class = "dropped_rows"
    )
  }
  event <- observed$event[known] == 1
  prediction <- unname(prediction)[known]
  rows <- split(seq_along(event), droplevels(groups$id[known]))
  table <- do.call(rbind, lapply(rows, function(at) group_measures(prediction[at], event[at], threshold)))
  table <- data.frame(group = factor(names(rows), levels = names(rows)), table, row.names = NULL)
  ends <- lapply(names(rows), function(name) {
    at <- rows[[name]]
    data.frame(group = name, group_intervals(prediction[at], event[at], threshold))
  })
  list(
    table = table, intervals = do.call(rbind, ends), gaps = group_gaps(table),
    overall = group_measures(prediction, event, threshold), response = observed$name, event = observed$label,
    group = groups$name
  )
}

#' What the fit predicts, as observed in new data
#' @return list(event = 0, 1 or NA per row, column = which column of the predictions, name, label of the event)
#' @noRd
observed_events <- function(fit, columns, response, n) {
  own <- fit$response
  if (!is.null(own$names)) {
    given <- if (inherits(response, "formula") && length(response) == 2L) deparse1(response[[2L]]) else response
    if (!is.character(given) || length(given) != 1L || !given %in% own$names) {
      pn_abort(
        "Of several responses {.arg response} must be one, {.or {.val {own$names}}}, not {describe(given)}.",
        class = "argument", arg = "response"
      )
    }
    column <- match(given, own$names)
    own <- list(name = given, levels = own$levels[[column]])
    response <- given
  } else {
    column <- 1L
  }
  if (is.null(response)) {
    if (isTRUE(fit$response$trials)) {
      pn_abort("{.arg response} is needed: the fit is one of counts of trials.", class = "argument", arg = "response")
    }
    expr <- if (!is.null(fit$formula)) fit$formula[[2L]] else as.name(own$name)
    absent <- setdiff(intersect(all.vars(expr), c(fit$data_names, own$name)), names(columns))
    if (length(absent)) {
      pn_abort(
        "{.arg newdata} lacks the response {.field {own$name}}; specify it with {.code response = }.",
        class = "missing_column", arg = "response"
      )
    }
    response <- list(value = evaluate(expr, columns, fit$env), name = own$name)
  } else {
    response <- resolve_role(response, columns, fit$env, "response", n, "newdata")
    if (response$name == "response") response$name <- own$name
  }
  list(
    event = code_events(response$value, own$levels, response$name), column = column, name = response$name,
    label = own$levels[2L]
  )
}

#' Events as 1, others as 0: by the fit's classes, else TRUE and 1 are events
#' @noRd
code_events <- function(y, levels, name) {
  label <- as.character(y)
  classes <- unique(label[!is.na(label)])
  if (!is.null(levels) && all(classes %in% levels)) {
    return(match(label, levels) - 1)
  }
  if (is.logical(y) || (is.numeric(y) && all(y %in% c(0, 1, NA)))) {
    return(as.double(y))
  }
  if (is.null(levels)) {
    pn_abort(
      "The response {.field {name}} must be 0 or 1 here; it has other values.",
      class = "response", arg = "response"
    )
  }
  pn_abort(
    "The response {.field {name}} has {some(setdiff(classes, levels))}; the model knows {some(levels)}.",
    class = "response", arg = "response"
  )
}

#' Groups of all rows
#' @return list(id = factor, name)
#' @noRd
fairness_groups <- function(fit, columns, group, n) {
  if (is.null(group)) {
    if (is.null(fit$task$expr)) {
      pn_abort("{.arg group} is needed: the fit has no task.", class = "argument", arg = "group")
    }
    group <- stats::as.formula(call("~", fit$task$expr), fit$env)
  }
  group <- resolve_role(group, columns, fit$env, "group", n, "newdata")
  refuse_numbers(group$value, group$name, "group")
  id <- group_factor(group$value)
  if (nlevels(id) < 2L) {
    pn_inform(
      "{.field {group$name}} has only one group, {some(levels(id))}: there is nothing to compare.",
      class = "one_group"
    )
  }
  list(id = id, name = group$name)
}

#' Measures of one group, a data frame of one row
#' @param event Logical.
#' @noRd
group_measures <- function(prediction, event, threshold) {
  selected <- prediction > threshold
  share <- function(x) if (length(x)) mean(x) else NA_real_
  data.frame(
    n = length(event), base_rate = share(event), predicted = share(prediction),
    calibration = share(prediction) - share(event), auc = score_auc(as.double(event), prediction),
    selection_rate = share(selected), tpr = share(selected[event]), fpr = share(selected[!event])
  )
}

#' How far apart the groups are, measure by measure
#' @noRd
group_gaps <- function(table) {
  each <- lapply(fairness_measures, function(measure) {
    value <- table[[measure]]
    seen <- which(!is.na(value))
    low <- seen[which.min(value[seen])]
    high <- seen[which.max(value[seen])]
    if (length(seen) < 2L) {
      return(data.frame(measure = measure, gap = NA_real_, ratio = NA_real_, lowest = NA, highest = NA))
    }
    # a ratio of differences would mean nothing
    ratio <- if (measure == "calibration" || value[high] <= 0) NA_real_ else value[low] / value[high]
    data.frame(
      measure = measure, gap = value[high] - value[low], ratio = ratio,
      lowest = as.character(table$group[low]), highest = as.character(table$group[high])
    )
  })
  do.call(rbind, each)
}

#' @rdname fairness
#' @param object,x An object returned by `fairness()`.
#' @export
summary.protonam_fairness <- function(object, ...) attr(object, "gaps")

# a subset of the table is a plain data frame: gaps and overall measures would not refer to it
#' @export
`[.protonam_fairness` <- function(x, ...) plain_frame(NextMethod())

#' @rdname fairness
#' @param digits Decimals.
#' @export
print.protonam_fairness <- function(x, digits = 3, ...) {
  gaps <- attr(x, "gaps")
  complete <- all(c("group", "n", fairness_measures) %in% names(x))
  if (is.null(gaps) || !complete || anyDuplicated(x[intersect(c("model", "group"), names(x))])) {
    # changed or bound together by hand
    print(as.data.frame(x), digits = digits, ...)
    return(invisible(x))
  }
  event <- attr(x, "event")
  cat(
    "Fairness by ", attr(x, "group"), " of predictions of ", attr(x, "response"),
    if (!is.null(event)) paste0(" (event ", encodeString(event, quote = "\""), ")"),
    ", selected above ", format(attr(x, "threshold")), "\n",
    sep = ""
  )
  models <- unique(x$model) %||% NA
  for (model in models) {
    own <- function(table) if (is.na(model)) table else table[table$model == model, , drop = FALSE]
    cat("\n", if (!is.na(model)) paste0(model, "\n"), sep = "")
    print_fairness(own(as.data.frame(x)), own(attr(x, "overall")), own(gaps), digits)
  }
  invisible(x)
}

#' One model's groups, all rows, and gaps, as aligned text
#' @noRd
print_fairness <- function(table, overall, gaps, digits) {
  number <- function(x) ifelse(is.na(x), "", formatC(x, digits = digits, format = "f"))
  lines <- rbind(
    vapply(fairness_measures, function(measure) number(table[[measure]]), character(nrow(table))),
    number(unlist(overall[fairness_measures])), number(gaps$gap)
  )
  count <- c(format(table$n, big.mark = ",", trim = TRUE), format(overall$n, big.mark = ","), "")
  shown <- cbind(n = count, lines)
  dimnames(shown) <- list(c(as.character(table$group), "(all)", "(gap)"), c("n", gsub("_", " ", fairness_measures)))
  print(shown, quote = FALSE, right = TRUE)
}
