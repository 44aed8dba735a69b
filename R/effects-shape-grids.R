# Where effects are shown: grids of values per feature, and what plots need to know about a feature.

#' Where a feature's effect is shown
#'
#' @param most Maximum number of training values.
#' @param values NULL, or values given by the user.
#' @return data frame (x, level, z, density, count): value or level, processed value, share and number of the training
#'   rows, by weight
#' @noRd
feature_grid <- function(encoder, jumps, most, values = NULL) {
  support <- encoder$support
  total <- sum(support$count) + if (is_categorical(encoder)) 0 else support$missing
  if (!is.null(values)) {
    grid <- given_grid(encoder, values)
  } else if (is_categorical(encoder)) {
    grid <- ordered_levels(encoder, level_grid(encoder, support$value, support$count))
  } else {
    seen <- finite_support(encoder)
    seen <- thin_support(seen$value, seen$count, 0, most)
    grid <- data.frame(
      x = c(seen$value, jumps$x, jumps$x), z = c(process_numbers(encoder, seen$value), jumps$left, jumps$right),
      density = c(seen$count, numeric(2L * nrow(jumps)))
    )
    grid <- grid[order(grid$x, rep(c(2L, 1L, 3L), c(length(seen$value), nrow(jumps), nrow(jumps)))), ]
    grid$level <- rep(NA_character_, nrow(grid))
    if (encoder$has_missing) grid[nrow(grid) + 1L, ] <- list(NA_real_, NaN, support$missing, "(missing)")
  }
  grid$count <- grid$density
  grid$density <- grid$count / total
  grid[c("x", "level", "z", "density", "count")]
}

level_grid <- function(encoder, code, count) {
  data.frame(
    x = rep(NA_real_, length(code)), level = decode_numbers(encoder, code), z = process_numbers(encoder, code),
    density = count
  )
}

#' Rows of a grid in the order in which levels are shown; a missing value is last
#' @noRd
ordered_levels <- function(encoder, grid) grid[order(match(grid$level, shown_levels(encoder))), ]

#' Values given by the user; each has the weight of the training values nearest to it
#' @noRd
given_grid <- function(encoder, values, arg = "points") {
  encoded <- encode_column(encoder, values)
  if (any(encoded$unknown)) {
    pn_abort(
      "{.arg {arg}} of {.field {encoder$name}} has values that do not occur in the training data.",
      class = "unknown_values", arg = arg
    )
  }
  z <- encoded$feature$values[encoded_index(encoded$feature, length(values))]
  support <- encoder$support
  if (is_categorical(encoder)) {
    code <- match(as.character(values), encoder$levels, nomatch = length(encoder$levels) + 1L) - 1
    return(level_grid(encoder, code, support$count[match(code, support$value)]))
  }
  number <- as.double(column_vector(values, encoder$type, encoder$name, encoder$unit))
  missing <- is.na(number)
  count <- ifelse(missing, support$missing, 0)
  here <- which(!missing)[order(number[!missing])]
  if (length(here)) {
    sorted <- number[here]
    cell <- findInterval(support$value, (sorted[-1L] + sorted[-length(sorted)]) / 2) + 1L
    count[here] <- count[here] + vapply(seq_along(here), function(j) sum(support$count[cell == j]), 0)
  }
  data.frame(x = number, level = ifelse(missing, "(missing)", NA), z = z, density = count)
}

density_bars <- 20L
rug_values <- 200L

#' What plots need to know about the features of some terms (positions)
#' @noRd
shape_features <- function(object, terms) {
  used <- sort(unique(unlist(term_features(object)[terms])))
  facts <- lapply(used, function(i) {
    encoder <- object$encoder[[i]]
    facts <- describe_feature(encoder)
    # nothing lies between two values, and effects of single values do not continue between them
    two <- facts$type != "categorical" && length(finite_support(encoder)$value) <= 2L
    c(facts, list(points = two || length(object$base$terms[[i]]$values) > 0L))
  })
  stats::setNames(facts, feature_names(object)[used])
}

#' Labels and units that the columns of the data had
#' @return list(labels, units): named character vectors
#' @noRd
feature_words <- function(object) {
  word <- function(what) {
    text <- vapply(object$encoder, function(encoder) encoder$words[[what]] %||% NA_character_, "")
    stats::setNames(text, feature_names(object))[!is.na(text)]
  }
  list(labels = word("label"), units = word("units"))
}

#' Levels in the order in which they are shown, that of the factor; that of the encoder may differ (levels_by())
#' @noRd
shown_levels <- function(encoder) {
  if (encoder$type == "ordered") encoder$levels else encoder$shown %||% sort(encoder$levels, method = "radix")
}

describe_feature <- function(encoder) {
  support <- encoder$support
  if (is_categorical(encoder)) {
    return(list(
      type = "categorical", levels = shown_levels(encoder), range = NULL, density = NULL, rug = NULL,
      missing_share = support$missing / sum(support$count), unit = NULL
    ))
  }
  seen <- finite_support(encoder)
  list(
    type = encoder$type, levels = NULL, range = if (length(seen$value)) range(seen$value),
    density = if (length(seen$value)) density_table(seen$value, seen$count),
    rug = if (length(seen$value)) thin_support(seen$value, seen$count, 0, rug_values)$value,
    missing_share = support$missing / (sum(support$count) + support$missing), unit = encoder$unit
  )
}

#' Shares of the rows in bars of equal width
#'
#' A value represents its cell, which extends midway to its neighbours (at most a bar wide): otherwise two whole numbers
#' would fall into one bar and three into the next.
#' @noRd
density_table <- function(value, count) {
  ends <- range(value)
  if (ends[1L] == ends[2L]) ends <- ends + c(-0.5, 0.5)
  breaks <- seq(ends[1L], ends[2L], length.out = density_bars + 1L)
  half <- pmin(diff(value), diff(ends) / density_bars) / 2
  from <- value - c(0, half)
  to <- value + c(half, 0)
  bar <- function(x) findInterval(x, breaks, rightmost.closed = TRUE, all.inside = TRUE)
  first <- bar(from)
  last <- bar(to)
  # a cell is in one bar or in two neighbours
  left <- ifelse(last > first, (breaks[first + 1L] - from) / (to - from), 1)
  in_bar <- function(j) sum((count * left)[first == j]) + sum((count * (1 - left))[last == j])
  list(breaks = breaks, share = vapply(seq_len(density_bars), in_bar, 0) / sum(count))
}
