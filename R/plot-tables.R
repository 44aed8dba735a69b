# Figures of effect_table(), term_evidence(), jumps() and anova(): forest plots (R/plot-forest.R).

#' Options of a figure of a table
#' @param given list(labels, main, cex, col, xlim), and level_labels of tables with levels.
#' @noRd
table_options <- function(given, room) do.call(plot_options, c(given, list(limits = room)))

#' Stop at a table whose columns or attributes were removed
#' @noRd
check_drawable <- function(x, columns, attribute) {
  lost <- setdiff(columns, names(x))
  if (length(lost) || is.null(attr(x, attribute))) {
    what <- if (length(lost)) "the column{?s} {.field {lost}}" else "what it was made from"
    pn_abort(
      c(paste0("{.arg x} cannot be drawn: it has lost ", what, "."), i = "Draw the table as it was computed."),
      class = "argument", arg = "x"
    )
  }
}

#' What tells estimates of one term apart, and the number of each row's series
#' @return list(labels, index)
#' @noRd
table_series <- function(x) {
  by <- importance_series(x)
  labels <- unique(by[!is.na(by)])
  list(labels = labels, index = if (length(labels) > 1L) match(by, labels) else rep(1L, nrow(x)))
}

# Effects -------------------------------------------------------------------------------------------------------------

effect_figure <- function(x, options) {
  check_drawable(x, table_columns, "scale_label")
  if (!nrow(x)) {
    return(sentence_figure("No effects.", options))
  }
  options <- with_words(options, x)
  ratio <- shows_ratios(x)
  convert <- if (ratio) log else identity
  series <- table_series(x)
  facts <- rep(list(list()), nrow(x))
  value <- x$value
  for (term in unique(x$term[!is.na(x$level)])) {
    here <- which(x$term == term & !is.na(x$level) & x$level != missing_level)
    value[here] <- level_names(value[here], options$level_labels[[term]])
  }
  lines <- data.frame(
    block = x$term, name = axis_titles(x$term, facts, options), value = paste0(value, ifelse(x$outside, "*", "")),
    x = convert(x$estimate), lower = convert(x$lower), upper = convert(x$upper),
    role = ifelse(x$is_reference, "end", "point"), series = series$index, panel = NA_character_
  )
  apart <- !x$term %in% x$term[x$is_reference]
  against <- unique(x[apart, c("term", "reference")])
  caption <- c(
    if (any(x$is_reference)) "Diamonds: references.",
    if (nrow(against)) describe_reference(stats::setNames(against$reference, against$term)),
    attr(x, "band"), if (any(x$outside)) outside_note
  )
  forest_figure(lines, list(title = effect_title(x), ratio = ratio), series$labels, caption, options)
}

#' @rdname effect_table
#' @param object From `effect_table()`.
#' @param labels,units,level_labels,main,cex,col Labels of features, their units, labels of levels, title of the figure,
#'   relative size of its text, colours of groups or classes, see [plot.protonam()].
#' @param xlim Ends of the axis of effects.
#' @export
plot.protonam_effect_table <- function(x, labels = NULL, units = NULL, level_labels = NULL, main = NULL, xlim = NULL,
                                       cex = 1, col = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_effect_table)))
  given <- list(
    labels = labels, units = units, level_labels = level_labels, main = main, xlim = xlim, cex = cex, col = col
  )
  draw_pages(effect_figure(x, table_options(given, device_limits())), FALSE)
  invisible(x)
}

# nolint start: object_name_linter, object_length_linter.
#' @rdname effect_table
#' @param size,page See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_effect_table <- function(object, labels = NULL, units = NULL, level_labels = NULL, main = NULL,
                                           xlim = NULL, cex = 1, col = NULL, size = NULL, page = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_effect_table)))
  given <- list(
    labels = labels, units = units, level_labels = level_labels, main = main, xlim = xlim, cex = cex, col = col
  )
  gg_pages(effect_figure(object, table_options(given, gg_room(size))), page)
}
# nolint end

# Evidence ------------------------------------------------------------------------------------------------------------

evidence_figure <- function(x, options) {
  check_drawable(x, c("term", "task", "increase", "lower", "upper"), "loss")
  if (!nrow(x)) {
    return(sentence_figure("No terms.", options))
  }
  options <- with_words(options, x)
  lines <- data.frame(
    block = "terms", name = term_labels(x$term, attr(x, "features"), options$labels), value = NA_character_,
    x = x$increase, lower = x$lower, upper = x$upper, role = "point", series = 1L, panel = x$task, line = x$term
  )
  title <- paste("increase of", attr(x, "loss"))
  forest_figure(lines, list(title = title, ratio = FALSE), character(), evidence_note(x), options)
}

#' @rdname term_evidence
#' @param object From `term_evidence()`.
#' @param labels,main,cex,col Labels of features, title of the figure, relative size of its text, colour.
#' @param xlim Ends of the axis.
#' @export
plot.protonam_evidence <- function(x, labels = NULL, main = NULL, xlim = NULL, cex = 1, col = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_evidence)))
  given <- list(labels = labels, main = main, xlim = xlim, cex = cex, col = col)
  draw_pages(evidence_figure(x, table_options(given, device_limits())), FALSE)
  invisible(x)
}

# nolint start: object_name_linter.
#' @rdname term_evidence
#' @param size,page See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_evidence <- function(object, labels = NULL, main = NULL, xlim = NULL, cex = 1, col = NULL,
                                       size = NULL, page = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_evidence)))
  given <- list(labels = labels, main = main, xlim = xlim, cex = cex, col = col)
  gg_pages(evidence_figure(object, table_options(given, gg_room(size))), page)
}
# nolint end

# Jumps ---------------------------------------------------------------------------------------------------------------

jump_figure <- function(x, options) {
  check_drawable(x, c("term", "position", "size", "size_lower", "size_upper", "holds"), "columns")
  if (!nrow(x)) {
    return(sentence_figure(no_jumps_sentence(attr(x, "prototypes")), options))
  }
  options <- with_words(options, x)
  ratio <- attr(x, "scale") == "response" && attr(x, "family") != "gaussian"
  convert <- if (ratio) log else identity
  series <- table_series(x)
  lines <- data.frame(
    block = x$term, name = axis_titles(x$term, rep(list(list()), nrow(x)), options),
    value = jump_values(x, x$position), x = convert(x$size), lower = convert(x$size_lower),
    upper = convert(x$size_upper), role = ifelse(x$holds, "point", "missing"), series = series$index,
    panel = NA_character_, line = x$position
  )
  caption <- c(
    sprintf("Sizes of jumps with %s %% intervals.", format(100 * attr(x, "level"), digits = 3L)),
    if (any(!x$holds)) "Open diamonds: jumps found on one half of the rows and not confirmed on the other."
  )
  of <- attr(x, "scale_label")
  title <- if (attr(x, "family") == "gaussian") paste("jump of the", of) else sprintf("size of the jump (%s)", of)
  forest_figure(lines, list(title = title, ratio = ratio), series$labels, caption, options)
}

#' @rdname jumps
#' @param object From `jumps()`.
#' @param labels,units,main,cex,col Labels of features, their units, title of the figure, relative size of its text,
#'   colours of groups or classes.
#' @param xlim Ends of the axis of sizes.
#' @export
plot.protonam_jumps <- function(x, labels = NULL, units = NULL, main = NULL, xlim = NULL, cex = 1, col = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_jumps)))
  given <- list(labels = labels, units = units, main = main, xlim = xlim, cex = cex, col = col)
  draw_pages(jump_figure(x, table_options(given, device_limits())), FALSE)
  invisible(x)
}

# nolint start: object_name_linter.
#' @rdname jumps
#' @param size,page See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_jumps <- function(object, labels = NULL, units = NULL, main = NULL, xlim = NULL, cex = 1, col = NULL,
                                    size = NULL, page = NULL, ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_jumps)))
  given <- list(labels = labels, units = units, main = main, xlim = xlim, cex = cex, col = col)
  gg_pages(jump_figure(object, table_options(given, gg_room(size))), page)
}
# nolint end

# Comparisons of fits -------------------------------------------------------------------------------------------------

comparison_figure <- function(x, options) {
  check_drawable(x, c("model", "task", "difference", "lower", "upper"), "loss")
  lines <- data.frame(
    block = "models", name = x$model, value = NA_character_, x = x$difference, lower = x$lower, upper = x$upper,
    role = "point", series = 1L, panel = x$task, line = seq_len(nrow(x))
  )
  # the first model of all is compared with none
  lines <- lines[is.finite(lines$x), , drop = FALSE]
  if (!nrow(lines)) {
    return(sentence_figure("There is nothing to compare.", options))
  }
  title <- paste("difference of", attr(x, "loss"))
  forest_figure(lines, list(title = title, ratio = FALSE), character(), comparison_note(x), options)
}

#' @rdname anova.protonam
#' @param main,cex,col Title of the figure, relative size of its text, colour.
#' @param xlim Ends of the axis.
#' @export
plot.protonam_anova <- function(x, main = NULL, xlim = NULL, cex = 1, col = NULL, ...) {
  check_dots_empty(list(...), names(formals(plot.protonam_anova)))
  given <- list(main = main, xlim = xlim, cex = cex, col = col)
  draw_pages(comparison_figure(x, table_options(given, device_limits())), FALSE)
  invisible(x)
}

# nolint start: object_name_linter.
#' @rdname anova.protonam
#' @param size,page See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_anova <- function(object, main = NULL, xlim = NULL, cex = 1, col = NULL, size = NULL, page = NULL,
                                    ...) {
  check_dots_empty(list(...), names(formals(autoplot.protonam_anova)))
  given <- list(main = main, xlim = xlim, cex = cex, col = col)
  gg_pages(comparison_figure(object, table_options(given, gg_room(size))), page)
}
# nolint end
