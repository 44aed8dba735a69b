test_that("a fraction is held out, from every class alike", {
  y <- rep(c(0, 1), c(90, 10))
  split <- split_rows(0.2, 1:100, 100, NULL, y, seed = 1)
  expect_length(split$validation, 20)
  expect_identical(sum(y[split$validation]), 2)
  expect_identical(sort(c(split$train, split$validation)), 1:100)
  expect_identical(split, split_rows(0.2, 1:100, 100, NULL, y, seed = 1))
  expect_false(identical(split, split_rows(0.2, 1:100, 100, NULL, y, seed = 2)))
  expect_length(split_rows(0.25, 1:101, 101, NULL, NULL, 1)$validation, 25)
  expect_identical(split_rows(0, 1:5, 5, NULL, NULL, 1), list(train = 1:5, validation = integer()))
})

test_that("a class with one row is trained on", {
  y <- c(rep(0, 50), 1, rep(2, 3))
  for (seed in 1:20) {
    split <- split_rows(0.5, 1:54, 54, NULL, y, seed)
    expect_true(51 %in% split$train)
    expect_true(any(52:54 %in% split$train))
  }
})

test_that("groups stay together", {
  groups <- rep(1:20, times = 1:20)
  for (seed in 1:5) {
    split <- split_rows(0.2, seq_along(groups), length(groups), groups, NULL, seed)
    expect_length(intersect(groups[split$train], groups[split$validation]), 0)
    expect_true(length(split$validation) > 15 && length(split$validation) < 70)
  }
  expect_error(split_rows(1:2, 1:210, 210, groups, NULL, 1), class = "protonam_error_validation")
  expect_error(split_rows(0.2, 1:3, 3, c(1, 1, 1), NULL, 1), class = "protonam_error_validation")
})

test_that("row numbers and logicals refer to rows of the data", {
  rows <- c(2L, 4L, 6L, 8L)
  expect_identical(split_rows(c(4, 5), rows, 8, NULL, NULL, 1)$validation, 2L)
  expect_identical(split_rows(1:8 > 5, rows, 8, NULL, NULL, 1)$validation, 3:4)
})

test_that("two rows are too few to hold one out", {
  expect_message(split <- split_rows(0.2, 1:2, 2, NULL, NULL, 1), class = "protonam_message_no_validation")
  expect_length(split$validation, 0)
})

test_that("splits that cannot be meant are refused", {
  expect_snapshot(error = TRUE, {
    split_rows(1, 1:5, 5, NULL, NULL, 1)
    split_rows(-0.1, 1:5, 5, NULL, NULL, 1)
    split_rows(c(1, 9), 1:5, 5, NULL, NULL, 1)
    split_rows(1:5, 1:5, 5, NULL, NULL, 1)
    split_rows(c(TRUE, FALSE), 1:5, 5, NULL, NULL, 1)
    split_rows("a", 1:5, 5, NULL, NULL, 1)
    split_rows(NA_real_, 1:5, 5, NULL, NULL, 1)
    split_rows(30, 1:100, 100, NULL, NULL, 1)
    split_rows(30, 1:20, 20, NULL, NULL, 1)
    split_rows(200, 1:1000, 1000, NULL, NULL, 1)
    split_rows(2.5, 1:5, 5, NULL, NULL, 1)
  })
})

test_that("seeds: one draw from R's generator, or none", {
  set.seed(1)
  first <- resolve_seed(NULL)
  after <- runif(1)
  set.seed(1)
  runif(1)
  expect_identical(runif(1), after)
  set.seed(1)
  expect_identical(resolve_seed(NULL), first)
  set.seed(1)
  before <- .Random.seed
  expect_identical(resolve_seed(7), 7)
  permutation(10, 7, 1)
  expect_identical(.Random.seed, before)
  expect_identical(resolve_seed(-1), 2^52 - 1)
  expect_error(resolve_seed(1.5), class = "protonam_error_argument")
  seeds <- vapply(1:50, function(m) member_seed(3, m), 1)
  expect_identical(anyDuplicated(seeds), 0L)
  expect_identical(seeds[1], 3)
})
