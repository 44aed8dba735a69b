# autoplot(): the figures of plot() as ggplot2 plots (R/plot-ggplot-layers.R). ggplot2 is suggested, not required: the
# methods, beside those of plot(), are registered when it is loaded.

# nolint start: object_name_linter, object_length_linter.
# R/plot-protonam.R gives these methods the arguments of their plot() methods.

#' Plot a fitted model with ggplot2
#'
#' The figures of [plot()][plot.protonam] as ggplot2 plots, to which themes, titles and scales can be added. Load
#' ggplot2 first.
#'
#' @inheritParams plot.protonam
#' @param object A fit from [protonam()], or a data frame from [shapes()], [term_importance()] or [contributions()].
#' @param page Which page, when the panels need several: a number, or `"all"` for a list with a plot per page. By
#'   default the first, with a message that gives their number.
#' @param size Width and height in inches of the picture for which the panels are arranged, names shortened and notes
#'   broken into lines, such as `c(3.5, 3)` for a column of a journal. By default those of the open graphics device, or
#'   7 by 5.
#' @param ... Not used; a misspelt argument is an error.
#'
#' @return A ggplot2 plot, or with `page = "all"` a list of them.
#' @seealso [plot.protonam()] for how to read the figures.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' library(ggplot2)
#' icu <- simulate_icu(300, seed = 1)
#' fit <- protonam(
#'   died ~ age + lactate + admission_type, icu,
#'   layers = 2, hidden = 16, epochs = 5, seed = 1
#' )
#' autoplot(fit) + labs(title = "What the model learned")
#' autoplot(fit, which = "importance")
#' autoplot(contributions(fit, icu[1, ]))
#' @exportS3Method ggplot2::autoplot
autoplot.protonam <- function(...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam)))
  object <- check_fit(object)
  options <- given_options(mget(shape_arguments), feature_names(object), gg_room(size))
  options[c("simultaneous", "reference")] <- list(simultaneous, reference)
  gg_pages(fit_figure(object, terms, layers, which, level, scale, options)$figure, page)
}

#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_shapes <- function(...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_shapes)))
  options <- given_options(mget(shape_arguments), names(attr(object, "terms")), gg_room(size))
  gg_pages(shape_figure(pick_shapes(object, terms), options), page)
}

#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_importance <- function(...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_importance)))
  options <- given_options(mget(bar_arguments), NULL, gg_room(size))
  if (!is.null(terms)) options$bars <- Inf
  gg_pages(importance_figure(pick_importance(object, terms), options), NULL)
}

#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_contributions <- function(...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_contributions)))
  options <- given_options(mget(row_arguments), NULL, gg_room(size))
  gg_pages(waterfall_figure(pick_rows(object, rows), options), page)
}
# nolint end

#' Arguments of an autoplot() method: those of plot(), with `page` in place of `ask`, and the size of the picture
#' @noRd
gg_formals <- function(method) {
  arguments <- formals(method)
  names(arguments)[names(arguments) == "x"] <- "object"
  names(arguments)[names(arguments) == "ask"] <- "page"
  append(arguments, list(size = NULL), length(arguments) - 1L)
}

#' autoplot() of what has one figure and few options: draw_simple() for ggplot2
#' @noRd
gg_simple <- function(object, make, options, dots, size, page = NULL,
                      known = names(formals(sys.function(sys.parent())))) {
  check_dots_empty(dots, known)
  gg_pages(make(object, given_options(options, NULL, gg_room(size))), page)
}

#' The wanted page, or all of them
#' @noRd
gg_pages <- function(figure, page) {
  count <- length(figure$pages)
  if (identical(page, "all")) {
    return(lapply(seq_len(count), function(i) gg_page(figure, i)))
  }
  if (is.null(page)) {
    if (count > 1L) {
      pn_inform(
        c(i = "This is page 1 of {count}; {.code page = 2} and so on give the others, {.code page = \"all\"} a list."),
        class = "pages"
      )
    }
    page <- 1
  }
  gg_page(figure, check_number(page, "page", min = 1, max = count, whole = TRUE))
}

#' The room of a picture, by default that of the open device
#' @noRd
gg_room <- function(size = NULL) {
  if (is.null(size)) {
    open <- grDevices::dev.cur() > 1L
    return(new_room(if (open) grDevices::dev.size("in") else default_size))
  }
  refuse_if(
    !is.numeric(size) || length(size) != 2L || any(!is.finite(size)) || any(size <= 0), size, "size",
    "width and height in inches, as in {.code c(3.5, 3)}"
  )
  new_room(as.double(size))
}
