# Colours of all figures, safe for the common kinds of colour blindness: the palette of Okabe and Ito for groups, blue
# to white to vermilion for signed values.

okabe_ito <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
ink <- "grey20"
pale_ink <- "grey55"
shade_colour <- "#7F8FA6"
blank_colour <- "grey85"

#' Colours of the series of a figure; a long list starts again
#' @param colours Given by the user, or NULL.
#' @noRd
series_colours <- function(n, colours = NULL) rep_len(colours %||% okabe_ito, n)

#' Line types of the series: the palette's second round is dashed, its third dotted
#' @noRd
series_line_types <- function(n) rep_len(rep(c(1L, 2L, 3L), each = length(okabe_ito)), n)

diverging_colours <- c("#00497A", "#0072B2", "#7DB8DA", "#F7F7F7", "#F2B27A", "#D55E00", "#8C3B00")

#' Colours of signed values: blue below zero, white at zero, vermilion above
#'
#' @param value Numbers; their scale runs from -`most` to `most`. NA stays NA.
#' @noRd
diverging <- function(value, most) {
  ramp <- grDevices::colorRampPalette(diverging_colours, space = "Lab")(201L)
  most <- if (is.finite(most) && most > 0) most else 1
  ramp[101L + round(100 * pmin(pmax(value / most, -1), 1))]
}

#' Density bars: a share of the greatest density as the opacity of the shade
#' @noRd
shade_opacity <- function(share) {
  most <- max(share, 0, na.rm = TRUE)
  0.45 * if (most > 0) pmin(pmax(share / most, 0), 1) else 0 * share
}

#' Signs in a waterfall
#' @noRd
sign_colours <- c(raises = "#D55E00", lowers = "#0072B2")
