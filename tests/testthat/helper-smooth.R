# Layer 0 alone, given data as the engine takes them, and the same model for mgcv.

# An engine's configuration without prototype layers.
smooth_config <- function(n_columns, family, outputs = 1L, tasks = 1L, task_kind = "none") {
  control <- resolve_control(protonam_control(procedure = "paper"), 100)
  config <- model_config(
    control, matrix(integer(), 1L, 0L), n_columns, family,
    list(n_outputs = outputs, n_tasks = tasks, task_kind = task_kind)
  )
  without_prototypes(config, n_columns)
}

smooth_rows <- function(x, y, ...) {
  features <- lapply(x, function(column) .Call(ffi_distinct, as.double(column), NULL))
  encoded_data(features, nrow(x), matrix(as.double(y), nrow(x)), ...)
}

# Numbers that single precision has, too.
in_steps <- function(x, by = 1 / 64) round(x / by) * by

spline_term <- function(x, k, missing = FALSE) {
  values <- sort(unique(x[!is.na(x)]))
  list(kind = "spline", knots = stats::quantile(values, seq(0, 1, length.out = k), names = FALSE), missing = missing)
}

level_term <- function(x) list(kind = "levels", knots = as.double(sort(unique(x))), missing = FALSE)

smooth_fit <- function(config, data, terms, strengths = NULL, handle = NULL) {
  newton <- if (is.null(strengths)) 30 else 0
  options <- list(irls = 60, newton = newton, straight = FALSE, tolerance = 1e-12, strengths = strengths)
  out <- .Call(ffi_smooth_fit, config, data, list(terms = terms, handle = handle), options)
  out$eta <- t(out$eta)
  out
}

# Basis and penalties of a spline term: values at the knots, centred over the rows.
reference_spline <- function(x, knots) {
  k <- length(knots)
  basis <- vapply(seq_len(k), function(j) {
    stats::splinefun(knots, as.double(seq_len(k) == j), method = "natural")(x)
  }, x)
  means <- colMeans(basis)
  line <- knots - sum(means * knots)
  line <- line / sqrt(sum(line^2))
  line <- line - means * sum(line)
  curvature <- mgcv::smoothCon(mgcv::s(x, bs = "cr", k = k),
    data = data.frame(x = x), knots = list(x = knots), absorb.cons = FALSE, scale.penalty = FALSE
  )[[1L]]$S[[1L]]
  list(basis = sweep(basis, 2L, means), means = means, penalties = list(curvature, line %o% line))
}

# The same as a smooth class of mgcv, "pn"; the constraint is absorbed.
local_mgcv_class <- function(env = parent.frame()) {
  construct <- function(object, data, knots) {
    x <- data[[object$term]]
    object$pn_knots <- spline_term(x, object$bs.dim)$knots
    reference <- reference_spline(x, object$pn_knots)
    null <- qr.Q(qr(matrix(reference$means)), complete = TRUE)[, -1L]
    object$X <- reference$basis %*% null
    object$S <- lapply(reference$penalties, function(penalty) t(null) %*% penalty %*% null)
    object$rank <- c(object$bs.dim - 2, 1)
    object$null.space.dim <- 0
    object$C <- matrix(0, 0, ncol(object$X))
    object$pn_null <- null
    class(object) <- "pn"
    object
  }
  predict_matrix <- function(object, data) {
    reference_spline(data[[object$term]], object$pn_knots)$basis %*% object$pn_null
  }
  registerS3method("smooth.construct", "pn.smooth.spec", construct, envir = asNamespace("mgcv"))
  registerS3method("Predict.matrix", "pn", predict_matrix, envir = asNamespace("mgcv"))
}

simulated <- function(family, seed, n = 400L) {
  withr::local_seed(seed)
  x <- matrix(stats::rnorm(n * 3), n) %*% chol(0.4^abs(outer(1:3, 1:3, "-")))
  x <- as.data.frame(in_steps(x))
  names(x) <- c("a", "b", "c")
  eta <- sin(1.5 * x$a) + x$b / 2
  y <- switch(family,
    gaussian = eta + stats::rnorm(n) / 2,
    binomial = stats::rbinom(n, 1L, stats::plogis(eta)),
    poisson = stats::rpois(n, exp(eta / 2))
  )
  list(x = x, y = as.double(y), eta = eta)
}
