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

test_that("there are no more threads than cores", {
  expect_lte(.Call(ffi_threads, 64L), count_cores())
  expect_identical(.Call(ffi_threads, 1L), 1L)
  expect_identical(.Call(ffi_threads, NA_integer_), 1L)
})

test_that("a thread that cannot be made does not end R", {
  skip_on_cran()
  skip_if_not(nzchar(Sys.which("prlimit")) && file.exists("/proc/self/statm"), "prlimit")
  count_cores()
  output <- run_r("
    data <- data.frame(x = 1:400 / 7, y = sin(1:400))
    fit <- function(...) {
      tryCatch(
        protonam(y ~ x, data, epochs = 2, procedure = 'paper', seed = 1, verbose = FALSE, ...)$fitted,
        error = conditionMessage
      )
    }
    one <- fit(threads = 1)
    page <- as.numeric(system('getconf PAGESIZE', intern = TRUE))
    for (spare in c(3, 6, 9, 12, 20, 40)) {
      used <- scan('/proc/self/statm', quiet = TRUE)[1] * page
      system2('prlimit', c('--pid', Sys.getpid(), sprintf('--as=%.0f:unlimited', used + spare * 2^20)))
      two <- fit(threads = 2)
      more <- fit(threads = 2, ensemble = 3)
      system2('prlimit', c('--pid', Sys.getpid(), '--as=unlimited:unlimited'))
      cat(spare, 'MB:', if (identical(one, two)) 'same' else paste(two)[1], '\\n')
    }
    cat('alive\\n')
  ")
  expect_true("alive" %in% trimws(output), info = paste(output, collapse = "\n"))
})
