# How panels fill pages.
#
# A page is list(panels, rows, columns): numbers of the panels, filled by row. Panels of few levels and of curves share
# pages of at most `most` panels; a panel of many levels needs height and gets a separate page, or half of one.

max_panels <- 12L
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
#' @param limits Most rows and columns per page.
#' @param across Number of panels that belong side by side (the layers of a term), or 1.
#' @noRd
panel_pages <- function(large, most = max_panels, limits = c(4L, 3L), across = 1L) {
  small <- which(!large)
  pages <- list()
  if (across > 1L && !any(large)) {
    columns <- min(across, max(limits[2L], 4L))
    per_term <- ceiling(across / columns)
    terms <- max(1L, min(most %/% (columns * per_term), max(1L, limits[1L] %/% per_term)))
    groups <- split(small, (seq_along(small) - 1L) %/% (across * terms))
    pages <- lapply(unname(groups), function(panels) {
      list(panels = panels, rows = as.integer(ceiling(length(panels) / columns)), columns = columns)
    })
    return(pages)
  }
  if (length(small)) {
    most <- min(most, prod(limits))
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
  halves <- split(tall, (seq_along(tall) - 1L) %/% min(2L, limits[2L]))
  c(pages, lapply(unname(halves), function(panels) list(panels = panels, rows = 1L, columns = length(panels))))
}
