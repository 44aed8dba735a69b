# Forest plots: estimates with intervals, one line each. Pure data.

line_height_inches <- 0.15 # that the name of a line needs, at full size
block_gap <- 0.5 # between blocks, in lines
most_far <- 5 # an interval so many times as wide as most is cut

#' A figure of estimates with intervals
#'
#' @param lines Data frame in the order of the figure: block (terms, whose lines stand together), name, value (shown as
#'   "name = value", the name once per block; NA for none), x, lower, upper (logarithms for ratios), role (a mark:
#'   point, missing or end), series (a number) and panel (a title, or NA for a single panel).
#' @param scale list(title, ratio): of the axis.
#' @param series Names of the series.
#' @noRd
forest_figure <- function(lines, scale, series, caption, options) {
  series <- list(
    labels = if (length(series) > 1L) series else character(), lines = rep(1L, max(1L, length(series))),
    colours = series_colours(max(1L, length(series)), options$col), filled = TRUE
  )
  titles <- unique(lines$panel)
  page <- list(panels = 1L, rows = 1L, columns = 1L)
  each <- line_height_inches * page_cex(page, options$room) * options$cex
  most <- max(5, floor((options$room$size[2L] - 1.3) / each))
  parts <- unlist(lapply(titles, function(title) {
    rows <- lines[lines$panel %in% title, , drop = FALSE]
    split_lines(rows, most)
  }), recursive = FALSE)
  pages <- panel_pages(rep(TRUE, length(parts)), options)
  width <- panel_chars(pages[[1L]], options$room)
  limits <- lapply(titles, function(title) forest_limits(lines[lines$panel %in% title, ], options$xlim, scale$ratio))
  heights <- vapply(parts, forest_height, 0)
  panels <- lapply(seq_along(parts), function(i) {
    ends <- limits[[match(parts[[i]]$panel[1L], titles)]]
    # lines are as far apart in all parts
    below <- max(heights) - heights[i]
    cut_panel(forest_panel(parts[[i]], list(x = ends, below = below), scale, length(series$colours), width))
  })
  list(
    panels = panels, pages = pages, series = series, key = NULL, ylab = NULL, xlab = scale$title,
    title = options$main, caption = caption, cex = options$cex, room = options$room
  )
}

#' Lines in parts of at most so many; blocks stay whole where they fit
#' @noRd
split_lines <- function(lines, most) {
  id <- forest_lines(lines)
  size <- tapply(id, factor(lines$block, unique(lines$block)), function(x) length(unique(x)))
  parts <- integer()
  used <- 0
  part <- 1L
  for (block in names(size)) {
    if (used > 0 && used + size[[block]] > most) {
      part <- part + 1L
      used <- 0
    }
    own <- which(lines$block == block)
    at <- match(id[own], unique(id[own])) - 1
    parts[own] <- part + as.integer((used + at) %/% most)
    part <- max(parts[own])
    used <- (used + size[[block]] - 1) %% most + 1 + block_gap
  }
  unname(split(lines, parts))
}

#' Which line each row stands in: those of several series share one
#' @noRd
forest_lines <- function(lines) {
  key <- paste(lines$block, lines$value, lines$line %||% "", sep = "\r")
  match(key, unique(key))
}

#' Where an axis of estimates ends: at all estimates, zero, and intervals that are not far wider than most
#' @noRd
forest_limits <- function(lines, given, ratio) {
  if (!is.null(given)) {
    if (!is.numeric(given)) {
      pn_abort("{.arg xlim} must be two increasing numbers here.", class = "argument", arg = "xlim")
    }
    if (ratio && any(given <= 0)) {
      pn_abort("{.arg xlim} must be positive where effects are ratios.", class = "argument", arg = "xlim")
    }
    return(if (ratio) log(given) else given)
  }
  half <- (lines$upper - lines$lower) / 2
  near <- which(half <= most_far * stats::median(half, na.rm = TRUE))
  spread(c(0, lines$x, lines$lower[near], lines$upper[near]), 0.05)
}

#' How many lines high a part is, with the gaps between its blocks
#' @noRd
forest_height <- function(lines) max(forest_lines(lines)) + block_gap * (length(unique(lines$block)) - 1)

#' @param room list(x: limits of the axis of estimates; below: free lines at the foot)
#' @noRd
forest_panel <- function(lines, room, scale, count, width) {
  limits <- room$x
  id <- forest_lines(lines)
  first <- !duplicated(id)
  block <- match(lines$block[first], unique(lines$block))
  top <- forest_height(lines)
  place <- top + 1 - seq_len(max(id)) - block_gap * (block - 1)
  y <- place[id] - if (count > 1L) dodge_all(lines$series, count, 0.6) else 0
  most <- max(10L, as.integer(0.5 * width))
  # where there are no values, every line has its name
  names <- ifelse(duplicated(block) & !is.na(lines$value[first]), NA, lines$name[first])
  # few lines do not fill the page
  spare <- max(0, least_bars - top - room$below) / 2
  axis <- list(
    limits = c(0.4 - spare - room$below, top + 0.6 + spare), at = place,
    labels = line_labels(names, lines$value[first], most), named = TRUE
  )
  known <- is.finite(lines$x)
  bounded <- known & is.finite(lines$lower) & is.finite(lines$upper)
  marks <- list(
    guide = data.frame(x = 0, y = axis$limits[1L], xend = 0, yend = axis$limits[2L]),
    interval = data.frame(x = lines$lower, y = y, xend = lines$upper, yend = y, series = lines$series)[bounded, ]
  )
  if (limits[1L] > 0 || limits[2L] < 0) marks$guide <- NULL
  for (role in c("point", "missing")) {
    marks[[role]] <- data.frame(x = lines$x, y = y, series = lines$series)[known & lines$role == role, ]
  }
  # a reference is the same for all series
  marks$end <- data.frame(x = lines$x, y = place[id], series = 1L)[known & lines$role == "end" & !duplicated(id), ]
  title <- lines$panel[1L]
  list(
    title = if (!is.na(title)) wrap_name(title, width), kind = "forest", flipped = TRUE,
    x = axis_effect(limits, scale$ratio, if (width > 50L) 6L else 4L, scale$title), y = axis, marks = marks
  )
}

#' Offsets of series around a line, the same in all lines
#' @noRd
dodge_all <- function(series, count, width) (series - (count + 1) / 2) * width / count

#' "age = 40" in the first line of a block, "60" in the others
#' @noRd
line_labels <- function(names, value, width) {
  named <- !is.na(names)
  out <- ifelse(is.na(value), "", value)
  out[!named] <- shorten(out[!named], width)
  out[named] <- shorten_pairs(names[named], ifelse(is.na(value), "", value)[named], width)
  out
}

#' A panel with a sentence in place of estimates
#' @noRd
sentence_figure <- function(sentence, options) {
  axis <- list(limits = c(0, 1), at = numeric(), labels = character())
  page <- list(panels = 1L, rows = 1L, columns = 1L)
  text <- paste(strwrap(sentence, max(20L, as.integer(0.8 * panel_chars(page, options$room)))), collapse = "\n")
  mark <- data.frame(x = 0.5, y = 0.5, label = text, adjust = 0.5)
  list(
    panels = list(list(kind = "forest", flipped = TRUE, x = axis, y = axis, marks = list(label = mark))),
    pages = list(page), series = no_series, key = NULL, ylab = NULL, xlab = NULL, title = options$main,
    caption = NULL, cex = options$cex, room = options$room
  )
}
