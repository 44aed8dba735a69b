test_that("responses begin with the first one's weights, negative where a feature acts the other way round", {
  set.seed(1)
  data <- data.frame(a = runif(400), b = runif(400), c = sample(c("x", "y", NA), 400, TRUE))
  data$y1 <- data$a + data$b + rnorm(400) / 5
  data$y2 <- 3 * data$a - data$b + rnorm(400) / 5
  data$y2[1:300] <- NA
  start <- tiny(lr = 1e-300, scale_response = FALSE)
  weights <- function(...) coef(protonam(cbind(y1, y2) ~ a + b + c, data, control = start, seed = 1, ...))$weights
  one <- weights()
  expect_equal(one[, , "y2"], c(1, -1, 1) * one[, , "y1"], tolerance = 1e-6)
  # a pair goes by both of its features
  two <- weights(order = 2)
  expect_equal(abs(two[, , "y2"]), abs(two[, , "y1"]), tolerance = 1e-6)
})

test_that("noise is no reason to begin with the negative", {
  set.seed(1)
  config <- list(task_kind = "response", components = matrix(1:3, 1), n_tasks = 3L)
  features <- lapply(1:3, function(i) .Call(ffi_distinct, runif(200), NULL))
  negative <- replicate(50, {
    sum(response_relation(config, encoded_data(features, 200, matrix(rnorm(600), 200))) < 0)
  })
  expect_lt(mean(negative) / 6, 0.1)
  expect_null(response_relation(list(task_kind = "group"), NULL))
})

test_that("a whole weight counts as copies of the row", {
  withr::local_seed(4)
  y <- matrix(stats::rnorm(80), 40)
  y[sample.int(80, 10)] <- NA
  w <- sample(1:4, 40, replace = TRUE)
  copies <- rep(1:40, w)
  x <- stats::rnorm(40)
  rows <- function(x, ...) encoded_data(list(.Call(ffi_distinct, x, NULL)), length(x), ...)
  once <- rows(x, y, weights = as.double(w))
  many <- rows(x[copies], y[copies, ])
  expected <- feature_products(many$features[[1L]], many)
  expect_equal(feature_products(once$features[[1L]], once), expected, tolerance = 1e-12)
})
