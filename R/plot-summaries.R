# Figures of the training history, of importance and of individual rows, as panels with marks (R/plot-panels.R). Pure
# data.

no_series <- list(labels = character(), colours = okabe_ito[1L], lines = 1L)

# Training history ----------------------------------------------------------------------------------------------------

#' Loss, validation score and temperature by epoch; one thin line per member of an ensemble
#'
#' @param history Data frame: member, epoch, loss, score, temperature, best (logical).
#' @param score_name Name of the validation score.
#' @param crossfit Is it a fit by the procedure of this package?
#' @noRd
history_figure <- function(history, score_name, options, crossfit = FALSE) {
  shown <- c(
    loss = "training loss", score = paste("validation", score_label(score_name)), temperature = "temperature"
  )
  shown <- shown[vapply(names(shown), function(column) any(is.finite(history[[column]])), NA)]
  several <- length(unique(history$member)) > 1L
  panels <- lapply(names(shown), function(column) {
    rows <- history[is.finite(history[[column]]), , drop = FALSE]
    value <- rows[[column]]
    # the temperature falls by orders of magnitude
    ratio <- column == "temperature" && all(value > 0)
    if (ratio) value <- log(value)
    x <- axis_number(spread(range(rows$epoch), 0.02), n = 4L, title = "epoch")
    y <- axis_effect(spread(value, 0.04), ratio)
    line <- data.frame(x = rows$epoch, y = value, piece = rows$member, series = 1L)
    marks <- if (several) list(thin = line) else list(curve = line)
    if (any(rows$best)) {
      best <- rows$best
      if (!several) {
        at <- rows$epoch[best]
        marks$guide <- data.frame(x = at, y = y$limits[1L], xend = at, yend = y$limits[2L])
      }
      marks$best <- data.frame(x = rows$epoch[best], y = value[best])
    }
    list(title = shown[[column]], kind = "history", x = x, y = y, marks = marks)
  })
  list(
    panels = panels, pages = list(history_page(length(panels), options$limits)), series = no_series, key = NULL,
    ylab = NULL, xlab = "epoch", title = options$main, caption = history_note(history, several, crossfit)
  )
}

history_page <- function(n, limits) {
  columns <- min(n, limits[2L])
  list(panels = seq_len(n), rows = ceiling(n / columns), columns = columns)
}

score_label <- function(name) if (!length(name) || is.na(name)) "score" else validation_label(name)

history_note <- function(history, several, crossfit = FALSE) {
  best <- history$epoch[history$best]
  if (crossfit) {
    "No epoch is selected: the last epoch is the model. Steps in the loss are refits of the smooth layer."
  } else if (all(!is.finite(history$score))) {
    "No validation rows: the last epoch is kept."
  } else if (several) {
    members <- length(unique(history$member))
    epochs <- paste(unique(range(best)), collapse = " to ")
    sprintf("%d members; points mark the epochs that are kept (%s).", members, epochs)
  } else {
    sprintf("The point marks the epoch that is kept (%d).", best)
  }
}

# Importance ----------------------------------------------------------------------------------------------------------

max_bars <- 40L
least_bars <- 5L # room for so many

#' Bars of importance, the largest on top
#' @param importance Class protonam_importance: term, importance, and task or output.
#' @noRd
importance_figure <- function(importance, options) {
  rows <- as.data.frame(unclass(importance))
  by <- importance_series(rows)
  labels <- unique(by[!is.na(by)])
  overall <- tapply(rows$importance, rows$term, mean)
  terms <- names(sort(overall, decreasing = TRUE))
  all_terms <- length(terms)
  terms <- terms[seq_len(min(all_terms, options$bars %||% max_bars))]
  rows$series <- if (length(labels) > 1L) match(by, labels) else 1L
  rows <- rows[rows$term %in% terms, , drop = FALSE]
  n <- length(terms)
  height <- 0.8 / max(1L, length(labels))
  top <- n + 1 - match(rows$term, terms) + 0.4 - (rows$series - 1) * height
  most <- max(rows$importance, rows$upper, 0, na.rm = TRUE)
  title <- options$ylab %||% importance_label(importance)
  x <- axis_number(c(0, if (most > 0) 1.03 * most else 1), n = 6L, title = title)
  y <- axis_level(rev(shorten(term_labels(terms, attr(importance, "features"), options$labels), 42L)))
  # few bars do not fill the page
  y$limits <- y$limits + c(-1, 1) * max(0, least_bars - n) / 2
  bar <- data.frame(xmin = 0, xmax = rows$importance, ymin = top - height, ymax = top, series = rows$series)
  marks <- list(bar = bar, whisker = whiskers(rows$lower, rows$upper, top - height / 2))
  note <- c(bars_note(importance), if (n < all_terms) sprintf("The %d strongest of %d terms.", n, all_terms))
  series <- list(
    labels = if (length(labels) > 1L) labels else character(), colours = series_colours(max(1L, length(labels))),
    lines = rep(1L, max(1L, length(labels))), filled = TRUE
  )
  list(
    panels = list(list(title = NULL, kind = "bars", flipped = TRUE, x = x, y = y, marks = marks)),
    pages = list(list(panels = 1L, rows = 1L, columns = 1L)), series = series, key = NULL, ylab = NULL,
    xlab = x$title, title = options$main, caption = note
  )
}

#' Intervals along x
#' @noRd
whiskers <- function(lower, upper, y) {
  known <- which(is.finite(lower) & is.finite(upper))
  if (length(known)) data.frame(x = lower[known], y = y[known], xend = upper[known], yend = y[known])
}

#' What the intervals of a figure are, or why there are none
#' @noRd
bars_note <- function(data) {
  attr(data, "band") %||% if (identical(attr(data, "members"), 1L)) no_band_note
}

no_band_note <- "No band: one model."

#' What tells the bars of one term apart
#' @noRd
importance_series <- function(rows) {
  output <- rows$output
  task <- rows$task
  several <- function(x) length(unique(x[!is.na(x)])) > 1L
  if (several(output) && several(task)) {
    paste(task, output, sep = ", ")
  } else if (several(output)) {
    output
  } else {
    task %||% rep(NA_character_, nrow(rows))
  }
}

#' Names of terms on an axis: "age", "age : weight"
#' @noRd
term_labels <- function(terms, features, labels) {
  vapply(terms, function(term) {
    parts <- if (term %in% names(labels)) term else term_parts(term, features)
    paste(feature_labels(parts, labels), collapse = " : ")
  }, "", USE.NAMES = FALSE)
}

# Single rows ---------------------------------------------------------------------------------------------------------

max_steps <- 12L

#' Waterfalls: from the intercept to the prediction, one panel per row (and task and output)
#'
#' @param contributions Class protonam_contributions: row, task, output, term, value, contribution, cumulative.
#' @noRd
waterfall_figure <- function(contributions, options) {
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
  limits <- lapply(split(totals, task), function(each) spread(unlist(each), 0.08))
  pages <- waterfall_pages(length(parts), options$limits)
  wide <- pages[[1L]]$columns == 1L
  label <- options$ylab %||% waterfall_label(contributions)
  panels <- lapply(seq_along(parts), function(i) {
    own <- if (options$free_y) spread(totals[[i]], 0.08) else limits[[task[i]]]
    half <- waterfall_half(parts[[i]], contributions)
    title <- waterfall_title(parts[[i]], attr(contributions, "row_names"), attr(contributions, "family"), half)
    names <- term_labels(parts[[i]]$term, attr(contributions, "features"), options$labels)
    panel_waterfall(parts[[i]], names, axis_number(own, n = 5L, title = label), title, wide, half)
  })
  list(
    panels = panels, pages = pages,
    series = list(
      labels = c("raises the prediction", "lowers the prediction"), colours = unname(sign_colours), lines = c(1L, 1L),
      filled = TRUE
    ),
    key = NULL, ylab = NULL, xlab = label, title = options$main, caption = bars_note(contributions)
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
waterfall_pages <- function(n, limits) {
  most <- min(4L, prod(pmin(limits, 2L)))
  groups <- split(seq_len(n), (seq_len(n) - 1L) %/% most)
  lapply(unname(groups), function(panels) {
    columns <- min(if (n > 1L) 2L else 1L, limits[2L])
    list(panels = panels, rows = ceiling(min(n, most) / columns), columns = columns)
  })
}

panel_waterfall <- function(part, names, x, title, wide, half = NA_real_) {
  n <- nrow(part)
  start <- part$cumulative[1L] - part$contribution[1L]
  end <- part$cumulative[n]
  value <- part$value
  names <- ifelse(is.na(value) | !nzchar(value), names, paste(names, "=", value))
  to <- part$cumulative
  ends <- data.frame(lower = part$lower %||% rep(NA_real_, n), upper = part$upper %||% rep(NA_real_, n))
  if (n > max_steps + 1L) {
    kept <- seq_len(max_steps)
    names <- c(names[kept], sprintf("%d other terms", n - max_steps))
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
  y$labels <- c("intercept", shorten(names, if (wide) 42L else 24L), "prediction")
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

#' Numbers stand beside the bars, on the side that has room, or inside a bar that leaves none
#' @param bars list(from, to, at, ends): where bars begin, end and stand, and the ends of their whiskers
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
waterfall_title <- function(part, row_names, family, half = NA_real_) {
  first <- part[1L, , drop = FALSE]
  name <- row_names[first$row] %||% first$row
  if (grepl("^[0-9]+$", name)) name <- paste("row", name)
  words <- c(name, first$task, first$output)
  name <- shorten(paste(words[!is.na(words)], collapse = ", "), 40L)
  if (!identical(family, "binomial")) {
    return(name)
  }
  chance <- function(by) format_probability(stats::plogis(part$cumulative[nrow(part)] + by))
  interval <- if (is.finite(half)) sprintf(" (%s to %s)", chance(-half), chance(half))
  paste0(name, ": probability ", chance(0), interval)
}
