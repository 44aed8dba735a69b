reference <- read.csv(test_path("fixtures", "quantile_reference.csv"))

test_that("quantile scaling agrees with scikit-learn on numeric, short, tied and ordinal columns", {
  for (column in split(reference, reference$column)) {
    fitted <- column[column$count > 0, ]
    scaling <- fit_scaling(fitted$x, fitted$count, "quantile")
    expect_lt(max(abs(scale_values(scaling, column$x) - column$z)), 1e-6)
  }
})

test_that("quantile scaling is stored compactly and can be inverted", {
  for (column in split(reference, reference$column)) {
    fitted <- column[column$count > 0, ]
    scaling <- fit_scaling(fitted$x, fitted$count, "quantile")
    expect_false(anyDuplicated(scaling$value) > 0)
    expect_equal(unscale_values(scaling, scale_values(scaling, scaling$value)), scaling$value, tolerance = 1e-9)
    inside <- column$x[column$x >= min(fitted$x) & column$x <= max(fitted$x)]
    expect_equal(unscale_values(scaling, scale_values(scaling, inside)), inside, tolerance = 1e-6)
  }
})

test_that("weighted quantiles equal those of copied rows, and type 7 of quantile()", {
  x <- c(-3, 0.5, 2, 2.25, 9)
  k <- c(4, 1, 0, 7, 2)
  p <- seq(0, 1, by = 0.01)
  expect_identical(weighted_quantile(x, k, p), weighted_quantile(sort(rep(x, k)), rep(1, sum(k)), p))
  expect_equal(weighted_quantile(x, k, p), quantile(rep(x, k), p, names = FALSE), tolerance = 1e-14)
  expect_identical(fit_scaling(x, k, "quantile")$value, fit_quantiles(sort(rep(x, k)), rep(1, 14), 14)$value)
})

test_that("weights that are not whole numbers only matter relatively", {
  expect_identical(as_counts(c(1, 2, 3)), c(1, 2, 3))
  expect_equal(as_counts(c(0.1, 0.2, 0.3)), c(0.5, 1, 1.5))
  expect_null(as_counts(NULL))
})

test_that("min-max and none are exact both ways and keep missing values missing", {
  x <- c(2, 4, 10)
  minmax <- fit_scaling(x, c(1, 1, 1), "minmax")
  expect_identical(scale_values(minmax, c(2, 10, 6, 14, NaN)), c(0, 1, 0.5, 1.5, NaN))
  expect_identical(unscale_values(minmax, c(0, 1, 0.5)), c(2, 10, 6))
  none <- fit_scaling(x, c(1, 1, 1), "none")
  expect_identical(unscale_values(none, scale_values(none, x)), x)
})

test_that("a constant column maps everything to one value", {
  for (method in c("quantile", "minmax", "none")) {
    scaling <- fit_scaling(7, 12, method)
    expect_identical(scale_values(scaling, c(7, -1, 100, NaN)), c(0, 0, 0, NaN))
    expect_identical(unscale_values(scaling, 0), 7)
  }
  # values of weight zero do not exist
  expect_identical(fit_scaling(c(1, 7), c(0, 3), "quantile")$method, "constant")
})

test_that("infinite values sit at the clipped ends", {
  scaling <- fit_scaling(c(-Inf, 1, 2, 3, Inf), c(1, 5, 5, 5, 2), "quantile")
  expect_equal(scale_values(scaling, c(-Inf, 1, 3, Inf)), c(-1, -1, 1, 1) * clip_score)
  expect_equal(scaling, fit_scaling(c(1, 2, 3), c(6, 5, 7), "quantile"))
})

test_that("the unit of weights does not matter", {
  expect_null(relative_weights(NULL))
  expect_identical(relative_weights(c(0, 0)), c(0, 0))
  expect_identical(relative_weights(c(3, 6, 0)), c(0.75, 1.5, 0))
  data <- mixed_data(60)
  weighted <- function(unit) {
    data$w <- rep(c(1.1, 2.3, 0.7), 20) * unit
    fitted(tiny_fit(y ~ age, data, weights = w))
  }
  for (unit in 2^c(-200, 40)) expect_identical(weighted(unit), weighted(1))
  expect_equal(weighted(1e-300), weighted(1), tolerance = 1e-5)
  equal <- function(each) fitted(tiny_fit(y ~ age, data, weights = rep(each, 60)))
  expect_equal(equal(1e50), equal(1), tolerance = 1e-5)
  expect_equal(equal(1e300), equal(1), tolerance = 1e-5)
})

test_that("the default procedure's scores are a smooth monotone map with an exact inverse", {
  withr::local_seed(1)
  x <- sort(exp(rnorm(2000)))
  exact <- fit_scaling(x, rep(1, 2000), "quantile")
  smooth <- smooth_scores(exact, x, rep(1, 2000))
  expect_identical(smooth$method, "score")
  expect_gt(min(diff(smooth$score)), 1e-6)
  z <- scale_values(smooth, x)
  expect_true(all(diff(z) > 0))
  # half way between the normal scores of the ranks and the column's own units
  units <- asinh((x - median(x)) / (3 * IQR(x) / (2 * qnorm(0.75))))
  units <- (units - mean(units)) / sqrt(mean((units - mean(units))^2))
  half <- (qnorm((seq_len(2000) - 0.5) / 2000) + units) / 2
  expect_lt(mean(abs(z - half)), 0.03)
  # an end is no further away than it would be, and nearer where the column ends abruptly
  expect_equal(z[2000], half[2000], tolerance = 1e-8)
  expect_true(half[1] < z[1] && z[1] < z[2])
  # a normal column stays as it is
  normal <- sort(rnorm(2000))
  as_is <- smooth_scores(fit_scaling(normal, rep(1, 2000), "quantile"), normal, rep(1, 2000))
  expect_lt(max(abs(scale_values(as_is, normal) - normal)[50:1950]), 0.2)
  expect_equal(unscale_values(smooth, z), x, tolerance = 1e-10)
  # beyond the range as at its ends; missing stays missing
  expect_identical(scale_values(smooth, c(-Inf, NaN, Inf, NA)), c(z[1], NaN, z[2000], NaN))
  expect_identical(unscale_values(smooth, NaN), NaN)
  expect_equal(unscale_values(smooth, c(-9, 9)), range(x))
  # whole-number counts are copies
  twice <- smooth_scores(fit_scaling(x, rep(2, 2000), "quantile"), x, rep(2, 2000))
  copies <- rep(x, each = 2)
  expect_equal(twice, smooth_scores(fit_scaling(x, rep(2, 2000), "quantile"), unique(copies), rep(2, 2000)))
})

test_that("tied values have the middle of their probabilities; columns of few values keep their ranks", {
  x <- c(0, seq(1, 200))
  counts <- c(800, rep(1, 200))
  smooth <- smooth_scores(fit_scaling(x, counts, "quantile"), x, counts)
  expect_lt(abs(scale_values(smooth, 0) - qnorm(0.4)), 0.1)
  expect_true(all(diff(scale_values(smooth, x)) > 0))
  few <- fit_scaling(1:7, rep(9, 7), "quantile")
  expect_identical(smooth_scores(few, 1:7, rep(9, 7)), few)
  fifty <- smooth_scores(fit_scaling(1:50, rep(1, 50), "quantile"), 1:50, rep(1, 50))
  expect_equal(scale_values(fifty, 2:49), qnorm(seq(0.03, 0.97, 0.02)))
  expect_identical(smooth_scores(list(method = "none"), 1:500, rep(1, 500)), list(method = "none"))
  # hardly anything but one value
  heavy <- c(1e6, rep(1, 150))
  rank <- fit_scaling(0:150, heavy, "quantile")
  expect_true(all(is.finite(scale_values(smooth_scores(rank, 0:150, heavy), c(0, 75, 150)))))
})

test_that("a limit that many rows share lies beside its neighbour", {
  # ages, with everybody of 90 and more as 90
  age <- 20:90
  counts <- c(rep(50, 70), 300)
  plain <- fit_scaling(age, counts, "quantile")
  laid <- smooth_scores(plain, age, counts)
  expect_identical(laid$method, "score")
  z <- scale_values(laid, age)
  expect_true(all(diff(z) > 0))
  expect_lt(z[71] - z[70], 1.1 * (z[70] - z[69]))
  middle <- qnorm((cumsum(counts) - counts / 2) / sum(counts))
  expect_equal(z[2:70], middle[2:70], tolerance = 1e-6)
  expect_gt(middle[71] - middle[70], 1.5 * (middle[70] - middle[69]))
  # mirrored
  mirrored <- smooth_scores(fit_scaling(-rev(age), rev(counts), "quantile"), -rev(age), rev(counts))
  expect_equal(scale_values(mirrored, -rev(age)), -rev(z))
  # many values
  x <- pmin(qnorm(ppoints(1000)), 1.5)
  values <- unique(x)
  many <- smooth_scores(fit_scaling(values, as.vector(table(x)), "quantile"), values, as.vector(table(x)))
  z <- scale_values(many, values)
  ends <- length(values) - 0:1
  expect_lt(z[ends[1]] - z[ends[2]], 0.02)
  # values that end abruptly
  laid <- smooth_scores(fit_scaling(1:40, rep(10, 40), "quantile"), 1:40, rep(10, 40))
  gaps <- diff(scale_values(laid, 1:40))
  expect_lt(gaps[1], 1.5 * gaps[2])
  # an amount that is absent in many rows keeps its score; scores beyond the range of numbers do no harm
  zeros <- smooth_scores(fit_scaling(0:50, c(900, rep(1, 50)), "quantile"), 0:50, c(900, rep(1, 50)))
  expect_equal(scale_values(zeros, 0), qnorm(450 / 950), tolerance = 1e-6)
  huge <- c(-1.7e308, 1:20, 1.7e308)
  far <- smooth_scores(fit_scaling(huge, rep(1, 22), "quantile"), huge, rep(1, 22))
  expect_true(all(is.finite(far$score)) && all(diff(far$score) > 0))
})

test_that("probabilities between quantiles are numbers, however close or far apart the quantiles are", {
  probability <- function(unit, x) {
    scaling <- list(value = c(-2, 1, 1.5) * unit, lower = c(0, 0.5, 1), upper = c(0, 0.5, 1))
    quantile_probability(scaling, x * unit)
  }
  x <- c(-2, -0.5, 1, 1.25, 1.5)
  expect_identical(probability(1, x), c(0, 0.25, 0.5, 0.75, 1))
  for (unit in c(2^-1060, 2^-1000, 2^1022)) expect_equal(probability(unit, x), probability(1, x), tolerance = 1e-12)
})
