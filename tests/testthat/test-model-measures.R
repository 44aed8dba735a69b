outcomes <- function(n = 200, seed = 1, weights = NULL) {
  withr::local_seed(seed)
  link <- stats::rnorm(n, -1)
  list(
    family = stats::binomial(), y = as.double(stats::runif(n) < stats::plogis(0.8 * link + 0.2)), link = link,
    mean = stats::plogis(link), weights = weights, group = NULL
  )
}

test_that("values are those of the scores", {
  rows <- outcomes()
  found <- vapply(measure_outcomes(rows), `[[`, 0, "value")
  scores <- score_predictions("binomial", rows$y, rows$mean)
  expect_equal(found[c("auc", "brier", "logloss")], scores[c("auc", "brier", "logloss")], tolerance = 1e-12)
  glm <- stats::glm(rows$y ~ rows$link, family = stats::binomial(), control = list(epsilon = 1e-12))
  expect_equal(found[["slope"]], unname(coef(glm)[2]), tolerance = 1e-10)
  large <- stats::glm(rows$y ~ 1, offset = rows$link, family = stats::binomial(), control = list(epsilon = 1e-12))
  expect_equal(found[["intercept"]], unname(coef(large)), tolerance = 1e-10)
  mean <- 0.9 * mtcars$mpg + mtcars$wt
  numbers <- list(family = stats::gaussian(), y = mtcars$mpg, mean = mean, link = mean)
  found <- vapply(measure_outcomes(numbers), `[[`, 0, "value")
  scores <- score_predictions("gaussian", numbers$y, numbers$mean)
  expect_equal(found[c("rmse", "mae", "r2")], scores[c("rmse", "mae", "r2")], tolerance = 1e-12)
  expect_equal(found[["intercept"]], mean(numbers$y - numbers$mean), tolerance = 1e-12)
})

test_that("weights count as copies of rows", {
  rows <- outcomes(80)
  counts <- rep_len(c(0, 1, 3), 80)
  copies <- rep(seq_along(counts), counts)
  weighted <- measure_outcomes(c(rows[c("family", "y", "link", "mean")], list(weights = counts)))
  copied <- measure_outcomes(take_outcomes(rows, copies))
  expect_equal(vapply(weighted, `[[`, 0, "value"), vapply(copied, `[[`, 0, "value"), tolerance = 1e-9)
})

test_that("influence functions are derivatives by the weights", {
  step <- 1e-5
  check <- function(rows) {
    n <- length(rows$y)
    found <- measure_outcomes(rows)
    for (i in c(1, 7, n)) {
      moved <- rows
      moved$weights <- replace(rep(1, n), i, 1 + step)
      changed <- measure_outcomes(moved)
      for (name in names(found)) {
        # the AUC's influence has the factor that makes DeLong's variance unbiased
        size <- if (name == "auc" && is.matrix(rows$mean)) next else sum(rows$y == rows$y[i])
        factor <- if (name == "auc") sqrt(size / (size - 1)) else 1
        slope <- (changed[[name]]$value - found[[name]]$value) / step * n
        expect_equal(found[[name]]$influence[i] / factor, slope, tolerance = 1e-3, label = paste(name, i))
      }
    }
  }
  check(outcomes(60))
  check(list(family = stats::gaussian(), y = mtcars$mpg, mean = 20 + mtcars$wt, link = 20 + mtcars$wt))
  check(list(
    family = stats::poisson(), y = mtcars$carb, mean = exp(mtcars$wt / 4), link = mtcars$wt / 4
  ))
  prob <- cbind(0.2, seq(0.1, 0.6, length.out = 30), 0)
  prob[, 3] <- 1 - prob[, 1] - prob[, 2]
  check(list(family = multinomial_family(), y = rep(0:2, 10), mean = prob, link = NULL))
})

test_that("the AUC and its standard error are those of pROC", {
  skip_if_not_installed("pROC")
  rows <- outcomes()
  rows$mean <- round(rows$mean, 2) # with ties
  found <- measure_outcomes(rows, "auc")$auc
  roc <- pROC::roc(rows$y, rows$mean, quiet = TRUE, direction = "<")
  expect_equal(found$value, as.double(pROC::auc(roc)), tolerance = 1e-8)
  expect_equal(influence_error(found$influence)^2, pROC::var(roc), tolerance = 1e-8)
})

test_that("rows of a group are taken together", {
  rows <- outcomes(100)
  found <- measure_outcomes(rows, "brier")$brier
  twice <- c(found$influence, found$influence)
  # copies add nothing
  expect_equal(
    influence_error(twice, list(group = rep(1:100, 2))), influence_error(found$influence) * sqrt(100 / 99),
    tolerance = 1e-12
  )
  expect_lt(influence_error(twice), influence_error(found$influence))
})

test_that("intervals stay where the measure can be", {
  expect_equal(measure_interval("slope", 1, 0.1), 1 + c(-1, 1) * 0.1 * qnorm(0.975))
  auc <- measure_interval("auc", 0.98, 0.03)
  expect_true(auc[2] < 1 && auc[1] < 0.98)
  expect_true(measure_interval("brier", 0.01, 0.02)[1] > 0)
  expect_identical(measure_interval("auc", 1, 0), c(NA_real_, NA_real_))
  expect_identical(measure_interval("slope", NA, 0.1), c(NA_real_, NA_real_))
})

test_that("what cannot be measured is NA", {
  rows <- outcomes(20)
  rows$y[] <- 1
  found <- vapply(measure_outcomes(rows), `[[`, 0, "value")
  expect_true(is.na(found[["auc"]]))
  expect_false(is.na(found[["brier"]]))
  rows <- outcomes(20)
  rows$link[] <- 0
  expect_true(is.na(measure_outcomes(rows, "slope")$slope$value))
  # separated classes have no slope
  rows <- list(family = stats::binomial(), y = rep(0:1, each = 10), link = -9:10, mean = stats::plogis(-9:10))
  expect_true(is.na(measure_outcomes(rows, "slope")$slope$value))
})
