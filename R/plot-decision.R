# Figures of decision_curve(): net benefit by threshold, one panel per group.

#' @rdname decision_curve
#' @param main,cex Title of the figure, and relative size of its text.
#' @export
plot.protonam_decision <- function(x, main = NULL, cex = 1, ...) {
  draw_simple(x, decision_figure, list(main = main, cex = cex), list(...))
}

# nolint start: object_name_linter.
#' @rdname decision_curve
#' @param object From `decision_curve()`.
#' @param size,page See [autoplot.protonam()].
#' @exportS3Method ggplot2::autoplot
autoplot.protonam_decision <- function(object, main = NULL, cex = 1, size = NULL, page = NULL, ...) {
  gg_simple(object, decision_figure, list(main = main, cex = cex), list(...), size, page)
}
# nolint end

strategies <- c("model", "all", "none")

decision_figure <- function(x, options) {
  table <- as.data.frame(unclass(x))
  groups <- unique(table$group)
  parts <- if (is.null(groups)) list(table) else lapply(groups, function(group) table[table$group == group, ])
  ends <- decision_ends(parts)
  several <- length(parts) > 1L
  panels <- lapply(seq_along(parts), function(i) {
    panel <- decision_panel(parts[[i]], ends)
    panel$title <- if (several) groups[i]
    panel$x$title <- if (several) "threshold" else "threshold probability"
    panel$y$title <- if (!several) "net benefit"
    panel
  })
  list(
    panels = panels, pages = panel_pages(rep(FALSE, length(parts)), square_room(options)),
    series = list(
      labels = c("the model", "treat all", "treat none"), colours = c(okabe_ito[1:2], ink),
      lines = c(1L, 2L, 3L)
    ),
    key = NULL, ylab = if (several) "net benefit", xlab = "threshold probability", title = options$main,
    caption = c(
      if (!is.null(attr(x, "source"))) sprintf("Predictions %s.", attr(x, "source")),
      sprintf("Bands: %s %%, pointwise.", format(100 * (attr(x, "level") %||% 0.95)))
    ),
    cex = options$cex, room = options$room
  )
}

#' Net benefits that are shown: what lies far below zero is uninformative
#' @noRd
decision_ends <- function(parts) {
  most <- max(vapply(parts, function(part) max(part$net_benefit, part$upper, 0.01, na.rm = TRUE), 0))
  least <- min(vapply(parts, function(part) min(part$lower[part$strategy == "model"], 0, na.rm = TRUE), 0))
  c(max(least, -0.35 * most) - 0.08 * most, 1.02 * most)
}

decision_panel <- function(table, ends) {
  series <- match(table$strategy, strategies)
  inside <- function(v) pmin(pmax(v, ends[1L]), ends[2L])
  rows <- data.frame(
    x = table$threshold, y = table$net_benefit, lower = inside(table$lower), upper = inside(table$upper),
    piece = series, series = series
  )
  # a curve ends where it leaves the panel
  curve <- do.call(rbind, lapply(split(rows, rows$series), cut_below, ends[1L]))
  banded <- rows[rows$series < 3L & rows$upper > ends[1L], ]
  list(
    title = NULL, kind = "scatter", x = axis_number(range(table$threshold), n = 4L),
    y = axis_number(ends), marks = list(
      band = banded[c("x", "lower", "upper", "piece", "series")], curve = curve[c("x", "y", "piece", "series")]
    )
  )
}

#' The beginning of a curve, up to where it falls below a limit
#' @noRd
cut_below <- function(rows, least) {
  out <- which(rows$y < least)
  if (!length(out)) {
    return(rows)
  }
  if (out[1L] == 1L) {
    return(rows[0L, ])
  }
  last <- rows[out[1L] - 1L, ]
  beyond <- rows[out[1L], ]
  share <- (last$y - least) / (last$y - beyond$y)
  end <- last
  end$x <- last$x + share * (beyond$x - last$x)
  end$y <- least
  rbind(rows[seq_len(out[1L] - 1L), ], end)
}
