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

test_that("rows of weight zero are neither trained on nor validated with", {
  expect_identical(
    set_aside(list(train = 1:3, validation = 4:5), c(1, 0, 1, 0, 2)),
    list(train = c(1L, 3L), validation = 5L, rest = c(2L, 4L))
  )
  expect_error(set_aside(list(train = 1L, validation = 2L), c(0, 1)), class = "protonam_error_weights")
})

test_that("every class and group must be trained on", {
  response <- read_response(c("a", "b", "a"), "y")
  expect_error(check_training_rows(response, NULL, c(1, 3)), class = "protonam_error_one_class")
  numbers <- read_response(c(1, 2, 4), "y")
  task <- list(name = "g", levels = c("u", "v"), id = c(1L, 2L, 1L))
  expect_error(check_training_rows(numbers, task, c(1, 3)), "\"v\"", class = "protonam_error_task")
  expect_message(
    check_training_rows(numbers, task, 1:3), "\"u\" (2) and \"v\" (1)",
    fixed = TRUE, class = "protonam_message_small_group"
  )
})
