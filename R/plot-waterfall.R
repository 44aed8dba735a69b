# Figures of single rows: waterfalls from the intercept to the prediction, as panels with marks (R/plot-panels.R). Pure
# data.

max_steps <- 12L

#' Waterfalls: from the intercept to the prediction, one panel per row (and task and output)
#'
#' @param contributions Class protonam_contributions: row, task, output, term, value, contribution, cumulative.
#' @noRd
waterfall_figure <- function(contributions, options) {
  options <- with_words(options, contributions)
  rows <- as.data.frame(unclass(contributions))
  words <- lapply(rows[intersect(c("task", "output"), names(rows))], function(x) ifelse(is.na(x), "", as.character(x)))
  key <- do.call(paste, c(list(rows$row), words, sep = "\r"))
  parts <- split(rows, factor(key, levels = unique(key)))
  totals <- lapply(parts, function(part) {
    from <- part$cumulative - part$contribution
    ends <- utils::head(c(from + part$lower, from + part$upper), 2L * max_steps)
    end <- part$cumulative[nrow(part)] + c(-1, 1) * waterfall_half(part, contributions)
    c(from[1L], part$cumulative, ends[is.finite(ends)], end[is.finite(end)])
  })
  # rows can be compared visually; several responses have separate scales
  task <- rep("all", length(parts))
  if (several_responses(contributions)) task <- vapply(parts, function(part) part$task[1L], "")
  # with room for numbers to the right
  reach <- function(totals) spread(unlist(totals), 0.05) + c(0, 0.3) * diff(range(unlist(totals)))
  limits <- lapply(split(totals, task), reach)
  pages <- waterfall_pages(length(parts), options$room)
  room <- waterfall_room(pages[[1L]], options)
  label <- options$ylab %||% waterfall_label(contributions)
  panels <- lapply(seq_along(parts), function(i) {
    own <- if (options$free_y) reach(totals[[i]]) else limits[[task[i]]]
    half <- waterfall_half(parts[[i]], contributions)
    title <- waterfall_title(parts[[i]], contributions, half, as.integer(0.62 * room$chars))
    names <- term_labels(parts[[i]]$term, attr(contributions, "features"), options$labels)
    parts[[i]]$value <- waterfall_values(parts[[i]], options)
    axis <- axis_number(own, n = if (room$chars > 40L) 5L else 3L, title = label)
    panel_waterfall(parts[[i]], names, axis, title, room, half)
  })
  list(
    panels = panels, pages = pages,
    series = list(
      labels = c("raises the prediction", "lowers the prediction"),
      colours = rep_len(options$col %||% unname(sign_colours), 2L), lines = c(1L, 1L), filled = TRUE
    ),
    key = NULL, ylab = NULL, xlab = label, title = options$main, caption = bars_note(contributions),
    cex = options$cex, room = options$room
  )
}

#' Half the width of a prediction's interval, NA if there is none
#' @noRd
waterfall_half <- function(part, contributions) {
  half <- attr(contributions, "half")
  if (is.null(half)) {
    return(NA_real_)
  }
  names <- colnames(attr(contributions, "prediction"))
  column <- if (ncol(half) == 1L) 1L else match(TRUE, names %in% c(part$output[1L], part$task[1L]))
  half[part$row[1L], column]
}

# a waterfall has a line per feature: few of them fit on a page
waterfall_pages <- function(n, room) {
  if (room$taken) {
    return(panel_pages(rep(FALSE, n), list(limits = room$limits, room = room)))
  }
  columns <- min(n, if (room$size[1L] >= 6) 2L else 1L)
  rows <- min(max(1L, floor((room$size[2L] - 0.6) / 2.4)), 2L, ceiling(n / columns))
  same_pages(n, rows * columns, columns)
}

#' How many characters and steps a waterfall of a page has room for
#' @noRd
waterfall_room <- function(page, options) {
  height <- (options$room$size[2L] - 0.9) / page$rows - 0.6
  steps <- floor(height / (bar_height * page_cex(page, options$room) * options$cex)) - 3L
  list(chars = panel_chars(page, options$room), steps = min(max_steps, max(3L, steps)))
}

#' Values with labels of levels and units
#' @noRd
waterfall_values <- function(part, options) {
  value <- part$value
  for (term in intersect(part$term, names(options$level_labels))) {
    at <- part$term == term
    value[at] <- level_names(value[at], options$level_labels[[term]])
  }
  unit <- options$units[part$term]
  known <- !is.na(unit) & !is.na(value) & value != missing_level
  if (length(unit)) ifelse(known, paste(value, unit), value) else value
}

panel_waterfall <- function(part, names, x, title, room, half = NA_real_) {
  n <- nrow(part)
  start <- part$cumulative[1L] - part$contribution[1L]
  end <- part$cumulative[n]
  names <- shorten_pairs(names, part$value, max(12L, as.integer(0.5 * room$chars)))
  most <- room$steps
  to <- part$cumulative
  ends <- data.frame(lower = part$lower %||% rep(NA_real_, n), upper = part$upper %||% rep(NA_real_, n))
  if (n > most + 1L) {
    kept <- seq_len(most)
    names <- c(names[kept], sprintf("%d other terms", n - most))
    to <- c(to[kept], end)
    ends <- rbind(ends[kept, ], NA_real_) # many together have no interval
  }
  from <- c(start, to[-length(to)])
  ends <- ends + from
  # from top to bottom: intercept, terms, prediction
  steps <- length(to)
  at <- rev(seq_len(steps)) + 1
  y <- axis_level(character())
  y$at <- c(steps + 2, at, 1)
  y$labels <- c("intercept", names, "prediction")
  y$limits <- c(0.4, steps + 2.6)
  marks <- list(
    bar = data.frame(
      xmin = pmin(from, to), xmax = pmax(from, to), ymin = at - 0.36, ymax = at + 0.36,
      series = ifelse(to >= from, 1L, 2L)
    ),
    connector = data.frame(x = c(from, end), y = c(at + 1, 2), xend = c(from, end), yend = c(at, 1)),
    end = data.frame(x = c(start, end), y = c(steps + 2, 1)),
    whisker = whiskers(c(ends$lower, end - half), c(ends$upper, end + half), c(at, 1))
  )
  marks <- c(marks, waterfall_labels(list(from = from, to = to, at = at, ends = ends), start, end, x$limits, half))
  list(title = title, kind = "waterfall", flipped = TRUE, x = x, y = y, marks = marks)
}

#' Numbers are beside the bars, on the side that has room, or inside a bar that leaves none
#' @param bars list(from, to, at, ends): where bars begin and end and their height, and the ends of their whiskers
#' @return list(label, inside): rows of text, the second in bars
#' @noRd
waterfall_labels <- function(bars, start, end, limits, half = NA_real_) {
  from <- bars$from
  to <- bars$to
  ends <- bars$ends
  gap <- 0.015 * diff(limits)
  room <- limits + c(1, -1) * 0.2 * diff(limits)
  right <- pmax(from, to, ends$upper, na.rm = TRUE) + gap
  left <- pmin(from, to, ends$lower, na.rm = TRUE) - gap
  at_right <- right < room[2L]
  within <- !at_right & left < room[1L]
  beyond <- c(0, if (is.finite(half)) half else 0)
  ends_right <- c(start, end) + beyond + gap < room[2L]
  label <- data.frame(
    x = c(ifelse(at_right, right, left), c(start, end) + ifelse(ends_right, 1, -1) * (beyond + 2 * gap)),
    y = c(bars$at, length(to) + 2, 1),
    label = c(format_alike(to - from, signed = TRUE), format_alike(c(start, end), to - from)),
    adjust = c(ifelse(at_right, 0, 1), ifelse(ends_right, 0, 1))
  )
  inside <- which(within)
  list(
    label = label[setdiff(seq_len(nrow(label)), inside), ],
    inside = transform(label[inside, ], x = ((from + to) / 2)[inside], adjust = rep(0.5, length(inside)))
  )
}

#' The row's name in the data, more informative than its number, and the probability that corresponds to the prediction
#' @noRd
waterfall_title <- function(part, contributions, half = NA_real_, width = 60L) {
  first <- part[1L, , drop = FALSE]
  name <- attr(contributions, "row_names")[first$row] %||% first$row
  if (grepl("^[0-9]+$", name)) name <- paste("row", name)
  words <- c(name, first$task, first$output)
  name <- shorten(paste(words[!is.na(words)], collapse = ", "), min(40L, width))
  if (!identical(attr(contributions, "family"), "binomial")) {
    return(name)
  }
  chance <- function(by) format_probability(stats::plogis(part$cumulative[nrow(part)] + by))
  interval <- if (is.finite(half)) sprintf("(%s to %s)", chance(-half), chance(half))
  rest <- paste0("probability ", chance(0))
  for (gap in list(c(": ", " "), c("\n", " "), c("\n", "\n"))) {
    title <- paste0(name, gap[1L], rest, if (!is.null(interval)) paste0(gap[2L], interval))
    if (max(nchar(strsplit(title, "\n", fixed = TRUE)[[1L]], type = "width")) <= width) break
  }
  title
}
