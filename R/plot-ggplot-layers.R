# Figures in ggplot2: one page of a figure becomes one plot, its panels facets.
#
# Facets share the kind of their scales, but the panels of a page differ: numbers, dates, names, axes exchanged. So
# where panels differ, each is drawn in separate coordinates: panel j runs from 3 j to 3 j + 1 along x and y, and the
# scales' breaks and labels are functions that find the panel by these numbers. A page of plain numeric panels keeps the
# values themselves as coordinates, so that scales can be added to the plot.

#' A page of a figure as a ggplot
#' @noRd
gg_page <- function(figure, number) {
  page <- figure$pages[[number]]
  panels <- figure$panels[page$panels]
  figure$room <- figure$room %||% gg_room()
  figure$text <- figure$room$cex * (figure$cex %||% 1)
  own <- !all(vapply(panels, is_plain, NA)) && length(panels) > 1L
  panels <- lapply(seq_along(panels), function(j) if (own) gg_place(panels[[j]], j) else gg_unlog(panels[[j]]))
  turned <- vapply(panels, function(panel) isTRUE(panel$flipped), NA)
  plot <- ggplot2::ggplot()
  for (role in names(mark_styles)) {
    mark <- gg_bind(panels, role)
    if (!is.null(mark)) plot <- plot + gg_layer(mark, mark_styles[[role]], role, figure)
  }
  ends <- do.call(rbind, lapply(seq_along(panels), function(j) {
    data.frame(x = panels[[j]]$x$limits, y = panels[[j]]$y$limits, panel = factor(j, seq_along(panels)))
  }))
  plot <- plot + ggplot2::geom_blank(gg_aes(x = "x", y = "y"), data = ends)
  # effects along x in some panels only: these need a separate title
  plot +
    gg_axis(panels, "x", titled = any(turned) && !all(turned)) + gg_axis(panels, "y") +
    gg_facets(panels, page) + gg_scales(figure, panels) + gg_titles(figure, panels, number) +
    gg_theme(panels, page, figure)
}

#' Are a panel's coordinates numbers of a kind that any plot could have?
#' @noRd
is_plain <- function(panel) {
  is.null(panel$x$extra) && isTRUE(panel$x$plain) && isTRUE(panel$y$plain)
}

#' Aesthetics from column names, without variables that code checks would not find
#' @noRd
gg_aes <- function(...) do.call(ggplot2::aes, lapply(c(...), as.name))

#' A panel with its marks and axes in separate coordinates
#' @noRd
gg_place <- function(panel, j) {
  for (side in c("x", "y")) {
    limits <- panel[[side]]$limits
    panel <- gg_move(panel, side, function(value) 3 * j + (value - limits[1L]) / diff(limits))
    panel[[side]]$ratio <- FALSE
  }
  panel
}

#' A panel whose logarithmic axes are in the units of the values, so that they can be added to
#' @noRd
gg_unlog <- function(panel) {
  for (side in c("x", "y")) {
    if (isTRUE(panel[[side]]$ratio)) panel <- gg_move(panel, side, exp)
  }
  panel
}

gg_move <- function(panel, side, move) {
  columns <- if (side == "x") c("x", "xend", "xmin", "xmax") else c("y", "yend", "ymin", "ymax", "lower", "upper")
  panel$marks <- lapply(panel$marks, function(mark) {
    here <- intersect(columns, names(mark))
    mark[here] <- lapply(mark[here], move)
    mark
  })
  axis <- panel[[side]]
  panel[[side]]$at <- move(axis$at)
  if (!is.null(axis$extra)) panel[[side]]$extra$at <- move(axis$extra$at)
  panel[[side]]$limits <- move(axis$limits)
  panel
}

#' Rows of one role of all panels
#' @noRd
gg_bind <- function(panels, role) {
  parts <- lapply(seq_along(panels), function(j) {
    mark <- panels[[j]]$marks[[role]]
    if (is.null(mark) || !nrow(mark)) {
      return(NULL)
    }
    mark$panel <- factor(j, seq_along(panels))
    if (!is.null(mark$piece)) mark$piece <- paste(j, mark$piece)
    mark
  })
  do.call(rbind, parts)
}

#' The layer that draws one role
#' @noRd
gg_layer <- function(mark, style, role, figure) {
  by_series <- is.null(style$colour) || is.na(style$colour)
  if (!is.null(mark$series)) mark$series <- factor(mark$series, seq_along(figure$series$colours))
  # lines of a point's width: ggplot2 counts in mm
  width <- (style$width %||% 1) / ggplot2::.pt * 1.1
  legend <- role %in% c("curve", "point", "bar")
  # a fixed colour, or the series' colour
  draw <- function(geom, aes, ...) {
    if (by_series) {
      aes <- c(aes, colour = "series")
      geom(do.call(gg_aes, as.list(aes)), data = mark, show.legend = legend, ...)
    } else {
      geom(do.call(gg_aes, as.list(aes)), data = mark, colour = style$colour, show.legend = FALSE, ...)
    }
  }
  corners <- c(xmin = "xmin", xmax = "xmax", ymin = "ymin", ymax = "ymax")
  ends <- c(x = "x", y = "y", xend = "xend", yend = "yend")
  switch(style$geom,
    rect = if (role == "bar") {
      ggplot2::geom_rect(do.call(gg_aes, as.list(c(corners, fill = "series"))), data = mark, show.legend = legend)
    } else {
      ggplot2::geom_rect(
        do.call(gg_aes, as.list(c(corners, alpha = "opacity"))),
        data = mark, fill = style$colour, show.legend = FALSE
      )
    },
    tile = ggplot2::geom_rect(do.call(gg_aes, as.list(c(corners, fill = "value"))), data = mark),
    cell = ggplot2::geom_point(
      gg_aes(x = "x", y = "y", fill = "value", size = "size"),
      data = transform(mark, size = 2.8 * mark$size), shape = style$shape, colour = fade(pale_ink, 0.5), stroke = 0.15
    ),
    segment = draw(
      ggplot2::geom_segment, ends,
      linewidth = width, linetype = style$line %||% 1L, alpha = style$opacity %||% 1
    ),
    band = gg_bands(mark, style, figure),
    line = draw(
      ggplot2::geom_path, c(x = "x", y = "y", group = "piece", if (several_lines(figure)) c(linetype = "series")),
      linewidth = width, alpha = style$opacity
    ),
    point = draw(
      ggplot2::geom_point, c(x = "x", y = "y"),
      shape = style$shape, size = 1.7 * style$size * min(1, figure$text), fill = "white", stroke = 0.8,
      alpha = style$opacity %||% 1
    ),
    text = draw(
      ggplot2::geom_text, c(x = "x", y = "y", label = "label", hjust = "adjust"),
      size = 3 * style$size * figure$text, vjust = style$hang %||% 0.5, lineheight = 1
    )
  )
}

several_lines <- function(figure) length(unique(figure$series$lines)) > 1L

#' Bands: one layer per series, so that the scale of fills stays free for heat maps
#' @noRd
gg_bands <- function(mark, style, figure) {
  lapply(split(mark, mark$series, drop = TRUE), function(part) {
    ggplot2::geom_ribbon(
      gg_aes(x = "x", ymin = "lower", ymax = "upper", group = "piece"),
      data = part, fill = figure$series$colours[as.integer(part$series[1L])], alpha = style$opacity
    )
  })
}

# Axes, scales, titles ------------------------------------------------------------------------------------------------

#' The scale of x or y: breaks and labels of the panel being drawn
#' @noRd
gg_axis <- function(panels, side, titled = FALSE) {
  axes <- lapply(panels, `[[`, side)
  at <- lapply(axes, function(axis) c(axis$at, axis$extra$at))
  labels <- Map(function(panel, axis) c(gg_tick_labels(panel, axis, titled), axis$extra$label), panels, axes)
  limits <- vapply(axes, `[[`, numeric(2L), "limits")
  find_breaks <- function(shown) at[[which.min(colSums(abs(limits - shown)))]]
  nearest_tick <- function(breaks, ticks) {
    # a logarithmic scale gives breaks back with rounding errors
    found <- vapply(breaks, function(b) which.min(c(abs(ticks - b), Inf))[1L], 1L)
    ifelse(abs(ticks[found] - breaks) <= 1e-8 * max(abs(ticks), 1e-300), found, NA)
  }
  find_labels <- function(breaks) {
    known <- breaks[!is.na(breaks)]
    here <- which(vapply(at, function(ticks) length(ticks) > 0L && !anyNA(nearest_tick(known, ticks)), NA))
    if (!length(here)) {
      return(format_ticks(breaks))
    }
    labels[[here[1L]]][nearest_tick(breaks, at[[here[1L]]])]
  }
  scale <- if (isTRUE(axes[[1L]]$ratio)) {
    if (side == "x") ggplot2::scale_x_log10 else ggplot2::scale_y_log10
  } else {
    if (side == "x") ggplot2::scale_x_continuous else ggplot2::scale_y_continuous
  }
  # numbers may be left out where they would touch, names may not
  named <- side == "y" && any(vapply(axes, function(axis) isTRUE(axis$named), NA))
  scale(
    breaks = find_breaks, labels = find_labels, minor_breaks = NULL, expand = c(0, 0),
    guide = ggplot2::guide_axis(check.overlap = !named)
  )
}

#' Labels at ticks; where `titled`, effects along x have their title below the middle tick
#' @noRd
gg_tick_labels <- function(panel, axis, titled) {
  labels <- axis$tight %||% axis$labels
  if (titled && isTRUE(panel$flipped) && length(labels)) {
    middle <- which.min(abs(axis$at - mean(axis$limits)))
    labels[middle] <- paste0(labels[middle], "\n", axis$title)
  }
  labels
}

#' Facets with the panels' titles, by row as on a page of plot()
#' @noRd
gg_facets <- function(panels, page) {
  titles <- vapply(panels, gg_strip, "")
  names(titles) <- seq_along(panels)
  y_limits <- vapply(panels, function(panel) panel$y$limits, numeric(2L))
  alike <- all(abs(y_limits - y_limits[, 1L]) <= 1e-12 * max(abs(y_limits)))
  ggplot2::facet_wrap(
    "panel",
    ncol = page$columns, scales = if (alike) "free_x" else "free", labeller = ggplot2::as_labeller(titles)
  )
}

gg_strip <- function(panel) {
  if (panel$kind != "pair") {
    return(panel$title %||% "")
  }
  names <- paste0(c("x: ", "y: "), c(panel$x$title, panel$y$title))
  paste(c(names, panel$words), collapse = "\n")
}

gg_scales <- function(figure, panels) {
  series <- figure$series
  several <- length(series$labels) > 1L
  count <- length(series$colours)
  names <- seq_len(count)
  labels <- if (several) stats::setNames(shorten(series$labels, 30L), names) else ggplot2::waiver()
  values <- stats::setNames(series$colours, names)
  each <- max(nchar(shorten(series$labels, 30L), type = "width"), 1L) + 5L
  across <- max(1L, floor(figure$room$size[1L] / (0.075 * figure$text * each)))
  legend <- if (several) ggplot2::guide_legend(ncol = min(count, across)) else "none"
  roles <- unique(unlist(lapply(panels, function(panel) names(panel$marks))))
  # bars show the colours of filled series; without them points do
  guide <- if (isTRUE(series$filled) && "bar" %in% roles) "none" else legend
  list(
    ggplot2::scale_alpha_identity(), ggplot2::scale_size_identity(),
    ggplot2::scale_colour_manual(values = values, labels = labels, name = NULL, guide = guide),
    if (several_lines(figure)) {
      ggplot2::scale_linetype_manual(
        values = stats::setNames(series$lines, names), labels = labels, name = NULL, guide = guide
      )
    },
    if ("bar" %in% roles) {
      ggplot2::scale_fill_manual(
        values = values, labels = labels, name = NULL, guide = legend, drop = FALSE
      )
    },
    if (any(c("tile", "cell") %in% roles)) {
      key <- figure$key
      most <- key$axis$limits[2L]
      ggplot2::scale_fill_gradientn(
        colours = diverging_colours, limits = c(-most, most), breaks = key$axis$at, labels = key$axis$labels,
        name = wrap_name(key$title, 12L, 3L)
      )
    }
  )
}

gg_titles <- function(figure, panels, number) {
  caption <- page_caption(figure, number)
  width <- max(20L, floor((figure$room$size[1L] - 0.2) / (0.064 * figure$text)))
  caption <- if (length(caption)) paste(strwrap(paste(caption, collapse = " "), width), collapse = "\n")
  upright <- any(vapply(panels, function(panel) panel$kind != "pair" && !isTRUE(panel$flipped), NA))
  x <- figure$xlab
  y <- if (upright) figure$ylab
  if (length(panels) == 1L) {
    panel <- panels[[1L]]
    x <- panel$x$title %||% panel$title
    y <- panel$y$title %||% y
  } else if (all(vapply(panels, function(panel) isTRUE(panel$flipped), NA))) {
    x <- panels[[1L]]$x$title
  }
  ggplot2::labs(x = x, y = y, title = figure$title, caption = caption)
}

gg_theme <- function(panels, page, figure) {
  # one panel without a separate title: the title labels the axis
  single <- length(panels) == 1L && (!isTRUE(panels[[1L]]$flipped) || is.null(panels[[1L]]$title))
  text <- figure$text * if (max(page$rows, page$columns) > 2L) 0.9 else 1
  # names of levels must not touch
  lines <- max(1L, vapply(panels, function(panel) if (isTRUE(panel$y$named)) length(panel$y$at) + 1L else 0L, 1L))
  height <- (figure$room$size[2L] - 0.8 * figure$text) / page$rows - 0.5 * figure$text
  ggplot2::theme_classic(base_size = 10 * text) +
    ggplot2::theme(
      axis.line = ggplot2::element_line(colour = pale_ink, linewidth = 0.3),
      axis.ticks = ggplot2::element_line(colour = pale_ink, linewidth = 0.3),
      axis.text = ggplot2::element_text(colour = ink),
      axis.text.y = ggplot2::element_text(size = min(8.5 * text, max(3, 72 * height / lines / 1.15))),
      legend.key.size = ggplot2::unit(0.9, "lines"),
      strip.background = ggplot2::element_blank(),
      strip.text = if (single) ggplot2::element_blank() else ggplot2::element_text(face = "bold", hjust = 0),
      panel.spacing = ggplot2::unit(9, "pt"), plot.margin = ggplot2::margin(5, 12, 5, 5),
      legend.position = gg_legend_side(panels), legend.margin = ggplot2::margin(0, 0, 0, 0),
      plot.caption = ggplot2::element_text(hjust = 0, colour = "grey30"), plot.caption.position = "plot",
      plot.title.position = "plot"
    )
}

# the legend of groups on top, the key of colours at the right
gg_legend_side <- function(panels) {
  if (any(vapply(panels, function(panel) panel$kind == "pair", NA))) "right" else "top"
}
