# How panels fill pages.
#
# A page is list(panels, rows, columns): numbers of the panels, filled by row. Panels of few levels and of curves share
# pages of at most `most` panels; a panel of many levels needs height and gets a separate page, or half of one.

many_levels <- 12L

#' Rows and columns for n panels
#' @param limits Most rows and columns that the device has room for.
#' @noRd
panel_grid <- function(n, limits = c(4L, 3L)) {
  columns <- if (n <= 1L) 1L else if (n %in% c(2L, 4L)) 2L else 3L
  columns <- max(min(columns, limits[2L], n), ceiling(n / limits[1L]))
  rows <- min(ceiling(n / columns), limits[1L])
  c(rows, columns)
}

#' Pages for panels
#'
#' @param large Logical, one per panel: does it need the height of a page?
#' @param options list(most: panels of a page; limits: most rows and columns; pages, ncol: NULL or as given)
#' @param across Number of panels that belong side by side (the layers of a term), or 1.
#' @noRd
panel_pages <- function(large, options = list(most = max_panels, limits = c(4L, 3L)), across = 1L) {
  limits <- options$limits
  if (isTRUE(options$room$taken)) {
    return(lapply(same_pages(length(large), prod(limits), limits[2L]), utils::modifyList, list(rows = limits[1L])))
  }
  if (!is.null(options$pages) || !is.null(options$ncol)) {
    return(asked_pages(length(large), options, across))
  }
  small <- which(!large)
  pages <- list()
  if (across > 1L && !any(large)) {
    columns <- min(across, max(limits[2L], 4L))
    per_term <- ceiling(across / columns)
    terms <- max(1L, min(options$most %/% (columns * per_term), max(1L, limits[1L] %/% per_term)))
    return(same_pages(length(large), across * terms, columns))
  }
  if (length(small)) {
    most <- min(options$most, prod(limits))
    count <- ceiling(length(small) / most)
    # pages of nearly the same number of panels: 7 + 6 rather than 12 + 1
    each <- ceiling(length(small) / count)
    groups <- split(small, (seq_along(small) - 1L) %/% each)
    pages <- lapply(unname(groups), function(panels) {
      grid <- panel_grid(length(panels), limits)
      list(panels = panels, rows = grid[1L], columns = grid[2L])
    })
  }
  tall <- which(large)
  # names of levels need width, too
  beside <- if (isTRUE(options$room$size[1L] < 5)) 1L else min(2L, limits[2L])
  halves <- split(tall, (seq_along(tall) - 1L) %/% beside)
  c(pages, lapply(unname(halves), function(panels) list(panels = panels, rows = 1L, columns = length(panels))))
}

#' Pages of panels with a line per name: as many panels as leave room for the names
#' @param n Number of panels; lines: of each.
#' @param across Most columns.
#' @noRd
line_pages <- function(n, lines, options, across = 3L) {
  if (isTRUE(options$room$taken)) {
    return(panel_pages(rep(FALSE, n), options))
  }
  columns <- min(n, across, options$limits[2L])
  # title and axis, and a line of small letters for each name
  least <- 0.42 + 0.08 * lines
  rows <- max(1L, min(ceiling(n / columns), floor((options$room$size[2L] - 0.5) / least)))
  count <- ceiling(n / (rows * columns))
  same_pages(n, ceiling(n / count), columns)
}

#' Pages as set by `pages` or `ncol`
#' @noRd
asked_pages <- function(n, options, across = 1L) {
  each <- if (is.null(options$pages)) n else ceiling(n / options$pages)
  columns <- options$ncol %||% if (across > 1L) across else square_columns(each, options$room$size)
  columns <- as.integer(min(columns, n))
  if (is.null(options$pages)) each <- min(options$most, columns * options$limits[1L])
  same_pages(n, max(each, columns), columns)
}

#' Columns that make panels about as high as wide
#' @noRd
square_columns <- function(n, size) {
  columns <- seq_len(n)
  shape <- (size[1L] / columns) / (size[2L] / ceiling(n / columns))
  which.min(abs(log(shape / 1.2)))
}

#' Panels in their order, so many to a page
#' @noRd
same_pages <- function(n, each, columns) {
  groups <- split(seq_len(n), (seq_len(n) - 1L) %/% each)
  lapply(unname(groups), function(panels) {
    list(panels = panels, rows = as.integer(ceiling(min(each, n) / columns)), columns = as.integer(columns))
  })
}

#' About how many characters a panel is wide
#' @param page list(rows, columns)
#' @param key Is there a colour key at the right?
#' @noRd
panel_chars <- function(page, room, key = FALSE) {
  cex <- page_cex(page, room)
  cell <- (room$size[1L] - 0.35 - key * key_width(0.2 * cex)) / page$columns - 0.6 * cex
  max(8L, as.integer(floor(cell / (0.085 * cex))))
}
