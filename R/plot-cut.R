# How far an axis of effects reaches. An effect or a band that applies to hardly any row must not flatten all the
# others: the axis holds the effects of nearly all rows and the bands of most, and what goes beyond is cut at the
# frame.

few_effects <- 0.001 # share of a feature's rows beyond a value, from the nearer end
few_bands <- 0.01
little_more <- 1.4 # rare effects that lengthen the axis by no more than this are shown whole

#' Effects and bands that the axis of a panel holds
#' @param part Rows of a term: series, x, level, effect, lower, upper, density.
#' @noRd
panel_range <- function(part) {
  share <- row_share(part)
  effect <- part$effect[share >= few_effects]
  banded <- share >= few_bands
  value <- c(effect, part$lower[banded], part$upper[banded])
  if (!any(is.finite(effect))) c(part$effect, part$lower, part$upper) else value
}

#' Limits of an axis of effects for some panels
#' @noRd
effect_limits <- function(parts) {
  core <- range(0, unlist(lapply(parts, panel_range)), na.rm = TRUE, finite = TRUE)
  whole <- range(core, unlist(lapply(parts, `[[`, "effect")), na.rm = TRUE, finite = TRUE)
  spread(if (diff(whole) <= little_more * diff(core)) whole else core, 0.06)
}

#' Share of the rows at a level, or at a number and beyond
#' @noRd
row_share <- function(part) {
  share <- part$density
  share[is.na(share)] <- 0
  if (all(share == 0)) {
    return(rep(1, nrow(part)))
  }
  number <- is.na(part$level) & is.finite(part$x)
  for (series in unique(part$series)) {
    here <- which(number & part$series == series)
    here <- here[order(part$x[here])]
    if (length(here)) {
      own <- share[here]
      share[here] <- pmin(cumsum(own), rev(cumsum(rev(own))))
    }
  }
  share
}

#' A panel whose marks stay within its axis of effects
#' @noRd
cut_panel <- function(panel) {
  side <- if (isTRUE(panel$flipped)) "x" else "y"
  limits <- panel[[side]]$limits
  within <- function(value) pmin(pmax(value, limits[1L]), limits[2L])
  ends <- if (side == "y") c("y", "yend", "lower", "upper") else c("x", "xend")
  beyond <- FALSE
  for (role in intersect(c("band", "interval", "jump", "point", "missing", "dot", "curve"), names(panel$marks))) {
    mark <- panel$marks[[role]]
    columns <- intersect(ends, names(mark))
    out <- vapply(columns, function(column) any(mark[[column]] != within(mark[[column]]), na.rm = TRUE), NA)
    if (!any(out)) next
    beyond <- TRUE
    if (role == "curve") {
      mark <- cut_lines(mark, limits)
    } else {
      mark[columns] <- lapply(mark[columns], within)
    }
    panel$marks[[role]] <- mark
  }
  panel$cut <- beyond
  panel
}

#' Lines that end where they leave the frame
#' @param mark Data frame: x, y, piece, series.
#' @noRd
cut_lines <- function(mark, limits) {
  pieces <- lapply(split(mark, mark$piece), function(line) {
    n <- nrow(line)
    inside <- line$y >= limits[1L] & line$y <= limits[2L]
    if (n < 2L || all(inside)) {
      return(line[inside, , drop = FALSE])
    }
    leaves <- which(inside[-1L] != inside[-n])
    edge <- lapply(leaves, function(i) {
      end <- if (max(line$y[i], line$y[i + 1L]) > limits[2L]) limits[2L] else limits[1L]
      share <- (end - line$y[i]) / (line$y[i + 1L] - line$y[i])
      row <- line[i, , drop = FALSE]
      row$x <- line$x[i] + share * (line$x[i + 1L] - line$x[i])
      row$y <- end
      row
    })
    part <- cumsum(c(FALSE, inside[-1L] != inside[-n])) # runs inside and outside
    whole <- do.call(rbind, c(list(line[inside, , drop = FALSE]), edge))
    run <- c(part[inside], ifelse(inside[leaves], part[leaves], part[leaves + 1L]))
    at <- c(which(inside), leaves + 0.5)
    whole$piece <- paste(whole$piece, run)
    whole[order(at), , drop = FALSE]
  })
  out <- do.call(rbind, pieces)
  out$piece <- match(out$piece, unique(out$piece))
  rownames(out) <- NULL
  out
}

cut_note <- function(panels) {
  if (any(vapply(panels, function(panel) isTRUE(panel$cut), NA))) {
    "Cut off at the frame where there are hardly any rows."
  }
}
