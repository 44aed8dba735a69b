# plot(): terms are selected, their data computed by shapes() and related functions, turned into a figure
# (R/plot-figures.R, R/plot-summaries.R) and drawn in base graphics (R/plot-base.R). autoplot() shares everything but
# the drawing.

shown_pairs <- 4L

#' Plot a fitted model
#'
#' Draws the shape functions of a [protonam()] fit, its interactions, its training history, or the importance of its
#' terms. [autoplot()][autoplot.protonam] draws the same figures with ggplot2.
#'
#' @param x A fit from [protonam()], or a data frame from [shapes()], [term_importance()] or [contributions()].
#' @param terms Which terms: names (`"age"`, `"age:weight"`), or a number for that many of the most important ones. By
#'   default all main effects and the 4 strongest interactions, or the 12 strongest interactions with
#'   `which = "interactions"`, where the name of a feature stands for all of its interactions.
#' @param layers Draw the contribution of each layer of the model, one panel per layer, starting with the smooth layer?
#' @param which What to draw: `"shapes"` (of an order-2 fit: main effects and the strongest interactions),
#'   `"interactions"`, `"history"` (training loss, validation score if it selects the epoch, and temperature by epoch,
#'   with the epoch that is kept), or `"importance"`.
#' @param level Level of the bands and intervals, 0.95 by default. A single model has none.
#' @param scale `"link"` for effects on the scale of the linear predictor, `"response"` (or its name) for odds ratios
#'   and so on; see [shapes()].
#' @param style Interactions as a `"heat"` map or as the `"scatter"` plot of the paper: a point for each cell of the
#'   grid that has training rows, with an area that grows with their number.
#' @param labels,units Named character vectors of labels and units of features: `c(age = "Age at admission")`,
#'   `c(age = "years")`. By default those of the columns themselves, if they had the attributes `label` and `units` of
#'   the packages Hmisc and labelled.
#' @param level_labels Labels of levels: a list of named character vectors, such as
#'   `list(sex = c(f = "women", m = "men"))`.
#' @param ylab,main Title of the axis of effects and of the figure.
#' @param xlim,ylim Ends of the axes of values and of effects: two numbers, or a list of them for single terms, such as
#'   `list(age = c(40, 80))`. By default, see Reading the figures; `xlim = "range"` shows all values.
#' @param log `"x"` for a logarithmic axis of every number above 0, or the names of features that should have one.
#' @param cex Size of the text, relative to that chosen for the page.
#' @param col Colours of the groups, responses or classes; one colour if there is only one curve per panel.
#' @param free_y Use a separate scale for each panel? By default all panels share one scale, so that the effects of
#'   different terms can be compared visually.
#' @param density,rug Draw the 20 bars in the background whose shade is the feature's density, and the ticks at
#'   observed values (at most 200 quantiles)?
#' @param panels,pages,ncol Maximum number of panels on a page, number of pages, and of panels side by side. By default
#'   as many as the device has room for. A file such as `"shapes.png"` keeps one page, the last: draw with `pages = 1`,
#'   or name it `"shapes%03d.png"`, which makes a file of each page.
#' @param ask Wait for a key before a new page? By default, if the session and the device are interactive and there are
#'   several pages.
#' @param simultaneous Should the bands hold simultaneously for whole curves? See [shapes()].
#' @param reference Values with which effects are compared, such as `list(age = 60)`, or `TRUE`: curves are differences
#'   (or ratios) to the effect there, and their bands those of the differences. See [shapes()].
#' @param ... Between methods: further arguments of the method for the object that is drawn, from `style` on.
#'
#' @return The plotted data, invisibly: the result of [shapes()], [term_importance()] or [contributions()] or, for
#'   `which = "history"` a data frame with the columns `member`, `epoch`, `loss`, `score`, `lr`, `temperature` and
#'   `best`.
#'
#' @section Reading the figures: A panel shows what a feature adds to the prediction, centred: zero is the average over
#' the training rows. Lines break where the shape function jumps, and a thin vertical line bridges the jump. A dark
#' background indicates many training rows; where it is white, the curve is an extrapolation. Points are categories. A
#' diamond at the margin marked *missing* is the effect of a missing value. Bands, the lines through points, and the
#' lines at bars of importance and of contributions are 95 % intervals; the caption states what they cover. A single
#' model has none.
#'
#' The axis of effects covers the effects of nearly all rows and the bands of most: values that occur in fewer than one
#' row in a thousand (for bands, one in a hundred) at either end of a feature, or at a level, do not extend the axis and
#' are cut off at the frame. The caption then says so. [shapes()] returns all numbers.
#'
#' In the same way, values of a feature that lie far away from nearly all rows (farther than the width of their middle
#' 98 percent from its ends) do not extend its axis. The caption names them; `xlim = "range"` shows them.
#'
#' In heat maps, white means no interaction; vermilion raises and blue lowers the prediction. Cells are grey if there
#' are no training rows in them or near them: the model's interaction there is an extrapolation.
#'
#' The colours are those of Okabe and Ito, which remain distinguishable with the common kinds of colour blindness.
#'
#' @section Adding to a figure: After `plot()`, functions such as [abline()], [points()] and [legend()] add to the panel
#' drawn last, in its own units: `plot(fit, terms = "age"); abline(v = 65)`. Where the axis is logarithmic, it is so for
#' them, too. The graphical parameters that were set before return when the next plot begins.
#'
#' A layout set by `par(mfrow = )` or [layout()] is filled panel by panel; notes that would otherwise appear at the foot
#' of a page with several panels are then given as a message.
#' @seealso [shapes()] for the numbers, [autoplot.protonam()] for ggplot2.
#' @examples
#' icu <- simulate_icu(300, seed = 1)
#' fit <- protonam(
#'   died ~ age + lactate + admission_type, icu,
#'   layers = 2, hidden = 16, epochs = 5, prototypes_for = TRUE, seed = 1
#' )
#' plot(fit, labels = c(lactate = "Lactate"), units = c(age = "years", lactate = "mmol/l"), log = "lactate")
#' plot(fit, which = "history")
#' effects <- plot(fit, terms = "age")
#' abline(v = 65, lty = 2)
#' head(effects)
#' @export
plot.protonam <- function(x, terms = NULL, layers = FALSE, which = c("shapes", "interactions", "history", "importance"),
                          level = NULL, scale = c("link", "response", "odds ratio", "hazard ratio", "rate ratio"),
                          style = c("heat", "scatter"), labels = NULL,
                          ylab = NULL, main = NULL, free_y = FALSE, density = TRUE, rug = TRUE, panels = 12,
                          ask = NULL, simultaneous = FALSE, reference = NULL, units = NULL, level_labels = NULL,
                          xlim = NULL, ylim = NULL, log = "", cex = 1, col = NULL, pages = NULL, ncol = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam)))
  x <- check_fit(x)
  options <- given_options(mget(shape_arguments), feature_names(x), device_limits())
  options[c("simultaneous", "reference")] <- list(simultaneous, reference)
  made <- fit_figure(x, terms, layers, which, level, scale, options)
  draw_pages(made$figure, ask)
  invisible(made$data)
}

#' @rdname plot.protonam
#' @export
plot.protonam_shapes <- function(x, terms = NULL, style = c("heat", "scatter"), labels = NULL, ylab = NULL, main = NULL,
                                 free_y = FALSE, density = TRUE, rug = TRUE, panels = 12, ask = NULL, units = NULL,
                                 level_labels = NULL, xlim = NULL, ylim = NULL, log = "", cex = 1, col = NULL,
                                 pages = NULL, ncol = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_shapes)))
  options <- given_options(mget(shape_arguments), names(attr(x, "terms")), device_limits())
  x <- pick_shapes(x, terms)
  draw_pages(shape_figure(x, options), ask)
  invisible(x)
}

#' @rdname plot.protonam
#' @export
plot.protonam_importance <- function(x, terms = NULL, labels = NULL, ylab = NULL, main = NULL, cex = 1, col = NULL,
                                     ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_importance)))
  options <- given_options(mget(bar_arguments), NULL, device_limits())
  x <- pick_importance(x, terms)
  if (!is.null(terms)) options$bars <- Inf
  draw_pages(importance_figure(x, options), FALSE)
  invisible(x)
}

#' @rdname plot.protonam
#' @param rows Which rows of the contributions: numbers as in their column `row`. By default the first four.
#' @export
plot.protonam_contributions <- function(x, rows = NULL, labels = NULL, ylab = NULL, main = NULL, free_y = FALSE,
                                        ask = NULL, units = NULL, level_labels = NULL, cex = 1, col = NULL,
                                        ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_contributions)))
  options <- given_options(mget(row_arguments), NULL, device_limits())
  x <- pick_rows(x, rows)
  draw_pages(waterfall_figure(x, options), ask)
  invisible(x)
}

# autoplot() (R/plot-ggplot.R) has the same arguments
# nolint start: object_name_linter, object_length_linter.
formals(autoplot.protonam) <- gg_formals(plot.protonam)
formals(autoplot.protonam_shapes) <- gg_formals(plot.protonam_shapes)
formals(autoplot.protonam_importance) <- gg_formals(plot.protonam_importance)
formals(autoplot.protonam_contributions) <- gg_formals(plot.protonam_contributions)
# nolint end

# arguments of the methods that are options of a figure
shape_arguments <- c(
  "style", "labels", "ylab", "main", "free_y", "density", "rug", "panels", "units", "level_labels", "xlim", "ylim",
  "log", "cex", "col", "pages", "ncol"
)
bar_arguments <- c("labels", "ylab", "main", "cex", "col")
row_arguments <- c("labels", "ylab", "main", "free_y", "units", "level_labels", "cex", "col")

given_options <- function(given, features, limits) {
  do.call(plot_options, c(given, list(features = features, limits = limits)))
}

#' plot() of what has one figure and few options; gg_simple() is the same for autoplot()
#' @param make Function of `x` and options that makes the figure.
#' @param dots,known Further arguments, which must be none, and the names of those that the calling method has.
#' @noRd
draw_simple <- function(x, make, options, dots, known = names(formals(sys.function(sys.parent())))) {
  check_dots_empty(dots, known)
  draw_pages(make(x, given_options(options, NULL, device_limits())), FALSE)
  invisible(x)
}

# What is drawn -------------------------------------------------------------------------------------------------------

#' Figure of a fit, and the data in it
#' @return list(figure, data)
#' @noRd
fit_figure <- function(fit, terms, layers, which, level, scale, options) {
  which <- check_choice(which, c("shapes", "interactions", "history", "importance"), "which")
  layers <- check_flag(layers, "layers")
  if (which == "history") {
    data <- fit_history(fit)
    figure <- history_figure(data, fit$members[[1L]]$score_name, options, has_base(fit))
    return(list(figure = figure, data = data))
  }
  check_readable(fit, "A plot of effects")
  importance <- term_importance(fit, level = level)
  if (which == "importance") {
    data <- pick_importance(importance, terms)
    if (!is.null(terms)) options$bars <- Inf
    return(list(figure = importance_figure(data, options), data = data))
  }
  chosen <- fit_terms(fit, terms, which, importance)
  options$note <- chosen$note
  data <- shapes(
    fit,
    terms = chosen$terms, layers = layers, level = level, scale = scale, simultaneous = options$simultaneous %||% FALSE,
    reference = options$reference
  )
  list(figure = shape_figure(data, options), data = data)
}

#' Terms of a fit to draw, and a note about those left out
#' @noRd
fit_terms <- function(fit, terms, which, importance) {
  strength <- tapply(importance$importance, importance$term, mean)
  features <- named_features(fit)
  pairs <- names(features)[lengths(features) == 2L]
  if (which == "interactions") {
    if (!length(pairs)) {
      pn_abort(
        c("This fit has no interactions.", i = "Fit with {.code order = 2} to have them."),
        class = "order", arg = "which"
      )
    }
    shown <- choose_terms(pairs_of(terms, features[pairs]) %||% max_panels, pairs, strength, features)
    note <- if (length(shown) < length(pairs) && !is.character(terms)) {
      sprintf("The %d strongest of %d interactions.", length(shown), length(pairs))
    }
    return(list(terms = shown, note = note))
  }
  if (!is.null(terms) || !length(pairs)) {
    return(list(terms = choose_terms(terms, names(features), strength, features)))
  }
  strongest <- choose_terms(shown_pairs, pairs, strength)
  note <- if (length(strongest) < length(pairs)) {
    sprintf("Main effects and the %d strongest of %d interactions.", length(strongest), length(pairs))
  }
  list(terms = c(setdiff(names(features), pairs), strongest), note = note)
}

#' Interactions by name; the name of a feature stands for all of its interactions
#' @noRd
pairs_of <- function(terms, features) {
  if (!is.character(terms)) {
    return(terms)
  }
  unlist(lapply(terms, function(term) {
    if (term %in% unlist(features)) names(Filter(function(pair) term %in% pair, features)) else term
  }))
}

#' Histories of all members, one below the other
#' @noRd
fit_history <- function(fit) {
  if (!nrow(fit$members[[1L]]$history)) {
    pn_abort(
      c("This fit has no training history: no feature has prototypes, all shapes are smooth.",
        i = "{.code prototypes_for = TRUE} gives prototypes to every feature."
      ),
      class = "no_prototypes", arg = "which"
    )
  }
  parts <- lapply(seq_along(fit$members), function(m) {
    member <- fit$members[[m]]
    data.frame(member = m, member$history, best = member$history$epoch == member$best_epoch)
  })
  do.call(rbind, parts)
}

#' Rows of some terms, attributes kept
#' @noRd
pick_shapes <- function(shapes, terms) {
  known <- unique(shapes$term)
  chosen <- choose_terms(terms, known, attr(shapes, "importance"), attr(shapes, "features"))
  if (identical(chosen, known)) {
    return(shapes)
  }
  rows <- unlist(lapply(chosen, function(term) which(shapes$term == term)))
  keep_attributes(shapes, rows)
}

pick_importance <- function(importance, terms) {
  strength <- tapply(importance$importance, importance$term, mean)
  chosen <- choose_terms(terms, unique(importance$term), strength, attr(importance, "features"))
  keep_attributes(importance, which(importance$term %in% chosen))
}

pick_rows <- function(contributions, rows) {
  known <- unique(contributions$row)
  if (is.null(rows)) {
    rows <- utils::head(known, 4L)
  }
  unknown <- setdiff(rows, known)
  if (length(unknown) || !length(rows)) {
    pn_abort(
      "{.arg rows} must be rows of the contributions ({some(known, quote = '')}), not {some(unknown, quote = '')}.",
      class = "argument", arg = "rows"
    )
  }
  keep_attributes(contributions, which(contributions$row %in% rows))
}

#' Rows of a classed data frame with its other attributes
#' @noRd
keep_attributes <- function(data, rows) {
  kept <- attributes(data)
  kept <- kept[setdiff(names(kept), c("names", "row.names", "class"))]
  out <- as.data.frame(lapply(unclass(data)[names(data)], `[`, rows), optional = TRUE)
  attributes(out) <- c(attributes(out)[c("names", "row.names")], kept, list(class = class(data)))
  out
}

#' Draw, waiting between pages if a user can press a key
#' @noRd
draw_pages <- function(figure, ask) {
  if (is.null(ask)) {
    ask <- length(figure$pages) > 1L && interactive() && grDevices::dev.interactive()
  }
  draw_figure(figure, check_flag(ask, "ask"))
}
