step_data <- function(n = 500, seed = 1) {
  withr::local_seed(seed)
  data <- data.frame(x = stats::runif(n), smooth = stats::rnorm(n), noise = stats::rnorm(n))
  data$y <- 2 * (data$x > 0.6) + sin(data$smooth) + stats::rnorm(n)
  data$dead <- factor(ifelse(stats::runif(n) < stats::plogis(3 * (data$x > 0.6) - 1.5), "yes", "no"))
  data
}
data <- step_data()
fit <- own_fit(y ~ x + smooth + noise, data, ensemble = 4)

test_that("a jump calls for prototypes, and is found with its size", {
  expect_gt(fit$evidence$steps[1], step_cut(3))
  expect_true(all(fit$evidence$steps[2:3] < step_cut(3)))
  expect_true(1L %in% fit$engine$net)
  found <- fit$jumps$found
  expect_identical(found$feature, 1L)
  expect_lt(abs(found$position - 0.6), 0.02)
  expect_lt(abs(found$size - 2), 3 * found$se)
  expect_equal(found$rank, mean(data$x <= found$position), tolerance = 0.01)
  expect_gt(found$check, check_cut)
  near <- fit$jumps$near
  expect_true(all(near$lower < near$upper) && min(near$drop) == 0)
  expect_true(any(near$lower <= 0.6 & near$upper >= 0.6))
})

test_that("the check uses halves that do not know of each other", {
  values <- sort(data$x)
  code <- match(data$x, values)
  cells <- function(use, y) step_cells(values, code, use + 0, y)
  half <- rep(1:2, length.out = nrow(data))
  knots <- seq(0, 1, length.out = 10)
  # the jump is in one half only: it is not confirmed
  y <- ifelse(half == 1, 3 * (data$x > 0.6), 0) + withr::with_seed(1, stats::rnorm(nrow(data)))
  parts <- list(all = cells(rep(1, 500), y), first = cells(half == 1, y), second = cells(half == 2, y))
  steps <- which.max(abs(scan_steps(parts$all, knots)$z))
  expect_gt(abs(scan_steps(parts$all, knots)$z[steps]), step_cut(1))
  expect_lt(check_step(parts, knots, steps, 1L), check_cut)
  y <- 3 * (data$x > 0.6) + withr::with_seed(1, stats::rnorm(nrow(data)))
  parts <- list(all = cells(rep(1, 500), y), first = cells(half == 1, y), second = cells(half == 2, y))
  expect_gt(check_step(parts, knots, find_steps(parts$all, knots, step_cut(1)), 1L), 5)
  expect_identical(jump_halves(c(1L, 2L, 3L), 3, NULL), c(2L, 1L, 2L))
  expect_identical(jump_halves(NULL, 4, c(7, 7, 9, 9)), c(2L, 2L, 1L, 1L))
})

test_that("members count whose curve has the jump", {
  cells <- list(rows = rep(1, 100))
  curves <- cbind(seq_len(100) > 50, 0, 2 * (seq_len(100) > 50), -(seq_len(100) > 50), seq_len(100) / 100)
  steps <- data.frame(rank = 0.5, size = 1)
  expect_identical(count_standing(cells, curves, steps), 2L)
})

test_that("rows of a group count for less where they agree", {
  config <- fit$config
  rows <- list(n = 6, y = matrix(c(1, 1, 1, -1, -1, -1)), weights = NULL)
  eta <- matrix(0, 6, 1)
  alone <- working_rows(config, rows, eta)
  expect_equal(alone$information[, 1], rep(1, 6)) # the residual variance is 1
  together <- working_rows(config, rows, eta, groups = c(1, 1, 1, 2, 2, 2))
  expect_equal(together$information, alone$information / 3)
})

test_that("working rows are those of a Fisher scoring step", {
  rows <- list(n = 3, y = matrix(c(0, 1, NA)), weights = c(1, 2, 1))
  config <- list(family = "binomial", n_outputs = 1, n_tasks = 1, task_kind = "none")
  eta <- matrix(c(-1, 0.5, 2))
  p <- stats::plogis(eta[, 1])
  out <- working_rows(config, rows, eta)
  expect_equal(out$information[, 1], c(1, 2, 0) * p * (1 - p))
  expect_equal(out$response[1:2, 1], (c(0, 1) - p[1:2]) / (p * (1 - p))[1:2])
  config <- list(family = "multinomial", n_outputs = 3, n_tasks = 1, task_kind = "none")
  three <- working_rows(config, list(n = 2, y = matrix(c(0, 2))), matrix(0, 2, 3))
  expect_equal(three$information[1, ], rep(2 / 9, 3))
  expect_equal(three$response[1, ], c(2 / 3, -1 / 3, -1 / 3) / (2 / 9))
  config <- list(family = "poisson", n_outputs = 1, n_tasks = 2, task_kind = "group")
  two <- working_rows(config, list(n = 2, y = matrix(c(1, 3)), task = 1:2), matrix(0, 2, 2))
  expect_equal(two$information > 0, diag(2) > 0)
})

test_that("a single model, groups, classes and few values have jumps, too", {
  one <- own_fit(y ~ x + noise, data, ensemble = 1)
  expect_equal(one$jumps$found$position, fit$jumps$found$position, tolerance = 0.05)
  data$age <- round(20 + 60 * data$x)
  whole <- own_fit(dead ~ age + noise, data)
  found <- jumps(whole)
  expect_identical(found$term, "age")
  # between two whole numbers
  expect_identical(found$position %% 1, 0.5)
  expect_true(found$lower %% 1 == 0 && found$upper %% 1 == 0)
  expect_lt(abs(found$position - 56), 2.1)
  tasks <- own_fit(dead ~ x + noise, transform(data, sex = rep(c("f", "m"), 250)), task = ~sex)
  expect_true(all(tasks$jumps$found$output %in% 1:2) && nrow(tasks$jumps$found) >= 1)
})

test_that("a damaged table of jumps is refused", {
  damaged <- fit
  damaged$jumps$found$members <- 99L
  expect_error(jumps(damaged), class = "protonam_error_damaged_fit")
  damaged <- fit
  damaged$jumps$near <- damaged$jumps$near[0, ]
  expect_error(jumps(damaged), class = "protonam_error_damaged_fit")
})
