quick_cv <- function(...) cv_protonam(..., control = tiny(), seed = 1, threads = 1, verbose = FALSE)

test_that("out-of-fold predictions are those of a fit on the other folds", {
  data <- mixed_data(60)
  ids <- rep(1:3, each = 20)
  cv <- quick_cv(y ~ age + lab + unit, data, folds = ids)
  fit <- protonam(y ~ age + lab + unit, data[ids != 1, ], control = tiny(), seed = 1, threads = 1, verbose = FALSE)
  own <- predict(fit, data[ids == 1, ])
  expect_equal(unname(cv$predictions[ids == 1]), unname(own), tolerance = 1e-12)
  expect_identical(as.integer(as.character(cv$folds)), ids)
  expect_equal(cv$scores$rmse[1], sqrt(mean((data$y[ids == 1] - own)^2)), tolerance = 1e-12)
  expect_named(cv$scores, c("fold", "n", "rmse", "mae", "r2", "deviance"))
})

test_that("rows left out have no fold, weights and offset follow their rows", {
  data <- mixed_data(60)
  data$y[5] <- NA
  shift <- seq_len(60) / 10
  cv <- suppressMessages(quick_cv(y ~ age, data, folds = 2, subset = age > 30, weights = lab + 10, offset = shift,
    na.action = na.omit
  ))
  out <- is.na(data$y) | data$age <= 30 | is.na(data$lab)
  expect_identical(is.na(cv$folds), out)
  expect_identical(unname(is.na(cv$predictions)), out)
})

test_that("every kind of response has its scores", {
  data <- mixed_data(60)
  binary <- quick_cv(dead ~ age + unit, data, folds = 3)
  expect_named(binary$scores, c("fold", "n", "auc", "logloss", "brier", "accuracy", "deviance"))
  many <- quick_cv(class ~ age + unit, data, folds = 3)
  expect_equal(unname(rowSums(many$predictions)), rep(1, 60), tolerance = 1e-12)
  counts <- quick_cv(count ~ age, data, folds = 2, family = poisson())
  expect_true(all(is.finite(counts$scores$deviance)))
  several <- quick_cv(cbind(y, lab) ~ age, data, folds = 2)
  expect_identical(several$scores$response, c("y", "lab", "y", "lab"))
  expect_identical(dim(several$predictions), c(60L, 2L))
  grouped <- quick_cv(y ~ age + lab, data, folds = 2, task = ~male)
  expect_false(anyNA(grouped$predictions))
})

test_that("several responses are summarised each on its own", {
  cv <- quick_cv(cbind(y, lab) ~ age, mixed_data(60), folds = 3)
  expect_identical(unique(cv$summary$response), c("y", "lab"))
  of_y <- cv$scores$rmse[cv$scores$response == "y"]
  expect_equal(cv$summary$mean[cv$summary$response == "y" & cv$summary$score == "rmse"], mean(of_y))
  expect_output(print(cv), "\ny\n.*\nlab\n")
})

test_that("a fold in which nothing counts has no scores", {
  data <- mixed_data(60)
  ids <- rep(1:3, each = 20)
  cv <- quick_cv(y ~ age, data, folds = ids, weights = rep(c(1, 0), c(40, 20)))
  expect_identical(is.na(cv$scores$rmse), c(FALSE, FALSE, TRUE))
  expect_false(anyNA(cv$summary))
  data$y[1:20] <- NA
  cv <- quick_cv(cbind(y, lab) ~ age, data, folds = ids)
  expect_identical(cv$scores$n[1], 0L)
  expect_true(all(is.na(cv$scores[1, c("rmse", "mae", "r2", "deviance")])))
})

test_that("values that only one fold has are told with the fold's name", {
  data <- mixed_data(60)
  data$site <- rep(c("a", "b", "c"), c(25, 34, 1))
  expect_warning(
    quick_cv(y ~ age + site, data, folds = rep(1:3, each = 20)), "^In fold 3: There are values.*site",
    class = "protonam_warning_unknown_values"
  )
  # many folds, one warning
  data$site <- paste0("s", rep(1:12, each = 5))
  seen <- list()
  withCallingHandlers(
    quick_cv(y ~ age + site, data, folds = rep(1:3, each = 20)),
    protonam_warning = function(w) {
      seen <<- c(seen, list(w))
      invokeRestart("muffleWarning")
    }
  )
  expect_length(seen, 1L)
  expect_match(conditionMessage(seen[[1]]), "^In fold 1, fold 2 and fold 3: There are.*\"s1\".*Details.*fold 1\\.$")
  expect_setequal(seen[[1]]$levels$site, data$site)
})

test_that("variables beside the data are divided like columns", {
  data <- mixed_data(60)
  beside <- data$age
  expect_identical(
    quick_cv(y ~ beside, data, folds = 3)$predictions,
    quick_cv(y ~ beside, transform(data, beside = age), folds = 3)$predictions
  )
})

test_that("the column with the folds is no feature", {
  data <- mixed_data(40)[c("age", "male", "y")]
  data$part <- rep(1:2, each = 20)
  expect_message(cv <- quick_cv(y ~ ., data, folds = ~part), "part")
  expect_identical(cv$predictions, quick_cv(y ~ age + male, data, folds = data$part)$predictions)
})

test_that("fits for predictions alone leave out effects, and predict the same", {
  data <- mixed_data(60)
  data$lab[1:3] <- NA
  ids <- rep(1:2, each = 30)
  cv <- quick_cv(y ~ age + lab + unit, data, folds = ids, order = 2)
  fit <- protonam(
    y ~ age + lab + unit, data[ids != 1, ],
    order = 2, control = tiny(), seed = 1, threads = 1, verbose = FALSE
  )
  expect_equal(unname(cv$predictions[ids == 1]), unname(suppressWarnings(predict(fit, data[ids == 1, ]))))
  job <- resampling_job(
    y ~ age + lab, data, list(weights = NULL, offset = NULL, subset = NULL), environment(),
    list(na_action = stats::na.pass), list(order = 2, control = tiny())
  )
  lean <- fit_rows(job, 1:60, 1, 1)
  expect_null(lean$purified)
  expect_null(lean$effects)
})

test_that("a class that is in one fold only is announced, and gets probability 0 there", {
  part <- rep(1:3, 50)
  part[iris$Species == "setosa"] <- 1
  expect_message(
    cv <- quick_cv(Species ~ Sepal.Length, iris, folds = part), "\"setosa\"",
    class = "protonam_message_unseen_class"
  )
  expect_true(all(cv$predictions[part == 1, "setosa"] == 0))
  expect_true(all(is.finite(as.matrix(cv$scores[c("logloss", "accuracy")]))))
  own <- suppressMessages(quick_cv(Species ~ Sepal.Length, iris, folds = as.integer(iris$Species)))
  expect_true(all(is.na(own$scores$auc)))
})

test_that("print", {
  cv <- quick_cv(dead ~ age, mixed_data(40), folds = 2)
  expect_output(print(cv), "AUC")
})

test_that("bad input", {
  data <- mixed_data(40)
  rare <- factor(replace(rep("no", 40), 1:2, "yes"))
  data$rare <- rare
  expect_snapshot(error = TRUE, {
    quick_cv(y ~ age, data, folds = 41)
    quick_cv(y ~ age, data, folds = 1)
    quick_cv(y ~ age, data, folds = NULL)
    quick_cv(rare ~ age, data, folds = 20)
    quick_cv(y ~ age, data, folds = rep(1, 40))
    quick_cv(y ~ age, data, folds = 3, groups = rep(1:2, 20))
    quick_cv(y ~ age, data, folds = rep(1:2, 20), groups = rep(1:20, each = 2))
    quick_cv(rare ~ age, data, folds = 3)
    quick_cv(rare ~ age, data, folds = rep(1:2, each = 20))
    quick_cv(y ~ age, data, ensemble = 0)
    quick_cv(y ~ age, data, epochz = 3)
    quick_cv(y ~ age, data, validation = 1:5)
  })
})

test_that("a subset of any order and with copies is cross-validated as the rows that it names", {
  data <- mixed_data(90)
  weights <- seq_len(90)
  offset <- sin(data$age)
  run <- function(data, rows, weights, offset, ...) {
    quick_cv(y ~ age + lab, data, folds = 3, weights = weights, offset = offset, subset = rows, ...)
  }
  for (rows in withr::with_seed(1, list(sample(90), order(data$lab), sample(90, 60)))) {
    by_subset <- run(data, rows, weights, offset)
    sorted <- run(data[rows, ], NULL, weights[rows], offset[rows])
    expect_identical(by_subset$scores, sorted$scores)
    expect_identical(unname(by_subset$predictions[rows]), unname(sorted$predictions))
    expect_identical(unname(by_subset$y[rows]), data$y[rows])
  }
  rows <- withr::with_seed(2, sample(90, replace = TRUE))
  copies <- run(data, rows, weights, offset)
  expect_identical(sum(copies$scores$n), 90L)
  expect_identical(which(!is.na(copies$folds)), sort(unique(rows)))
  # scores are those of the predictions: no copy was predicted by a fit on another
  for (k in 1:3) {
    fold <- rows[copies$folds[rows] == k]
    error <- data$y[fold] - copies$predictions[fold]
    expect_equal(copies$scores$rmse[k], sqrt(weighted.mean(error^2, weights[fold])), tolerance = 1e-12)
  }
  expect_error(quick_cv(y ~ age, data, folds = 90, subset = rows), class = "protonam_error_folds")
})
