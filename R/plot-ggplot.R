# autoplot(): the figures of plot() as ggplot2 plots (R/plot-ggplot-layers.R). ggplot2 is suggested, not required: the
# methods are registered when it is loaded. nolint start: object_name_linter, object_length_linter.

#' Plot a fitted model with ggplot2
#'
#' The figures of [plot()][plot.protonam] as ggplot2 plots, to which themes, titles and scales can be added. Load
#' ggplot2 first.
#'
#' @inheritParams plot.protonam
#' @param object A fit from [protonam()], or a data frame from [shapes()], [term_importance()] or [contributions()].
#' @param page Which page, when the panels need several: a number, or `"all"` for a list with a plot per page. By
#'   default the first, with a message that gives their number.
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
autoplot.protonam <- function(object, terms = NULL, layers = FALSE,
                              which = c("shapes", "interactions", "history", "importance"), level = NULL,
                              scale = c("link", "response", "odds ratio", "hazard ratio", "rate ratio"),
                              style = c("heat", "scatter"), labels = NULL, ylab = NULL, main = NULL, free_y = FALSE,
                              density = TRUE, rug = TRUE, panels = 12, page = NULL, simultaneous = FALSE,
                              reference = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam)))
  object <- check_fit(object)
  options <- plot_options(
    style, labels, ylab, main, free_y, density, rug, panels,
    features = feature_names(object)
  )
  options[c("simultaneous", "reference")] <- list(simultaneous, reference)
  gg_pages(fit_figure(object, terms, layers, which, level, scale, options)$figure, page)
}

#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_shapes <- function(object, terms = NULL, style = c("heat", "scatter"), labels = NULL, ylab = NULL,
                                     main = NULL, free_y = FALSE, density = TRUE, rug = TRUE, panels = 12,
                                     page = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_shapes)))
  options <- plot_options(
    style, labels, ylab, main, free_y, density, rug, panels,
    features = names(attr(object, "terms"))
  )
  gg_pages(shape_figure(pick_shapes(object, terms), options), page)
}

#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_importance <- function(object, terms = NULL, labels = NULL, ylab = NULL, main = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_importance)))
  options <- plot_options(labels = labels, ylab = ylab, main = main)
  if (!is.null(terms)) options$bars <- Inf
  gg_pages(importance_figure(pick_importance(object, terms), options), NULL)
}

#' @rdname autoplot.protonam
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_contributions <- function(object, rows = NULL, labels = NULL, ylab = NULL, main = NULL,
                                            free_y = FALSE, page = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_contributions)))
  options <- plot_options(labels = labels, ylab = ylab, main = main, free_y = free_y)
  gg_pages(waterfall_figure(pick_rows(object, rows), options), page)
}

# nolint end

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
