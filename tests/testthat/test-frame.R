frame_of <- function(formula, data, ...) formula_frame(formula, as_columns(data, "data"), ...)
d <- data.frame(y = c(1, 2, 3), a = 4:6, b = c("u", "v", "u"), `my col` = 7:9, check.names = FALSE)

test_that("`.`, minus, transformations and offsets work, text stays text", {
  expect_named(frame_of(y ~ ., d)$columns, c("a", "b", "my col"))
  expect_named(frame_of(y ~ . - a, d)$columns, c("b", "my col"))
  frame <- frame_of(log(y) ~ log(a) + I(a^2) + `my col` + offset(a), d)
  expect_named(frame$columns, c("log(a)", "I(a^2)", "my col"))
  expect_equal(frame$columns[["log(a)"]], log(4:6))
  expect_equal(frame$response$value, log(1:3))
  expect_identical(frame$offset, list(quote(a)))
  expect_identical(frame_of(y ~ ., d)$columns$b, d$b)
  expect_named(frame_of(log(y) ~ ., d)$columns, c("a", "b", "my col"))
  expect_named(frame_of(y ~ ., d, left_out = "a")$columns, c("b", "my col"))
  expect_named(frame_of(y ~ . + a, d, left_out = "a")$columns, c("a", "b", "my col"))
})

test_that("tibbles, data.tables, lists, matrices and bare variables do as data", {
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  columns <- frame_of(y ~ a + b, d)$columns
  expect_identical(frame_of(y ~ a + b, tibble::as_tibble(d))$columns, columns)
  expect_identical(frame_of(y ~ a + b, data.table::as.data.table(d))$columns, columns)
  expect_identical(frame_of(y ~ a + b, as.list(d))$columns, columns)
  expect_identical(frame_of(y ~ a, as.matrix(d[c("y", "a")]))$columns$a, as.double(d$a))
  y <- 1:3
  a <- 4:6
  expect_identical(formula_frame(y ~ a, environment())$columns$a, 4:6)
})

test_that("scale() in a formula keeps the training data's numbers", {
  frame <- frame_of(y ~ scale(a), d)
  new <- columns_from(frame$variables, frame$data_names, frame$env, as_columns(data.frame(a = 5), "newdata"))
  expect_equal(as.vector(new[[1]]), 0)
})

test_that("variables outside the data are kept with the fit, and nothing else is", {
  make <- function() {
    big <- rnorm(1e5)
    limit <- 4.5
    above <- function(x) x > limit
    frame_of(y ~ above(a) + b, d)
  }
  frame <- make()
  slim <- slim_environment(frame$variables, frame$data_names, frame$env)
  expect_setequal(ls(slim), "above")
  expect_false(exists("big", envir = slim))
  expect_identical(eval(frame$variables[[1]], list(a = 4:5), slim), c(FALSE, TRUE))
})

test_that("cbind() responses stay separate columns", {
  response <- frame_of(cbind(y, extra = a) ~ b, d)$response
  expect_named(response$value, c("y", "extra"))
  expect_identical(evaluate_response(quote(cbind(b, a)), as_columns(d, "d"), globalenv())$value$b, d$b)
})

test_that("formulas and data that cannot be meant are refused", {
  twice <- data.frame(y = 1, a = 1, a = 2, check.names = FALSE)
  expect_snapshot(error = TRUE, {
    frame_of(~a, d)
    frame_of(y ~ a:b, d)
    frame_of(y ~ a * b, d)
    frame_of(y ~ 1, d)
    frame_of(y ~ aa, d)
    frame_of(y ~ a, twice)
    frame_of(y ~ a, "d")
    frame_of(y ~ rep(1, 5), d)
    formula_frame(y ~ ., globalenv())
    table_frame(as_columns(d["a"], "x"), 1:2, "y")
    table_frame(as_columns(d[0], "x"), 1:3, "y")
    resolve_role(y ~ a, as_columns(d, "data"), globalenv(), "groups", 3)
    resolve_role(~aa, as_columns(d, "data"), globalenv(), "groups", 3)
    resolve_role(1:2, as_columns(d, "data"), globalenv(), "task", 3)
  })
  expect_message(frame_of(y ~ a - 1, d), class = "protonam_message_intercept")
})

test_that("variables are found in expressions, also in d$x and pkg::f(x)", {
  expect_identical(variables_in(quote(log(a) + b:c)), c("a", "b", "c"))
  expect_identical(variables_in(quote(d$x + stats::sd(y[i]))), c("d", "y", "i"))
  outside <- d
  expect_identical(formula_frame(outside$y ~ outside$a, environment())$columns[[1]], d$a)
})
