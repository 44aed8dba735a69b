# shapes(): the fitted effects as a data frame, computed here and drawn elsewhere (R/plot-protonam.R, R/plot-ggplot.R).

#' Fitted effects as a data frame
#'
#' Evaluates the shape functions of a fit: one curve per feature (and group, response or class), in the original units.
#' Effects are centred over the training rows, so that the intercept plus the effects is the prediction; `shapes()`
#' agrees with `predict(fit, newdata, type = "terms")` at the same values.
#'
#' A shape function is evaluated at values observed in the training rows, at most 1000 of them by quantile, including
#' the smallest and the largest. It is the sum of the smooth layer and, for features that have them, of the prototype
#' layers, which jump midway between prototypes: a jump is represented by two rows with the same `x`, the limits from
#' the left and from the right. Jumps smaller than a thousandth of an effect's range are omitted. If a column is so
#' coarse that a jump lies between two adjacent values, the two rows are placed midway between them.
#'
#' @param fit A fit of `order` 1 or 2, see [protonam()].
#' @param terms Which terms: `NULL` for all, names such as `"age"` or `"age:bmi"`, or a number for that many of the
#'   most important ones.
#' @param layers Return the effects of each layer (`TRUE`) or their sum (`FALSE`)? Layer 0 is the smooth layer.
#' @param level Level of the bands, between 0 and 1.
#' @param points Maximum number of training values per feature; `NULL` for 1000 (64 per axis of a pair). Alternatively a
#'   named list of values, such as `list(age = c(40, 60))`, for the features it names.
#' @param scale `"link"`: effects as they add up. `"response"`: in terms of the response, that is, as odds ratios
#'   relative to an average effect (binomial), rate ratios (poisson), odds ratios relative to the mean class
#'   (multinomial, see below), or unchanged (gaussian, where effects already are in units of the response). The name of
#'   the ratio that a family has means the same as `"response"`.
#' @param threads See [protonam()].
#' @param simultaneous Should a band hold simultaneously for the whole curve rather than pointwise? See Bands.
#' @param reference Values with which effects are compared, such as `list(age = 60)`: the effects of these features are
#'   differences to the effect at the reference (or ratios, see `scale`), with bands of the differences. `TRUE` compares
#'   every feature with a default value, see [effect_table()]. A value beyond the training data is marked. Effects of
#'   other features, and pairs, remain centred.
#'
#' @section Bands: Each member of the default fit leaves out one fold of the rows; otherwise the members are identical.
#' The delete-a-group jackknife turns their differences into a standard error: with \eqn{K} members \eqn{f_k} and their
#' mean \eqn{f},
#' \eqn{se^2 = (K - 1) / K \sum_k (f_k - f)^2}{se^2 = (K - 1) / K sum (f_k - f)^2}. It is bounded below
#' by the posterior standard deviation of the smooth layer (including, to first order, the uncertainty of its
#' smoothing parameters), because members that all shrink an effect to zero do not differ. `lower` and `upper` are the
#' effect minus and plus `qt((1 + level) / 2, d * (K - 1)) * sqrt(1 + 2 * edf / n)` standard errors, where `d` is 8 for
#' a numeric response and 2 for others (their posterior variance is an approximation), `edf` are the effective degrees
#' of freedom of the whole smooth layer and `n` is the number of informative rows: rows of the rarer class for a binary
#' response, all rows for a numeric one. The last factor matters when there are few events.
#'
#' The bands are pointwise: at each value they are designed to cover the effect with probability `level` under repeated
#' sampling of the rows. They do not account for what the model omits, such as confounders, interactions or dependence
#' between rows that is not declared in `groups`. As effects are centred, bands are narrow where a curve crosses zero in
#' the middle of the data.
#'
#' `simultaneous = TRUE` widens them so that a whole curve lies within its band with approximately that probability. The
#' distribution of the maximum over a curve cannot be estimated from eight members. Instead, a curve with `edf`
#' effective degrees of freedom and `j` jumps is treated as `m = max(2, ceiling(edf) + j)` independent points, each with
#' Sidak's level `level^(1 / m)`. Without a smooth layer, the number of prototypes takes the place of `edf`. This is an
#' approximation, and it applies to each curve separately, not to all terms jointly.
#'
#' For ensembles of the paper's procedure, the band is the mean minus and plus `qnorm((1 + level) / 2)` standard
#' deviations of the members. It shows where the curve of another single model would lie if that model were trained on
#' the same rows with another seed or, with `bootstrap = TRUE`, on rows drawn with replacement. A single model has no
#' band.
#'
#' @section Several classes: A multinomial model has a score for each class, and probabilities are proportional to their
#' exponentials. Scores are centred over the classes: an effect refers to the log odds of a class relative to the
#' (geometric) mean of all classes. The log odds between two classes change by the difference of their effects.
#'
#' @section Order 2: A model of pairs is decomposed into main effects and pure interactions; see [purification]. Pairs
#' are evaluated on a grid.
#'
#' @section Names of terms: A pair is named after its features, as in `"age:bmi"`; `"bmi:age"` refers to it as well. If
#' this is already the name of a feature or of another pair, a number is added: with features `x`, `z` and `x:z`,
#' `"x:z"` is the feature and `"x:z.1"` the pair of `x` and `z`.
#'
#' @return A data frame of class `protonam_shapes`, one row per evaluated point:
#' \describe{
#'   \item{`term`}{the feature, or the pair as in `"age:bmi"`}
#'   \item{`task`}{the group or response, `NA` if there is only one}
#'   \item{`output`}{the class (multinomial), otherwise `NA`}
#'   \item{`layer`}{`NA`, or the layer: 0 is the smooth layer, 1 and above are prototype layers}
#'   \item{`x`}{the value, dates and times as numbers; `NA` for levels and for the missing value}
#'   \item{`level`}{the level of a categorical feature; `"(missing)"` for the missing value of any feature}
#'   \item{`y`, `level2`}{the same for the second feature of a pair}
#'   \item{`effect`}{the centred effect}
#'   \item{`lower`, `upper`}{its band, `NA` if there is none}
#'   \item{`density`}{share of the training rows (by weight) at this point; the shares of a curve add up to 1, and rows
#'     of jumps have none}
#'   \item{`count`}{the same as a number of rows, for instance those with this level or with a missing value}
#' }
#' Attributes: `"intercept"`, `"scale"`, `"scale_label"`, `"level"`, `"members"`, `"band"` (what the band means),
#' `"response"`, `"family"`, `"order"`, `"importance"` (of each term), `"features"` (of each term), `"terms"` (for
#' each feature its type, levels, range, density and some quantiles, for plots), `"words"` (labels and units that the
#' columns of the data had), `"reference"` (named text, the values with which effects are compared, marked where they
#' lie beyond the training data; or `NULL`), and `"jumps"` (those that hold, as text; `summary()` shows them).
#' @seealso [predict.protonam()] with `type = "terms"`, [prototypes()], [term_importance()], [contributions()].
#' @examples
#' fit <- protonam(mpg ~ wt + hp + factor(cyl), mtcars, epochs = 30, seed = 1)
#' s <- shapes(fit)
#' head(s)
#' shapes(fit, "wt", points = list(wt = c(2, 3, 4)))
#' @export
shapes <- function(fit, terms = NULL, layers = FALSE, level = 0.95, points = NULL,
                   scale = c("link", "response", "odds ratio", "hazard ratio", "rate ratio"), threads = NULL,
                   simultaneous = FALSE, reference = NULL) {
  fit <- check_readable(fit, "shapes()")
  terms <- select_terms(fit, terms)
  layers <- check_flag(layers, "layers")
  simultaneous <- check_flag(simultaneous, "simultaneous")
  asked <- (!missing(level) && !is.null(level)) || simultaneous
  level <- check_number(level %||% 0.95, "level", above = 0, below = 1)
  points <- check_points(fit, points)
  scale <- check_scale(fit, scale)
  reference <- resolve_reference(fit, reference)
  threads <- resolve_threads(threads)
  spread <- length(fit$members) > 1L
  if (asked && !spread) {
    pn_inform(
      c("This fit is a single model, so there is no band.", i = "The default fit has several members and bands."),
      class = "no_band"
    )
  }

  n_features <- length(fit$encoder)
  single <- terms <= n_features
  parts <- vector("list", length(terms))
  parts[single] <- main_shapes(fit, terms[single], layers, points, spread, threads, reference)
  if (!all(single)) {
    parts[!single] <- pair_shapes(fit, terms[!single] - n_features, layers, points, spread, threads)
  }
  frame <- bind_columns(parts)
  if (spread) {
    half <- band_width(fit, level, if (simultaneous) independent_points(fit, frame) else 1) * frame$sd
    frame$lower <- frame$effect - half
    frame$upper <- frame$effect + half
  }
  frame$sd <- NULL
  new_shapes(fit, frame, scale, level, terms, simultaneous, reference)
}

#' Positions of the requested terms among those shown
#' @param terms NULL, names, or a number (the most important ones)
#' @noRd
select_terms <- function(object, terms, arg = "terms") {
  known <- shown_terms(object)
  if (is.null(terms)) {
    return(seq_along(known))
  }
  if (is.numeric(terms) && length(terms) == 1L) {
    number <- min(check_number(terms, arg, min = 1, whole = TRUE, infinite = TRUE), length(known))
    return(order(-overall_importance(object))[seq_len(number)])
  }
  refuse_if(!is.character(terms) || !length(terms) || anyNA(terms), terms, arg, "names of terms, or one number")
  match(find_terms(terms, known, named_features(object), arg), known)
}

#' Terms by their names, each once; the features of a pair may be in either order
#' @param features List by term of the names of its features (named_features()).
#' @noRd
find_terms <- function(terms, known, features, arg) {
  unique(vapply(terms, find_term, "", known = known, features = features, arg = arg, USE.NAMES = FALSE))
}

find_term <- function(name, known, features, arg) {
  if (name %in% known) {
    return(name)
  }
  turned <- vapply(known, function(term) paste(rev(term_parts(term, features)), collapse = ":"), "")
  found <- known[turned == name]
  if (length(found) == 1L) {
    return(found)
  }
  if (length(found) > 1L) {
    pn_abort("{.val {name}} may mean {.or {.val {found}}}.", class = "ambiguous_term", arg = arg)
  }
  pn_abort(
    c("There is no term {.val {name}}.", suggest(name, known) %||% c(i = "The terms are {some(known)}.")),
    class = "unknown_term", arg = arg
  )
}

check_points <- function(object, points) {
  if (is.list(points) && !is.object(points)) {
    known <- feature_names(object)
    check_features(names(points) %||% "", known, "points")
    return(points)
  }
  if (!is.null(points)) check_number(points, "points", min = 2, max = max_support, whole = TRUE)
}

# Rows --------------------------------------------------------------------------------------------------------------

#' Lists of columns of equal names into one data frame
#' @noRd
bind_columns <- function(parts) {
  names <- names(parts[[1L]])
  columns <- lapply(stats::setNames(names, names), function(name) unlist(lapply(parts, `[[`, name)))
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1L]])))
}

#' Rows of main effects as lists of columns, one per wanted feature
#' @noRd
main_shapes <- function(object, wanted, layers, points, spread, threads, reference = NULL) {
  encoders <- object$encoder
  names <- feature_names(object)
  most <- if (is.numeric(points)) points else max_support
  given <- if (is.list(points)) points
  jumps <- feature_jumps(object, wanted[!names[wanted] %in% names(given)], layers, threads)
  grids <- lapply(seq_along(encoders), function(i) {
    if (i %in% wanted) feature_grid(encoders[[i]], jumps[[i]], most, given[[names[i]]])
  })
  values <- lapply(grids, function(grid) grid$z %||% numeric())
  effects <- main_effects(object, values, layers, spread, threads, lapply(reference, `[[`, "z"))
  lapply(wanted, function(i) {
    grid <- cbind(grids[[i]], y = NA_real_, level2 = NA_character_)
    shape_rows(object, names[i], grid, effects$mean[[i]], effects$sd[[i]], layers)
  })
}

#' One term's rows as a list of columns
#' @param grid List or data frame of columns x, level, y, level2, density, count.
#' @param mean,sd Arrays [points, task x output, layer]; sd may be NULL.
#' @noRd
shape_rows <- function(object, term, grid, mean, sd, layers) {
  labels <- output_labels(object)
  n <- length(grid$x)
  size <- dim(mean)
  each <- rep(seq_len(n), size[2L] * size[3L])
  output <- rep(rep(seq_len(size[2L]), each = n), size[3L])
  # layer 0 is the smooth layer
  layer <- if (layers) rep(seq_len(size[3L]) - has_base(object), each = n * size[2L]) else NA_integer_
  list(
    term = rep(term, length(each)), task = labels$task[output], output = labels$output[output],
    layer = rep_len(layer, length(each)), x = grid$x[each], level = grid$level[each], y = grid$y[each],
    level2 = grid$level2[each], effect = as.vector(mean), lower = rep(NA_real_, length(each)),
    upper = rep(NA_real_, length(each)), density = grid$density[each], count = as.double(grid$count[each]),
    sd = if (is.null(sd)) rep(NA_real_, length(each)) else as.vector(sd)
  )
}

# The classed data frame --------------------------------------------------------------------------------------------

new_shapes <- function(object, frame, scale, level, terms, simultaneous = FALSE, reference = NULL) {
  if (scale == "response" && object$family$family != "gaussian") {
    columns <- c("effect", "lower", "upper")
    frame[columns] <- lapply(frame[columns], exp)
  }
  members <- length(object$members)
  band <- describe_band(object, level, simultaneous)
  names(reference) <- if (length(reference)) feature_names(object)
  reference <- reference[names(reference) %in% feature_names(object)[terms] & lengths(reference) > 0L]
  structure(
    frame,
    class = c("protonam_shapes", "data.frame"), terms = shape_features(object, terms),
    intercept = stats::setNames(model_constant(object), output_names(object)), scale = scale,
    scale_label = scale_label(object, scale), level = level, members = members, band = band,
    response = object$response$name, family = object$family$family, importance = overall_importance(object)[terms],
    order = object$order, features = named_features(object)[terms], words = feature_words(object),
    reference = if (length(reference)) vapply(reference, reference_words, ""), jumps = held_jumps(object)
  )
}

#' A reference in words, marked where there are no data
#' @noRd
reference_words <- function(reference) {
  if (isTRUE(reference$outside)) paste(reference$text, "(beyond the training data)") else reference$text
}

scale_label <- function(object, scale) {
  family <- object$family$family
  if (family == "gaussian") {
    several <- !is.null(object$response$names)
    return(if (several) "effect on the response" else paste("effect on", object$response$name))
  }
  label <- c(binomial = "log odds", poisson = "log rate", multinomial = "log odds against the mean class")
  ratio <- c(binomial = "odds ratio", poisson = "rate ratio", multinomial = "odds ratio against the mean class")
  (if (scale == "link") label else ratio)[[family]]
}

#' @export
`[.protonam_shapes` <- function(x, ...) with_attributes_of(x, NextMethod())

#' Rows selected from a classed data frame can still be drawn and printed
#' @noRd
with_attributes_of <- function(x, out) {
  if (is.data.frame(out)) {
    for (name in setdiff(names(attributes(x)), names(attributes(out)))) attr(out, name) <- attr(x, name)
  }
  out
}

#' Rows selected from a table whose attributes describe all of it are a plain data frame
#' @noRd
plain_frame <- function(out) {
  if (is.data.frame(out)) attributes(out) <- c(attributes(out)[c("names", "row.names")], list(class = "data.frame"))
  out
}

#' @export
print.protonam_shapes <- function(x, n = 10L, ...) {
  terms <- unique(x$term)
  cat(
    if (length(terms)) paste(count(length(terms), "term"), "at "), count(nrow(x), "point"), "; ",
    attr(x, "scale_label") %||% "link scale", if (!all(terms %in% names(attr(x, "reference")))) centred_words, "\n",
    sep = ""
  )
  if (length(attr(x, "reference"))) cat(strwrap(describe_reference(attr(x, "reference"))), sep = "\n")
  if (!is.null(attr(x, "band"))) cat(strwrap(attr(x, "band")), sep = "\n")
  print_used(x, n)
}

centred_words <- ", centred over the training rows"

#' The values with which effects are compared, in words
#' @param reference Named vector of text.
#' @noRd
describe_reference <- function(reference) {
  reference <- reference[!is.na(reference)]
  if (!length(reference)) {
    return(NULL)
  }
  paste0("Compared with ", paste(names(reference), "=", reference, collapse = ", "), ".")
}

#' Print the first rows of a data frame without uninformative columns
#' @noRd
print_used <- function(x, n) {
  plain <- as.data.frame(unclass(x)[names(x)], stringsAsFactors = FALSE, optional = TRUE)
  used <- vapply(plain, function(column) !all(is.na(column)), NA)
  print(utils::head(plain[used], n), row.names = FALSE, digits = 4L)
  if (nrow(x) > n) cat("... and ", count(nrow(x) - n, "more row"), "\n", sep = "")
  invisible(x)
}
