# Conditions and argument checks.
#
# Every error, warning and message of the package is a classed condition made here: an error of class "x" inherits from
# protonam_error_x, protonam_error and error. Messages are cli templates: values are inserted by {.val {x}}, never
# pasted, so that braces in a user's column names are harmless. check_*() functions return the checked value in its
# final type.

#' Format a cli template into one string per bullet
#'
#' Lines are not wrapped: the terminal does that, and a wrapped message could not be matched by a regular expression.
#' @noRd
format_message <- function(message, .envir) {
  old <- options(cli.condition_width = Inf)
  on.exit(options(old))
  cli::format_error(message, .envir = .envir)
}

#' Stop with a classed error
#'
#' @param message Character vector of cli templates; names "i", "x", "*" make bullets.
#' @param class Last part of the first condition class, e.g. "order" for protonam_error_order.
#' @param arg Name of the offending argument or column, kept in the condition as `arg`.
#' @param ... Further fields of the condition.
#' @noRd
pn_abort <- function(message, class = "input", arg = NULL, ..., .envir = parent.frame()) {
  text <- paste(format_message(message, .envir), collapse = "\n")
  stop(errorCondition(text, ..., arg = arg, class = c(paste0("protonam_error_", class), "protonam_error"), call = NULL))
}

#' Warn with a classed condition; arguments as in pn_abort()
#' @noRd
pn_warn <- function(message, class = "input", arg = NULL, ..., .envir = parent.frame()) {
  text <- paste(format_message(message, .envir), collapse = "\n")
  classes <- c(paste0("protonam_warning_", class), "protonam_warning")
  warning(warningCondition(text, ..., arg = arg, class = classes, call = NULL))
}

#' Inform the user; arguments as in pn_abort()
#' @noRd
pn_inform <- function(message, class = "input", ..., .envir = parent.frame()) {
  text <- paste0(paste(format_message(message, .envir), collapse = "\n"), "\n")
  classes <- c(paste0("protonam_message_", class), "protonam_message", "message", "condition")
  message(structure(class = classes, list(message = text, call = NULL, ...)))
}

#' Stop if an argument is not what it must be
#'
#' @param bad Is it not?
#' @param need What it must be: a cli template, evaluated in the calling function.
#' @param hint NULL or a bullet.
#' @noRd
refuse_if <- function(bad, x, arg, need, hint = NULL, class = "argument", .envir = parent.frame()) {
  if (bad) {
    .envir <- list2env(list(given_arg = arg, given_value = describe(x)), parent = .envir)
    message <- c(paste0("{.arg {given_arg}} must be ", need, ", not {given_value}."), hint)
    pn_abort(message, class = class, arg = arg, .envir = .envir)
  }
}

#' How a value is shown in an error message: short values literally, others by their type
#' @noRd
describe <- function(x) {
  if (is.null(x)) {
    "NULL"
  } else if (is.atomic(x) && is.null(dim(x)) && length(x) == 1L && !is.object(x)) {
    if (is.character(x)) encodeString(x, quote = "\"") else format(x, digits = 7L)
  } else if (is.function(x)) {
    "a function"
  } else if (is.data.frame(x)) {
    sprintf("a data frame with %d rows and %d columns", nrow(x), ncol(x))
  } else if (is.matrix(x)) {
    sprintf("a %d x %d matrix", nrow(x), ncol(x))
  } else {
    class <- class(x)[1L]
    sprintf("%s %s of length %d", if (grepl("^[aeiou]", class)) "an" else "a", class, length(x))
  }
}

#' One finite number within limits; whole if `whole`. `Inf` only if `infinite`.
#' @noRd
check_number <- function(x, arg, min = -Inf, max = Inf, above = -Inf, below = Inf, whole = FALSE, infinite = FALSE) {
  ok <- is.numeric(x) && !is.object(x) && length(x) == 1L && !is.na(x)
  if (!ok || !(if (is.infinite(x)) infinite && x > 0 else is_within(x, min, max, above, below, whole))) {
    number <- if (whole) "one whole number" else "one number"
    need <- paste(c(number, limit_words(min, max, above, below), if (infinite) "or Inf"), collapse = " ")
    pn_abort("{.arg {arg}} must be {need}, not {describe(x)}.", class = "argument", arg = arg)
  }
  as.double(x)
}

is_within <- function(x, min, max, above, below, whole) {
  x >= min && x <= max && x > above && x < below && (!whole || x == round(x))
}

#' Limits in words, joined by "and"; NULL for none
#' @noRd
limit_words <- function(min, max, above, below) {
  show <- function(limit) format(limit, scientific = FALSE, digits = 15L)
  limits <- c(
    if (above > -Inf) paste("above", show(above)),
    if (min > -Inf) paste("of at least", show(min)),
    if (below < Inf) paste("below", show(below)),
    if (max < Inf) paste(if (min > -Inf) "at most" else "of at most", show(max))
  )
  if (length(limits)) paste(limits, collapse = " and ")
}

#' TRUE or FALSE
#' @noRd
check_flag <- function(x, arg) {
  refuse_if(!is.logical(x) || length(x) != 1L || is.na(x), x, arg, "TRUE or FALSE")
  as.vector(x)
}

#' One of several strings; the whole vector of choices (an untouched default) means the first
#' @noRd
check_choice <- function(x, choices, arg) {
  if (identical(x, choices)) {
    return(choices[1L])
  }
  refuse_if(
    !is.character(x) || length(x) != 1L || !x %in% choices, x, arg, "one of {.or {.val {choices}}}", suggest(x, choices)
  )
  x
}

#' The choice closest in spelling, or NULL if none is close
#' @noRd
nearest <- function(x, choices) {
  if (!is.character(x) || length(x) != 1L || is.na(x) || !length(choices)) {
    return(NULL)
  }
  distance <- drop(utils::adist(x, choices, ignore.case = TRUE))
  # "lerning" for "learning_rate": a sufficiently long common prefix is close as well
  prefix <- startsWith(tolower(choices), tolower(x)) & nchar(x) >= 2L
  distance[prefix] <- 0
  best <- which.min(distance)
  # nothing would remain of a one-letter name
  if (distance[best] <= ceiling(nchar(x) / 3) && distance[best] < nchar(x)) choices[best] else NULL
}

#' A bullet "Did you mean ...?", or NULL
#' @noRd
suggest <- function(x, choices) {
  best <- nearest(x, choices)
  if (!is.null(best)) c(i = paste0("Did you mean \"", escape_braces(best), "\"?"))
}

#' Text that is not a template, such as a name from the data
#' @noRd
escape_braces <- function(x) {
  stats::setNames(gsub("}", "}}", gsub("{", "{{", x, fixed = TRUE), fixed = TRUE), names(x))
}

#' Stop at names that are not those of features
#' @param names Given for `arg`.
#' @noRd
check_features <- function(names, known, arg, class = "unknown_term") {
  for (name in setdiff(names, known)) {
    pn_abort(
      c(
        "{.arg {arg}} names {.val {name}}, which is not a feature.",
        suggest(name, known) %||% c(i = "The features are {some(known)}.")
      ),
      class = class, arg = arg
    )
  }
}

#' A few values in words: at most `most`, then "and n more"
#' @noRd
some <- function(x, most = 5L, quote = "\"") {
  x <- as.character(x)
  shown <- encodeString(utils::head(x, most), quote = quote)
  rest <- length(x) - length(shown)
  if (rest > 0L) {
    paste0(paste(shown, collapse = ", "), " and ", rest, " more")
  } else if (length(shown) > 1L) {
    paste(paste(utils::head(shown, -1L), collapse = ", "), "and", utils::tail(shown, 1L))
  } else {
    shown
  }
}

check_dots_empty <- function(dots, known) {
  if (length(dots)) {
    name <- if (is.null(names(dots)) || !nzchar(names(dots)[1L])) "..." else names(dots)[1L]
    pn_abort(c("{.arg {name}} is not an argument.", suggest(name, known)), class = "argument", arg = name)
  }
}

#' Numbers with so many decimals, never "-0"
#' @noRd
fixed_text <- function(x, decimals) {
  formatC(round(x, decimals) + 0, digits = decimals, format = "f", big.mark = ",")
}

count <- function(n, what, plural = paste0(what, "s")) {
  paste(format(n, big.mark = ",", scientific = FALSE, trim = TRUE), if (n == 1) what else plural)
}

`%||%` <- function(a, b) if (is.null(a)) b else a # nolint: object_name_linter.
