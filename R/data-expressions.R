# Expressions of a formula: the variables they read, their values in the data, and the environment they need.

#' Variables that an expression reads; in d$x that is d
#' @noRd
variables_in <- function(expr) {
  found <- character()
  # a stack, not a recursion: a sum of hundreds of columns is hundreds of calls deep
  rest <- list(expr)
  while (length(rest)) {
    first <- rest[1L]
    rest <- rest[-1L]
    if (is.symbol(first[[1L]])) {
      found <- c(found, as.character(first[[1L]]))
    } else if (is.call(first[[1L]])) {
      rest <- c(parts_read(first[[1L]]), rest)
    }
  }
  unique(found[nzchar(found)])
}

#' The arguments of a call that are read as variables
#' @noRd
parts_read <- function(call) {
  parts <- as.list(call)
  if (!is.symbol(parts[[1L]])) {
    return(parts)
  }
  head <- as.character(parts[[1L]])
  if (head %in% c("$", "@")) parts[2L] else if (head %in% c("::", ":::")) list() else parts[-1L]
}

#' Every variable must be a column, or be found where the formula was made
#' @noRd
check_names_exist <- function(formula, data, env, arg = "data") {
  known <- if (is.environment(data)) character() else names(data)
  for (name in setdiff(variables_in(formula), known)) {
    if (!exists(name, envir = env)) {
      pn_abort(
        c("There is no column {.field {name}} in {.arg {arg}}.", suggest(name, known)),
        class = "missing_column", arg = name
      )
    }
  }
}

#' Evaluate an expression in a list of columns, or an environment
#' @noRd
evaluate <- function(expr, data, env) {
  if (is.symbol(expr) && !is.environment(data)) {
    value <- .subset2(data, as.character(expr))
    if (!is.null(value)) {
      return(value)
    }
  }
  tryCatch(
    eval_numbers(expr, data, env),
    error = function(e) abort_expression(expr, if (is.environment(data)) data else env, conditionMessage(e))
  )
}

#' eval() that converts 64-bit integers, also those outside the data, to numbers before they are used
#' @noRd
eval_numbers <- function(expr, data, env) {
  if (is.environment(data)) {
    env <- data
    data <- list()
  }
  outside <- mget(as.character(setdiff(variables_in(expr), names(data))), env, ifnotfound = list(NULL), inherits = TRUE)
  plain_numbers(eval(expr, c(lapply(Filter(Negate(is.null), outside), plain_numbers), data), env))
}

#' Report why an expression cannot be evaluated
#' @noRd
abort_expression <- function(expr, env, reason) {
  code <- deparse1(expr)
  functions <- setdiff(all.names(expr), all.vars(expr))
  unknown <- functions[!vapply(functions, exists, NA, envir = env, mode = "function")]
  if (length(unknown)) {
    pn_abort("There is no function {.fn {unknown[1]}}, which {.code {code}} calls.",
      class = "unknown_function", arg = unknown[1L]
    )
  }
  pn_abort("{.code {code}} cannot be computed: {reason}", class = "formula", arg = code)
}

#' Arguments that are evaluated as lm() does, in the data, then where the formula was made; failing that, where
#' protonam() was called
#' @param given Named list of unevaluated arguments.
#' @noRd
evaluate_arguments <- function(given, data, env, caller) {
  Map(function(expr, arg) {
    tryCatch(eval_numbers(expr, data, env), error = function(e) {
      tryCatch(eval_numbers(expr, data, caller), error = function(e) {
        pn_abort(
          c(
            "{.arg {arg}} cannot be evaluated: {conditionMessage(e)}.",
            if (is.symbol(expr) && !is.environment(data)) suggest(as.character(expr), names(data))
          ),
          class = arg, arg = arg
        )
      })
    })
  }, given, names(given))
}

#' An environment that holds only what the expressions need from outside the data
#'
#' A formula made inside a function drags the function's variables, often the training data, into every saved fit.
#' @noRd
slim_environment <- function(expressions, data_names, env) {
  # global environment, package or namespace: these are found again, or saved by name
  top <- topenv(env)
  slim <- new.env(parent = top)
  needed <- setdiff(unique(unlist(lapply(expressions, all.names))), data_names)
  while (!identical(env, top) && length(needed)) {
    here <- needed[vapply(needed, exists, NA, envir = env, inherits = FALSE)]
    for (name in here) assign(name, get(name, envir = env, inherits = FALSE), envir = slim)
    needed <- setdiff(needed, here)
    env <- parent.env(env)
  }
  slim
}
