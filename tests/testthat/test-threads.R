test_that("the argument comes first, then the environment, the option, and 2", {
  withr::local_envvar(PROTONAM_THREADS = NA)
  withr::local_options(protonam.threads = NULL)
  expect_identical(resolve_threads(), 2L)
  withr::local_options(protonam.threads = 3)
  expect_identical(resolve_threads(), 3L)
  withr::local_envvar(PROTONAM_THREADS = "4")
  expect_identical(resolve_threads(), 4L)
  expect_identical(resolve_threads(1), 1L)
  expect_identical(resolve_threads(1000), 1000L)
})

test_that("a thread count that is none is refused wherever it comes from", {
  expect_error(resolve_threads(0), class = "protonam_error_argument")
  withr::local_envvar(PROTONAM_THREADS = "many")
  expect_error(resolve_threads(), "PROTONAM_THREADS", class = "protonam_error_argument")
})

test_that("too many threads are cut down by the engine", {
  data <- mixed_data(40)
  expect_identical(
    predict(tiny_fit(y ~ age + lab, data, threads = 1000), data),
    predict(tiny_fit(y ~ age + lab, data, threads = 1), data)
  )
})
