test_that("conditions carry classes and fields", {
  error <- tryCatch(pn_abort("{.arg x} is bad", class = "k", arg = "x", extra = 1), error = identity)
  expect_s3_class(error, c("protonam_error_k", "protonam_error", "error"), exact = FALSE)
  expect_identical(error$arg, "x")
  expect_identical(error$extra, 1)
  expect_identical(conditionMessage(error), "`x` is bad")
  expect_warning(pn_warn("careful", class = "k"), class = "protonam_warning_k")
  expect_message(pn_inform("note", class = "k"), class = "protonam_message_k")
})

test_that("values in messages are data, not templates", {
  name <- "a{b}c"
  expect_error(pn_abort("column {.field {name}}"), "a{b}c", fixed = TRUE)
  expect_error(pn_abort(c("no", suggest("a{b", "a{b}"))), "\"a{b}\"", fixed = TRUE)
})

test_that("numbers are checked and say what is needed", {
  expect_identical(check_number(3L, "n", min = 1, whole = TRUE), 3)
  expect_identical(check_number(Inf, "n", infinite = TRUE), Inf)
  expect_snapshot(error = TRUE, {
    check_number(0, "order", min = 1, whole = TRUE, infinite = TRUE)
    check_number(1.5, "n", min = 1, whole = TRUE)
    check_number(NaN, "lr", above = 0)
    check_number(1, "dropout", min = 0, below = 1)
    check_number("1", "lr", above = 0)
    check_number(c(1, 2), "lr")
    check_number(Inf, "epochs", min = 1, max = 100)
    check_flag(NA, "verbose")
    check_choice("quantil", c("quantile", "minmax"), "scaling")
  })
})

test_that("the nearest name is suggested only when it is near", {
  expect_identical(nearest("epoch", c("epochs", "lr")), "epochs")
  expect_identical(nearest("weigth_decay", c("weight_decay", "lr")), "weight_decay")
  expect_null(nearest("zzz", c("epochs", "lr")))
  expect_identical(some(1:7), "\"1\", \"2\", \"3\", \"4\", \"5\" and 2 more")
  expect_identical(some(c("a", "b")), "\"a\" and \"b\"")
})
