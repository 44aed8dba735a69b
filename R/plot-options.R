# Arguments that all figures share: which terms, how they are called, what is drawn.

max_panels <- 12L # on a page

#' Checked options of a figure
#'
#' @param ... Options by name, see figure_defaults. NULL stands for the default.
#' @param features Known feature names, or NULL when they cannot be known.
#' @param limits Room of a page, from device_limits() or new_room().
#' @noRd
plot_options <- function(..., features = NULL, limits = new_room(default_size)) {
  given <- Filter(Negate(is.null), list(...))
  options <- utils::modifyList(figure_defaults, given)
  list(
    style = check_choice(options$style, c("heat", "scatter"), "style"), labels = check_labels(options$labels, features),
    units = check_labels(options$units, features, "units"),
    level_labels = check_level_labels(options$level_labels, features),
    ylab = check_title(options$ylab, "ylab"), main = check_title(options$main, "main"),
    free_y = check_flag(options$free_y, "free_y"), density = check_flag(options$density, "density"),
    rug = check_flag(options$rug, "rug"),
    xlim = check_ends(options$xlim, "xlim", features), ylim = check_ends(options$ylim, "ylim"),
    log = check_log(options$log, features),
    most = check_number(options$panels, "panels", min = 1, max = 100, whole = TRUE),
    ncol = if (!is.null(options$ncol)) check_number(options$ncol, "ncol", min = 1, max = 20, whole = TRUE),
    pages = if (!is.null(options$pages)) check_number(options$pages, "pages", min = 1, whole = TRUE),
    cex = check_number(options$cex, "cex", above = 0, max = 10), col = check_colours(options$col),
    limits = limits$limits, room = limits
  )
}

figure_defaults <- list(
  style = "heat", free_y = FALSE, density = TRUE, rug = TRUE, panels = max_panels, log = "", cex = 1
)

check_title <- function(x, arg) {
  refuse_if(!is.null(x) && (!is.character(x) || length(x) != 1L || is.na(x)), x, arg, "one string")
  x
}

#' Labels or units of features: a named character vector or list
#' @noRd
check_labels <- function(labels, features, arg = "labels") {
  if (is.null(labels)) {
    return(NULL)
  }
  if (is.list(labels)) labels <- unlist(labels)
  named <- is.character(labels) && !is.null(names(labels))
  if (!named || anyNA(labels) || any(!nzchar(names(labels)))) {
    example <- if (arg == "labels") "c(age = \"Age at admission\")" else "c(age = \"years\")"
    pn_abort(
      "{.arg {arg}} must be a character vector with the features' names, as in {.code {example}}.",
      class = "argument", arg = arg
    )
  }
  if (!is.null(features)) check_features(names(labels), features, arg)
  labels
}

#' Labels of levels: a list by feature of named character vectors
#' @noRd
check_level_labels <- function(labels, features) {
  if (is.null(labels)) {
    return(NULL)
  }
  named <- function(x) !is.null(names(x)) && all(nzchar(names(x)))
  good <- is.list(labels) && named(labels) &&
    all(vapply(labels, function(x) is.character(x) && !anyNA(x) && !is.null(names(x)), NA))
  if (!good) {
    pn_abort(
      c(
        "{.arg level_labels} must be a list of named character vectors.",
        i = "As in {.code list(sex = c(f = \"women\", m = \"men\"))}."
      ),
      class = "argument", arg = "level_labels"
    )
  }
  if (!is.null(features)) check_features(names(labels), features, "level_labels")
  labels
}

#' Ends of axes: two numbers for all panels, or a list of them by term; "range" for all values along x
#' @noRd
check_ends <- function(ends, arg, features = NULL) {
  if (is.null(ends) || (arg == "xlim" && identical(ends, "range"))) {
    return(ends)
  }
  check <- function(value) {
    number <- if (inherits(value, c("Date", "POSIXct"))) as.numeric(value) else value
    refuse_if(
      !is.numeric(number) || length(number) != 2L || any(!is.finite(number)) || number[1L] >= number[2L], value, arg,
      "two increasing numbers, or a list of them by term", c(i = "As in {.code list(age = c(40, 80))}.")
    )
    as.double(number)
  }
  if (!is.list(ends)) {
    return(check(ends))
  }
  if (is.null(names(ends)) || any(!nzchar(names(ends)))) {
    pn_abort("The elements of {.arg {arg}} must have names of terms.", class = "argument", arg = arg)
  }
  if (!is.null(features)) check_features(names(ends), features, arg)
  lapply(ends, check)
}

#' The ends that were given for a term, or NULL
#' @noRd
term_ends <- function(ends, term) if (is.list(ends)) ends[[term]] else ends

#' Which features have a logarithmic axis: "x" all numbers, or names
#' @noRd
check_log <- function(log, features) {
  refuse_if(!is.character(log) || anyNA(log), log, "log", "{.val x} or names of features")
  log <- log[nzchar(log)]
  if (!is.null(features) && !identical(log, "x")) check_features(log, features, "log")
  log
}

check_colours <- function(col) {
  if (is.null(col)) {
    return(NULL)
  }
  known <- tryCatch(is.matrix(grDevices::col2rgb(col)), error = function(e) FALSE)
  refuse_if(!known || !length(col) || anyNA(col), col, "col", "colours")
  rgb <- grDevices::col2rgb(col)
  grDevices::rgb(rgb[1L, ], rgb[2L, ], rgb[3L, ], maxColorValue = 255)
}

#' Terms to draw
#'
#' @param terms NULL (all), names, or a number: that many strongest.
#' @param known All terms that could be drawn.
#' @param importance Named numbers, or NULL: then the order of `known` counts.
#' @param features Of each term, see find_terms().
#' @return names, those of a number in order of importance
#' @noRd
choose_terms <- function(terms, known, importance = NULL, features = NULL) {
  if (is.null(terms)) {
    return(known)
  }
  if (is.numeric(terms)) {
    count <- check_number(terms, "terms", min = 1, whole = TRUE, infinite = TRUE)
    return(utils::head(by_importance(known, importance), min(count, length(known))))
  }
  refuse_if(
    !is.character(terms) || !length(terms) || anyNA(terms), terms, "terms",
    "names of terms or a number of strongest ones"
  )
  find_terms(terms, known, features, "terms")
}

#' Names with the most important first
#' @noRd
by_importance <- function(known, importance) {
  value <- if (is.null(importance)) rep(0, length(known)) else importance[known]
  known[order(-ifelse(is.na(value), -Inf, value))]
}
