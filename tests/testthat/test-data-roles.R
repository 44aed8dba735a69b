d <- data.frame(y = c(1, NA, 3, 4, 5), a = c(1, 2, NA, 4, 5))
rows_of <- function(na_action = na.pass, subset = NULL, ...) {
  frame <- formula_frame(y ~ a, as_columns(d, "data"))
  suppressMessages(used_rows(frame, NULL, NULL, NULL, subset, na_action))
}

test_that("rows without a response go with one message, missing features stay", {
  expect_message(
    rows <- used_rows(formula_frame(y ~ a, as_columns(d, "data")), NULL, NULL, NULL, NULL, na.pass),
    "1 row is left out", class = "protonam_message_dropped_rows"
  )
  expect_identical(rows$index, c(1L, 3L, 4L, 5L))
})

test_that("na.action and subset work as in lm()", {
  expect_identical(rows_of(na.omit)$index, c(1L, 4L, 5L))
  expect_s3_class(rows_of(na.omit)$omitted, "omit")
  expect_s3_class(rows_of("na.exclude")$omitted, "exclude")
  expect_identical(rows_of(NULL)$index, rows_of()$index)
  expect_error(rows_of(na.fail), class = "protonam_error_missing")
  expect_identical(rows_of(subset = d$a > 3)$index, 4:5)
  expect_identical(rows_of(subset = -(1:3))$index, 4:5)
  expect_error(rows_of(subset = 9), class = "protonam_error_subset")
  expect_error(rows_of(subset = c(TRUE, FALSE)), class = "protonam_error_subset")
  expect_error(rows_of(subset = d$a > 100), class = "protonam_error_no_rows")
  expect_error(rows_of(na_action = mean), class = "protonam_error_argument")
})

test_that("weights and offsets are checked", {
  expect_null(check_weights(c(1, 1), 2, 1:2))
  expect_identical(check_weights(c(1L, 2L), 2, 1:2), c(1, 2))
  expect_snapshot(error = TRUE, {
    check_weights(c(1, -1), 2, 1:2)
    check_weights(c(1, NA), 2, 1:2)
    check_weights(c(0, 0), 2, 1:2)
    check_weights(c("1", "2"), 2, 1:2)
    check_length(1:3, 5, "weights")
    check_offset(c(1, NA), list(), list(), globalenv(), 2, 1:2)
    check_offset(1:3, list(), list(), globalenv(), 2, 1:2)
  })
  expect_identical(check_offset(c(1, 2), list(quote(a)), list(a = c(10, 20)), globalenv(), 2, 1:2), c(11, 22))
})

test_that("tasks are groups", {
  task <- function(value) {
    read_task(list(value = value, name = "g", expr = quote(g)), length(value), seq_along(value), list())
  }
  expect_identical(task(c("b", "a", "b"))[c("levels", "id")], list(levels = c("a", "b"), id = c(2L, 1L, 2L)))
  expect_identical(task(factor(c("u", "v"), levels = c("v", "u", "w")))$levels, c("v", "u"))
  expect_identical(task(c(1, 0, 1))$levels, c("0", "1"))
  expect_snapshot(error = TRUE, {
    task(c("a", "a"))
    task(1:50)
    read_task(list(value = 1:2, name = "g"), 2, 1:2, list(names = c("u", "v")))
  })
})

test_that("every class and group must be trained on", {
  response <- read_response(c("a", "b", "a"), "y")
  expect_error(check_training_rows(response, NULL, c(1, 3)), class = "protonam_error_one_class")
  counts <- read_response(c(0, 0, 3), "y", "poisson")
  expect_error(check_training_rows(counts, NULL, 1:2), "are zero", class = "protonam_error_one_class")
  expect_no_error(check_training_rows(counts, NULL, 2:3))
  numbers <- read_response(c(1, 2, 4), "y")
  task <- list(name = "g", levels = c("u", "v"), id = c(1L, 2L, 1L))
  expect_error(check_training_rows(numbers, task, c(1, 3)), "\"v\"", class = "protonam_error_task")
  expect_message(
    check_training_rows(numbers, task, 1:3), "\"u\" (2) and \"v\" (1)",
    fixed = TRUE, class = "protonam_message_small_group"
  )
})

# y is nearly 2 x: whatever rows are used, in whatever order, a fit finds that
line <- withr::with_seed(1, {
  line <- data.frame(x = rnorm(200), z = rnorm(200), id = rep(1:50, 4), sex = rep(c("f", "m"), 100))
  line$y <- 2 * line$x + rnorm(200) / 10
  line$count <- 1 + (line$x > 0)
  line
})
orders <- withr::with_seed(2, list(
  permutation = sample(200), bootstrap = sample(200, replace = TRUE), order = order(line$z), reversed = 200:1,
  longer = rep(1:200, 2), shuffled_half = sample(200, 100), left_out = -(1:20), logical = line$z > 0
))
quick <- function(...) {
  protonam(..., epochs = 20, lr = 0.01, hidden = 8, prototypes = 4, procedure = "paper", seed = 1, verbose = FALSE)
}

test_that("all rows means all in their own order", {
  expect_true(are_all_rows(1:4, 4))
  expect_true(are_all_rows(c(1, 2, 3, 4), 4))
  expect_false(are_all_rows(c(2L, 1L, 3L, 4L), 4))
  expect_false(are_all_rows(c(1L, 1L, 3L, 4L), 4))
  expect_identical(take_rows(letters[1:4], c(4L, 1L, 1L, 2L), 4), c("d", "a", "a", "b"))
  expect_identical(take_rows(list(a = 1:2, b = 3:4), 2:1, 2), list(a = 2:1, b = 4:3))
  expect_identical(rows_of(subset = 5:1)$kept, c(5L, 4L, 3L, 1L))
})

test_that("a subset of any order and with any copies equals the data in that order", {
  for (subset in orders) {
    rows <- seq_len(200)[subset]
    by_subset <- quick(y ~ x + z, line, subset = subset)
    expect_gt(cor(fitted(by_subset), line$y[rows])^2, 0.9)
    expect_identical(by_subset$y[, 1], line$y[rows])
    expect_equal(unname(fitted(by_subset)), unname(predict(by_subset, line[rows, ])), tolerance = 1e-12)
    expect_identical(unname(fitted(quick(line[c("x", "z")], line$y, subset = subset))), unname(fitted(by_subset)))
    if (!anyDuplicated(rows)) {
      expect_identical(unname(fitted(quick(y ~ x + z, line[rows, ]))), unname(fitted(by_subset)))
    }
  }
})

test_that("weights, offset, task, groups and validation follow the subset", {
  offset <- line$z * 3
  weights <- line$id
  shown <- function(fit) unname(cbind(fitted(fit), fit$weights, fit$offset_values))
  for (rows in orders[c("permutation", "order", "shuffled_half")]) {
    sorted <- line[rows, ]
    by_subset <- quick(
      y ~ x, line, subset = rows, weights = id, offset = offset, task = ~sex, groups = ~id, validation = 0.3
    )
    own_offset <- offset[rows]
    expect_identical(
      shown(by_subset),
      shown(quick(y ~ x, sorted, weights = id, offset = own_offset, task = ~sex, groups = ~id, validation = 0.3))
    )
    expect_identical(by_subset$weights, as.double(line$id[rows]))
    given <- line$id %in% 1:10
    chosen <- quick(y ~ x, line, subset = rows, validation = given)
    expect_identical(chosen$train, which(!given[rows]))
    expect_identical(quick(y ~ x, line, subset = rows, validation = which(given))$train, chosen$train)
    expect_identical(quick(cbind(y, x) ~ z, line, subset = rows)$y, unname(as.matrix(sorted[c("y", "x")])))
  }
})

test_that("copies of a row are on one side of every split", {
  rows <- orders$bootstrap
  fit <- quick(y ~ x, line, subset = rows)
  expect_length(intersect(rows[fit$train], rows[-fit$train]), 0L)
  expect_identical(anyDuplicated(names(fitted(fit))), 0L)
  classes <- split_rows(0.25, rep(1:40, 2), 40, NULL, rep(rep(0:1, 20), 2), seed = 1)
  expect_length(intersect(classes$train %% 40, classes$validation %% 40), 0L)
  expect_identical(as.vector(table(classes$validation %% 2)), c(10L, 10L))
})

test_that("a subset with numbers to use and to leave out is an error", {
  expect_error(rows_of(subset = c(-1, 2)), "it has both", class = "protonam_error_subset")
  expect_error(rows_of(subset = c(-1, NA)), class = "protonam_error_subset")
})

test_that("weights, offset and na.action of the wrong kind are refused", {
  expect_snapshot(error = TRUE, {
    check_length(matrix(1, 5, 2), 5, "offset")
    check_offset(NULL, list(quote(cbind(a, a))), list(a = 1:2), globalenv(), 2, 1:2)
    check_weights(c(1e308, 1e308), 2, 1:2)
    rows_of("junk")
    rows_of(5)
    rows_of(list())
    rows_of(c("na.omit", "na.pass"))
  })
  expect_error(quick(y ~ x, line, offset = cbind(x, z)), class = "protonam_error_offset")
  expect_error(quick(y ~ x, line, weights = cbind(id, id)), class = "protonam_error_weights")
  expect_identical(quick(y ~ x, line, offset = cbind(z))$offset_values, line$z)
})
