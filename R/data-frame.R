# From a formula or a table of columns to a frame: what a fit reads, as whole columns of all rows.
#
# A frame is a list:
#   columns     named list of feature columns
#   variables   named list of expressions that make the columns from (new) data
#   response    list(value, expr, name); a cbind() response has a list of its columns as value
#   offset      NULL or list of expressions (from offset() terms and the offset argument)
#   n, row_names   number of rows; row names, NULL when they are 1..n
#   formula     as given, `.` expanded; NULL for the x, y interface
#   env         where functions and variables outside the data are found
#   data_names  names that the data had, to tell a missing column from an outside variable
#   left_out    columns that `.` would include if they had no other role
#   given       formula method: unevaluated weights and offset arguments
# model.frame() is not used: it would copy every column and turn text into factors row by row.

#' @param data From as_columns().
#' @param left_out Names of data columns with another role (task, groups, weights): they are not meant by `.`
#' @noRd
formula_frame <- function(formula, data, left_out = character()) {
  env <- environment(formula)
  if (length(formula) != 3L) {
    pn_abort(
      "{.arg formula} needs a response on its left side, as in {.code y ~ x}.",
      class = "formula", arg = "formula"
    )
  }
  written <- all.vars(formula[[3L]])
  terms <- expand_formula(formula, data)
  check_names_exist(formula(terms), data, env)
  left_out <- if ("." %in% written) intersect(setdiff(left_out, written), all.vars(formula(terms)[[3L]]))
  terms <- drop_terms(terms, left_out)
  response_name <- expression_name(formula[[2L]])
  if (response_name %in% attr(terms, "term.labels")) {
    pn_inform("The response {.field {response_name}} is left out of the features.", class = "left_out")
    terms <- drop_terms(terms, response_name)
  }

  expressions <- feature_expressions(terms)
  if (!length(expressions)) {
    pn_abort(
      c(
        "There are no features: {.arg formula} is {.code {deparse1(formula)}}.",
        i = "Name at least one column on the right side."
      ),
      class = "no_features", arg = "formula"
    )
  }
  refuse_model_syntax(expressions, data, env)
  names <- vapply(expressions, expression_name, "")
  columns <- stats::setNames(lapply(expressions, evaluate, data, env), names)
  # data-dependent transformations such as scale(x) must later use the values from the training data
  variables <- Map(stats::makepredictcall, columns, expressions)
  frame <- list(
    columns = columns, variables = variables,
    response = evaluate_response(formula[[2L]], data, env),
    offset = lapply(offset_calls(terms), `[[`, 2L),
    n = if (is.environment(data)) NROW(columns[[1L]]) else data_rows(data),
    row_names = data_row_names(data), formula = formula(terms), env = env,
    data_names = if (is.environment(data)) variables_in(formula) else names(data), left_out = left_out
  )
  check_column_lengths(c(columns, response_columns(frame$response$value, frame$response$name)), frame$n)
  frame
}

#' A frame from a table of features and a response
#' @param x From as_columns().
#' @param name What to call the response.
#' @noRd
table_frame <- function(x, y, name) {
  n <- data_rows(x)
  if (!length(x)) {
    pn_abort("There are no features: {.arg x} has no columns.", class = "no_features", arg = "x")
  }
  names <- names(x)
  if (NROW(y) != n) {
    pn_abort("{.arg y} has {NROW(y)} row{?s}, {.arg x} has {n}.", class = "length", arg = "y")
  }
  list(
    columns = as.list(x), variables = stats::setNames(lapply(names, as.name), names),
    response = list(value = response_value(y, name), expr = NULL, name = name),
    offset = list(), n = n, row_names = data_row_names(x), formula = NULL, env = globalenv(), data_names = names
  )
}

#' Any accepted table as a plain list of columns with row information
#'
#' Matrices get names V1, V2, ... when they have none. The columns themselves are not copied, except 64-bit integers.
#' @noRd
as_columns <- function(data, arg) {
  if (is.environment(data)) {
    return(data)
  }
  if (is.matrix(data)) {
    refuse_text_matrix(data, arg)
    data <- plain_numbers(data)
    names <- colnames(data) %||% paste0("V", seq_len(ncol(data)))
    columns <- lapply(seq_len(ncol(data)), function(j) as.vector(data[, j]))
    info <- list(n = nrow(data), row_names = rownames(data))
  } else if (is.list(data)) {
    columns <- lapply(unclass(data), plain_numbers)
    names <- names(data) %||% rep("", length(data))
    n <- if (is.data.frame(data)) .row_names_info(data, 2L) else if (length(data)) NROW(data[[1L]]) else 0L
    kept <- if (is.data.frame(data) && .row_names_info(data) > 0L) as.character(attr(data, "row.names"))
    info <- list(n = n, row_names = kept)
    attributes(columns) <- NULL
  } else {
    pn_abort("{.arg {arg}} must be a data frame or a matrix, not {describe(data)}.", class = "data", arg = arg)
  }
  if (anyDuplicated(names)) {
    twice <- unique(names[duplicated(names)])
    pn_abort("{.arg {arg}} has several columns named {.and {.val {twice}}}.", class = "duplicated_names", arg = arg)
  }
  if (any(is.na(names) | names == "") && length(names)) {
    pn_abort("{.arg {arg}} has columns without a name.", class = "duplicated_names", arg = arg)
  }
  structure(columns, names = names, info = info)
}

#' 64-bit integers, also in a data frame, as doubles; anything else unchanged
#'
#' Class integer64 keeps the bits of an integer in a double. Unless bit64 is loaded, R reads those bits as a double.
#' @noRd
plain_numbers <- function(x) {
  if (is.data.frame(x)) {
    columns <- lapply(unclass(x), plain_numbers)
    attributes(columns) <- attributes(x)
    return(columns)
  }
  if (!inherits(x, "integer64")) {
    return(x)
  }
  bytes <- writeBin(as.vector(unclass(x)), raw(), endian = "little")
  words <- readBin(bytes, "integer", n = length(bytes) / 2, size = 2L, signed = FALSE, endian = "little")
  words <- matrix(words, nrow = 4L)
  lower <- words[1L, ] + words[2L, ] * 2^16 + words[3L, ] * 2^32
  upper <- words[4L, ] - (words[4L, ] >= 2^15) * 2^16
  value <- upper * 2^48 + lower
  value[lower == 0 & upper == -2^15] <- NA
  attributes(value) <- attributes(x)[intersect(names(attributes(x)), c("names", "dim", "dimnames"))]
  value
}

data_rows <- function(data) attr(data, "info")$n

data_row_names <- function(data) if (!is.environment(data)) attr(data, "info")$row_names

#' Expand `.` and reject what has no meaning in a formula of features
#' @noRd
expand_formula <- function(formula, data) {
  data_frame <- if (!is.environment(data)) structure(unclass(data), info = NULL, class = "data.frame", row.names = 1L)
  if ("." %in% all.vars(formula) && !length(data_frame)) {
    pn_abort("{.code .} in {.arg formula} needs {.arg data} with columns.", class = "formula", arg = "formula")
  }
  if ("." %in% all.vars(formula) && "." %in% names(data_frame)) {
    pn_abort(
      c(
        "{.arg data} has a column named {.val .}, which in {.arg formula} means all other columns.",
        i = "Rename the column."
      ),
      class = "formula", arg = "formula"
    )
  }
  terms <- stats::terms(formula, data = data_frame, keep.order = TRUE)
  crossed <- attr(terms, "term.labels")[attr(terms, "order") > 1L]
  if (length(crossed)) {
    pn_abort(
      c(
        "{.arg formula} has the interaction{?s} {.and {.code {crossed}}}.",
        i = "Name features only. {.code order = 2} fits all pairs, {.code pairs = ~ a:b} selects some of them."
      ),
      class = "interaction", arg = "formula"
    )
  }
  if (attr(terms, "intercept") == 0L) {
    pn_inform(
      "The model always has an intercept; {.code -1} or {.code +0} in {.arg formula} is ignored.",
      class = "intercept"
    )
  }
  terms
}

#' Expressions on the right side of a formula without interactions: features, and calls of offset()
#' @noRd
feature_expressions <- function(terms) {
  factors <- attr(terms, "factors")
  if (length(factors)) as.list(attr(terms, "variables"))[-1L][rowSums(factors) > 0]
}
offset_calls <- function(terms) as.list(attr(terms, "variables"))[-1L][attr(terms, "offset")]

#' Terms without some data columns; made of expressions, since not every name survives deparsing and parsing
#' @noRd
drop_terms <- function(terms, names) {
  features <- feature_expressions(terms)
  gone <- vapply(features, expression_name, "") %in% names
  if (!any(gone)) {
    return(terms)
  }
  keep <- c(features[!gone], offset_calls(terms))
  right <- if (length(keep)) Reduce(function(a, b) call("+", a, b), keep) else 1
  formula <- stats::as.formula(call("~", formula(terms)[[2L]], right), environment(terms))
  stats::terms(formula, keep.order = TRUE)
}

smooth_functions <- c("s", "te", "ti", "t2", "lo")

#' Reject terms that have a different meaning in formulas of other packages
#' @noRd
refuse_model_syntax <- function(expressions, data, env) {
  for (expr in Filter(is.call, expressions)) {
    code <- expression_name(expr)
    if (identical(expr[[1L]], quote(`(`))) expr <- expr[[2L]]
    head <- if (is.call(expr) && is.symbol(expr[[1L]])) as.character(expr[[1L]]) else ""
    if (head %in% c("|", "||") && !is.logical(evaluate(expr[[2L]], data, env))) {
      pn_abort(
        c(
          "{.arg formula} has {.code ({code})}: random effects are not supported.",
          i = "Make the variable a feature, a factor for instance; {.arg groups} keeps its rows together in validation."
        ),
        class = "random_effect", arg = "formula"
      )
    }
    if (head %in% smooth_functions && !is_own_function(head, env)) {
      pn_abort(
        c(
          "{.arg formula} has {.code {code}}: shapes are learned without {.fn {head}}.",
          i = "Name the feature only, as in {.code y ~ {paste(all.vars(expr), collapse = ' + ')}}."
        ),
        class = "smooth", arg = "formula"
      )
    }
  }
}

#' Does a function of this name exist outside the packages for additive models?
#' @noRd
is_own_function <- function(name, env) {
  found <- get0(name, env, mode = "function")
  !is.null(found) && !isTRUE(environmentName(environment(found)) %in% c("mgcv", "gam"))
}

#' Name of a variable: column names as they are, without backticks; expressions as code
#' @noRd
expression_name <- function(expr) {
  if (is.call(expr) && identical(expr[[1L]], quote(`(`))) expr <- expr[[2L]]
  if (is.symbol(expr)) as.character(expr) else deparse1(expr)
}

#' The response; the columns of cbind() are taken one by one, so that factors stay factors
#' @noRd
evaluate_response <- function(expr, data, env) {
  if (is.call(expr) && identical(expr[[1L]], quote(cbind))) {
    parts <- as.list(expr)[-1L]
    parts$deparse.level <- NULL
    named <- names(parts) %||% rep("", length(parts))
    labels <- ifelse(nzchar(named), named, vapply(parts, expression_name, ""))
    value <- lapply(parts, evaluate, data, env)
    if (!any(vapply(value, function(v) length(dim(v)) == 2L && ncol(v) > 1L, NA))) {
      return(list(value = stats::setNames(value, labels), expr = expr, name = deparse1(expr)))
    }
  }
  name <- expression_name(expr)
  list(value = response_value(evaluate(expr, data, env), name), expr = expr, name = name)
}

#' A response as it was given, 64-bit integers as numbers, a data frame as a list of columns
#' @noRd
response_value <- function(y, name) {
  if (is.data.frame(y)) {
    return(lapply(as.list(y), plain_numbers))
  }
  if (is.list(y) && !inherits(y, "POSIXlt")) {
    pn_abort(
      c(
        "The response {.field {name}} is a list; it must be numeric, logical, a factor or text.",
        i = "If every element is one value, {.fn unlist} makes a vector of it."
      ),
      class = "response", arg = name
    )
  }
  plain_numbers(y)
}

response_columns <- function(value, name) {
  if (is.list(value) && !is.object(value)) value else stats::setNames(list(value), name)
}

#' Every column must have a value for each row
#' @param columns Named list.
#' @noRd
check_column_lengths <- function(columns, n) {
  rows <- vapply(columns, NROW, 1L)
  wrong <- which(rows != n)
  if (length(wrong)) {
    name <- names(columns)[wrong[1L]]
    pn_abort("{.field {name}} has {rows[wrong[1]]} row{?s}, the data have {n}.", class = "length", arg = name)
  }
}

#' A role given as a one-sided formula, the name of a column, or a vector
#'
#' @param source The argument that the columns come from, for messages.
#' @return NULL, or list(value, expr (NULL for a vector), name)
#' @noRd
resolve_role <- function(role, data, env, arg, n, source = "data") {
  if (is.null(role)) {
    return(NULL)
  }
  if (inherits(role, "formula")) {
    if (length(role) != 2L) {
      pn_abort("{.arg {arg}} must be a one-sided formula such as {.code ~ id}.", class = "argument", arg = arg)
    }
    expr <- role[[2L]]
    env <- environment(role) %||% env
    if (is.call(expr) && identical(expr[[1L]], quote(`+`))) {
      both <- all.vars(expr)
      pn_abort(
        "{.arg {arg}} must be one variable; for combinations use {.code {arg} = ~ interaction({toString(both)})}.",
        class = "argument", arg = arg
      )
    }
  } else if (is.character(role) && length(role) == 1L && n != 1L && nzchar(role)) {
    expr <- as.name(role)
  } else {
    return(check_role(list(value = plain_numbers(role), expr = NULL, name = arg), arg, n))
  }
  check_names_exist(stats::as.formula(call("~", expr), env), data, env, source)
  check_role(list(value = evaluate(expr, data, env), expr = expr, name = expression_name(expr)), arg, n)
}

check_role <- function(role, arg, n) {
  if (!is.atomic(role$value) || length(role$value) != n) {
    pn_abort(
      "{.arg {arg}} must name a column or have one value for each of the {n} row{?s}; it is {describe(role$value)}.",
      class = "argument", arg = arg
    )
  }
  role
}
