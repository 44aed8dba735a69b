# Figures in base graphics.

#' Draw a figure, page by page
#'
#' @param ask Wait before a new page?
#' @noRd
draw_figure <- function(figure, ask = FALSE) {
  # `mfrow` changes `cex`, so that one is put back last
  old <- graphics::par("mfrow", "mar", "oma", "mgp", "tcl", "las", "bty", "xpd", "cex")
  on.exit({
    graphics::layout(1L)
    graphics::par(old)
  })
  if (ask) {
    old_ask <- grDevices::devAskNewPage(TRUE)
    on.exit(grDevices::devAskNewPage(old_ask), add = TRUE)
  }
  for (i in seq_along(figure$pages)) {
    draw_page(figure, i)
  }
  invisible(figure)
}

#' Text sizes of a page: smaller with more panels, relative to the user's own `cex`
#' @noRd
page_cex <- function(page) {
  if (max(page$rows, page$columns) > 2L) 0.72 else if (max(page$rows, page$columns) > 1L) 0.85 else 1
}

draw_page <- function(figure, number) {
  page <- figure$pages[[number]]
  panels <- figure$panels[page$panels]
  cex <- page_cex(page)
  line <- line_height() / graphics::par("cex")
  pair <- vapply(panels, function(panel) panel$kind == "pair", NA)
  turned <- vapply(panels, function(panel) isTRUE(panel$flipped), NA)
  key <- any(pair)
  top <- if (all(pair)) 0 else legend_height(figure$series, line)
  footer <- foot_lines(page_caption(figure, number))
  ylab <- if (!all(pair | turned)) figure$ylab

  page_layout(page, top, key, line)
  graphics::par(
    cex = cex, mgp = c(1.6, 0.45, 0), tcl = -0.25, las = 1, bty = "n", xpd = FALSE,
    oma = outer_lines(length(footer), ylab, figure$title, cex)
  )
  cell <- cell_size(page, top, key, line)
  for (panel in panels) {
    draw_panel(panel, figure, alone = length(panels) == 1L, cell = cell)
  }
  # layout() goes on to the next cell: skip those that stay empty
  for (empty in seq_len(page$rows * page$columns - length(panels))) {
    graphics::plot.new()
  }
  if (key) draw_key(figure$key)
  if (top > 0) draw_legend(figure$series)
  draw_outer(footer, ylab, figure$title, cex)
}

#' Lines of the outer margins
#' @noRd
outer_lines <- function(n_footer, ylab, title, cex) {
  c(0.3 + foot_height(n_footer, cex), if (is.null(ylab)) 0.4 else 1.5, if (is.null(title)) 0.3 else 2, 0.3)
}

draw_outer <- function(footer, ylab, title, cex) {
  if (!is.null(ylab)) graphics::mtext(ylab, side = 2L, line = 0.2, outer = TRUE, las = 0L, cex = cex)
  if (!is.null(title)) graphics::mtext(title, side = 3L, line = 0.3, outer = TRUE, font = 2L)
  for (i in seq_along(footer)) {
    graphics::mtext(
      footer[i],
      side = 1L, line = 0.2 + foot_height(i - 1, cex), outer = TRUE, adj = 0, cex = foot_cex, col = "grey30"
    )
  }
}

foot_cex <- 0.8

# in lines of a page with text size `cex`
foot_height <- function(lines, cex) lines * 1.15 * foot_cex / cex

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
  c(figure$caption, if (count > 1L) sprintf("Page %d of %d.", number, count))
}

#' Sentences as lines that fit the device
#' @noRd
foot_lines <- function(caption) {
  if (!length(caption)) {
    return(character())
  }
  text <- paste(caption, collapse = " ")
  # strwidth() needs no open plot for inches
  each <- graphics::strwidth(text, units = "inches", cex = foot_cex) / nchar(text)
  strwrap(text, max(20L, floor((graphics::par("din")[1L] - 0.3) / each)))
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

#' Width and height of a cell in inches
#' @noRd
cell_size <- function(page, top, key, line) {
  inside <- graphics::par("din") - c(sum(graphics::par("omi")[c(2L, 4L)]), sum(graphics::par("omi")[c(1L, 3L)]))
  inside <- inside - c(if (key) key_width(line) else 0, top)
  inside / c(page$columns, page$rows)
}

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
legend_columns <- function(series) {
  labels <- shorten(series$labels, 30L)
  each <- 1.15 * max(graphics::strwidth(labels, units = "inches")) + 5 * graphics::strwidth("M", units = "inches")
  max(1L, min(length(labels), floor(graphics::par("din")[1L] / each)))
}

#' Height of the legend in inches; none for a single series
#' @noRd
legend_height <- function(series, line) {
  n <- length(series$labels)
  if (n > 1L) (0.5 + 1.2 * ceiling(n / legend_columns(series))) * line else 0
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
