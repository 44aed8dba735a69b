data <- jump_data(300)
old <- data[1:240, ]
fit <- own_fit(y ~ a + b + unit, old, epochs = 30, prototypes_for = TRUE)

test_that("a warm start goes on from the parameters, in a third of the epochs", {
  warm <- update(fit, data = data, start = fit)
  expect_s3_class(warm, "protonam")
  expect_identical(nrow(warm$members[[1L]]$history), 10L)
  history <- warm$members[[1L]]$history
  # the last third of the schedules
  expect_identical(history$temperature, fit$members[[1L]]$history$temperature[21:30])
  expect_identical(history$lr, fit$members[[1L]]$history$lr[21:30])
  expect_identical(warm$control$epochs, fit$control$epochs)
  expect_identical(lapply(warm$encoder, `[[`, "scaling"), lapply(fit$encoder, `[[`, "scaling"))
  expect_identical(engine_of(warm)$net, engine_of(fit)$net)
  expect_identical(warm$nobs, 300L)
  # near to where it began, and not there
  change <- mean((warm$members[[1L]]$params - fit$members[[1L]]$params)^2) / mean(fit$members[[1L]]$params^2)
  expect_gt(change, 0)
  expect_lt(change, 0.05)
  expect_lt(additivity_gap(warm, data), 1e-6)
  full <- own_fit(y ~ a + b + unit, data, epochs = 30, prototypes_for = TRUE)
  test <- jump_data(2000, seed = 2)
  loss <- function(fit) (test$y - predict(fit, test))^2
  gap <- loss(warm) - loss(full)
  expect_lt(mean(gap), 3 * sd(gap) / sqrt(length(gap)) + 0.01)
})

test_that("rows keep their folds, and new rows of an old group are in its fold", {
  warm <- update(fit, data = data, start = fit)
  expect_identical(warm$fold[1:240], fit$fold)
  expect_setequal(warm$fold[241:300], 1:4)
  expect_false(anyNA(warm$out_of_fold))
  # the rows may come in another order, under their names
  shuffled <- data[c(300:1), ]
  expect_identical(update(fit, data = shuffled, start = fit)$fold[61:300], rev(fit$fold))
  data$id <- c(1:240, 1:60)
  grouped <- own_fit(y ~ a + b, data[1:240, ], groups = ~id)
  again <- update(grouped, data = data, start = grouped)
  expect_identical(again$fold[241:300], grouped$fold[1:60])
})

test_that("a member has not seen what it leaves out, nor has the one that it began from", {
  # without scaling of the response nothing else learns from the responses of a fold
  both <- function(data) {
    quick <- function(...) own_fit(y ~ a + b, ..., prototypes_for = TRUE, base = "none", scale_response = FALSE)
    first <- quick(data[1:240, ])
    list(first = first, warm = update(first, data = data, start = first))
  }
  plain <- both(data)
  skip <- vapply(plain$warm$members, `[[`, 1L, "skip")
  left_out <- which(plain$warm$fold == skip[2L])
  changed <- data
  changed$y[left_out] <- changed$y[left_out] + 1
  other <- both(changed)
  expect_identical(other$warm$fold, plain$warm$fold)
  expect_identical(other$warm$members[[2L]]$params, plain$warm$members[[2L]]$params)
  expect_false(identical(other$warm$members[[1L]]$params, plain$warm$members[[1L]]$params))
})

test_that("one model, classes, several responses, tasks and pairs", {
  again <- function(first, data) update(first, data = data, start = first)
  one <- own_fit(y ~ a + b, old, ensemble = 1)
  expect_null(again(one, data)$out_of_fold)
  expect_lt(additivity_gap(again(own_fit(class ~ a + unit, old), data), data), 1e-6)
  expect_lt(additivity_gap(again(own_fit(cbind(y, y2) ~ a + unit, old), data), data), 1e-6)
  expect_lt(additivity_gap(again(own_fit(dead ~ a + unit, old, task = ~group), data), data), 1e-6)
  pairs <- own_fit(count ~ a + b, old, family = poisson(), order = 2, ensemble = 2)
  expect_lt(additivity_gap(again(pairs, data), data), 1e-6)
})

test_that("what does not fit is an error", {
  refused <- function(...) expect_error(own_fit(..., start = fit, epochs = 30), class = "protonam_error_start")
  expect_match(refused(y ~ a + b, data)$message, "features")
  expect_match(refused(y ~ a + b + unit, data, order = 2)$message, "order")
  expect_match(refused(y2 ~ a + b + unit, data)$message, "must contain the rows")
  expect_match(refused(dead ~ a + b + unit, data)$message, "family")
  expect_match(refused(y ~ a + b + unit, data, ensemble = 3)$message, "ensemble")
  expect_match(refused(y ~ a + b + unit, data, smoothness = 2)$message, "smoothness")
  expect_match(refused(y ~ a + b + unit, data, validation = 0.2)$message, "Validation rows")
  expect_match(refused(y ~ a + b + unit, data[100:300, ])$message, "must contain the rows")
  expect_match(refused(y ~ a + b + unit, data, norm = "batch")$message, "norm")
  expect_error(update(fit, data = data, start = 3), class = "protonam_error_argument")
  expect_error(tiny_fit(y ~ a + b + unit, data, start = fit), "default procedure", class = "protonam_error_start")
  sized <- expect_error(
    protonam(y ~ a + b + unit, data, start = fit, hidden = 16, seed = 1),
    class = "protonam_error_start"
  )
  expect_match(conditionMessage(sized), "hidden")
  new <- data
  new$unit <- as.character(new$unit)
  new$unit[300] <- "home"
  expect_match(refused(y ~ a + b + unit, new)$message, "home")
})

test_that("a warm start can be interrupted, too", {
  withr::local_options(protonam.checkpoint_seconds = 0)
  whole <- update(fit, data = data, start = fit)
  file <- withr::local_tempfile()
  kept <- update(fit, data = data, start = fit, checkpoint = file)
  expect_identical(digest(kept$members), digest(whole$members))
})
