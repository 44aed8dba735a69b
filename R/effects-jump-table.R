# jumps(): where shape functions jump, by how much, and whether that holds (found by R/fit-jumps.R when a model is
# fitted).

check_cut <- stats::qnorm(0.95) # of a jump found on one half of the rows and checked on the other

#' How far a likelihood ratio may fall at borders where a jump may lie as well
#' @noRd
jump_drop <- function(level) -2 * log(1 - sqrt(level))

#' Jumps of shape functions
#'
#' Lists where the effects of features with prototypes jump, by how much, and whether the jump holds on other rows.
#'
#' A prototype layer can jump anywhere, and does so at many places that mean nothing. The jumps listed here are found
#' in the rows rather than in the curves: for each feature that has prototypes, given all other terms, a step at each
#' border between observed values is compared with what a smooth curve can follow (a penalised spline; its smoothing
#' parameter is estimated with and without the step). A step is listed if the signed root of its likelihood ratio,
#' `z`, exceeds 3.4 in absolute value (more with many features); two steps between which a curve returns are compared
#' jointly. Features that are smooth in this model have no jumps; see the evidence in [summary()][summary.protonam].
#'
#' **Does it hold?** The rows are divided into halves. The place of a jump is found on one half and its `z` computed on
#' the other, both ways; `check` is the sum of both divided by the square root of 2. A jump holds if `check` is at
#' least 1.64, the 95 % point of a standard normal variable. Jumps are listed because of all rows, so of those that are
#' not there more than 5 % pass this check: it removes jumps that depend on one half, not all that are due to chance. In
#' addition, `members` is the number of members of the fit whose curve changes there by at least half of the jump: where
#' it is small, the curves show a slope instead of the jump.
#'
#' **Intervals.** The interval of the position contains all borders at which the likelihood ratio is smaller by no more
#' than `-2 log(1 - sqrt(level))`, as in Hansen (2000); it is the range of values between which the jump lies. The
#' interval of the size is the estimate plus and minus normal quantiles of its standard error. As only large estimates
#' are listed, sizes of jumps that are barely found tend to be too large.
#'
#' @param fit A default fit of `order = 1`, see [protonam()].
#' @param terms Names of features, or `NULL` for all; see [shapes()].
#' @param level Level of the intervals, between 0 and 1.
#' @param scale `"link"`: sizes on the link scale. `"odds ratio"`, `"rate ratio"`, `"hazard ratio"` or `"response"`: as
#'   ratios, see [effect_table()].
#' @param x Jumps.
#' @param digits Decimals; for a gaussian fit, significant digits of the narrowest interval of a size.
#' @param ... Nothing.
#'
#' @return A data frame of class `protonam_jumps`, one row per jump in the order of features and positions, without rows
#'   if there is none:
#' \describe{
#'   \item{`term`, `task`, `output`}{the feature; the group or response, and the class, `NA` if there is only one}
#'   \item{`position`, `lower`, `upper`}{where the effect jumps, in the units of the column (dates as numbers), and its
#'     interval}
#'   \item{`size`, `size_lower`, `size_upper`}{by how much the effect changes, from left to right, and its interval.
#'     With several classes it refers to the odds of a class against all others}
#'   \item{`rank`}{share of the rows below}
#'   \item{`z`, `check`}{evidence in all rows and on the halves}
#'   \item{`members`}{number of members whose curve has it}
#'   \item{`holds`}{is `check` large enough?}
#' }
#' @references Hansen, B. E. (2000). Sample splitting and threshold estimation. *Econometrica* 68, 575-603.
#' @seealso [shapes()], whose summary shows the jumps that hold; [prototypes()].
#' @examples
#' set.seed(1)
#' data <- data.frame(x = runif(300), noise = rnorm(300))
#' data$y <- 2 * (data$x > 0.6) + rnorm(300)
#' fit <- protonam(y ~ x + noise, data, epochs = 20, seed = 1)
#' jumps(fit)
#' @export
jumps <- function(fit, terms = NULL, level = 0.95,
                  scale = c("link", "odds ratio", "hazard ratio", "rate ratio", "response")) {
  fit <- check_readable(fit, "jumps()")
  check_jumps_known(fit)
  terms <- select_terms(fit, terms)
  level <- check_number(level %||% 0.95, "level", above = 0, below = 1)
  scale <- check_scale(fit, scale, c("link", "odds ratio", "hazard ratio", "rate ratio", "response"))
  found <- fit$jumps$found
  near <- fit$jumps$near
  near <- near[near$drop <= jump_drop(level), ]
  kept <- which(found$feature %in% terms)
  kept <- kept[order(match(found$feature[kept], terms), found$output[kept], found$position[kept])]
  labels <- output_labels(fit)
  half <- stats::qnorm((1 + level) / 2) * found$se
  convert <- if (scale == "response" && fit$family$family != "gaussian") exp else identity
  end <- function(side, of) vapply(kept, function(j) of(near[[side]][near$jump == j]), 0)
  table <- data.frame(
    term = feature_names(fit)[found$feature[kept]], task = labels$task[found$output[kept]],
    output = labels$output[found$output[kept]], position = found$position[kept], lower = end("lower", min),
    upper = end("upper", max), size = convert(found$size[kept]), size_lower = convert((found$size - half)[kept]),
    size_upper = convert((found$size + half)[kept]), rank = found$rank[kept], z = found$z[kept],
    check = found$check[kept], members = found$members[kept], holds = found$check[kept] >= check_cut
  )
  structure(
    table,
    class = c("protonam_jumps", "data.frame"), level = level, scale = scale, scale_label = scale_label(fit, scale),
    family = fit$family$family, members = length(fit$members),
    columns = stats::setNames(lapply(fit$encoder, `[`, c("name", "type", "unit")), feature_names(fit)),
    words = feature_words(fit),
    prototypes = intersect(feature_names(fit)[terms], feature_names(fit)[engine_of(fit)$net])
  )
}

#' Stop if nothing is known about the jumps of a fit
#' @noRd
check_jumps_known <- function(object) {
  if (!is.null(object$jumps)) {
    return()
  }
  hint <- if (object$order > 1) {
    "Fit with {.code order = 1}; {.fn shapes} shows the effects of this fit."
  } else if (!has_base(object)) {
    "They are found by the default procedure, above its smooth layer; {.fn shapes} shows where the curves change."
  } else {
    "Fit the model again: this fit is older than {.fn jumps}."
  }
  pn_abort(c("This fit has no information about jumps.", i = hint), class = "no_jumps", arg = "fit")
}

#' @export
`[.protonam_jumps` <- function(x, ...) with_attributes_of(x, NextMethod())

#' @rdname jumps
#' @export
print.protonam_jumps <- function(x, digits = 2, ...) {
  columns <- attr(x, "columns")
  if (is.null(columns) || !all(c("term", "position", "size", "size_lower", "holds") %in% names(x))) {
    return(print_used(x, nrow(x)))
  }
  if (!nrow(x)) {
    cat(strwrap(no_jumps_sentence(attr(x, "prototypes"))), sep = "\n")
    return(invisible(x))
  }
  gaussian <- attr(x, "family") == "gaussian"
  percent <- format(100 * attr(x, "level"), digits = 3L)
  cat("Jumps of ", count(length(unique(x$term)), "feature"), ": ", attr(x, "scale_label"), sep = "")
  cat(sprintf(" (%s %% intervals)\n\n", percent))
  width <- list(lower = x$size_lower, upper = x$size_upper, estimate = x$size)
  decimals <- if (gaussian) table_decimals(width, digits) else digits
  number <- function(value) fixed_text(value, decimals)
  at <- function(value) jump_values(x, value)
  lines <- data.frame(
    term = x$term, task = x$task, output = x$output,
    position = sprintf("%s (%s to %s)", at(x$position), at(x$lower), at(x$upper)),
    size = sprintf("%s (%s to %s)", number(x$size), number(x$size_lower), number(x$size_upper)),
    members = sprintf("%d of %d", as.integer(x$members), as.integer(attr(x, "members"))),
    holds = ifelse(x$holds, "yes", "no")
  )
  print(lines[c(TRUE, !all(is.na(x$task)), !all(is.na(x$output)), rep(TRUE, 4L))], row.names = FALSE, right = FALSE)
  cat("\n")
  cat(strwrap(jumps_note), sep = "\n")
  invisible(x)
}

jumps_note <- "A jump holds if its place, found on one half of the rows, is confirmed on the other, both ways. Members:
  those whose curve changes there by at least half of the jump."

#' Positions as they are written: dates as dates
#' @noRd
jump_values <- function(x, value) {
  columns <- attr(x, "columns")
  unlist(Map(function(term, value) format_values(columns[[term]], value), x$term, value), use.names = FALSE)
}

#' The sentence printed where there is nothing to list
#' @noRd
no_jumps_sentence <- function(prototypes) {
  if (!length(prototypes)) {
    return("No jumps: none of these features has prototypes, so their shapes are smooth.")
  }
  sprintf("No jumps were found: a smooth curve describes %s as well.", some(prototypes, quote = ""))
}

#' The jumps that hold, in words, for every term and output of a fit's effects
#' @noRd
jumps_in_words <- function(object) {
  held <- jumps(object)
  held <- held[held$holds, ]
  labels <- output_labels(object)
  key <- function(x) paste(x$term, x$task, x$output, sep = "\r")
  each <- rep(seq_len(nrow(labels)), each = length(object$encoder))
  wanted <- key(cbind(term = rep(feature_names(object), nrow(labels)), labels[each, , drop = FALSE]))
  text <- unlist(Map(function(term, position) {
    format_values(attr(held, "columns")[[term]], position)
  }, held$term, held$position), use.names = FALSE)
  vapply(wanted, function(one) paste(text[key(held) == one], collapse = ", "), "", USE.NAMES = FALSE)
}

#' Summarise shapes
#'
#' For each main effect its range and the positions of the jumps that hold, see [jumps()].
#' @param object A data frame from [shapes()].
#' @param ... Nothing.
#' @return A data frame with the columns `term`, `task`, `output`, `low` and `high` (the smallest and largest effect),
#'   and `jumps`: text, empty where nothing jumps.
#' @examples
#' fit <- protonam(mpg ~ wt + hp, mtcars, epochs = 20, seed = 1)
#' summary(shapes(fit))
#' @export
summary.protonam_shapes <- function(object, ...) {
  object <- object[is.na(object$y) & is.na(object$level2) & is.na(object$layer), ] # neither pairs nor single layers
  curve <- paste(object$term, object$task, object$output, sep = "\r")
  first <- which(!duplicated(curve))
  by_curve <- function(f) as.vector(tapply(object$effect, factor(curve, curve[first]), f))
  held <- attr(object, "jumps")
  out <- data.frame(
    term = object$term[first], task = object$task[first], output = object$output[first], low = by_curve(min),
    high = by_curve(max)
  )
  at <- match(curve[first], paste(held$term, held$task, held$output, sep = "\r"))
  out$jumps <- ifelse(is.na(at), "", held$text[at])
  out
}

#' The same with the names of the curves, for shapes()
#' @noRd
held_jumps <- function(object) {
  if (is.null(object$jumps)) {
    return(NULL)
  }
  labels <- output_labels(object)
  each <- rep(seq_len(nrow(labels)), each = length(object$encoder))
  data.frame(
    term = rep(feature_names(object), nrow(labels)), task = labels$task[each], output = labels$output[each],
    text = jumps_in_words(object)
  )
}
