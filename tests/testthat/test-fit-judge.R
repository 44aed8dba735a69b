data <- jump_data(300)

score_of <- function(fit, name) {
  scores <- fit$judged$scores
  unlist(scores[scores$score == name, c("value", "lower", "upper")])
}

test_that("scores of left-out rows are those of the out-of-fold predictions", {
  fit <- own_fit(y ~ a + b, data)
  error <- data$y - fit$out_of_fold[, 1]
  expect_equal(score_of(fit, "RMSE")[["value"]], sqrt(mean(error^2)), tolerance = 1e-10)
  expect_equal(score_of(fit, "R2")[["value"]], 1 - mean(error^2) / mean((data$y - mean(data$y))^2), tolerance = 1e-10)
  half <- qnorm(0.975) * sd(error^2) / sqrt(300)
  expect_equal(score_of(fit, "RMSE")[["upper"]], sqrt(mean(error^2) + half), tolerance = 1e-2)

  fit <- own_fit(dead ~ a + b, data)
  event <- data$dead == "yes"
  prob <- plogis(fit$out_of_fold[, 1])
  expect_equal(score_of(fit, "AUC")[["value"]], score_auc(event + 0, prob), tolerance = 1e-10)
  loss <- -log(ifelse(event, prob, 1 - prob))
  expect_equal(score_of(fit, "log-loss")[["value"]], mean(loss), tolerance = 1e-10)
  expect_gt(fit$gain, 1)

  fit <- own_fit(class ~ a + b, data)
  expect_identical(fit$judged$scores$score, "log-loss")
  fit <- own_fit(count ~ a + b, data, family = poisson())
  expect_identical(fit$judged$scores$score[1], "deviance")
  expect_null(own_fit(cbind(y, y2) ~ a, data)$judged$scores)
})

test_that("the interval of the AUC covers as it should, at the boundary, too", {
  withr::local_seed(1)
  truth <- pnorm(1 / sqrt(2))
  covered <- replicate(300, {
    y <- rep(0:1, c(60, 40))
    interval <- auc_interval(y, rnorm(100) + y, NULL, qnorm(0.975))
    interval[2] < truth && truth < interval[3]
  })
  expect_gt(mean(covered), 0.91)
  expect_lt(mean(covered), 0.99)
  # weights count copies
  y <- rep(0:1, 20)
  score <- sin(seq_along(y)) + y / 2
  copies <- rep(1:2, each = 20)
  rows <- rep(seq_along(y), copies)
  expect_equal(auc_interval(y, score, as.double(copies), 1.96), auc_interval(y[rows], score[rows], NULL, 1.96))
  # separated classes: an end is the boundary, and the other one moves to it with more rows
  few <- auc_interval(rep(0:1, 5), rep(0:1, 5), NULL, 1.96)
  many <- auc_interval(rep(0:1, 50), rep(0:1, 50), NULL, 1.96)
  expect_identical(few[c(1, 3)], c(1, 1))
  expect_true(0.5 < few[2] && few[2] < 0.8 && 0.95 < many[2] && many[2] < 1)
  expect_equal(auc_interval(rep(0:1, 5), rep(1:0, 5), NULL, 1.96), c(0, 0, 1 - few[2]), tolerance = 1e-6)
})

test_that("the calibration slope is glm's", {
  for (family in c("gaussian", "binomial", "poisson")) {
    response <- c(gaussian = "y", binomial = "dead", poisson = "count")[[family]]
    fit <- own_fit(reformulate(c("a", "b"), response), data, family = family)
    y <- fit$y[, 1]
    line <- glm(y ~ fit$out_of_fold[, 1], family = family)
    coefficients <- summary(line)$coefficients
    slope <- score_of(fit, "calibration slope")
    expect_equal(slope[["value"]], coefficients[2, 1], tolerance = 1e-6)
    expect_equal(slope[["upper"]], coefficients[2, 1] + qnorm(0.975) * coefficients[2, 2], tolerance = 1e-6)
  }
})

test_that("a recalibration keeps terms, constant and link together", {
  fit <- own_fit(y ~ a + b + unit, data, prototypes_for = "a")
  # predictions that are all twice as spread out as they should be
  wrong <- fit
  wrong$response$scale <- 2 * fit$response$scale
  wrong$response$center <- 2 * fit$response$center - 0.7
  wrong$fitted <- 2 * fit$fitted - 0.7
  wrong$out_of_fold <- 2 * fit$out_of_fold - 0.7
  right <- seal_fit(recalibrate(wrong, NULL))
  # most of the way, as far as the slope is known
  asked <- coef(summary(lm(data$y ~ wrong$out_of_fold[, 1])))[2, 1:2]
  k <- length(fit$members)
  believed <- 1 + (asked[[1]] - 1) * (k - 1) / k * slope_spread^2 / (slope_spread^2 + asked[[2]]^2)
  expect_equal(right$calibration[["slope"]], believed, tolerance = 1e-6)
  expect_lt(additivity_gap(right, data), 1e-6)
  expect_equal(unname(predict(right, data)), unname(right$fitted[, 1]), tolerance = 1e-8)
  expect_equal(mean(right$out_of_fold), mean(data$y), tolerance = 1e-6)
  expect_output(print(right), "recalibrated by a slope of 0.[56]")
  # nothing to do, nothing done
  perfect <- fit
  perfect$out_of_fold[] <- fitted(lm(data$y ~ fit$out_of_fold[, 1]))
  expect_identical(recalibrate(perfect, NULL)$fitted, fit$fitted)
})

test_that("a recalibration gives predictions the observed rate, not the mean link", {
  withr::local_seed(7)
  n <- 400
  rare <- data.frame(a = rnorm(n), b = rnorm(n), c = rnorm(n), weight = sample(1:3, n, replace = TRUE))
  rare$event <- factor(rbinom(n, 1, plogis(-3 + rare$a)))
  rare$count <- rpois(n, exp(-1 + rare$a / 2))
  for (response in c("event", "count")) {
    family <- if (response == "event") "binomial" else "poisson"
    for (weights in list(NULL, rare$weight)) {
      fit <- own_fit(reformulate(c("a", "b", "c"), response), rare, family = family, prototypes_for = FALSE)
      wrong <- fit
      wrong$response$scale <- 1.6 * fit$response$scale
      wrong$response$center <- 1.6 * fit$response$center
      wrong$fitted <- 1.6 * fit$fitted
      wrong$out_of_fold <- 1.6 * fit$out_of_fold
      right <- seal_fit(recalibrate(wrong, weights))
      expect_lt(right$calibration[["slope"]], 0.95)
      mean <- fit$family$linkinv(right$out_of_fold[, 1])
      used <- weights %||% rep(1, n)
      expect_equal(weighted.mean(mean, used), weighted.mean(fit$y[, 1], used), tolerance = 1e-6)
      expect_lt(additivity_gap(right, rare), 1e-6)
      expect_equal(unname(predict(right, rare, type = "link")), unname(right$fitted[, 1]), tolerance = 1e-8)
    }
  }
  # the slope may be right and the level wrong
  moved <- own_fit(event ~ a + b + c, rare, prototypes_for = FALSE)
  line <- glm(rare$event ~ moved$out_of_fold[, 1], family = binomial())
  moved$out_of_fold[] <- line$linear.predictors + 0.3
  moved$fitted <- moved$fitted + 0.3
  moved$response$center <- moved$response$center + 0.3
  moved$calibration <- NULL
  right <- seal_fit(recalibrate(moved, NULL))
  expect_equal(right$calibration, c(intercept = -0.3, slope = 1), tolerance = 1e-5)
  expect_output(print(right), "recalibrated by a shift of -0.3")
  # too little to be worth it
  moved$out_of_fold[] <- line$linear.predictors + least_shift / 2
  expect_identical(recalibrate(moved, NULL), moved)
})

test_that("rows of a group count together", {
  loss <- rep(c(1, 2, 3, 4), each = 10)
  group <- rep(1:4, each = 10)
  expect_gt(mean_error(loss, NULL, group), 2 * mean_error(loss, NULL, seq_along(loss)))
  expect_equal(mean_error(loss, NULL, group), sd(1:4) / 2 * sqrt(3 / 4), tolerance = 1e-10)
  expect_identical(mean_in_errors(rep(1, 5), 1:5), 0)
})

test_that("a fit that learned nothing says so", {
  withr::local_seed(2)
  noise <- as.data.frame(matrix(rnorm(100 * 20), 100))
  noise$y <- rnorm(100)
  fit <- own_fit(y ~ ., noise)
  expect_lt(fit$gain, 1)
  expect_output(print(fit), "nothing was learned")
  expect_output(print(own_fit(y ~ a + b, data)), "Out of fold")
  # an offset is no feature: what it explains was not learned
  noise$known <- 5 * noise$V1
  offset <- own_fit(I(y + known) ~ V2 + V3 + offset(known), noise)
  expect_lt(offset$gain, 2)
  expect_output(print(own_fit(y ~ a, data, ensemble = 1)), "Out of fold +none: one model")
})
