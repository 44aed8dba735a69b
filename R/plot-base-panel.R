# One panel in base graphics: margins that fit the names, axes, marks.

#' @param alone Is it the only panel of its page? Then its title is that of the axis, as in a paper.
#' @return Its position, see panel_place()
#' @noRd
draw_panel <- function(panel, figure, alone) {
  # the size of the cell is known once it has been entered
  graphics::par(mar = c(0, 0, 0, 0))
  graphics::plot.new()
  cell <- graphics::par("fin")
  line <- line_height()
  lines_of <- function(text) if (is.null(text)) 0 else lengths(strsplit(text, "\n", fixed = TRUE))
  pair <- panel$kind == "pair"
  under_axis <- alone && has_axis_title(panel)
  # the features of a pair label its axes
  title <- if (pair) panel$words else if (!under_axis) panel$title
  x_title <- if (under_axis) panel$title else panel$x$title
  high <- cell[2L] - line * (3 + 1.2 * lines_of(title) + foot_height(length(panel$foot), foot_cex))
  small <- name_size(panel$y, high)
  side <- label_margin(panel$y, small, cell[1L], line)
  below <- bottom_labels(panel$x, cell - c((side + 1) * line, 0), line)
  foot <- foot_lines(panel$foot, cell[1L] - 0.2, foot_cex * graphics::par("cex"))
  under <- below$lines + 1.2 * lines_of(x_title)
  margins <- c(
    under + 0.4 + foot_height(length(foot), foot_cex),
    side + if (is.null(panel$y$title)) 0.2 else 1.4,
    0.5 + 1.15 * lines_of(title),
    if (is.null(panel$x$extra)) 0.6 else 1
  )
  graphics::par(mar = fit_margins(margins, cell, line))
  graphics::plot.window(panel$x$limits, panel$y$limits, xaxs = "i", yaxs = "i")

  marks <- ordered_marks(panel)
  for (role in names(marks)) {
    draw_mark(marks[[role]], mark_styles[[role]], figure)
  }
  graphics::box(bty = if (pair) "o" else "l", col = pale_ink, lwd = 0.8)
  draw_x_axis(panel$x, below)
  draw_y_axis(panel$y, small)
  cex <- graphics::par("cex")
  if (!is.null(x_title)) {
    graphics::mtext(x_title, 1L, line = under - 1, cex = cex)
  }
  if (!is.null(panel$y$title)) {
    graphics::mtext(panel$y$title, 2L, line = side + 0.1, las = 0L, cex = cex)
  }
  if (!is.null(title)) {
    # over names of levels a title needs the whole width
    left <- if (isTRUE(panel$flipped)) graphics::grconvertX(0.02, "nfc", "user") else panel$x$limits[1L]
    graphics::mtext(title, 3L, line = 0.25, at = left, adj = 0, font = 2L, cex = cex)
  }
  for (i in seq_along(foot)) {
    graphics::mtext(
      foot[i], 1L,
      line = under + 0.2 + foot_height(i - 1, foot_cex), cex = foot_cex * cex, col = "grey30", adj = 0,
      at = graphics::grconvertX(0.02, "nfc", "user")
    )
  }
  panel_place(panel$x, panel$y)
}

#' Can a panel's title label its x axis?
#' @noRd
has_axis_title <- function(panel) panel$kind == "curve" || (panel$kind == "levels" && !isTRUE(panel$flipped))

#' Lines of text that the labels of a y axis need, ticks included
#' @noRd
label_margin <- function(axis, small, width, line) {
  labels <- c(axis$labels, axis$extra$label)
  needed <- if (length(labels)) small * max(graphics::strwidth(labels, units = "inches")) else 0
  min(needed, 0.5 * width) / line + 1
}

#' Size of the names along a y axis: smaller when there are many
#' @param height Of the axis, inches.
#' @noRd
name_size <- function(axis, height) {
  if (!isTRUE(axis$named)) {
    return(1)
  }
  # names stand a unit apart
  room <- height / max(1, diff(axis$limits))
  min(1, max(room, 1e-3) / (1.4 * graphics::strheight("M", units = "inches")))
}

#' How labels below the x axis are set: side by side, abbreviated, or upright where they would touch
#' @param size Width of the axis and height of the cell, inches.
#' @return list(lines: height of the labels in lines, labels, upright)
#' @noRd
bottom_labels <- function(axis, size, line) {
  if (!length(axis$labels)) {
    return(list(lines = 0.8, labels = axis$labels, upright = FALSE))
  }
  gap <- min(diff(sort(axis$at)), diff(axis$limits)) / diff(axis$limits) * size[1L]
  for (labels in unique(list(axis$labels, axis$tight %||% axis$labels))) {
    if (!isTRUE(axis$named) || max(graphics::strwidth(labels, units = "inches")) + 0.05 <= gap) {
      return(list(lines = 1.5, labels = labels, upright = FALSE))
    }
  }
  wide <- function(labels) max(graphics::strwidth(labels, units = "inches"))
  labels <- axis$labels
  # at most a third of the height
  most <- max(nchar(labels, type = "width"))
  while (wide(labels) > size[2L] / 3 && most > 5L) {
    most <- most - 1L
    labels <- shorten(axis$labels, most)
  }
  list(lines = wide(labels) / line + 0.8, labels = labels, upright = TRUE)
}

#' Margins that leave at least a third of a small cell for the panel itself
#' @noRd
fit_margins <- function(margins, cell, line) {
  shrink <- function(pair, size) {
    used <- sum(pair) * line
    if (used > 0.66 * size) pair * 0.66 * size / used else pair
  }
  margins[c(1L, 3L)] <- shrink(margins[c(1L, 3L)], cell[2L])
  margins[c(2L, 4L)] <- shrink(margins[c(2L, 4L)], cell[1L])
  margins
}

#' Ticks whose labels touch neither each other nor the word below the slot of missing values
#' @noRd
roomy_ticks <- function(axis) {
  width <- graphics::strwidth(axis$labels)
  free <- seq_along(axis$at)
  if (!is.null(axis$extra)) {
    word <- axis$extra$at - 0.55 * graphics::strwidth(axis$extra$label, font = 3L)
    clear <- which(axis$at + width / 2 < word)
    if (length(clear)) free <- clear
  }
  free[thin_ticks(axis$at[free], width[free])]
}

draw_x_axis <- function(axis, below) {
  if (length(axis$at)) {
    kept <- if (isTRUE(axis$named)) seq_along(axis$at) else roomy_ticks(axis)
    graphics::axis(
      1L, axis$at[kept], below$labels[kept],
      lwd = 0, lwd.ticks = 0.8, col.ticks = pale_ink, las = if (below$upright) 2L else 0L, gap.axis = -1
    )
  }
  if (!is.null(axis$extra)) {
    graphics::axis(
      1L, axis$extra$at, axis$extra$label,
      lwd = 0, lwd.ticks = 0.8, col.ticks = pale_ink, font.axis = 3L, las = if (below$upright) 2L else 0L
    )
  }
}

draw_y_axis <- function(axis, small) {
  # one call per label: axis() leaves out neighbours that nearly touch, and names of levels must all be there
  if (isTRUE(axis$named)) {
    for (i in seq_along(axis$at)) {
      graphics::axis(2L, axis$at[i], axis$labels[i], lwd = 0, lwd.ticks = 0.8, col.ticks = pale_ink, cex.axis = small)
    }
  } else if (length(axis$at)) {
    high <- rep(graphics::strheight("0"), length(axis$at))
    kept <- thin_ticks(axis$at, high)
    graphics::axis(2L, axis$at[kept], axis$labels[kept], lwd = 0, lwd.ticks = 0.8, col.ticks = pale_ink, gap.axis = -1)
  }
  if (!is.null(axis$extra)) {
    graphics::axis(
      2L, axis$extra$at, axis$extra$label,
      lwd = 0, lwd.ticks = 0.8, col.ticks = pale_ink, font.axis = 3L, cex.axis = small
    )
  }
}

#' Draw the rows of one mark
#' @noRd
draw_mark <- function(mark, style, figure) {
  colour <- style$colour
  if (is.null(colour) || is.na(colour)) {
    colour <- figure$series$colours[mark$series %||% 1L]
  }
  width <- 1.33 * (style$width %||% 1) # R's lwd 1 is 1/96 inch, a point 1/72
  switch(style$geom,
    rect = {
      # mixed with white rather than transparent: neighbours leave no seams
      fill <- blend(colour, mark$opacity %||% 1)
      graphics::rect(mark$xmin, mark$ymin, mark$xmax, mark$ymax, col = fill, border = NA)
    },
    tile = {
      fill <- diverging(mark$value, figure$key$most)
      # a hairline in its own colour closes the seams that viewers of PDF files show between neighbours
      graphics::rect(mark$xmin, mark$ymin, mark$xmax, mark$ymax, col = fill, border = fill, lwd = 0.5)
    },
    cell = graphics::points(
      mark$x, mark$y,
      pch = 21L, bg = diverging(mark$value, figure$key$most), col = fade(pale_ink, 0.5), lwd = 0.3,
      cex = 1.5 * mark$size
    ),
    segment = graphics::segments(
      mark$x, mark$y, mark$xend, mark$yend,
      col = fade(colour, style$opacity %||% 1), lwd = width, lty = style$line %||% 1L, lend = 1L
    ),
    band = draw_bands(mark, colour, style),
    line = draw_lines(mark, colour, figure$series$lines[mark$series], width, style),
    point = graphics::points(
      mark$x, mark$y,
      pch = style$shape, cex = style$size, col = fade(colour, style$opacity %||% 1), bg = "white", lwd = 1.5
    ),
    text = for (i in seq_len(nrow(mark))) {
      graphics::text(
        mark$x[i], mark$y[i], mark$label[i],
        adj = c(mark$adjust[i], style$hang %||% 0.5), cex = style$size, col = colour, xpd = NA
      )
    }
  )
}

draw_bands <- function(mark, colour, style) {
  for (rows in split(seq_len(nrow(mark)), mark$piece)) {
    graphics::polygon(
      c(mark$x[rows], rev(mark$x[rows])), c(mark$lower[rows], rev(mark$upper[rows])),
      col = fade(colour[rows[1L]], style$opacity), border = NA
    )
  }
}

draw_lines <- function(mark, colour, lines, width, style) {
  for (rows in split(seq_len(nrow(mark)), mark$piece)) {
    graphics::lines(
      mark$x[rows], mark$y[rows],
      col = fade(colour[rows[1L]], style$opacity), lwd = width, lty = lines[rows[1L]], lend = 1L
    )
  }
}

#' A colour with an opacity
#' @noRd
fade <- function(colour, opacity) {
  rgb <- grDevices::col2rgb(rep_len(colour, max(length(colour), length(opacity))))
  grDevices::rgb(rgb[1L, ], rgb[2L, ], rgb[3L, ], 255 * opacity, maxColorValue = 255)
}

#' A colour mixed with white
#' @noRd
blend <- function(colour, share) {
  rgb <- grDevices::col2rgb(rep_len(colour, max(length(colour), length(share))))
  mixed <- 255 - t(t(255 - rgb) * share)
  grDevices::rgb(mixed[1L, ], mixed[2L, ], mixed[3L, ], maxColorValue = 255)
}
