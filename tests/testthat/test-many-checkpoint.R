bits <- function(x) digest(unclass(x)[setdiff(names(x), c("seconds", "call"))])

# A call that ends with an error once its checkpoint has so many finished units.
stop_after <- function(units, expr) {
  real <- unit_put
  local_replaced("unit_put", function(store, key, value) {
    real(store, key, value)
    keys <- ls(store$core$units)
    if (sum(!grepl("[/~]", keys)) >= units) stop_here()
  })
  withr::local_options(protonam.checkpoint_seconds = 0)
  tryCatch(list(value = expr), interrupt_here = function(e) NULL)
}

# not an error: those of single items are caught
stop_here <- function() {
  signalCondition(structure(class = c("interrupt_here", "condition"), list(message = "stop", call = NULL)))
}

quick_cv <- function(data, ...) {
  cv_protonam(y ~ a + b, data, ensemble = 2, control = quick_own(), seed = 1, verbose = FALSE, ...)
}

test_that("a cross-validation goes on after its last fold", {
  data <- jump_data(120)
  cv <- function(...) quick_cv(data, folds = 3, ...)
  whole <- bits(cv())
  file <- withr::local_tempfile()
  for (k in 1:3) {
    expect_null(stop_after(k, cv(checkpoint = file)))
    expect_message(rest <- cv(checkpoint = file), sprintf("%d fold", k), class = "protonam_message_checkpoint")
    expect_identical(bits(rest), whole)
    expect_false(file.exists(file))
  }
  expect_null(stop_after(1, cv(checkpoint = file)))
  expect_error(
    cv_protonam(y ~ a + b, data, folds = 3, ensemble = 2, control = quick_own(13), seed = 1, checkpoint = file),
    "settings", class = "protonam_error_checkpoint_differs"
  )
  expect_error(own_fit(y ~ a, data, checkpoint = file), "belongs to a cross-validation",
    class = "protonam_error_checkpoint_differs"
  )
})

test_that("a search goes on after its last run, and can be added to", {
  data <- jump_data(120)
  space <- protonam_space(
    hidden = 8, prototypes = c(2, 4), layers = 1:2, epochs = 12, batch_size = 32, lr = search_range(1e-3, 1e-2)
  )
  search <- function(..., n = 4) {
    tune_protonam(y ~ a + b, data,
      n = n, eta = 2, space = space, ensemble = 2, control = quick_own(), verbose = FALSE, ...
    )
  }
  whole <- search(seed = 1)
  file <- withr::local_tempfile()
  for (k in c(1, 4, 6)) {
    expect_null(stop_after(k, search(seed = 1, checkpoint = file)))
    expect_identical(bits(suppressMessages(search(seed = 1, checkpoint = file))), bits(whole), info = k)
  }
  more <- search(resume = whole, n = 2)
  expect_null(stop_after(2, search(resume = whole, n = 2, checkpoint = file)))
  expect_identical(bits(suppressMessages(search(resume = whole, n = 2, checkpoint = file))), bits(more))
  # without a seed that of the interrupted search
  set.seed(1)
  drawn <- search()
  set.seed(1)
  expect_null(stop_after(2, search(checkpoint = file)))
  expect_identical(bits(suppressMessages(search(checkpoint = file))), bits(drawn))
})

test_that("folds and members are kept as they come back from workers", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if_not(nzchar(system.file("Meta", "package.rds", package = "protonam")), "protonam is not installed")
  old <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(old))
  data <- jump_data(120)
  cv <- function(...) quick_cv(data, folds = 4, ...)
  fit <- function(...) tiny_fit(y ~ a + b, data, ensemble = 4, ...)
  file <- withr::local_tempfile()
  for (run in list(cv, fit)) {
    whole <- run()
    count <- function(x) digest(unclass(x)[setdiff(names(x), c("seconds", "elapsed", "call"))])
    expect_identical(count(run(checkpoint = file)), count(whole))
    future::plan("multisession", workers = 2)
    if (identical(run, cv)) {
      expect_null(stop_after(2, run(checkpoint = file)))
      expect_message(rest <- run(checkpoint = file), "Continuing")
      expect_identical(count(rest), count(whole))
    }
  }
})

test_that("a cross-validation that was killed goes on to the same bits", {
  skip_on_cran()
  skip_on_os("windows")
  file <- withr::local_tempfile()
  code <- "cv <- cv_protonam(died ~ age + lactate, simulate_icu(1000, seed = 1), folds = 3, epochs = 30, seed = 1,
    ensemble = 4, prototypes_for = TRUE, verbose = FALSE, checkpoint = checkpoint)"
  expect_true(kill_r(code, file, 1e5))
  checkpoint <- NULL
  whole <- bits(eval(parse(text = code)))
  checkpoint <- file
  expect_message(rest <- eval(parse(text = code)), "Continuing from")
  expect_identical(bits(rest), whole)
})
