# Figures of shape functions: which panels, on which pages, with which legend and notes. Pure data.
#
# A figure is a list:
#   panels   list of panels (R/plot-panels.R)         pages   list of pages (R/plot-pages.R)
#   series   list(labels, colours, lines); a legend is drawn when there are two or more
#   key      NULL, or the colour scale of pairs: list(most, axis, title); values run from -most to most
#   ylab     title of the axis of effects, or NULL    xlab    the same for x
#   title    NULL or a string                         caption strings for the foot of each page
#   cex      relative size of the text                room    what it was arranged for, see new_room()
#   squeezes is there an option `pages` that draws all panels on one page?

#' Figure of a shapes data frame
#'
#' @param shapes Class protonam_shapes, already cut down to the terms to draw.
#' @param options See plot_options().
#' @noRd
shape_figure <- function(shapes, options) {
  options <- with_words(options, shapes)
  ratio <- is_ratio(shapes)
  rows <- figure_rows(shapes, ratio)
  series <- figure_series(rows, options$col)
  rows$series <- series$index
  panels <- split_levels(split_panels(rows), shapes, options$room$size[2L])
  pair <- vapply(panels, function(part) is_pair(part), NA)
  check_ylim(options$ylim, panels[!pair], ratio)
  check_log_features(options$log, shapes)
  common <- effect_limits(panels[!pair])
  label <- options$ylab %||% attr(shapes, "scale_label") %||% "effect"
  layers <- unique(rows$layer[!is.na(rows$layer)])
  large <- vapply(panels, function(part) n_levels(part) > many_levels, NA)
  pages <- panel_pages(large, options, across = max(1L, length(layers)))
  page_of <- rep(seq_along(pages), lengths(lapply(pages, `[[`, "panels")))[order(unlist(lapply(pages, `[[`, "panels")))]

  options$label <- label
  built <- lapply(seq_along(panels), function(i) {
    page <- pages[[page_of[i]]]
    options$chars <- panel_chars(page, options$room, key = any(pair[page$panels]))
    options$ticks <- if (options$chars > 60L) 7L else if (options$chars > 30L) 5L else 4L
    part <- panels[[i]]
    given <- if (!pair[i]) term_ends(options$ylim, part$term[1L])
    limits <- if (!is.null(given)) {
      if (ratio) log(given) else given
    } else if (options$free_y && !pair[i]) {
      effect_limits(list(part))
    } else {
      common
    }
    panel <- build_panel(part, shapes, axis_effect(limits, ratio, 5L), large[i], options)
    if (!pair[i]) panel <- cut_panel(panel)
    if (!is.null(given)) panel$cut <- FALSE
    panel$x <- thin_axis(panel$x, options$chars)
    panel
  })
  most <- if (any(pair)) pair_range(built[pair])
  list(
    panels = built, pages = pages,
    series = series[c("labels", "colours", "lines")],
    key = if (any(pair)) list(most = most, axis = axis_effect(c(-1, 1) * most, ratio, 5L), title = label),
    ylab = if (!all(pair)) label, xlab = NULL, title = options$main, cex = options$cex,
    room = options$room, squeezes = TRUE,
    caption = c(
      describe_reference(attr(shapes, "reference")[unique(rows$term)]), figure_note(shapes, rows), options$note
    )
  )
}

#' Stop at features that have levels and should have a logarithmic axis
#' @noRd
check_log_features <- function(log, shapes) {
  for (feature in log) {
    if (identical(attr(shapes, "terms")[[feature]]$type, "categorical")) {
      pn_abort("{.arg log}: {.field {feature}} is not a number.", class = "argument", arg = "log")
    }
  }
}

#' Stop at limits of terms that are not drawn, and at ratios that are not positive
#' @noRd
check_ylim <- function(ylim, panels, ratio) {
  terms <- unique(vapply(panels, function(part) part$term[1L], ""))
  if (is.list(ylim)) check_features(names(ylim), terms, "ylim")
  if (ratio && any(unlist(ylim) <= 0)) {
    pn_abort("{.arg ylim} must be positive where effects are ratios.", class = "argument", arg = "ylim")
  }
}

level_height <- 0.1 # inches that the name of a level needs

#' Features with more levels than a page has room for get several panels
#' @param height Of the page, in inches.
#' @noRd
split_levels <- function(panels, shapes, height) {
  most <- max(many_levels, floor((height - 1) / level_height))
  out <- lapply(panels, function(part) {
    levels <- unique(part$level[part$level != missing_level])
    known <- feature_facts(shapes, part$term[1L])$levels
    levels <- c(intersect(known, levels), setdiff(levels, known))
    if (is_pair(part) || length(levels) <= most || !all(is.na(part$x))) {
      return(list(part))
    }
    count <- ceiling(length(levels) / most)
    group <- ceiling(match(part$level, levels) / ceiling(length(levels) / count))
    group[is.na(group)] <- count # the missing value comes last
    lapply(seq_len(count), function(k) {
      structure(part[group == k, ], part = c(attr(part, "part"), sprintf("%d of %d", k, count)))
    })
  })
  do.call(c, out)
}

#' The largest absolute interaction that is drawn
#' @noRd
pair_range <- function(panels) {
  value <- unlist(lapply(panels, function(panel) c(panel$marks$tile$value, panel$marks$cell$value)))
  max(abs(value), 0, na.rm = TRUE)
}

#' Notes on some panels: what is cut off, left out or blank
#' @noRd
panel_notes <- function(panels) c(cut_note(panels), beyond_note(panels), blank_note(panels))

blank_note <- function(panels) {
  if (any(vapply(panels, function(panel) !is.null(panel$marks$blank), NA))) "Grey: no training rows near."
}

#' Ratios (odds ratios, rate ratios) have a logarithmic axis and no effect at 1
#' @noRd
is_ratio <- function(shapes) {
  identical(attr(shapes, "scale"), "response") && !identical(attr(shapes, "family"), "gaussian") &&
    all(shapes$effect > 0, na.rm = TRUE)
}

#' The columns that figures use, in drawing coordinates
#' @noRd
figure_rows <- function(shapes, ratio) {
  rows <- as.data.frame(unclass(shapes)[c(
    "term", "task", "output", "layer", "x", "level", "y", "level2", "effect", "lower", "upper", "density"
  )])
  if (ratio) {
    rows[c("effect", "lower", "upper")] <- lapply(rows[c("effect", "lower", "upper")], log)
  }
  rows
}

is_pair_row <- function(rows) !is.na(rows$y) | !is.na(rows$level2)
is_pair <- function(part) is_pair_row(part)[1L]
n_levels <- function(part) max(length(unique(part$level)), length(unique(part$level2)))

#' Series of a figure: classes of a multinomial response, else groups or responses
#' @return list(index: series of every row, labels, colours, lines)
#' @noRd
figure_series <- function(rows, colours = NULL) {
  by <- if (length(unique(rows$output[!is.na(rows$output)])) > 1L) rows$output else rows$task
  labels <- unique(by[!is.na(by)])
  list(
    index = if (length(labels)) match(by, labels) else rep(1L, nrow(rows)),
    labels = labels, colours = series_colours(max(1L, length(labels)), colours),
    lines = series_line_types(max(1L, length(labels)))
  )
}

#' Rows of every panel: a term (and layer) with all its series; a pair has a panel for each of them
#' @return list of data frames with the attribute "part", the words that distinguish the panels of one term
#' @noRd
split_panels <- function(rows) {
  # a multinomial model of several groups: one panel per group, one series per class
  both <- length(unique(rows$output[!is.na(rows$output)])) > 1L && length(unique(rows$task[!is.na(rows$task)])) > 1L
  pair <- is_pair_row(rows)
  text <- function(x) ifelse(is.na(x), "", as.character(x))
  task <- ifelse(pair | both, text(rows$task), "")
  output <- ifelse(pair, text(rows$output), "")
  layer <- ifelse(is.na(rows$layer), "", ifelse(rows$layer %in% 0, "smooth", paste("layer", rows$layer)))
  key <- paste(rows$term, layer, task, output, pair, sep = "\r")
  parts <- split(rows, factor(key, levels = unique(key)))
  first <- match(unique(key), key)
  Map(function(part, words) structure(part, part = words), unname(parts), lapply(first, function(i) {
    words <- c(task[i], output[i], layer[i])
    words[nzchar(words)]
  }))
}

#' One panel of a figure
#'
#' @param options With `chars`, about how many characters the panel is wide.
#' @noRd
build_panel <- function(part, shapes, y, large, options) {
  width <- options$chars
  words <- attr(part, "part")
  term <- part$term[1L]
  if (is_pair(part)) {
    names <- term_parts(term, attr(shapes, "features"))
    facts <- lapply(names, feature_facts, shapes = shapes)
    panel <- panel_pair(part, facts, axis_titles(names, facts, options), NULL, options$style, options)
    panel$y$labels <- shorten(panel$y$labels, max(8L, width %/% 3L))
    # ggplot2 turns all labels of a figure or none, so names along x are also kept abbreviated to their room
    if (isTRUE(panel$x$named)) {
      room <- max(3L, width %/% length(c(panel$x$labels, panel$x$extra$label)))
      panel$x$tight <- unname(abbreviate(panel$x$labels, room, method = "both.sides", named = FALSE))
    }
    panel$x$labels <- shorten(panel$x$labels, 16L)
    panel$title <- panel_title(axis_titles(names, facts, options), words, width)
    panel$words <- if (length(words)) shorten(paste(words, collapse = ", "), width)
    panel$x$title <- shorten(panel$x$title, width)
    panel$y$title <- shorten(panel$y$title, max(12L, as.integer(0.6 * width)))
    return(panel)
  }
  facts <- feature_facts(shapes, term)
  title <- panel_title(axis_titles(term, list(facts), options), words, width)
  if (all(is.na(part$x)) && any(!is.na(part$level) & part$level != missing_level)) {
    panel <- panel_levels(part, facts, y, title, options)
    fit_levels(panel, width, large, options$label)
  } else {
    panel_curve(part, facts, y, title, options)
  }
}

#' Level names that fit: side by side when there is room, else one per line with the axes exchanged
#' @noRd
fit_levels <- function(panel, width, large, label) {
  names <- panel$x$labels
  all_names <- c(names, panel$x$extra$label)
  room <- width %/% length(all_names)
  if (!large && 1.2 * max(nchar(all_names, type = "width")) <= room) {
    return(panel)
  }
  panel$x$labels <- shorten(names, max(8L, as.integer(0.6 * width)))
  panel <- flip_panel(panel)
  panel$x$title <- label
  panel
}

#' "age", "age, layer 2", "age : weight, female"; a long name has two lines and the rest a separate one
#' @noRd
panel_title <- function(labels, words, width) {
  text <- paste(labels, collapse = " : ")
  if (!length(words)) {
    return(wrap_name(text, width))
  }
  words <- paste(words, collapse = ", ")
  whole <- paste0(text, ", ", words)
  if (nchar(whole, type = "width") <= width) whole else paste0(wrap_name(text, width), "\n", shorten(words, width))
}

#' What features are called on a figure
#' @noRd
feature_labels <- function(features, labels) {
  given <- unname(as.character(labels)[match(features, names(labels))])
  ifelse(is.na(given), features, given)
}

#' Labels of features with their units, unless the label already has one
#' @noRd
axis_titles <- function(features, facts, options) {
  labels <- feature_labels(features, options$labels)
  own <- vapply(facts, function(fact) if (identical(fact$type, "difftime")) fact$unit %||% "" else "", "")
  unit <- ifelse(features %in% names(options$units), options$units[features], own)
  ifelse(nzchar(unit) & !grepl("(", labels, fixed = TRUE), paste0(labels, " (", unit, ")"), labels)
}

#' Options in which labels and units of the data's columns replace those not given
#' @noRd
with_words <- function(options, data) {
  words <- attr(data, "words")
  add <- function(given, known) c(given, known[setdiff(names(known), names(given))])
  options$labels <- add(options$labels, words$labels)
  options$units <- add(options$units, words$units)
  options
}

#' A note on the meaning of the bands
#' @noRd
figure_note <- function(shapes, rows) {
  banded <- any(is.finite(rows$lower) & is.finite(rows$upper) & !is_pair_row(rows)) # heat maps have none
  if (banded) {
    level <- attr(shapes, "level") %||% 0.95
    return(attr(shapes, "band") %||% sprintf("Bands: %s %% of the ensemble's members.", format(100 * level)))
  }
  if (identical(attr(shapes, "members"), 1L) && !all(is_pair_row(rows))) no_band_note
}
