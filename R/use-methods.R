# Methods for generics that R users know from lm() and glm().

#' Components of a protonam fit
#'
#' Methods for the usual generics of fitted models.
#'
#' @param object,x,formula A fit.
#' @param type For `fitted()`: `"response"` or `"link"`. For `residuals()`: `"response"` (observed minus fitted; for
#'   classes, 1 or 0 minus the probability), `"deviance"` or `"pearson"`.
#' @param ... Nothing.
#'
#' @return
#' * `fitted()`, `residuals()`: one value (or row) per row used, that is, training and validation rows; after
#'   `na.action = na.exclude`, `NA` for the other rows.
#' * `nobs()`: number of rows used.
#' * `formula()`, `terms()`, `family()`: as for [lm()] and [glm()]. The multinomial family is a list with `family` and
#'   `link`.
#' * `deviance()`: weighted sum of squares, or minus twice the log-likelihood (poisson: compared with the saturated
#'   model).
#' * `logLik()`: log-likelihood of the rows used; its degrees of freedom are unknown (`NA`).
#' * `coef()`: a list with `intercept` (one value per output) and `weights`, an array (components x layers x tasks) of
#'   the task weights divided by the number of components, in units of the response; for ensembles, members form a
#'   further dimension.
#' * `weights()`: case weights, `NULL` if all are 1.
#'
#' `update()` works as for other models.
#' @name protonam-methods
#' @examples
#' fit <- protonam(mpg ~ wt + hp, mtcars, epochs = 20, seed = 1)
#' head(residuals(fit))
#' coef(fit)$weights
#' nobs(update(fit, . ~ . - hp))
NULL

#' @rdname protonam-methods
#' @export
fitted.protonam <- function(object, type = c("response", "link"), ...) {
  object <- observations(check_fit(object))
  type <- check_choice(type, c("response", "link"), "type")
  napredict_rows(object, from_link(object, object$fitted, type), fitted_row_names(object))
}

#' @rdname protonam-methods
#' @export
residuals.protonam <- function(object, type = c("response", "deviance", "pearson"), ...) {
  object <- observations(check_fit(object))
  value <- fit_residuals(object, check_choice(type, c("response", "deviance", "pearson"), "type"))
  stats::naresid(object$na.action, name_rows(value, fitted_row_names(object)))
}

#' Residuals of the rows used: a vector, or a matrix with a column per output
#' @noRd
fit_residuals <- function(object, type) {
  family <- object$family$family
  mean <- fitted_mean(object)
  y <- object$y
  if (family == "multinomial") y <- outer(y[, 1L], seq_len(ncol(mean)) - 1, `==`) + 0
  weights <- object$weights %||% 1
  value <- switch(type,
    response = y - mean,
    pearson = (y - mean) * sqrt(weights / variance(family, mean)),
    deviance = sign(y - mean) * sqrt(weights * unit_deviance(family, y, mean))
  )
  if (ncol(value) == 1L) value[, 1L] else value
}

#' @rdname protonam-methods
#' @export
deviance.protonam <- function(object, ...) {
  sum(fit_residuals(observations(check_fit(object)), "deviance")^2, na.rm = TRUE)
}

#' @rdname protonam-methods
#' @export
logLik.protonam <- function(object, ...) {
  object <- check_fit(object)
  family <- object$family$family
  deviance <- deviance.protonam(object)
  object <- observations(object)
  weights <- object$weights %||% rep(1, object$nobs)
  seen <- !is.na(object$y)
  n <- sum(seen)
  value <- switch(family,
    gaussian = (sum(log(weights[weights > 0 & seen[, 1L]])) - n * (log(2 * pi) + 1 - log(n) + log(deviance))) / 2,
    poisson = sum((weights * stats::dpois(round(object$y), fitted_mean(object), log = TRUE))[seen]),
    if (isTRUE(object$response$trials)) trials_likelihood(object) else -deviance / 2
  )
  structure(value, df = NA_real_, nobs = n, class = "logLik")
}

fitted_mean <- function(object) as.matrix(from_link(object, object$fitted, "response"))

#' @rdname protonam-methods
#' @export
nobs.protonam <- function(object, ...) observations(check_fit(object))$nobs

#' @rdname protonam-methods
#' @export
weights.protonam <- function(object, ...) {
  object <- observations(check_fit(object))
  stats::naresid(object$na.action, object$weights)
}

#' @rdname protonam-methods
#' @export
family.protonam <- function(object, ...) check_fit(object)$family

#' @rdname protonam-methods
#' @export
formula.protonam <- function(x, ...) {
  x <- check_fit(x)
  if (!is.null(x$formula)) {
    return(x$formula)
  }
  right <- Reduce(function(a, b) call("+", a, b), lapply(feature_names(x), as.name))
  stats::as.formula(call("~", as.name(x$response$name), right), env = globalenv())
}

#' @rdname protonam-methods
#' @export
terms.protonam <- function(x, ...) stats::terms(formula.protonam(x))

#' @rdname protonam-methods
#' @export
coef.protonam <- function(object, ...) {
  object <- check_fit(object)
  config <- object$config
  engine <- engine_of(object)
  layout <- .Call(ffi_layout, engine)
  n_terms <- ncol(config$components)
  own <- network_places(object) # terms without prototype layers have no weights
  tasks <- object$task$levels %||% object$response$names %||% object$response$name
  scale <- rep_len(object$response$scale, config$n_tasks)
  weights <- vapply(object$members, function(member) {
    layers <- lapply(seq_len(config$n_layers) - 1L, function(l) {
      weight <- matrix(NA_real_, n_terms, config$n_tasks)
      weight[own, ] <- t(slab_tensor(member$params, layout, paste0("agg_w", l)) * scale) / length(own)
      weight
    })
    # [component, task, layer] -> [component, layer, task]
    as.vector(aperm(array(unlist(layers), c(n_terms, config$n_tasks, config$n_layers)), c(1L, 3L, 2L)))
  }, numeric(n_terms * config$n_layers * config$n_tasks))
  size <- c(n_terms, config$n_layers, config$n_tasks)
  names <- list(object$term_names, paste0("layer", seq_len(config$n_layers)), tasks)
  many <- length(object$members) > 1L
  list(
    intercept = stats::setNames(model_constant(object), output_names(object)),
    weights = array(weights, c(size, if (many) length(object$members)), dimnames = c(names, if (many) list(NULL)))
  )
}
