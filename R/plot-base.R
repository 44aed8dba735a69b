# Figures in base graphics.

#' Draw a figure, page by page, or panel by panel into the layout that the user has set
#'
#' @param ask Wait before a new page?
#' @noRd
draw_figure <- function(figure, ask = FALSE) {
  room <- device_limits()
  old <- graphics::par(set_parameters)
  done <- FALSE
  on.exit(if (!done) {
    if (!room$taken) graphics::layout(1L)
    graphics::par(old)
  })
  if (ask) {
    old_ask <- grDevices::devAskNewPage(TRUE)
    on.exit(grDevices::devAskNewPage(old_ask), add = TRUE)
  }
  if (room$taken) {
    last <- draw_cells(figure, room)
  } else {
    tell_one_page(length(figure$pages), isTRUE(figure$squeezes))
    for (i in seq_along(figure$pages)) last <- draw_page(figure, i, room)
  }
  leave_device(old, last, room$taken)
  done <- TRUE
  invisible(figure)
}

#' Text size of a page: smaller with more panels, on small pages and in low panels
#' @noRd
page_cex <- function(page, room) {
  panels <- max(page$rows, page$columns)
  high <- (room$size[2L] - 0.5) / page$rows
  min(room$cex, if (panels > 2L) 0.72 else if (panels > 1L) 0.85 else 1, max(least_cex, high / 1.5))
}

least_cex <- 0.5 # letters of 6 points

#' Draw one page
#' @return The position of its last panel, see panel_place()
#' @noRd
draw_page <- function(figure, number, room) {
  page <- figure$pages[[number]]
  panels <- figure$panels[page$panels]
  cex <- page_cex(page, room) * (figure$cex %||% 1)
  foot <- foot_cex * room$cex * (figure$cex %||% 1)
  graphics::par(cex = 1)
  line <- line_height()
  pair <- vapply(panels, function(panel) panel$kind == "pair", NA)
  turned <- vapply(panels, function(panel) isTRUE(panel$flipped), NA)
  key <- any(pair)
  top <- if (all(pair)) 0 else legend_height(figure$series, line, cex)
  footer <- foot_lines(page_caption(figure, number), room$size[1L] - 0.3, foot)
  ylab <- if (!all(pair | turned)) figure$ylab

  page_layout(page, top, key, line * cex)
  graphics::par(
    cex = cex, mgp = c(1.6, 0.45, 0), tcl = -0.25, las = 1, bty = "n", xpd = FALSE,
    oma = outer_lines(length(footer), ylab, figure$title, foot / cex)
  )
  places <- lapply(panels, draw_panel, figure = figure, alone = length(panels) == 1L)
  # layout() goes on to the next cell: skip those that stay empty
  for (empty in seq_len(page$rows * page$columns - length(panels))) {
    graphics::plot.new()
  }
  if (key) draw_key(figure$key)
  if (top > 0) draw_legend(figure$series)
  draw_outer(footer, ylab, figure$title, cex, foot)
  places[[length(places)]]
}

#' Draw each panel into the next figure of the user's layout, where there is no room around them
#' @noRd
draw_cells <- function(figure, room) {
  alone <- length(figure$panels) == 1L
  graphics::par(
    cex = room$cex * (figure$cex %||% 1), mgp = c(1.6, 0.45, 0), tcl = -0.25, las = 1, bty = "n", xpd = FALSE
  )
  if (!alone) tell_notes(figure)
  for (i in unlist(lapply(figure$pages, `[[`, "panels"))) {
    panel <- figure$panels[[i]]
    if (panel$kind != "pair" && !isTRUE(panel$flipped)) panel$y$title <- panel$y$title %||% figure$ylab
    if (alone) panel$foot <- c(figure$caption, panel_notes(list(panel)), key_note(figure$key))
    place <- draw_panel(panel, figure, alone = TRUE)
    if (i == 1L && length(figure$series$labels) > 1L) inset_legend(figure$series)
  }
  if (!is.null(figure$title)) {
    graphics::mtext(figure$title, side = 3L, line = place$mar[3L] - 1.2, font = 2L, cex = graphics::par("cex"))
  }
  place
}

#' Notes that have no place among the figures of the user's layout
#' @noRd
tell_notes <- function(figure) {
  notes <- c(figure$caption, panel_notes(figure$panels), key_note(figure$key))
  pn_inform(
    c(
      "The panels follow the layout that {.fn par} or {.fn layout} has set; there is no room for notes.",
      if (length(notes)) c(i = paste(escape_braces(notes), collapse = " "))
    ),
    class = "layout"
  )
}

key_note <- function(key) {
  if (!is.null(key)) {
    most <- format_ticks(signif(key$most, 2L))
    sprintf("Colours: %s from -%s (blue) to %s (vermilion).", key$title, most, most)
  }
}

#' Lines of the outer margins
#' @noRd
outer_lines <- function(n_footer, ylab, title, foot) {
  c(0.3 + foot_height(n_footer, foot), if (is.null(ylab)) 0.4 else 1.5, if (is.null(title)) 0.3 else 2, 0.3)
}

draw_outer <- function(footer, ylab, title, cex, foot) {
  if (!is.null(ylab)) graphics::mtext(ylab, side = 2L, line = 0.2, outer = TRUE, las = 0L, cex = cex)
  if (!is.null(title)) graphics::mtext(title, side = 3L, line = 0.3, outer = TRUE, font = 2L, cex = 1.2 * cex)
  for (i in seq_along(footer)) {
    graphics::mtext(
      footer[i],
      side = 1L, line = 0.2 + foot_height(i - 1, foot / cex), outer = TRUE, adj = 0, cex = foot, col = "grey30"
    )
  }
}

foot_cex <- 0.8

#' Height of notes in lines of the panels' text
#' @param foot Size of the notes relative to that text.
#' @noRd
foot_height <- function(lines, foot) lines * 1.15 * foot

#' Height of a line of margin in inches
#' @noRd
line_height <- function() {
  old <- graphics::par(mar = c(1, 1, 1, 1))
  on.exit(graphics::par(old))
  graphics::par("mai")[1L]
}

#' Sentences at the foot of a page, with the page's number when there are several
#' @noRd
page_caption <- function(figure, number) {
  count <- length(figure$pages)
  notes <- panel_notes(figure$panels[figure$pages[[number]]$panels])
  c(figure$caption, notes, if (count > 1L) sprintf("Page %d of %d.", number, count))
}

#' Sentences as lines of a width in inches
#' @param cex Size of the text, whatever par("cex") is.
#' @noRd
foot_lines <- function(caption, width, cex) {
  if (!length(caption)) {
    return(character())
  }
  text <- paste(caption, collapse = " ")
  # strwidth() needs no open plot for inches
  each <- graphics::strwidth(text, units = "inches", cex = cex / graphics::par("cex")) / nchar(text)
  strwrap(text, max(20L, floor(width / each)))
}

#' Cells of a page: panels by row, the colour key at the right, the legend on top
#' @param top Height of the legend in inches, or 0.
#' @noRd
page_layout <- function(page, top, key, line) {
  cells <- matrix(seq_len(page$rows * page$columns), page$rows, byrow = TRUE)
  widths <- rep(1, page$columns)
  heights <- rep(1, page$rows)
  if (key) {
    cells <- cbind(cells, max(cells) + 1L)
    widths <- c(widths, graphics::lcm(key_width(line) * 2.54))
  }
  if (top > 0) {
    cells <- rbind(max(cells) + 1L, cells)
    heights <- c(graphics::lcm(top * 2.54), heights)
  }
  graphics::layout(cells, widths = widths, heights = heights)
}

key_width <- function(line) 5 * line

draw_key <- function(key) {
  cex <- graphics::par("cex")
  graphics::par(mar = c(2, 0.8, 2.6, 3.6))
  most <- key$axis$limits[2L]
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(-most, most), xaxs = "i", yaxs = "i")
  # a key as high as a page would be out of proportion
  half <- min(1, 1.6 / max(graphics::par("pin")[2L], 0.1))
  edges <- seq(-most, most, length.out = 102L)
  graphics::rect(
    0, half * edges[-102L], 1, half * edges[-1L],
    col = diverging((edges[-1L] + edges[-102L]) / 2, most), border = NA
  )
  graphics::rect(0, -half * most, 1, half * most, border = pale_ink, lwd = 0.6)
  graphics::axis(4L, at = half * key$axis$at, labels = key$axis$labels, lwd = 0, lwd.ticks = 0.6, hadj = 0)
  graphics::text(
    0, half * most + 0.6 * graphics::strheight("M") * 1.5, wrap_name(key$title, 12L, 3L),
    adj = c(0, 0), xpd = NA, cex = 1
  )
  graphics::par(cex = cex)
}

#' How many entries of a legend fit side by side on the device
#' @noRd
legend_columns <- function(series, cex = 1) {
  labels <- shorten(series$labels, 30L)
  wide <- function(text) graphics::strwidth(text, units = "inches", cex = cex)
  each <- 1.15 * max(wide(labels)) + 5 * wide("M")
  max(1L, min(length(labels), floor(graphics::par("din")[1L] / each)))
}

#' Height of the legend in inches; none for a single series
#' @noRd
legend_height <- function(series, line, cex) {
  n <- length(series$labels)
  if (n > 1L) (0.5 + 1.2 * ceiling(n / legend_columns(series, cex))) * line * cex else 0
}

draw_legend <- function(series) {
  graphics::par(mar = c(0, 0, 0, 0))
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(0, 1))
  labels <- shorten(series$labels, 30L)
  filled <- isTRUE(series$filled)
  graphics::legend(
    "center",
    legend = labels, col = series$colours, lty = if (filled) NA else series$lines, lwd = 2, bty = "n",
    pch = if (filled) 15L else NA, pt.cex = 1.6, text.width = 1.15 * max(graphics::strwidth(labels)),
    seg.len = if (filled) 0.8 else 1.8, x.intersp = 0.8, ncol = legend_columns(series), xpd = NA
  )
}

#' A legend within a panel, where there is no room for one above
#' @noRd
inset_legend <- function(series) {
  filled <- isTRUE(series$filled)
  graphics::legend(
    "topleft",
    legend = shorten(series$labels, 20L), col = series$colours, lty = if (filled) NA else series$lines, lwd = 2,
    bty = "n", pch = if (filled) 15L else NA, seg.len = 1.2, cex = 0.8
  )
}
