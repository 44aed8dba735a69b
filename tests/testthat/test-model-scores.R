test_that("scores of numbers", {
  y <- c(1, 2, 4)
  mean <- c(1, 3, 2)
  expect_equal(score_rmse(y, mean), sqrt(5 / 3), tolerance = 1e-15)
  expect_equal(score_mae(y, mean), 1, tolerance = 1e-15)
  expect_equal(score_r2(y, mean), 1 - 5 / sum((y - 7 / 3)^2), tolerance = 1e-15)
  expect_identical(score_r2(c(1, 1), c(1, 2)), NA_real_)
})

test_that("scores of classes", {
  y <- c(0, 0, 1, 1)
  p <- c(0.1, 0.4, 0.4, 0.8)
  expect_equal(score_auc(y, p), 3.5 / 4, tolerance = 1e-15)
  expect_identical(score_auc(c(1, 1), c(0.2, 0.3)), NA_real_)
  scores <- score_predictions("binomial", y, p)
  expect_equal(scores[["logloss"]], -mean(log(c(0.9, 0.6, 0.4, 0.8))), tolerance = 1e-15)
  expect_equal(scores[["brier"]], mean((y - p)^2), tolerance = 1e-15)
  expect_equal(scores[["accuracy"]], 0.75, tolerance = 1e-15)
  prob <- rbind(c(0.5, 0.3, 0.2), c(0.1, 0.1, 0.8), c(0.2, 0.7, 0.1))
  scores <- score_predictions("multinomial", c(0, 2, 1), prob)
  expect_equal(unname(scores[c("auc", "accuracy")]), c(1, 1), tolerance = 1e-15)
})

test_that("a weight of k counts as k rows", {
  set.seed(1)
  y <- rbinom(30, 1, 0.5)
  p <- round(runif(30), 1)
  w <- sample(1:3, 30, replace = TRUE)
  rows <- rep(1:30, w)
  for (family in c("gaussian", "binomial", "poisson")) {
    q <- if (family == "poisson") p + 0.1 else p
    expect_equal(score_predictions(family, y, q, w), score_predictions(family, y[rows], q[rows]), tolerance = 1e-12)
  }
})
