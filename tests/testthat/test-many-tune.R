small_space <- function(...) {
  protonam_space(
    hidden = 8, prototypes = c(2, 4), layers = 1:2, epochs = 4, batch_size = 16, lr = search_range(1e-3, 1e-2), ...
  )
}

quick_tune <- function(..., n = 4, seed = 1, eta = 2) {
  tune_protonam(..., n = n, seed = seed, eta = eta, control = tiny(), threads = 1, verbose = FALSE)
}

test_that("a search returns its trials and the best control", {
  data <- mixed_data(60)
  found <- quick_tune(y ~ age + lab, data, space = small_space())
  expect_identical(found$trials$trial, 1:4)
  expect_s3_class(found$best, "protonam_control")
  expect_identical(found$best_score, min(found$trials$score))
  expect_identical(sort(found$trials$rung, decreasing = TRUE)[1:2], c(3L, 2L))
  # the best control makes the best score again
  fit <- protonam(y ~ age + lab, data, control = found$best, seed = 1, threads = 1, verbose = FALSE)
  expect_equal(fit$members[[1]]$score, found$best_score, tolerance = 1e-12)
  expect_output(print(found), "Best: trial")
})

test_that("a resumed search goes on where it ended", {
  data <- mixed_data(60)
  first <- quick_tune(dead ~ age + lab, data, n = 2, space = small_space())
  more <- quick_tune(dead ~ age + lab, data, n = 2, space = small_space(), resume = first, seed = NULL)
  expect_identical(more$trials$trial, 1:4)
  expect_identical(more$trials[1:2, ], first$trials)
  expect_identical(more$best_score, max(more$trials$score))
  whole <- quick_tune(dead ~ age + lab, data, n = 4, space = small_space())
  expect_identical(more$trials$lr, whole$trials$lr)
})

test_that("progress tells the best so far", {
  expect_message(
    tune_protonam(y ~ age, mixed_data(40), n = 1, space = small_space(), control = tiny(), seed = 1, verbose = TRUE),
    "best so far: trial 1",
    class = "protonam_message_progress"
  )
})

test_that("a trial that diverges is left out", {
  space <- protonam_space(hidden = 8, prototypes = 4, layers = 2, epochs = 4, batch_size = 16, lr = 1e300)
  expect_warning(found <- quick_tune(y ~ age + lab, mixed_data(60), n = 2, space = space),
    "trial 2",
    class = "protonam_warning_left_out"
  )
  expect_identical(found$best_trial, 1L)
  expect_identical(found$trials$status, c("ok", "failed"))
})

test_that("trials that fail with more epochs keep the score of their shorter run", {
  job <- list(rows = 1:60, columns = list(), formula = y ~ x)
  trials <- lapply(1:2, function(i) trial_of(i, list(lr = i, epochs = 4), protonam_control(), job))
  run <- function(item, threads, job) {
    if (item$epochs == 4) pn_abort("Training diverged.", class = "diverged")
    list(score = item$control$lr, score_name = "mse", best_epoch = 1L, epochs = item$epochs, seconds = 0)
  }
  expect_warning(trials <- run_trials(trials, job, 2, list(seed = 1, threads = 1, verbose = FALSE), NULL, run),
    "No trial could be continued",
    class = "protonam_warning_left_out"
  )
  expect_identical(vapply(trials, `[[`, "", "status"), c("failed", "ok"))
  found <- finish_tune(trials, NULL, quote(f()), small_space(), 1, "")
  expect_identical(found$best_score, 1)
  expect_identical(found$best$epochs, 2)
})

test_that("a validation score that is not finite is called a divergence", {
  expect_error(finite_score(list(list(score = NaN)), 5), "lr", class = "protonam_error_diverged")
  expect_identical(finite_score(list(list(score = 1), list(score = 2)), 5), 1.5)
})

test_that("settings given by name stay fixed, whatever the space says", {
  found <- quick_tune(y ~ age, mixed_data(40), n = 3, space = small_space(), layers = 2, prototypes = 3)
  expect_false(any(c("layers", "prototypes") %in% names(found$space)))
  controls <- found$controls
  expect_identical(vapply(controls, `[[`, 0, "layers"), c(2, 2, 2))
  expect_identical(vapply(controls, `[[`, 0, "prototypes"), c(3, 3, 3))
})

test_that("a search with other tasks, or other values outside the data, is not resumed", {
  data <- mixed_data(60)
  first <- quick_tune(y ~ age, data, n = 1, space = small_space(), task = ~male)
  other <- transform(data, male = rev(male))
  expect_error(
    quick_tune(y ~ age, other, n = 1, space = small_space(), task = ~male, resume = first),
    class = "protonam_error_resume"
  )
  outside <- data$age
  first <- quick_tune(y ~ outside, data, n = 1, space = small_space())
  expect_identical(nrow(quick_tune(y ~ outside, data, n = 1, space = small_space(), resume = first)$trials), 2L)
  outside <- rev(outside)
  expect_error(
    quick_tune(y ~ outside, data, n = 1, space = small_space(), resume = first),
    class = "protonam_error_resume"
  )
})

test_that("bad input", {
  data <- mixed_data(40)
  found <- quick_tune(y ~ age, data, n = 1, space = small_space())
  expect_snapshot(error = TRUE, {
    quick_tune(y ~ age, data, resume = found, space = list(learning = 1))
    quick_tune(y ~ age, data[-1, ], resume = found)
    quick_tune(y ~ lab, data, resume = found)
    quick_tune(y ~ age, data, resume = found, validation = 0.3)
    quick_tune(y ~ age, data, resume = list())
    quick_tune(y ~ age, data, n = 0)
    quick_tune(y ~ age, data, n = 1, space = small_space(), validation = 0)
  })
})

test_that("a search on a subset of any order is a search on the rows that it names", {
  data <- mixed_data(90)
  search <- function(...) {
    tune_protonam(y ~ age + lab, ..., n = 2, control = tiny(), seed = 1, threads = 1, verbose = FALSE)$trials$score
  }
  for (rows in withr::with_seed(1, list(sample(90), order(data$lab)))) {
    expect_identical(search(data, subset = rows), search(data[rows, ]))
  }
  rows <- withr::with_seed(2, sample(90, replace = TRUE))
  expect_identical(search(data, subset = rows), search(data[rows, ], groups = rows))
})
