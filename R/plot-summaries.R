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
    ylab = NULL, xlab = "epoch", title = options$main, caption = history_note(history, several, crossfit),
    cex = options$cex, room = options$room
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
bar_height <- 0.14 # inches that the name of a bar needs, at full size

#' Bars of importance, the largest on top
#' @param importance Class protonam_importance: term, importance, and task or output.
#' @noRd
importance_figure <- function(importance, options) {
  options <- with_words(options, importance)
  rows <- as.data.frame(unclass(importance))
  by <- importance_series(rows)
  labels <- unique(by[!is.na(by)])
  overall <- tapply(rows$importance, rows$term, mean)
  terms <- names(sort(overall, decreasing = TRUE))
  all_terms <- length(terms)
  page <- list(panels = 1L, rows = 1L, columns = 1L)
  each <- bar_height * page_cex(page, options$room) * options$cex
  room <- max(least_bars, min(max_bars, floor((options$room$size[2L] - 1.1) / each)))
  terms <- terms[seq_len(min(all_terms, options$bars %||% room))]
  rows$series <- if (length(labels) > 1L) match(by, labels) else 1L
  rows <- rows[rows$term %in% terms, , drop = FALSE]
  n <- length(terms)
  height <- 0.8 / max(1L, length(labels))
  top <- n + 1 - match(rows$term, terms) + 0.4 - (rows$series - 1) * height
  most <- max(rows$importance, rows$upper, 0, na.rm = TRUE)
  title <- options$ylab %||% importance_label(importance)
  width <- panel_chars(page, options$room)
  x <- axis_number(c(0, if (most > 0) 1.03 * most else 1), n = if (width > 50L) 6L else 4L, title = title)
  names <- term_labels(terms, attr(importance, "features"), options$labels)
  y <- axis_level(rev(shorten(names, max(10L, as.integer(0.5 * width)))))
  # few bars do not fill the page
  y$limits <- y$limits + c(-1, 1) * max(0, least_bars - n) / 2
  bar <- data.frame(xmin = 0, xmax = rows$importance, ymin = top - height, ymax = top, series = rows$series)
  marks <- list(bar = bar, whisker = whiskers(rows$lower, rows$upper, top - height / 2))
  note <- c(bars_note(importance), if (n < all_terms) sprintf("The %d strongest of %d terms.", n, all_terms))
  series <- list(
    labels = if (length(labels) > 1L) labels else character(),
    colours = series_colours(max(1L, length(labels)), options$col), lines = rep(1L, max(1L, length(labels))),
    filled = TRUE
  )
  list(
    panels = list(list(title = NULL, kind = "bars", flipped = TRUE, x = x, y = y, marks = marks)),
    pages = list(page), series = series, key = NULL, ylab = NULL,
    xlab = x$title, title = options$main, caption = note, cex = options$cex,
    room = options$room
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

#' Labels that distinguish the bars of one term
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
