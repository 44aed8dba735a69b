# What marks look like: one table for both renderers, in the order in which marks are drawn.
#
# geom   rect, tile, cell, segment, band, line, point, text
# colour fixed colour, or NA: the colour of the row's series;  width  line width in points;  size  of points, relative
# hang   1: text hangs from its point, else it is centred at it
# shape  R's plotting symbol;  line  line type

mark_styles <- list(
  shade = list(geom = "rect", colour = shade_colour),
  blank = list(geom = "rect", colour = blank_colour),
  tile = list(geom = "tile"),
  cell = list(geom = "cell", shape = 21L, size = 1),
  zero = list(geom = "segment", colour = pale_ink, width = 0.6, line = 1L),
  divider = list(geom = "segment", colour = pale_ink, width = 0.6, line = 3L),
  rug = list(geom = "segment", colour = ink, width = 0.3, line = 1L),
  band = list(geom = "band", colour = NA, opacity = 0.22),
  bar = list(geom = "rect", colour = NA, opacity = 1),
  connector = list(geom = "segment", colour = pale_ink, width = 0.5, line = 1L),
  guide = list(geom = "segment", colour = pale_ink, width = 0.6, line = 2L),
  jump = list(geom = "segment", colour = NA, width = 0.75, line = 1L, opacity = 0.9),
  faint = list(geom = "point", colour = NA, shape = 16L, size = 0.4, opacity = 0.25),
  thin = list(geom = "line", colour = NA, width = 0.5, opacity = 0.5),
  curve = list(geom = "line", colour = NA, width = 1.3, opacity = 1),
  interval = list(geom = "segment", colour = NA, width = 1.1, line = 1L),
  dot = list(geom = "point", colour = NA, shape = 16L, size = 0.5),
  point = list(geom = "point", colour = NA, shape = 16L, size = 1),
  missing = list(geom = "point", colour = NA, shape = 23L, size = 1.1),
  best = list(geom = "point", colour = "#D55E00", shape = 16L, size = 0.9),
  end = list(geom = "point", colour = ink, shape = 18L, size = 1.2),
  whisker = list(geom = "segment", colour = ink, width = 0.9, line = 1L),
  label = list(geom = "text", colour = ink, size = 0.85),
  note = list(geom = "text", colour = ink, size = 0.85, hang = 1),
  inside = list(geom = "text", colour = "white", size = 0.85)
)

#' Marks of a panel in drawing order, each with its style
#' @noRd
ordered_marks <- function(panel) {
  marks <- panel$marks[intersect(names(mark_styles), names(panel$marks))]
  marks[vapply(marks, function(mark) !is.null(mark) && nrow(mark) > 0L, NA)]
}
