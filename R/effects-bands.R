# Bands: the uncertainty of the estimated effects.
#
# Members of the default fit each leave one fold of the rows out and share everything else, so that they differ only in
# their rows. The delete-a-group jackknife turns their variance into a standard error,
#   se^2 = (K - 1) / K sum_k (f_k - mean)^2,
# no smaller than the posterior variance of layer 0, which contains that of its strengths: where all members shrink an
# effect to zero, they do not differ. The larger of two estimates counts more degrees of freedom than the K - 1 of one:
# 8 (K - 1) for a gaussian response, 2 (K - 1) for others, whose posterior variance is an approximation; models with
# many degrees of freedom for their rows, or events, have wider bands (measured: inst/benchmarks/README.md).
#
# Members of higher orders have G seeds: the jackknife is taken within them, with K - G degrees of freedom, and the
# variance of a mean over seeds is added. Ensembles of the paper's procedure have the plain standard deviation of their
# members, as in the paper.

is_crossfitted <- function(object) !is.null(object$fold)

#' Mean over members of lists of arrays and, on request, its standard error
#'
#' Members of a default fit that share a seed differ only in their rows, and the jackknife is taken within seeds; where
#' there are several seeds, their means add the variance of a mean over seeds. Members of the paper's procedure have
#' their standard deviation.
#' @param each Function of a member's number that gives its list of arrays.
#' @param members Which members; all of them for a standard error.
#' @return list(mean, sd); sd is NULL unless requested
#' @noRd
over_members <- function(object, each, spread = TRUE, members = seq_along(object$members)) {
  if (!spread) {
    total <- Reduce(function(sum, m) Map(`+`, sum, each(m)), members[-1L], each(members[1L]))
    return(list(mean = lapply(total, `/`, length(members))))
  }
  n <- length(object$members)
  group <- seed_groups(object)
  seen <- integer(max(group))
  mean <- moment <- vector("list", max(group))
  for (m in seq_len(n)) {
    value <- each(m)
    g <- group[m]
    seen[g] <- seen[g] + 1L
    if (seen[g] == 1L) {
      mean[[g]] <- value
      moment[[g]] <- lapply(value, function(x) 0 * x)
    } else {
      # Welford's update: no cancellation with any number of members
      change <- Map(`-`, value, mean[[g]])
      mean[[g]] <- Map(function(old, by) old + by / seen[g], mean[[g]], change)
      moment[[g]] <- Map(function(old, by) old + by^2 * (seen[g] - 1) / seen[g], moment[[g]], change)
    }
  }
  share <- seen / n
  total <- function(parts, weights) {
    Reduce(function(x, y) Map(`+`, x, y), Map(function(part, w) lapply(part, `*`, w), parts, weights))
  }
  fit <- if (length(seen) == 1L) mean[[1L]] else total(mean, share)
  list(mean = fit, sd = if (n > 1L) members_sd(object, total(moment, rep(1, length(seen))), mean, fit))
}

#' Which members share a seed; all of them in the paper's procedure, where seeds are what differs
#' @noRd
seed_groups <- function(object) {
  n <- length(object$members)
  if (!is_crossfitted(object)) {
    return(rep(1L, n))
  }
  seeds <- vapply(object$members, `[[`, 0, "seed")
  match(seeds, unique(seeds))
}

#' @param within Sums of squares within seeds; mean: means by seed; fit: their mean
#' @noRd
members_sd <- function(object, within, mean, fit) {
  k <- length(object$members)
  g <- length(mean)
  if (!is_crossfitted(object)) {
    return(lapply(within, function(x) sqrt(x / (k - 1))))
  }
  variance <- lapply(within, function(x) x * (k - 1)^2 / (k * max(k - g, 1)))
  if (g > 1L) {
    between <- lapply(seq_along(fit), function(i) {
      Reduce(`+`, lapply(mean, function(one) (one[[i]] - fit[[i]])^2)) / (g * (g - 1))
    })
    variance <- Map(`+`, variance, between)
  }
  lapply(variance, sqrt)
}

#' Half width of a band in standard errors
#' @param points Number of independent points at which the band must hold simultaneously (Sidak's level for each of
#'   them).
#' @noRd
band_width <- function(object, level, points = 1) {
  level <- level^(1 / points)
  if (!is_crossfitted(object)) {
    return(stats::qnorm((1 + level) / 2))
  }
  stats::qt((1 + level) / 2, band_freedom(object)) * few_rows_factor(object)
}

#' Degrees of freedom of a standard error
#' @noRd
band_freedom <- function(object) {
  if (!is_crossfitted(object)) {
    return(Inf)
  }
  freedom <- length(object$members) - max(seed_groups(object))
  floored <- has_base(object) && object$order == 1
  larger_of_two <- if (object$family$family == "gaussian") 8 else 2
  max(1, freedom * if (floored) larger_of_two else 1)
}

#' How much wider bands are when rows, or events, are few for the degrees of freedom of layer 0
#'
#' Posterior variances are too small then, by about twice the share of the degrees of freedom.
#' @noRd
few_rows_factor <- function(object) {
  if (!has_base(object)) {
    return(1)
  }
  outputs <- object$config$n_tasks * object$config$n_outputs
  freedom <- mean(vapply(object$members, function(member) sum(member$base$edf), 0)) / outputs
  sqrt(1 + 2 * min(freedom / informative_rows(object), 1))
}

#' Informative rows: of the rarer classes, or with a count, where these are fewer
#' @noRd
informative_rows <- function(object) {
  y <- object$y[object$train, 1L]
  y <- y[!is.na(y)]
  rows <- switch(object$family$family,
    binomial = min(sum(y), sum(1 - y)),
    multinomial = length(y) - max(tabulate(y + 1)),
    poisson = min(sum(y), length(y)),
    length(y)
  )
  max(rows, 1)
}

#' Number of independent points that a term's curve is equivalent to: its effective degrees of freedom plus its jumps
#'
#' Eight members are too few to estimate the distribution of a maximum over the curve, so simultaneous bands treat a
#' curve with `edf` degrees of freedom as that many independent points. For curves without a smooth component the number
#' of prototypes is used.
#' @param frame Rows of shapes(): term, task, output, layer, x.
#' @return one number per row
#' @noRd
independent_points <- function(object, frame) {
  edf <- object$effects$edf[match(frame$term, object$effects$term)]
  curve <- paste(frame$term, frame$task, frame$output, frame$layer, sep = "\r")
  curve <- match(curve, unique(curve))
  values <- tabulate(curve)
  jumps <- tabulate(curve[!is.na(frame$x) & duplicated(data.frame(curve, frame$x))], length(values))
  if (is.null(edf)) edf <- pmin(object$control$prototypes, values[curve])
  points <- ceiling(edf) + jumps[curve]
  pmax(points, 2)
}

#' Description of a band, for figures and tables
#' @noRd
describe_band <- function(object, level, simultaneous = FALSE) {
  members <- length(object$members)
  if (members < 2L) {
    return(NULL)
  }
  percent <- format(100 * level, digits = 3L)
  if (is_crossfitted(object)) {
    return(sprintf(
      "Band: %s %% %s, jackknife over %d folds; it covers sampling variability, not what the model leaves out.",
      percent, if (simultaneous) "simultaneous for each curve" else "pointwise", members
    ))
  }
  how <- if (isTRUE(object$bootstrap)) "on rows drawn with replacement" else "with different seeds"
  sprintf(
    "Band: mean of %d models trained %s, plus and minus %s of their standard deviations.", members, how,
    if (simultaneous) {
      sprintf("enough (%s %% simultaneous)", percent)
    } else {
      formatC(stats::qnorm((1 + level) / 2), digits = 3L, format = "fg")
    }
  )
}

#' The same for intervals of single numbers: importances, contributions
#' @noRd
describe_bars <- function(object, level) {
  text <- sub("^Band: ", "Lines: ", describe_band(object, level))
  sub("; it covers", "; they cover", sub(" pointwise", " intervals", text))
}

#' Standard errors of effects, no smaller than those of layer 0
#' @param error List by feature of arrays [values, task x output, 1].
#' @param values List by feature of processed values.
#' @param reference NULL, or list by feature of the processed value to which effects are compared, NULL for none.
#' @noRd
floor_errors <- function(object, error, values, reference = NULL) {
  if (!has_base(object) || !is_crossfitted(object)) {
    return(error)
  }
  scale <- rep_len(object$response$scale, object$config$n_tasks * object$config$n_outputs)
  lapply(seq_along(error), function(i) {
    if (!length(values[[i]])) {
      return(error[[i]])
    }
    least <- base_variance(object, i, values[[i]], reference[[i]])
    least <- sqrt(band_floor * least) * rep(scale, each = nrow(least))
    array(pmax(error[[i]], least), dim(error[[i]]))
  })
}

band_floor <- 1

#' The same for the terms of rows
#' @param error [rows, term, task x output], in own units.
#' @param data The rows, encoded.
#' @noRd
floor_term_errors <- function(object, error, data) {
  if (!has_base(object) || !is_crossfitted(object)) {
    return(error)
  }
  size <- dim(error)
  values <- lapply(data$features, `[[`, "values")
  none <- lapply(values, function(value) array(0, c(length(value), size[3L], 1L)))
  least <- floor_errors(object, none, values)
  for (i in seq_along(values)) {
    code <- encoded_index(data$features[[i]], data$n)
    error[, i, ] <- pmax(error[, i, ], least[[i]][code, , 1L])
  }
  error
}

#' Posterior variance of layer 0's effect of feature i at processed values, mean over members
#' @param reference NULL, or the value from which the effect is a difference.
#' @return [values, task x output] in the engine's units
#' @noRd
base_variance <- function(object, i, z, reference = NULL) {
  term <- object$base$terms[[i]]
  covariance <- lapply(object$members, function(member) member$base$covariance[[i]])
  covariance <- Reduce(`+`, covariance) / length(covariance)
  basis <- base_basis(term, z)
  if (!is.null(reference)) basis <- basis - rep(base_basis(term, reference), each = length(z))
  matrix(vapply(seq_len(dim(covariance)[3L]), function(u) {
    rowSums((basis %*% matrix(covariance[, , u], ncol(basis))) * basis)
  }, numeric(length(z))), length(z))
}

#' What each knot or level, the missing value and each single value add at processed values
#' @noRd
base_basis <- function(term, z) {
  m <- length(term$knots)
  missing <- is.nan(z)
  basis <- matrix(0, length(z), m)
  known <- z[!missing]
  if (term$kind == "levels") {
    nearest <- findInterval(known, (term$knots[-1L] + term$knots[-m]) / 2, left.open = TRUE) + 1L
    basis[!missing, ] <- diag(m)[nearest, ]
  } else if (term$kind == "spline") {
    known <- pmin(pmax(known, term$knots[1L]), term$knots[m])
    basis[!missing, ] <- vapply(seq_len(m), function(k) {
      stats::splinefun(term$knots, as.double(seq_len(m) == k), method = "natural")(known)
    }, known)
  }
  if (term$missing) basis <- cbind(basis, as.double(missing))
  if (!is.null(term$values)) basis <- cbind(basis, outer(z, term$values, `==`) & !missing)
  basis
}
