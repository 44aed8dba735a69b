# What R raises while members train side by side: an interrupt, an elapsed time limit, an error of the progress
# function.

test_that("an ensemble that takes too long ends in R's own error", {
  skip_on_cran()
  data <- mixed_data(100)
  late <- function(...) {
    setTimeLimit(elapsed = 0.3, transient = TRUE)
    on.exit(setTimeLimit())
    protonam(y ~ age + lab, data, epochs = 1e5, procedure = "paper", seed = 1, verbose = FALSE, ...)
  }
  for (ensemble in c(1, 3)) {
    raised <- tryCatch(late(ensemble = ensemble), error = identity, interrupt = function(c) "an interrupt")
    expect_s3_class(raised, "error")
    expect_match(conditionMessage(raised), "elapsed time limit")
  }
  # R and the engine are healthy afterwards
  expect_no_error(tiny_fit(y ~ age, data, ensemble = 3))
})

test_that("Ctrl-C ends an ensemble at once, whichever threads still have members", {
  skip_on_cran()
  skip_on_os("windows")
  count_cores()
  # three members on two threads: at 1.15 of a member's time one thread has nothing left to train
  output <- run_r("
    data <- data.frame(x = sin(1:2000), z = cos(1:2000 * 3), y = sin(1:2000 * 7))
    seconds <- function(epochs, ensemble) {
      started <- proc.time()[['elapsed']]
      protonam(y ~ x + z, data, epochs = epochs, batch_size = 256, procedure = 'paper', seed = 1, threads = 2,
        ensemble = ensemble)
      proc.time()[['elapsed']] - started
    }
    invisible(seconds(5, 2))
    epochs <- ceiling(50 * 2 / seconds(50, 2))
    member <- seconds(epochs, 2)
    for (trial in 1:4) {
      system(sprintf('(sleep %.2f; kill -INT %d) >/dev/null 2>&1', 1.15 * member, Sys.getpid()), wait = FALSE)
      started <- proc.time()[['elapsed']]
      ended <- tryCatch({ seconds(epochs, 3); Sys.sleep(5); 'done' }, interrupt = function(c) 'interrupted')
      late <- (proc.time()[['elapsed']] - started) / member - 1.15
      cat('trial:', ended, if (late < 0.25) 'at once' else paste(late, 'of a member later'), '\\n')
    }
  ")
  expect_identical(trimws(grep("^trial", output, value = TRUE)), rep("trial: interrupted at once", 4L))
})

test_that("an error of the progress function is the one that arrives", {
  data <- mixed_data(60)
  control <- resolve_control(tiny(), 60)
  shape <- list(n_outputs = 1L, n_tasks = 1L, task_kind = "none")
  config <- model_config(control, model_components(1, 1), 1, "gaussian", shape)
  rows <- encoded_data(list(.Call(ffi_distinct, as.double(data$age), NULL)), 60, matrix(data$y))
  # long enough that the main thread, which reports, has one of them
  control$epochs <- 2000
  train <- train_settings(control, c(1, 2, 3), 2L)
  start <- list(centers = matrix(c(-1, 0, 1, 2), 4L), seed = c(1, 2, 3), relation = NULL)
  fail <- function(member, epoch, loss, score) pn_abort("Enough.", class = "enough")
  expect_error(.Call(ffi_fit, config, rows, NULL, start, train, fail), "Enough", class = "protonam_error_enough")
  expect_length(.Call(ffi_fit, config, rows, NULL, start, train, NULL), 3L)
})

test_that("a fit of layer 0 ends in the middle", {
  data <- simulated("binomial", 1, n = 200000L)
  rows <- smooth_rows(data$x, data$y)
  terms <- lapply(data$x, spline_term, 30)
  done <- FALSE
  late <- function() {
    setTimeLimit(elapsed = 0.05, transient = TRUE)
    on.exit(setTimeLimit())
    smooth_fit(smooth_config(3L, "binomial"), rows, unname(terms))
    done <<- TRUE
  }
  expect_error(late(), "elapsed time limit")
  expect_false(done)
})
