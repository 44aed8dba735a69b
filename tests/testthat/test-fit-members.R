data <- mixed_data()

test_that("the same seed gives the same bits for any number of threads", {
  few <- data[c("y", "age", "lab", "unit")]
  fits <- lapply(c(1, 2, 3, 8), function(threads) tiny_fit(y ~ ., few, threads = threads))
  for (fit in fits[-1]) {
    expect_identical(fit$members, fits[[1]]$members)
    expect_identical(fit$fitted, fits[[1]]$fitted)
  }
  expect_false(identical(tiny_fit(y ~ age, data, seed = 2)$fitted, tiny_fit(y ~ age, data, seed = 1)$fitted))
})

test_that("set.seed() governs when there is no seed, and one number is drawn", {
  draw <- function() {
    set.seed(5)
    fit <- tiny_fit(y ~ age, data, seed = NULL)
    list(fit$fitted, runif(1))
  }
  expect_identical(draw(), draw())
  set.seed(5)
  numbers <- runif(2)
  expect_identical(draw()[[2]], numbers[2])
  set.seed(5)
  before <- .Random.seed
  tiny_fit(y ~ age, data, seed = 1)
  expect_identical(.Random.seed, before)
})

test_that("history has one row per epoch, and the best epoch the best score", {
  fit <- protonam(y ~ age + lab, data, control = tiny(), epochs = 12, seed = 1)
  member <- fit$members[[1]]
  expect_named(member$history, c("epoch", "loss", "score", "lr", "temperature"))
  expect_identical(member$history$epoch, 1:12)
  expect_identical(member$best_epoch, which.min(member$history$score))
  expect_identical(member$score, min(member$history$score))
  # the score is the mean squared error of the validation rows, in the response's own units
  held_out <- setdiff(seq_len(120), fit$train)
  expect_equal(member$score, mean(residuals(fit)[held_out]^2), tolerance = 1e-5)
})

test_that("without validation the last epoch is kept", {
  fit <- tiny_fit(y ~ age, data, validation = 0)
  expect_identical(fit$members[[1]]$best_epoch, 4L)
  expect_true(is.na(fit$members[[1]]$score))
  expect_identical(c(fit$n_train, fit$n_validation), c(120, 0), ignore_attr = TRUE)
})

test_that("members of an ensemble differ, and predictions are their mean", {
  fit <- tiny_fit(dead ~ age + lab, data, ensemble = 3)
  expect_length(fit$members, 3)
  links <- vapply(1:3, function(m) predict(one_member(fit, m), data, type = "link"), numeric(120))
  expect_equal(predict(fit, data, type = "link"), rowMeans(links), tolerance = 1e-12)
  expect_gt(max(abs(links[, 1] - links[, 2])), 1e-4)
  expect_equal(links[, 1], predict(tiny_fit(dead ~ age + lab, data), data, type = "link"), tolerance = 1e-12)
  expect_lt(additivity_gap(fit, data), 1e-10)
})

test_that("divergence is an error that says what to lower", {
  expect_snapshot(error = TRUE, {
    protonam(y ~ age + lab, data, control = tiny(scaling = "none", scale_response = FALSE), lr = 1e30, seed = 1)
  })
  expect_error(
    protonam(y ~ age, data, control = tiny(), lr = 1e30, seed = 1, ensemble = 2),
    class = "protonam_error_diverged"
  )
  # R is healthy afterwards
  expect_no_error(tiny_fit(y ~ age, data))
})

test_that("a whole-number weight equals as many copies of the row", {
  short <- data[1:60, c("y", "age", "lab", "unit")]
  k <- rep(c(1, 2, 0, 3), 15)
  copies <- short[rep(1:60, k), ]
  settings <- tiny(batch_size = 1000)
  weighted <- protonam(y ~ ., short, weights = k, control = settings, validation = 0, seed = 1)
  copied <- protonam(y ~ ., copies, control = settings, validation = 0, seed = 1)
  expect_equal(predict(weighted, short), predict(copied, short), tolerance = 1e-4)
  expect_equal(weighted$encoder, copied$encoder)
  expect_equal(weighted$effects$importance, copied$effects$importance, tolerance = 1e-3)
})

test_that("silent without verbose, and a progress bar does not change the fit", {
  expect_silent(quiet <- tiny_fit(y ~ age, data))
  withr::local_options(cli.progress_show_after = 0)
  capture.output(loud <- protonam(y ~ age, data, control = tiny(), seed = 1, verbose = TRUE), type = "message")
  expect_identical(loud$fitted, quiet$fitted)
})

test_that("means centre every effect on the training rows", {
  fit <- tiny_fit(y ~ age + lab + unit, data, weights = rep(1:2, 60))
  terms <- predict(fit, data, type = "terms")
  expect_lt(max(abs(colSums((terms * rep(1:2, 60))[fit$train, ]))), 1e-8)
  importance <- colSums((abs(terms) * rep(1:2, 60))[fit$train, ]) / sum(rep(1:2, 60)[fit$train])
  expect_equal(fit$effects$importance, unname(importance), tolerance = 1e-8)
  expect_equal(fit$effects$missing, c(NA, terms[10, "lab"], terms[15, "unit"]), ignore_attr = TRUE, tolerance = 1e-8)
  pairs <- tiny_fit(y ~ age + lab + unit, data, order = 2)
  expect_lt(max(abs(colMeans(predict(pairs, data, type = "terms")[pairs$train, ]))), 1e-8)
})

# What comes after training -----------------------------------------------------------------------------------------

test_that("an error after training becomes a warning, and the fit is returned without that part", {
  expect_identical(after_training(1, "part"), 1)
  caught <- expect_warning(lost <- after_training(stop("no {luck}"), "part"), class = "protonam_warning_incomplete")
  expect_null(lost)
  expect_match(conditionMessage(caught), "without its part.*no \\{luck\\}")

  data <- mixed_data()
  fails <- function(...) stop("no luck")
  space <- asNamespace("protonam")
  parts <- c("summarise_effects", "count_nearest", "task_scores", "ensemble_score")
  replace_part <- function(name, value) {
    unlockBinding(name, space)
    assign(name, value, envir = space)
    lockBinding(name, space)
  }
  own <- mget(parts, envir = space)
  withr::defer(Map(replace_part, parts, own))
  for (name in parts) replace_part(name, fails)
  for (order in 1:2) {
    warned <- character()
    fit <- withCallingHandlers(
      tiny_fit(y ~ age + lab, data, order = order, ensemble = 2),
      protonam_warning_incomplete = function(w) {
        warned <<- c(warned, w$part)
        invokeRestart("muffleWarning")
      }
    )
    expect_identical(warned, c("scores by task", "score of the ensemble", "effects", "counts of prototypes"))
    expect_equal(unname(predict(fit, data)), unname(fitted(fit)), tolerance = 1e-6)
    expect_error(shapes(fit), class = "protonam_error_incomplete")
    expect_error(term_importance(fit), class = "protonam_error_incomplete")
    expect_error(contributions(fit, data), class = "protonam_error_incomplete")
    expect_error(predict(fit, data, type = "terms"), class = "protonam_error_incomplete")
    expect_error(plot(fit), class = "protonam_error_incomplete")
    expect_output(print(fit), "Validation")
    expect_output(print(summary(fit)), "No effects of the terms")
    expect_identical(unique(prototypes(fit)$count), NA_real_)
  }
})

test_that("a member with parameters that are not finite counts as diverged", {
  member <- list(status = "ok", params = c(1, NaN), history = data.frame(epoch = 1), seconds = 0)
  fine <- utils::modifyList(member, list(params = c(1, 2)))
  expect_error(keep_finite(list(member), tiny()), class = "protonam_error_diverged")
  expect_warning(kept <- keep_finite(list(member, fine), tiny()), class = "protonam_warning_diverged")
  expect_length(kept, 1L)
})

test_that("a fit that needs more memory than there is is refused before it begins, with the size", {
  few <- data[c("y", "age")]
  refused <- function(...) {
    expect_error(protonam(y ~ ., few, procedure = "paper", seed = 1, ...), class = "protonam_error_memory")
  }
  started <- proc.time()[["elapsed"]]
  expect_match(conditionMessage(refused(hidden = 1e5)), "needs [0-9.]+ TB of memory, and there is [0-9.]+ .B")
  expect_gt(refused(hidden = 1e5)$bytes, 1e12)
  for (bootstrap in c(FALSE, TRUE)) {
    refused(hidden = 600, layers = 10, ensemble = 1e5, bootstrap = bootstrap, verbose = FALSE)
  }
  expect_lt(proc.time()[["elapsed"]] - started, 20)
})

test_that("the memory of wide pairs and many members is foreseen", {
  bytes <- function(k, order, members) {
    control <- resolve_control(tiny(), 20)
    shape <- list(n_outputs = 1L, n_tasks = 1L, task_kind = "none")
    config <- model_config(control, model_components(k, order), k, "gaussian", shape)
    rows <- encoded_data(rep(list(.Call(ffi_distinct, as.double(1:20), NULL)), k), 20, matrix(0, 20, 1))
    .Call(ffi_fit_bytes, config, rows, NULL, train_settings(control, numeric(members), 1L))[1L]
  }
  # every feature has a partial gradient of the weights of all components
  expect_gt(bytes(200, 2, 1), 200 * choose(200, 2) * 2 * 4)
  # further members keep their parameters alone while others train
  one <- bytes(3, 1, 1)
  expect_lt(bytes(3, 1, 3), 2 * one)
  expect_gt(bytes(3, 1, 1000), 50 * one)
})
