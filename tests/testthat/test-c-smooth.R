test_that("the same basis and strengths as mgcv's give the same coefficients", {
  skip_if_not_installed("mgcv")
  local_mgcv_class()
  strengths <- c(0.5, 2, 10, 1, 3, 0.1)
  for (family in c("gaussian", "binomial", "poisson")) {
    set <- simulated(family, 1)
    own <- smooth_fit(smooth_config(3, family), smooth_rows(set$x, set$y), lapply(set$x, spline_term, 8), strengths)
    other <- mgcv::gam(
      y ~ s(a, bs = "pn", k = 8) + s(b, bs = "pn", k = 8) + s(c, bs = "pn", k = 8),
      data = cbind(set$x, y = set$y), family = get(family)(), sp = strengths,
      control = mgcv::gam.control(scalePenalty = FALSE, epsilon = 1e-12)
    )
    expect_lt(max(abs(other$linear.predictors - own$eta[, 1])), 1e-6)
    coefficients <- matrix(other$coefficients[-1L], 7)
    for (i in 1:3) {
      value <- own$fitted$value[(i - 1) * 8 + 1:8]
      expect_lt(max(abs(other$smooth[[i]]$pn_null %*% coefficients[, i] - value)), 1e-6)
    }
    expect_lt(max(abs(own$fitted$edf - colSums(matrix(other$edf[-1L], 7)))), 1e-6)
    # the values at the knots are centred over the rows
    basis <- reference_spline(set$x$a, spline_term(set$x$a, 8)$knots)
    expect_lt(abs(sum(basis$means * own$fitted$value[1:8])), 1e-8)
  }
})

test_that("restricted maximum likelihood finds what mgcv::bam() finds", {
  skip_on_cran()
  skip_if_not_installed("mgcv")
  local_mgcv_class()
  sets <- data.frame(
    family = rep(c("gaussian", "binomial", "poisson"), c(8, 8, 8)), seed = rep(1:8, 3)
  )
  compared <- 0
  for (k in seq_len(nrow(sets))) {
    set <- simulated(sets$family[k], sets$seed[k])
    own <- smooth_fit(smooth_config(3, sets$family[k]), smooth_rows(set$x, set$y), lapply(set$x, spline_term, 8))
    other <- tryCatch(
      mgcv::bam(
        y ~ s(a, bs = "pn", k = 8) + s(b, bs = "pn", k = 8) + s(c, bs = "pn", k = 8),
        data = cbind(set$x, y = set$y), family = get(sets$family[k])(),
        control = mgcv::gam.control(scalePenalty = FALSE)
      ),
      warning = function(w) NULL # bam()'s own iterations do not always converge
    )
    if (is.null(other)) next
    compared <- compared + 1
    expect_lt(max(abs(own$fitted$edf - colSums(matrix(other$edf[-1L], 7)))), 0.2)
    gap <- max(abs(other$linear.predictors - own$eta[, 1])) / stats::sd(other$linear.predictors)
    expect_lt(gap, 1e-3)
    if (sets$family[k] == "gaussian") expect_equal(own$fitted$dispersion, other$sig2, tolerance = 1e-3)
  }
  expect_gte(compared, 18)
})

test_that("strengths are found where a Newton step, cut off at its longest, leads uphill", {
  skip_on_cran()
  skip_if_not_installed("mgcv")
  local_mgcv_class()
  for (seed in c(30, 45, 51)) {
    withr::local_seed(seed)
    x <- matrix(rnorm(4000), 800) %*% chol(0.5^abs(outer(1:5, 1:5, "-")))
    x <- stats::setNames(as.data.frame(in_steps(x)), letters[1:5])
    y <- rbinom(800, 1, plogis(1.2 * tanh(2 * x$a) + 0.8 * cos(2 * x$b) + 0.6 * x$c - 1))
    own <- smooth_fit(smooth_config(5, "binomial"), smooth_rows(x, y), lapply(x, spline_term, 10))
    formula <- stats::reformulate(sprintf("s(%s, bs = 'pn', k = 10)", letters[1:5]), "y")
    control <- mgcv::gam.control(scalePenalty = FALSE)
    other <- mgcv::gam(formula, stats::binomial(), cbind(x, y = y), method = "REML", control = control)
    # gam()'s criterion is Laplace's, bam()'s and ours that of the working model
    expect_lt(max(abs(own$fitted$edf - colSums(matrix(other$edf[-1L], 9)))), 0.4)
  }
})

test_that("covariances contain the uncertainty of the strengths, to first order", {
  skip_if_not_installed("mgcv")
  withr::local_seed(3)
  x <- in_steps(stats::rnorm(200))
  y <- sin(x) + stats::rnorm(200)
  term <- spline_term(x, 7)
  rows <- smooth_rows(data.frame(x), y)
  config <- smooth_config(1, "gaussian")
  found <- smooth_fit(config, rows, list(term))$fitted
  strengths <- found$penalties$strength
  at <- function(log_strengths) smooth_fit(config, rows, list(term), exp(log_strengths))$fitted
  h <- 1e-4
  unit <- diag(h, 2L)
  rho <- log(strengths)
  slopes <- vapply(1:2, function(j) (at(rho + unit[, j])$value - at(rho - unit[, j])$value) / (2 * h), numeric(7))
  # twice the criterion of train_smooth.c
  spline <- reference_spline(x, term$knots)
  design <- cbind(1, spline$basis)
  criterion <- function(rho) {
    penalty <- matrix(0, 8L, 8L)
    penalty[-1L, -1L] <- exp(rho[1L]) * spline$penalties[[1L]] + exp(rho[2L]) * spline$penalties[[2L]] +
      sum(spline$basis^2) * spline$means %o% spline$means
    h <- crossprod(design) + penalty
    left <- sum(y^2) - sum(crossprod(design, y) * solve(h, crossprod(design, y)))
    199 * log(left) + determinant(h)$modulus - 5 * rho[1L] - rho[2L]
  }
  h <- 1e-2
  unit <- diag(h, 2L)
  hessian <- outer(1:2, 1:2, Vectorize(function(i, j) {
    steps <- list(unit[, i] + unit[, j], unit[, i] - unit[, j], unit[, j] - unit[, i], -unit[, i] - unit[, j])
    sum(vapply(steps, function(step) criterion(rho + step), 0) * c(1, -1, -1, 1)) / (4 * h^2)
  }))
  expected <- at(rho)$covariance[[1L]][, , 1L] + slopes %*% solve(hessian / 2 + diag(0.1, 2L), t(slopes))
  expect_equal(found$covariance[[1L]][, , 1L], expected, tolerance = 1e-2)
  expect_gt(min(diag(found$covariance[[1L]][, , 1L] - at(rho)$covariance[[1L]][, , 1L])), 0)
})

test_that("levels are a random effect, centred over the rows", {
  withr::local_seed(1)
  x <- sample(0:4, 300, replace = TRUE, prob = 5:1)
  y <- c(1, -1, 0.5, 2, 0)[x + 1] + rnorm(300)
  own <- smooth_fit(smooth_config(1, "gaussian"), smooth_rows(data.frame(x), y), list(level_term(x)), 4)
  design <- cbind(1, outer(x, 0:4, "=="))
  beta <- solve(crossprod(design) + diag(c(0, rep(4, 5))), crossprod(design, y))
  value <- beta[-1] - sum(colMeans(design[, -1]) * beta[-1])
  expect_lt(max(abs(value - own$fitted$value)), 1e-6)
  expect_equal(own$fitted$intercept, mean(y), tolerance = 1e-8)
  # a level with few rows is shrunk more, its own mean being as far away
  rare <- rep(0:2, c(200, 96, 4))
  y <- c(0, 1, 1)[rare + 1] + rep_len(c(-0.5, 0.5), 300)
  found <- smooth_fit(smooth_config(1, "gaussian"), smooth_rows(data.frame(rare), y), list(level_term(rare)))
  expect_lt(found$fitted$value[3], found$fitted$value[2])
})

test_that("single values have effects beside their spline, others lie on it", {
  skip_if_not_installed("mgcv")
  withr::local_seed(4)
  x <- in_steps(sample(1:12, 400, replace = TRUE), 1 / 4)
  y <- sin(x / 2) + c(0, 2)[1 + (x == 5)] + rnorm(400)
  term <- c(spline_term(x, 6), list(values = as.double(1:12)))
  rows <- smooth_rows(data.frame(x), y)
  own <- smooth_fit(smooth_config(1, "gaussian"), rows, list(term), c(0.5, 2, 3))
  spline <- reference_spline(x, term$knots)
  single <- outer(x, 1:12, "==") + 0
  design <- cbind(1, spline$basis, sweep(single, 2, colMeans(single)))
  penalty <- diag(c(0, rep(1e-9, 6), rep(3, 12)))
  penalty[2:7, 2:7] <- penalty[2:7, 2:7] + 0.5 * spline$penalties[[1]] + 2 * spline$penalties[[2]] +
    1e3 * spline$means %o% spline$means
  inverse <- solve(crossprod(design) + penalty)
  expect_lt(max(abs(design %*% inverse %*% crossprod(design, y) - own$eta[, 1])), 1e-6)
  freedom <- sum(diag(inverse[-1, -1] %*% crossprod(design)[-1, -1]))
  expect_equal(own$fitted$edf, freedom, tolerance = 1e-6)
  # what R makes of the values and of their covariance
  base <- list(terms = list(term), handle = NULL)
  effect <- .Call(ffi_smooth_terms, base, own$fitted, smooth_rows(data.frame(x = c(5, 5.5)), 0:1))[, 1, 1]
  expect_equal(effect, as.vector(base_basis(term, c(5, 5.5)) %*% own$fitted$value), tolerance = 1e-8)
  expect_equal(base_basis(term, 5.5)[, 7:18], rep(0, 12))
  ours <- rowSums((base_basis(term, x[1:9]) %*% own$fitted$covariance[[1]][, , 1]) * base_basis(term, x[1:9]))
  known <- design[1:9, -1] %*% inverse[-1, -1] %*% t(design[1:9, -1]) * own$fitted$dispersion
  expect_equal(ours, diag(known), tolerance = 1e-5)
})

test_that("a missing value has an effect of its own, shrunk where it is rare", {
  withr::local_seed(2)
  effect <- function(missing) {
    x <- in_steps(rnorm(400))
    x[seq_len(missing)] <- NaN
    y <- ifelse(is.nan(x), 1.2, x + rnorm(400))
    terms <- list(spline_term(x, 6, missing = TRUE))
    fit <- smooth_fit(smooth_config(1, "gaussian"), smooth_rows(data.frame(x), y), terms)
    expect_true(all(is.finite(fit$eta)))
    if (missing > 1) expect_identical(diff(range(fit$eta[seq_len(missing), 1])), 0)
    fit$fitted$value[7]
  }
  expect_gt(effect(100), 0.7)
  expect_lt(abs(effect(1)), 0.6)
})

test_that("weights count copies of rows", {
  for (family in c("gaussian", "binomial", "poisson")) {
    set <- simulated(family, 2, n = 150)
    copies <- rep_len(1:3, 150)
    rows <- rep(seq_len(150), copies)
    terms <- lapply(set$x, spline_term, 6)
    config <- smooth_config(3, family)
    weighted <- smooth_fit(config, smooth_rows(set$x, set$y, weights = as.double(copies)), terms)
    copied <- smooth_fit(config, smooth_rows(set$x[rows, ], set$y[rows]), terms)
    expect_equal(weighted$fitted$value, copied$fitted$value, tolerance = 1e-6)
    expect_equal(weighted$fitted$intercept, copied$fitted$intercept, tolerance = 1e-6)
    expect_equal(weighted$fitted$edf, copied$fitted$edf, tolerance = 1e-6)
  }
})

test_that("an offset is taken as known", {
  set <- simulated("poisson", 3, n = 200)
  terms <- lapply(set$x, spline_term, 6)
  strengths <- rep(1, 6)
  config <- smooth_config(3, "poisson")
  plain <- smooth_fit(config, smooth_rows(set$x, set$y), terms, strengths)
  moved <- smooth_fit(config, smooth_rows(set$x, set$y, offset = rep(1.5, 200)), terms, strengths)
  expect_equal(moved$eta + 1.5, plain$eta, tolerance = 1e-6)
})

test_that("outputs with the same rows have the same effects: responses, groups", {
  set <- simulated("gaussian", 4, n = 200)
  terms <- lapply(set$x, spline_term, 6)
  strengths <- c(1, 2, 3, 4, 5, 6)
  one <- smooth_fit(smooth_config(3, "gaussian"), smooth_rows(set$x, set$y), terms, strengths)
  responses <- smooth_config(3, "gaussian", tasks = 2L, task_kind = "response")
  both <- smooth_fit(responses, smooth_rows(set$x, cbind(set$y, set$y)), terms, strengths)
  expect_equal(both$fitted$value, one$fitted$value[, c(1, 1)], tolerance = 1e-10)
  expect_equal(both$fitted$edf, 2 * one$fitted$edf, tolerance = 1e-10)
  # labels that are missing in one response do not change the other
  gaps <- cbind(set$y, replace(set$y, 1:150, NaN))
  some <- smooth_fit(responses, smooth_rows(set$x, gaps), terms, strengths)
  expect_equal(some$fitted$value[, 1], one$fitted$value[, 1], tolerance = 1e-10)
  expect_gt(max(abs(some$fitted$value[, 2] - one$fitted$value[, 1])), 0.01)

  groups <- smooth_config(3, "gaussian", tasks = 2L, task_kind = "group")
  twice <- rbind(set$x, set$x)
  rows <- smooth_rows(twice, rep(set$y, 2), task = rep(1:2, each = 200))
  fit <- smooth_fit(groups, rows, terms, strengths)
  expect_equal(fit$fitted$value, one$fitted$value[, c(1, 1)], tolerance = 1e-8)
})

test_that("classes are treated alike", {
  withr::local_seed(5)
  x <- data.frame(a = in_steps(rnorm(300)), b = in_steps(runif(300)))
  y <- (x$a + rnorm(300) > 0) + (x$b + rnorm(300) / 2 > 0.7)
  terms <- lapply(x, spline_term, 6)
  config <- smooth_config(2, "multinomial", outputs = 3L)
  plain <- smooth_fit(config, smooth_rows(x, y), terms)
  turned <- smooth_fit(config, smooth_rows(x, 2 - y), terms)
  probability <- function(eta) exp(eta) / rowSums(exp(eta))
  expect_equal(probability(turned$eta)[, 3:1], probability(plain$eta), tolerance = 1e-4)
  # a weighted fit without a penalty on the intercepts has the classes' shares
  expect_equal(colMeans(probability(plain$eta)), as.vector(table(y)) / 300, tolerance = 1e-4)
})

test_that("a column that predicts the class perfectly has finite effects", {
  x <- data.frame(a = in_steps(seq(-2, 2, length.out = 200)), b = rep(0:3, 50))
  for (y in list(x$a > 0, x$b == 2)) {
    fit <- smooth_fit(
      smooth_config(2, "binomial"), smooth_rows(x, y), list(spline_term(x$a, 10), level_term(x$b))
    )
    expect_true(all(is.finite(fit$eta)))
    expect_lt(max(abs(fit$eta)), 50)
    expect_gt(min(fit$eta[y, 1]), max(fit$eta[!y, 1]))
  }
  y <- ifelse(x$b == 2, 0, 3)
  fit <- smooth_fit(smooth_config(2, "poisson"), smooth_rows(x, y), list(spline_term(x$a, 10), level_term(x$b)))
  expect_true(all(is.finite(fit$eta)))
})

test_that("two identical columns share their effect", {
  set <- simulated("gaussian", 6, n = 200)
  x <- set$x[c("a", "a", "b")]
  fit <- smooth_fit(smooth_config(3, "gaussian"), smooth_rows(x, set$y), lapply(x, spline_term, 8))
  expect_true(all(is.finite(fit$eta)))
  expect_equal(fit$fitted$value[1:8], fit$fitted$value[9:16], tolerance = 1e-4)
  expect_gt(cor(fit$eta[, 1], set$eta), 0.9)
})

test_that("smoothness moves the degrees of freedom, of the feature it is for", {
  set <- simulated("gaussian", 7)
  terms <- lapply(set$x, spline_term, 10)
  edf <- function(...) {
    smooth_fit(smooth_config(3, "gaussian"), smooth_rows(set$x, set$y), terms, handle = c(...))$fitted$edf
  }
  found <- edf(1, 1, 1)
  expect_lt(edf(3, 1, 1)[1], found[1] - 0.3)
  expect_equal(edf(3, 1, 1)[2], found[2], tolerance = 0.2)
  expect_gt(edf(0, 1, 1)[1], 7)
})

test_that("a strength per penalty, and terms that the engine understands", {
  set <- simulated("gaussian", 8, n = 50)
  terms <- lapply(set$x, spline_term, 6)
  config <- smooth_config(3, "gaussian")
  rows <- smooth_rows(set$x, set$y)
  expect_error(smooth_fit(config, rows, terms, c(1, 2)), "one strength per penalty", class = "protonam_error_engine")
  expect_error(smooth_fit(config, rows, terms[1:2]), "one smooth term per feature", class = "protonam_error_engine")
  terms[[1]]$knots <- rev(terms[[1]]$knots)
  expect_error(smooth_fit(config, rows, terms), "ascending", class = "protonam_error_engine")
  terms[[1]]$knots <- 1
  expect_error(smooth_fit(config, rows, terms), "1 knots", class = "protonam_error_engine")
})

test_that("strengths do not run away between epochs where a tail is sparse and events are few", {
  # one of the members left for a curve of range 120 before its weighted fits were judged
  set.seed(4)
  shapes <- list(
    sine = function(x) sin(1.5 * x), step = function(x) 1.2 * (x > 0.5), none1 = function(x) 0 * x,
    kink = function(x) pmin(abs(x), 1.5), line = function(x) 0.7 * x,
    bend = function(x) -log1p(exp(2 * log(x) - 1)) / 2, none2 = function(x) 0 * x,
    window = function(x) 0.8 * (x > -1) - 0.8 * (x > 0.2), bowl = function(x) 0.3 * x^2 / (1 + 0.2 * x^2)
  )
  z <- matrix(rnorm(9000), 1000) %*% chol(0.6^abs(outer(1:9, 1:9, "-")))
  data <- stats::setNames(as.data.frame(z), names(shapes))
  data$kink <- round(data$kink, 1)
  data$bend <- exp(data$bend)
  data$window <- pmin(pmax(data$window, -2.5), 2.5)
  eta <- rowSums(mapply(function(f, x) f(x), shapes, data))
  data$y <- factor(rbinom(1000, 1, plogis(eta - mean(eta) - 1)))
  fit <- protonam(y ~ ., data, seed = 1, prototypes_for = "step", lr = 0.001, threads = 1, verbose = FALSE)
  reach <- vapply(fit$members, function(member) max(abs(member$base$value)), 0)
  expect_lt(max(reach), 10)
})
