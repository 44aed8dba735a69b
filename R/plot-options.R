# Arguments that all figures share: which terms, how they are called, what is drawn.

#' Checked options of a figure
#'
#' @param features Known feature names, or NULL when they cannot be known.
#' @param limits Most rows and columns of a page.
#' @noRd
plot_options <- function(style = c("heat", "scatter"), labels = NULL, ylab = NULL, main = NULL, free_y = FALSE,
                         density = TRUE, rug = TRUE, panels = max_panels, features = NULL, limits = c(4L, 3L)) {
  list(
    style = check_choice(style, c("heat", "scatter"), "style"),
    labels = check_labels(labels, features), ylab = check_title(ylab, "ylab"), main = check_title(main, "main"),
    free_y = check_flag(free_y, "free_y"), density = check_flag(density, "density"), rug = check_flag(rug, "rug"),
    most = check_number(panels, "panels", min = 1, max = 100, whole = TRUE), limits = limits
  )
}

check_title <- function(x, arg) {
  if (!is.null(x) && (!is.character(x) || length(x) != 1L || is.na(x))) {
    pn_abort("{.arg {arg}} must be one string, not {describe(x)}.", class = "argument", arg = arg)
  }
  x
}

#' Labels of features: a named character vector or list
#' @noRd
check_labels <- function(labels, features) {
  if (is.null(labels)) {
    return(NULL)
  }
  if (is.list(labels)) labels <- unlist(labels)
  named <- is.character(labels) && !is.null(names(labels))
  if (!named || anyNA(labels) || any(!nzchar(names(labels)))) {
    pn_abort(
      "{.arg labels} must be a character vector with the features' names, as in {.code c(age = \"Age (years)\")}.",
      class = "argument", arg = "labels"
    )
  }
  if (!is.null(features)) check_features(names(labels), features, "labels")
  labels
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
  if (!is.character(terms) || !length(terms) || anyNA(terms)) {
    pn_abort(
      "{.arg terms} must be names of terms or a number of strongest ones, not {describe(terms)}.",
      class = "argument", arg = "terms"
    )
  }
  find_terms(terms, known, features, "terms")
}

#' Names with the most important first
#' @noRd
by_importance <- function(known, importance) {
  value <- if (is.null(importance)) rep(0, length(known)) else importance[known]
  known[order(-ifelse(is.na(value), -Inf, value))]
}

#' Rows and columns that the open device has room for
#' @noRd
device_limits <- function() {
  size <- graphics::par("din")
  as.integer(pmin(pmax(floor(size[2:1] / c(1.25, 1.5)), 1), c(4, 3)))
}
