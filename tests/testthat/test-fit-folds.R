test_that("folds are drawn from rows, and from one of the copies of a row", {
  rows <- c(1:10, 3L, 3L, 7L)
  classes <- rep(0:1, length.out = 10)[rows]
  alone <- fold_units(1:10, NULL, classes[1:10], NULL)
  copied <- fold_units(rows, NULL, classes, NULL)
  fold <- member_folds(4, alone, seed = 5)
  expect_identical(member_folds(4, copied, seed = 5), fold[rows])
  expect_identical(fold_limits(copied), fold_limits(alone))
  expect_null(member_folds(1, alone, seed = 5))
})

test_that("the weight of a group is that of its rows", {
  groups <- c("a", "a", "b", "c", "d", "e")
  counts <- c(1, 2, 4, 1, 2, 2)
  once <- member_folds(3, fold_units(1:6, groups, NULL, counts), seed = 2)
  copies <- rep(1:6, counts)
  expect_identical(member_folds(3, fold_units(copies, groups[copies], NULL, NULL), seed = 2), once[copies])
  expect_identical(as.vector(rowsum(counts, once)), c(4, 4, 4))
})

test_that("copies of a row make no more members than its weight, whatever the groups and classes", {
  groups <- c("a", "b", "c", "a")
  classes <- c(0, 1, 1, 0)
  counts <- c(3, 1, 2, 2)
  copies <- rep(1:4, counts)
  once <- fold_units(1:4, groups, classes, counts)
  copied <- fold_units(copies, groups[copies], classes[copies], NULL)
  expect_identical(fold_limits(copied), fold_limits(once))
  expect_identical(copied[names(once)], once)
  # successes and failures of one row differ by their class
  trials <- fold_units(c(1, 1, 2, 2), c(1, 1, 2, 2), c(1, 0, 1, 0), c(5, 2, 1, 1))
  expect_identical(trials$n, 4L)
})

test_that("a whole weight stands for copies of the row, in the default fit, too", {
  skip_on_cran()
  data <- jump_data(120)
  withr::local_seed(3)
  data$w <- sample(0:3, 120, replace = TRUE)
  copies <- rep(1:120, data$w)
  for (response in c("y", "dead", "count")) {
    formula <- stats::as.formula(paste(response, "~ a + b + unit"))
    family <- if (response == "count") stats::poisson()
    fit <- function(...) {
      protonam(formula, data, family = family, ensemble = 3, prototypes_for = FALSE, seed = 1, verbose = FALSE, ...)
    }
    weighted <- fit(weights = w)
    copied <- fit(subset = copies)
    expect_equal(predict(weighted, data), predict(copied, data), tolerance = 1e-3, label = response)
    scores <- function(fit) fit$judged$scores[c("score", "value")]
    expect_equal(scores(weighted), scores(copied), tolerance = 1e-3, label = response)
    # relative weights do not count rows: their scale has no effect
    expect_equal(predict(fit(weights = w / 7), data), predict(fit(weights = w / 700), data), tolerance = 1e-4)
  }
})
