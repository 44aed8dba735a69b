# Columns <-> numbers: types, levels, missing values, scaling.
#
# All computations use the distinct values of a column (src/base_distinct.c); rows hold only codes. A column is
# processed in three stages:
#   column_table()   distinct labels or numbers with counts, and a code per row
#   fit_encoder()    what is learned from the training rows, as plain vectors (below), and the encoded training column
#   encode_column()  any column of the same type through a fitted encoder
#
# An encoder is a list:
#   name, type     type is one of numeric, logical, factor, ordered, character, Date, POSIXct, difftime
#   levels         categorical types: levels in code order (code = position - 1); else NULL
#   unit           time zone (POSIXct) or unit (difftime); else NULL
#   has_missing    were there missing values in the training rows? If so they have a separate effect: a categorical
#                  gets the code after its last level, a number stays NaN and the engine learns its activation
#   scaling        see R/data-scaling.R
#   bins           NULL, or list(breaks, value): original values are cut at breaks, processed values stand for the bins
#   support        list(value, count): what the training rows hold, as numbers (codes for categoricals), thinned to
#                  at most 1000 observed values, and `missing`, the weight of missing rows; for plots
#   typical        up to 16 processed values at evenly spaced quantiles, for averaging over the feature
#   words          absent, or list(label, units), as the column's attributes say (packages Hmisc, labelled)
#   shown          absent, or the levels of a factor in its own order, if that is not the alphabetical one

categorical_types <- c("logical", "factor", "ordered", "character")
max_support <- 1000L
n_typical <- 16L
little_beyond <- 0.01 # of the range of the training data: slightly beyond its ends does not count as extrapolation

is_categorical <- function(encoder) encoder$type %in% categorical_types

encoder_names <- function(encoders) vapply(encoders, `[[`, "", "name")

#' Type of a column, or an error that names it
#' @noRd
column_type <- function(x, name) {
  if (is.matrix(x) && ncol(x) == 1L) x <- x[, 1L]
  known <- c(
    ordered = is.ordered(x), factor = is.factor(x), Date = inherits(x, "Date"), POSIXct = inherits(x, "POSIXt"),
    difftime = inherits(x, "difftime"), character = is.character(x), logical = is.logical(x), numeric = is.numeric(x)
  )
  flat <- is.null(dim(x))
  type <- if (flat) names(which(known))[1L] else NA
  if (is.na(type)) {
    given <- if (flat) class(x)[1L] else sprintf("%s with %d columns", class(x)[1L], ncol(x))
    hint <- if (flat) {
      "Columns may be numeric, integer, logical, factor, ordered, character, Date or POSIXct."
    } else {
      "Make each of its columns a feature. {.fn poly} or splines are not needed: curves are learned."
    }
    pn_abort(
      c("Column {.field {name}} is a {given}, which cannot be a feature.", i = hint),
      class = "column_type", arg = name
    )
  }
  type
}

#' A column reduced to a plain vector: one-column matrices, classes, POSIXlt
#' @param unit Unit of a difftime, so that new data arrive in the training data's unit.
#' @noRd
column_vector <- function(x, type, name, unit = NULL) {
  if (is.matrix(x)) x <- x[, 1L]
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (type == "difftime") {
    return(as.double(x, units = unit %||% units(x)))
  }
  x
}

#' Distinct values of a column
#'
#' @return list(label = values (character for categorical types, double otherwise; NA or NaN when missing), codes,
#'   width, counts), see ffi_distinct.
#' @noRd
column_table <- function(x, type, name, counts = NULL, unit = NULL) {
  x <- column_vector(x, type, name, unit)
  if (is.character(x)) {
    label <- unique(x)
    x <- match(x, label)
  } else if (is.factor(x)) {
    label <- levels(x)
  } else if (is.logical(x)) {
    label <- c("FALSE", "TRUE")
    x <- x + 1L
  } else {
    label <- NULL
  }
  table <- .Call(ffi_distinct, unclass(x), counts)
  if (type %in% categorical_types) {
    table$label <- if (is.null(label)) as.character(table$values) else enc2utf8(label[table$values])
  } else {
    table$label <- table$values
  }
  table
}

#' Learn an encoder from a training column
#'
#' @param counts Row weights as from as_counts(), or NULL.
#' @return list(encoder, feature = list(values, codes, width) for the engine, counts = weight of each value,
#'   centers = initial prototypes)
#' @noRd
fit_encoder <- function(x, name, counts = NULL, scaling = "quantile", bins = NULL, prototypes = 32L, target = NULL,
                        own = FALSE) {
  type <- column_type(x, name)
  unit <- switch(type,
    POSIXct = attr(as.POSIXct(x), "tzone") %||% "",
    difftime = units(x)
  )
  table <- column_table(x, type, name, counts, unit)
  missing <- is.na(table$label)
  levels <- NULL
  if (type %in% categorical_types) {
    present <- unique(table$label[!missing])
    if (type == "ordered") {
      levels <- intersect(enc2utf8(levels(x)), present)
    } else {
      levels <- if (is.null(target)) sort(present, method = "radix") else levels_by(present, x, target, counts)
    }
    number <- match(table$label, levels, nomatch = length(levels) + 1L) - 1
  } else {
    number <- table$label
    if (scaling != "quantile" && any(is.infinite(number))) abort_infinite(name, scaling)
  }

  order <- order(number, na.last = NA)
  fitted <- fit_scaling(number[order], table$counts[order], scaling, total = sum(table$counts))
  if (own && is.null(levels)) fitted <- smooth_scores(fitted, number[order], table$counts[order])
  values <- scale_values(fitted, number)
  if (any(is_beyond(values, number))) abort_infinite(name, scaling)
  probs <- seq_len(prototypes) / (prototypes + 1)
  centers <- if (length(order)) weighted_quantile(values[order], table$counts[order], probs) else 0 * probs

  encoder <- list(
    name = name, type = type, levels = levels, unit = unit, has_missing = any(missing), scaling = fitted, bins = NULL,
    support = thin_support(number[order], table$counts[order], sum(table$counts[missing])),
    typical = typical_values(values[order], table$counts[order])
  )
  encoder$shown <- factor_order(x, levels)
  feature <- list(values = values, codes = table$codes, width = table$width)
  if (!is.null(bins) && is.null(levels) && length(order) > bins) {
    binned <- bin_values(number, values, table$counts, order, bins, own)
    encoder$bins <- binned$bins
    feature <- encoded_feature(binned$values, binned$map[encoded_index(feature)])
    table$counts <- as.vector(rowsum(table$counts, binned$map))
  }
  if (scaling != "quantile") check_single(feature$values, name)
  list(encoder = encoder, feature = feature, counts = table$counts, centers = centers)
}

#' Levels in an order determined by the rows
#'
#' By the mean of a target, shrunk towards the overall mean where rows are few; very many levels by frequency.
#'
#' Names carry no information, so that renaming or sorting levels changes nothing.
#' @noRd
levels_by <- function(present, x, target, counts = NULL) {
  code <- match(enc2utf8(as.character(x)), present)
  known <- which(!is.na(code) & !is.na(target))
  weight <- (counts %||% rep(1, length(target)))[known]
  first <- match(seq_along(present), code) # breaks ties
  total <- function(x) as.vector(tapply(x, factor(code[known], seq_along(present)), sum, default = 0))
  if (length(present) > max_levels) {
    return(present[order(-total(weight), first)])
  }
  overall <- sum(weight * target[known]) / sum(weight)
  mean <- (total(weight * target[known]) + shrink_rows * overall) / (total(weight) + shrink_rows)
  present[order(mean, first)]
}

shrink_rows <- 10

#' The order in which a factor has its levels, NULL where it is that of their names
#'
#' Only what is shown follows it: levels_by() decides the codes, so that a fit does not depend on it.
#' @noRd
factor_order <- function(x, levels) {
  if (!is.factor(x) || is.ordered(x)) {
    return(NULL)
  }
  own <- intersect(enc2utf8(levels(x)), levels)
  if (!identical(own, sort(own, method = "radix"))) own
}

abort_infinite <- function(name, scaling) {
  pn_abort(
    c(
      "Column {.field {name}} has infinite or huge values, which {.code scaling = {.val {scaling}}} cannot place.",
      i = "Remove them, set them to NA, or use {.code scaling = {.val quantile}}."
    ),
    class = "infinite", arg = name
  )
}

#' Numbers as the engine holds them, in single precision
#' @noRd
as_single <- function(x) readBin(writeBin(as.vector(x), raw(), size = 4L), "numeric", length(x), size = 4L)

#' Single precision has about seven digits
#' @param values Distinct processed values of a column.
#' @noRd
check_single <- function(values, name) {
  kept <- length(unique(as_single(values)))
  # random values that happen to lie close together are no loss
  if (kept < 0.95 * length(values)) {
    pn_warn(
      c(
        "Of {length(values)} distinct values of {.field {name}}, {kept} remain in single precision (7 digits).",
        i = "Subtract a number close to all of them, or use {.code scaling = {.val quantile}}."
      ),
      class = "precision", arg = name
    )
  }
}

#' Numbers whose processed values are outside the engine's range
#' @noRd
is_beyond <- function(values, number) !is.nan(number) & !(abs(values) <= largest_single & !is.nan(values))

thin_support <- function(number, counts, missing, most = max_support) {
  if (length(number) > most) {
    # observed values at evenly spaced ranks; each stands for the weight around it
    middle <- cumsum(counts) - counts / 2
    ranks <- seq(0, sum(counts), length.out = most)[-c(1L, most)]
    pick <- unique(c(1L, findInterval(ranks, middle, all.inside = TRUE), length(number)))
    breaks <- (middle[pick][-1L] + middle[pick][-length(pick)]) / 2
    group <- findInterval(middle, breaks) + 1L
    counts <- as.vector(rowsum(counts, group))
    number <- number[pick]
  }
  list(value = number, count = counts, missing = missing)
}

typical_values <- function(values, counts) {
  if (!length(values)) {
    return(NaN)
  }
  probs <- (seq_len(n_typical) - 0.5) / n_typical
  values[pmin(findInterval(probs, cumsum(counts) / sum(counts)) + 1L, length(values))]
}

#' Stop if a column cannot be of the type to which the encoder was fitted
#'
#' Text and factors are interchangeable, as are integers and numbers; a column of only NA matches any type.
#' @noRd
check_column_type <- function(encoder, x) {
  type <- column_type(x, encoder$name)
  text <- c("factor", "ordered", "character")
  same <- type == encoder$type || (type %in% text && encoder$type %in% text)
  if (!same && !(type == "logical" && all(is.na(x)))) {
    given <- class(x)[1L]
    pn_abort(
      "Column {.field {encoder$name}} is of type {.cls {given}}, but the model was fitted to {.cls {encoder$type}}.",
      class = "column_type", arg = encoder$name
    )
  }
}

#' Encode a column with a fitted encoder
#'
#' @return list(feature = list(values, codes, width), unknown = table entries that the training data do not cover
#'   (missing where nothing was missing, and new levels there), new_levels, new_missing, infinite, outside = number of
#'   rows beyond the range of the training data)
#' @noRd
encode_column <- function(encoder, x) {
  check_column_type(encoder, x)
  if (is.logical(x) && !is_categorical(encoder)) {
    x <- rep(NaN, length(x)) # nothing but NA
    table <- column_table(x, "numeric", encoder$name)
  } else {
    table <- column_table(x, encoder$type, encoder$name, NULL, encoder$unit)
  }
  missing <- is.na(table$label)
  infinite <- FALSE
  outside <- 0
  if (is_categorical(encoder)) {
    number <- match(table$label, encoder$levels) - 1
    new_levels <- table$label[is.na(number) & !missing]
    if (encoder$has_missing) number[is.na(number)] <- length(encoder$levels)
  } else {
    number <- table$label
    new_levels <- character()
    seen <- encoder$support$value
    if (!length(seen)) {
      number[] <- NaN # only missing values were ever seen
    } else {
      ends <- range(seen[is.finite(seen)], seen[1L][!any(is.finite(seen))])
      ends <- ends + c(-1, 1) * little_beyond * diff(ends)
      outside <- sum(table$counts[which(number < ends[1L] | number > ends[2L])])
      beyond <- is_beyond(scale_values(encoder$scaling, number), number)
      infinite <- any(beyond)
      number[beyond] <- ifelse(number[beyond] > 0, seen[length(seen)], seen[1L])
    }
  }
  number[is.na(number)] <- NaN
  if (is.null(encoder$bins)) {
    feature <- list(values = scale_values(encoder$scaling, number), codes = table$codes, width = table$width)
  } else {
    map <- findInterval(number, encoder$bins$breaks) + 1L
    values <- c(encoder$bins$value, if (anyNA(number)) NaN)
    map[is.na(number)] <- length(values)
    feature <- encoded_feature(values, map[encoded_index(table)])
  }
  unknown <- is.nan(feature$values) & !encoder$has_missing
  # a placeholder for the engine; predictions average over the feature instead (R/use-predict.R)
  feature$values[unknown] <- encoder$typical[length(encoder$typical) %/% 2L + 1L]
  list(
    feature = feature, unknown = unknown, infinite = infinite, outside = outside, new_levels = new_levels,
    new_missing = any(missing) && !encoder$has_missing
  )
}

#' Encode a list of columns for the engine
#'
#' @param columns Named list of columns, in the encoders' order.
#' @return list(features, unknown = list per feature of the rows (positions) that the training data do not cover,
#'   or NULL), and for the caller's warning new_missing, infinite (feature names), new_levels (list by feature) and
#'   outside (rows beyond the range of the training data, by feature).
#' @noRd
encode_columns <- function(encoders, columns, n) {
  encoded <- Map(encode_column, encoders, columns)
  names <- encoder_names(encoders)
  new_levels <- stats::setNames(lapply(encoded, `[[`, "new_levels"), names)
  list(
    features = lapply(encoded, `[[`, "feature"),
    unknown = lapply(encoded, function(e) if (any(e$unknown)) which(e$unknown[encoded_index(e$feature, n)])),
    new_missing = names[vapply(encoded, `[[`, NA, "new_missing")],
    infinite = names[vapply(encoded, `[[`, NA, "infinite")],
    outside = stats::setNames(vapply(encoded, `[[`, 0, "outside"), names),
    new_levels = new_levels[lengths(new_levels) > 0L]
  )
}

#' Numbers converted back to the type of the user's column: dates, times, numbers; labels for categoricals
#' @param number Unscaled numbers; codes for categoricals.
#' @noRd
decode_numbers <- function(encoder, number) {
  switch(encoder$type,
    numeric = number,
    Date = structure(number, class = "Date"),
    POSIXct = structure(number, class = c("POSIXct", "POSIXt"), tzone = encoder$unit),
    difftime = structure(number, class = "difftime", units = encoder$unit),
    c(encoder$levels, "(missing)")[number + 1L]
  )
}

max_levels <- 120L # effects of one feature's levels
