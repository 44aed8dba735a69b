# all but times and what has an environment
bits <- function(x) digest(unclass(x)[setdiff(names(x), c("seconds", "elapsed", "call"))])

# Interrupts a call when its checkpoint is written for the k-th time, as an error from within.
stop_at_write <- function(k, expr) {
  real <- write_checkpoint
  count <- 0
  local_replaced("write_checkpoint", function(core) {
    failure <- real(core)
    count <<- count + 1
    if (count == k) stop("interrupted here")
    failure
  })
  withr::local_options(protonam.checkpoint_seconds = 0)
  tryCatch(list(value = expr), error = function(e) {
    if (!grepl("interrupted here", conditionMessage(e))) stop(e)
    NULL
  })
}

test_that("a fit that is stopped anywhere goes on to the same bits", {
  data <- jump_data(200)
  cases <- list(
    default = function(...) own_fit(dead ~ a + b + unit, data, prototypes_for = TRUE, ...),
    one = function(...) own_fit(y ~ a + b, data, ensemble = 1, prototypes_for = TRUE, ...),
    pairs = function(...) own_fit(y ~ a + b + unit, data, order = 2, ensemble = 2, epochs = 6, ...),
    paper = function(...) tiny_fit(class ~ a + b, data, ensemble = 3, ...),
    bootstrap = function(...) tiny_fit(y ~ a + b, data, ensemble = 2, bootstrap = TRUE, ...)
  )
  for (name in names(cases)) {
    whole <- bits(cases[[name]]())
    for (k in c(2, 5, 9, 14, 30)) {
      file <- withr::local_tempfile()
      first <- stop_at_write(k, cases[[name]](checkpoint = file))
      if (!is.null(first)) next # it was over before
      expect_true(file.exists(file))
      expect_message(rest <- cases[[name]](checkpoint = file), "Continuing from", class = "protonam_message_checkpoint")
      expect_identical(bits(rest), whole, info = paste(name, k))
      expect_false(file.exists(file))
    }
  }
})

test_that("a checkpoint changes nothing, and is gone afterwards", {
  data <- jump_data(200)
  file <- withr::local_tempfile()
  expect_identical(
    bits(own_fit(y ~ a + b, data, checkpoint = file)), bits(own_fit(y ~ a + b, data))
  )
  expect_false(file.exists(file))
})

test_that("without a seed the interrupted fit's is used, and R's generator moves on as it would have", {
  data <- jump_data(200)
  file <- withr::local_tempfile()
  fit <- function(...) protonam(y ~ a + b, data, control = quick_own(), ensemble = 2, verbose = FALSE, ...)
  set.seed(1)
  whole <- fit()
  set.seed(1)
  expect_null(stop_at_write(3, fit(checkpoint = file)))
  expect_identical(bits(suppressMessages(fit(checkpoint = file))), bits(whole))
  set.seed(1)
  fit()
  expected <- runif(1)
  set.seed(1)
  expect_null(stop_at_write(3, fit(checkpoint = file)))
  set.seed(1)
  suppressMessages(fit(checkpoint = file))
  expect_identical(runif(1), expected)
})

test_that("other data and other settings are told apart", {
  data <- jump_data(200)
  file <- withr::local_tempfile()
  expect_null(stop_at_write(3, own_fit(y ~ a + b, data, checkpoint = file)))
  what <- function(...) {
    raised <- tryCatch(own_fit(..., checkpoint = file), protonam_error_checkpoint_differs = identity)
    raised$what
  }
  other <- data
  other$a[7] <- other$a[7] + 1
  expect_identical(what(y ~ a + b, other), "data")
  expect_identical(what(y ~ a + b, data, epochs = 13), "settings")
  expect_identical(what(y ~ a + b, data, seed = 2), "settings")
  expect_identical(what(y ~ a + b, data[-1, ]), "data")
  expect_identical(what(y2 ~ a + b, data), "data")
  # an error in none of these changed the file
  expect_message(own_fit(y ~ a + b, data, checkpoint = file), "Continuing")
})

test_that("update() passes it on", {
  data <- jump_data(200)
  fit <- own_fit(y ~ a + b, data)
  expect_error(update(fit, checkpoint = file.path(tempdir(), "no", "a")), class = "protonam_error_checkpoint_path")
})

test_that("a fit that was killed goes on to the same bits", {
  skip_on_cran()
  skip_on_os("windows")
  file <- withr::local_tempfile()
  code <- "fit <- protonam(died ~ age + lactate, simulate_icu(2000, seed = 1), epochs = 60, prototypes_for = TRUE,
    seed = 1, verbose = FALSE, checkpoint = checkpoint)"
  expect_true(kill_r(code, file, 2e5))
  checkpoint <- NULL
  whole <- bits(eval(parse(text = code)))
  checkpoint <- file
  expect_message(rest <- eval(parse(text = code)), "Continuing from")
  expect_identical(bits(rest), whole)
})
