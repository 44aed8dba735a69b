# The prototypes of a fit as a table.

#' Prototypes of a fit
#'
#' Every prototype layer has a separate set of prototypes for each feature. A value `x` is assigned to the nearest
#' prototype, and the layer's encoder receives the line `intercept + slope * x` of that prototype. The table lists the
#' centres and lines, and how many training rows are nearest to each prototype.
#'
#' In the default fit, only features for which there is evidence have prototypes, see [protonam()]; the shapes of the
#' others are smooth, and asking for their prototypes is an error of class `protonam_error_no_prototypes`. With
#' `prototypes_for = TRUE` all numeric and ordered features have some.
#'
#' @param fit A fit, see [protonam()].
#' @param term Names of features, or `NULL` for all that have prototypes.
#' @param layer Layers, or `NULL` for all.
#' @param units `"original"`: in the units of the data. `"processed"`: as used by the model, after scaling.
#' @param member Which member of an ensemble.
#'
#' @section Original units: Scaling is undone by the linear map `x = x0 + J (z - z0)` around the prototype's centre
#' `z0`, applied to the line's argument and to its value. The slope stays the same. For `scaling = "minmax"` and
#' `"none"` the map is the same everywhere, so that, with a range from `lo` to `hi`, the centre becomes
#' `lo + z0 (hi - lo)` and the intercept `lo + intercept (hi - lo) - slope lo`. Quantile scaling is not linear: `J` is
#' then its slope at the centre (over 0.25 processed units to either side), and the line is valid near the centre.
#' Categorical features are numbered by level from 0 in the order of their levels; `label` names the nearest one.
#'
#' @return A data frame with columns `term`, `layer`, `prototype` (numbered by centre), `center`, `label` (the centre as
#'   text: a number, a date, a level), `slope`, `intercept`, `count` (training rows, by weight, nearest to the prototype
#'   in that layer; rows with a missing value are assigned to none; `NA` if the rows could not be counted).
#' @examples
#' fit <- protonam(mpg ~ wt + hp, mtcars, epochs = 30, prototypes = 4, prototypes_for = TRUE, seed = 1)
#' prototypes(fit, "wt", layer = 1)
#' prototypes(fit, "wt", layer = 1, units = "processed")
#' @export
prototypes <- function(fit, term = NULL, layer = NULL, units = c("original", "processed"), member = 1L) {
  if (!inherits(fit, "protonam")) {
    pn_abort("prototypes() needs a fit from {.fn protonam}, not {describe(fit)}.", class = "argument", arg = "fit")
  }
  fit <- check_fit(fit)
  units <- check_choice(units, c("original", "processed"), "units")
  config <- engine_of(fit)
  if (!config$use_prototypes) {
    pn_abort("This fit has no prototypes: it was made with {.code use_prototypes = FALSE}.", class = "no_prototypes")
  }
  member <- check_number(member, "member", min = 1, max = length(fit$members), whole = TRUE)
  layer <- check_layers(layer, config$n_layers)
  names <- feature_names(fit)
  wanted <- if (is.null(term)) config$net %||% seq_along(names) else match_features(term, names)
  smooth <- names[setdiff(wanted, config$net %||% wanted)]
  if (length(smooth) || !length(wanted)) {
    what <- if (length(smooth)) smooth else names
    pn_abort(
      c(
        "{.and {.field {what}}} {?has/have} no prototypes: {?its shape is/their shapes are} smooth.",
        i = "{.code prototypes_for = TRUE} gives prototypes to every feature."
      ),
      class = "no_prototypes", arg = "term"
    )
  }

  layout <- .Call(ffi_layout, config)
  tensors <- lapply(c(center = "center", slope = "coeff", intercept = "bias"), function(name) {
    slab_tensor(fit$members[[member]]$params, layout, name)
  })
  tables <- lapply(wanted, function(i) {
    by_layer <- lapply(layer, function(l) {
      lines <- lapply(tensors, function(tensor) tensor[l, , net_position(fit, i)])
      order <- order(lines$center)
      lines <- lapply(lines, `[`, order)
      count <- fit$nearest[[member]][order, l, net_position(fit, i)]
      prototype_rows(fit$encoder[[i]], l, lines, count, units)
    })
    do.call(rbind, by_layer)
  })
  do.call(rbind, tables)
}

prototype_rows <- function(encoder, layer, lines, count, units) {
  own <- unscale_values(encoder$scaling, lines$center)
  if (units == "original") {
    stretch <- unscale_slope(encoder$scaling, lines$center)
    lines$intercept <- own * (1 - lines$slope) + stretch * (lines$slope * lines$center + lines$intercept - lines$center)
  }
  data.frame(
    term = encoder$name, layer = layer, prototype = seq_along(own),
    center = if (units == "original") own else lines$center, label = prototype_labels(encoder, own),
    slope = lines$slope, intercept = lines$intercept, count = count %||% NA_real_
  )
}

prototype_labels <- function(encoder, number) {
  if (is_categorical(encoder)) {
    return(decode_numbers(encoder, pmin(pmax(round(number), 0), length(encoder$levels) - 1 + encoder$has_missing)))
  }
  format_values(encoder, number)
}

slope_width <- 0.25

#' Slope of the map from processed to original units at processed values
#' @noRd
unscale_slope <- function(scaling, z) {
  if (scaling$method %in% c("quantile", "score")) {
    # through the scores of the quantiles, so that ties have a slope as well, and over some width, because adjacent
    # quantiles lie at random distances
    score <- scale_values(scaling, scaling$value)
    ends <- range(score)
    low <- pmin(pmax(z - slope_width, ends[1L]), ends[2L] - slope_width)
    high <- pmax(pmin(z + slope_width, ends[2L]), ends[1L] + slope_width)
    value <- stats::approx(score, scaling$value, c(low, high))$y
    return((value[length(z) + seq_along(z)] - value[seq_along(z)]) / (high - low))
  }
  slope <- switch(scaling$method,
    minmax = scaling$high - scaling$low,
    none = 1,
    constant = 0
  )
  rep(slope, length(z))
}

check_layers <- function(layer, n) {
  if (is.null(layer)) {
    return(seq_len(n))
  }
  refuse_if(!is.numeric(layer) || !length(layer) || !all(layer %in% seq_len(n)), layer, "layer", "among 1 to {n}")
  unique(as.integer(layer))
}

match_features <- function(term, names) {
  refuse_if(!is.character(term) || !length(term), term, "term", "names of features")
  check_features(term, names, "term")
  match(unique(term), names)
}

#' Number of training rows nearest to each prototype of a member
#' @param features,counts Encoded training features and the weights of their values.
#' @return array [prototype, layer, feature]
#' @noRd
count_nearest <- function(member, config, features, counts) {
  t <- config$n_prototypes
  out <- array(0, c(t, config$n_layers, config$n_features))
  if (!config$use_prototypes) {
    return(out)
  }
  centers <- slab_tensor(member$params, .Call(ffi_layout, config), "center")
  features <- features[config$net %||% seq_len(config$n_features)]
  counts <- counts[config$net %||% seq_len(config$n_features)]
  for (i in seq_len(config$n_features)) {
    known <- !is.nan(features[[i]]$values)
    for (l in seq_len(config$n_layers)) {
      order <- order(centers[l, , i])
      center <- centers[l, order, i]
      cell <- findInterval(features[[i]]$values[known], (center[-1L] + center[-t]) / 2) + 1L
      sums <- rowsum(counts[[i]][known], cell)
      out[order[as.integer(rownames(sums))], l, i] <- sums
    }
  }
  out
}
