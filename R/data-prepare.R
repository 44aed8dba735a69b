# From rows of the data to what the engine reads, and back to the rows afterwards. A part is a list that describes some
# of the rows: at (positions among the rows used), n, columns (function that extracts a column's rows), y, weights,
# offset, task. Its encoded form is list(at, data = engine rows, unknown).

#' Learn encoders from the training rows
#' @param target NULL, or a number per row by whose means levels without order are sorted.
#' @return list(encoders, features, counts, centers = [prototypes, features])
#' @noRd
encode_training <- function(columns, train, control, target = NULL) {
  counts <- as_counts(train$weights)
  prototypes <- control$prototypes %||% 1L
  own <- identical(control$procedure, "crossfit") && control$scaling == "quantile"
  fitted <- Map(function(x, name) {
    one <- fit_encoder(train$columns(x), name, counts, control$scaling, control$bins, prototypes, target, own)
    one$encoder$words <- column_words(x)
    one
  }, columns, names(columns))
  fitted <- unname(fitted)
  list(
    encoders = lapply(fitted, `[[`, "encoder"), features = lapply(fitted, `[[`, "feature"),
    counts = lapply(fitted, `[[`, "counts"), centers = vapply(fitted, `[[`, numeric(prototypes), "centers")
  )
}

#' Encode a part with fitted encoders
#' @return list(at, data, unknown); data is NULL for a part without rows
#' @noRd
encode_part <- function(encoders, part, response, columns = part$columns) {
  if (part$n == 0L) {
    return(list(at = integer(), data = NULL))
  }
  if (is.function(part$columns)) columns <- lapply(columns, part$columns)
  encoded <- encode_columns(encoders, columns, part$n)
  # as for training rows: the assignment of rows to the two sets is random
  if (length(encoded$infinite)) abort_infinite(encoded$infinite[1L], encoders[[1L]]$scaling$method)
  list(at = part$at, data = engine_rows(encoded$features, part, response), unknown = encoded$unknown)
}

#' Weights that single precision can hold
#'
#' Only their ratios matter, so a scale outside its range is removed, and weights below 1e-30 of the largest are set to
#' it.
#' @noRd
engine_weights <- function(weights) {
  used <- range(weights[weights > 0], 1)
  if (used[1L] >= 1e-15 && used[2L] <= 1e15) weights else pmax(weights / max(weights), 1e-30)
}

engine_rows <- function(features, part, response) {
  own <- engine_response(response, part$y, part$offset)
  encoded_data(features, part$n, own$y, part$task, relative_weights(part$weights), own$offset)
}

#' A validation data frame (or list(x, y)) as a part
#' @param offset_from From offset_source().
#' @noRd
validation_part <- function(validation, frame, response, task, offset_from) {
  if (is.null(frame$response$expr)) {
    if (!all(c("x", "y") %in% names(validation))) {
      pn_abort(
        "With {.code protonam(x, y)} {.arg validation} must be a fraction, row numbers, or {.code list(x = , y = )}.",
        class = "validation", arg = "validation"
      )
    }
    data <- as_columns(validation$x, "validation$x")
    value <- response_value(validation$y, "validation$y")
  } else {
    data <- as_columns(validation, "validation")
    check_names_exist(call("~", frame$response$expr), data, baseenv())
    value <- evaluate_response(frame$response$expr, data, frame$env)$value
  }
  n <- data_rows(data)
  check_column_lengths(response_columns(value, frame$response$name), n)
  known <- which(!missing_all(value))
  if (!length(known)) {
    pn_abort("{.arg validation} has no rows with a response.", class = "validation", arg = "validation")
  }
  take <- function(x) take_rows(x, known, n)
  weights <- frame$given$weights
  weights <- if (!is.null(weights) && length(all.vars(weights)) && all(all.vars(weights) %in% names(data))) {
    check_weights(eval(weights, data, frame$env), n, known)
  }
  columns <- columns_from(frame$variables, frame$data_names, frame$env, data)
  fitted_on <- list(offset = offset_from, variables = frame$variables, data_names = frame$data_names, env = frame$env)
  list(
    n = length(known), columns = lapply(columns, take), y = apply_response(response, take(value)), weights = weights,
    offset = new_offset(fitted_on, data, NULL, known, "validation"),
    task = if (!is.null(task)) task_groups(task, data, frame$env, n)[known]
  )
}

#' Feature columns from new data
#' @param data From as_columns().
#' @noRd
columns_from <- function(variables, data_names, env, data) {
  needed <- intersect(unique(unlist(lapply(variables, variables_in))), data_names)
  absent <- setdiff(needed, names(data))
  if (length(absent)) {
    pn_abort(
      c(
        "The data lack {cli::qty(length(absent))}column{?s} {.and {.field {absent}}}.",
        suggest(absent[1L], names(data))
      ),
      class = "missing_column", arg = absent
    )
  }
  columns <- lapply(variables, evaluate, data, env)
  check_column_lengths(columns, data_rows(data))
  columns
}

#' Group numbers of new rows; a missing or new group is an error unless there is a default
#' @noRd
task_groups <- function(task, data, env, n, default = NULL) {
  if (is.null(task$expr)) {
    pn_abort(
      c(
        "The model was fitted with {.arg task} as a vector.",
        i = "Fit with {.code task = ~ column} to predict from new data."
      ),
      class = "task", arg = "task"
    )
  }
  if (!is.null(default)) default <- check_choice(as.character(default), task$levels, "task_default")
  absent <- setdiff(all.vars(task$expr), names(data))
  if (length(absent) && is.null(default)) {
    pn_abort("The data lack the task column{?s} {.and {.field {absent}}}.", class = "missing_column", arg = absent)
  }
  value <- if (length(absent)) rep(default, n) else as.character(evaluate(task$expr, data, env))
  id <- match(value, task$levels)
  if (anyNA(id) && is.null(default)) {
    new <- unique(value[is.na(id)])
    pn_abort(
      c(
        "The task {.field {task$name}} has {some(ifelse(is.na(new), 'NA', new))}; the model knows {some(task$levels)}.",
        i = "Name the group to use instead: {.code task_default = {.val {task$levels[1]}}}."
      ),
      class = "task", arg = task$name
    )
  }
  id[is.na(id)] <- match(default, task$levels)
  id
}

#' Neither the task variable nor anything computed from it is a feature
#' @noRd
drop_task_feature <- function(frame, task, explicit) {
  if (is.null(task$expr)) {
    return(frame)
  }
  sensitive <- variables_in(task$expr)
  from_task <- vapply(names(frame$columns), function(name) {
    name %in% sensitive || any(variables_in(frame$variables[[name]]) %in% intersect(sensitive, frame$data_names))
  }, NA)
  used <- names(frame$columns)[from_task]
  if (!length(used)) {
    return(frame)
  }
  if (any(sensitive %in% explicit)) {
    pn_inform(
      "{.and {.field {used}}} {?is/are} not among the features: {.field {task$name}} is the {.arg task}.",
      class = "task_feature"
    )
  }
  keep <- setdiff(names(frame$columns), used)
  if (!length(keep)) {
    pn_abort("There are no features besides the {.arg task}.", class = "no_features", arg = "task")
  }
  frame$columns <- frame$columns[keep]
  frame$variables <- frame$variables[keep]
  if (!is.null(frame$formula)) frame$formula <- formula(drop_terms(stats::terms(frame$formula), used))
  frame
}

#' Where predictions obtain the offset
#'
#' @param offset The argument's value.
#' @return NULL (there was none), or list(terms = expressions to evaluate in new data, vector = was an offset given that
#'   new data cannot provide?)
#' @noRd
offset_source <- function(frame, offset) {
  argument <- frame$given$offset
  in_data <- length(all.vars(argument)) && all(all.vars(argument) %in% frame$data_names)
  terms <- c(frame$offset, if (in_data) list(argument))
  if (length(terms) || !is.null(offset)) list(terms = terms, vector = !is.null(offset) && !in_data)
}

#' Validation scores in the units of the response (several responses stay standardised)
#' @noRd
own_score <- function(member, response) {
  if (identical(member$score_name, "mse") && is.null(response$names)) {
    member$score <- member$score * response$scale^2
    member$history$score <- member$history$score * response$scale^2
  }
  member
}

#' Offset of new rows: as given, or from the data
#' @param object A fit, or a list of its fields offset, variables, data_names and env.
#' @param rows Row numbers of the data that need one.
#' @param source The argument that the data come from, for messages.
#' @noRd
new_offset <- function(object, data, offset, rows, source) {
  n <- data_rows(data)
  if (!is.null(offset)) {
    offset <- plain_numbers(offset)
    if (is.numeric(offset) && length(offset) == 1L) offset <- rep(offset, n)
    return(check_offset(offset, list(), data, object$env, n, rows))
  }
  if (is.null(object$offset)) {
    return(NULL)
  }
  terms <- object$offset$terms
  if (object$offset$vector) {
    is_feature <- "offset" %in% unlist(lapply(object$variables, variables_in))
    if (is_feature || !"offset" %in% names(data)) {
      pn_abort(
        c(
          "The model was fitted with an offset that {.arg {source}} does not hold.",
          i = if (source == "newdata") "Give one for the new rows: {.arg offset}.",
          i = if (is_feature) "The column {.field offset} is a feature." else "A column {.field offset} would also do."
        ),
        class = "offset", arg = "offset"
      )
    }
    terms <- c(terms, list(quote(offset)))
  }
  absent <- setdiff(intersect(unlist(lapply(terms, all.vars)), c(object$data_names, "offset")), names(data))
  if (length(absent)) {
    pn_abort(
      c("The data lack {cli::qty(length(absent))}column{?s} {.and {.field {absent}}} of the offset.",
        i = "{.arg offset} can be given instead."
      ),
      class = "missing_column", arg = absent
    )
  }
  check_offset(NULL, terms, data, object$env, n, rows)
}

#' The columns of `newdata`, which must be a table
#' @param empty May it have no rows?
#' @noRd
newdata_columns <- function(newdata, empty = TRUE) {
  columns <- as_columns(newdata, "newdata")
  if (is.environment(columns)) {
    pn_abort("{.arg newdata} must be a data frame or a matrix.", class = "data", arg = "newdata")
  }
  if (!empty) need_rows(data_rows(columns))
  columns
}

need_rows <- function(n) {
  if (n == 0L) pn_abort("{.arg newdata} has no rows.", class = "no_rows", arg = "newdata")
}

#' Stop without `newdata`
#' @param hint NULL or a bullet.
#' @noRd
need_newdata <- function(newdata, hint = NULL) {
  if (is.null(newdata)) {
    pn_abort(
      c("{.arg newdata} is needed: the fit does not keep the training data.", hint),
      class = "argument", arg = "newdata"
    )
  }
}
