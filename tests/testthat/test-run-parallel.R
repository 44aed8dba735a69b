# Plans with workers need the installed package; under load_all() the workers would not find it.
local_plan <- function(..., envir = parent.frame()) {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if_not(nzchar(system.file("Meta", "package.rds", package = "protonam")), "protonam is not installed")
  old <- future::plan(...)
  withr::defer(future::plan(old), envir = envir)
}

double <- function(item, threads) {
  if (item == 3) stop("no threes")
  2 * item
}

# Kills its own process; with a file as `flag` only the first time.
fragile <- function(item, threads, flag = NULL) {
  if (item == 2 && (is.null(flag) || !file.exists(flag))) {
    if (!is.null(flag)) file.create(flag)
    tools::pskill(Sys.getpid(), tools::SIGKILL)
    Sys.sleep(5)
  }
  item
}
environment(double) <- environment(fragile) <- globalenv()

# What must not depend on the plan: all but times.
timeless <- function(fit) fit[setdiff(names(fit), c("seconds", "elapsed", "call"))]

many_fits <- function() {
  data <- mixed_data(60)
  space <- protonam_space(
    hidden = 8, prototypes = c(2, 4), layers = 1:2, epochs = 4, batch_size = 16, lr = search_range(1e-3, 1e-2)
  )
  list(
    ensemble = timeless(tiny_fit(y ~ age + lab, data, ensemble = 3)),
    bootstrap = timeless(tiny_fit(y ~ age + lab, data, ensemble = 2, bootstrap = TRUE)),
    cv = cv_protonam(dead ~ age + unit, data, folds = 3, control = tiny(), seed = 1, verbose = FALSE),
    tune = timeless(tune_protonam(y ~ age + lab, data, n = 4, space = space, seed = 1, eta = 2, control = tiny()))
  )
}

test_that("one item that fails is left out with a warning, the others are kept", {
  expect_warning(result <- map_work(list(a = 1, b = 3, c = 4), double), "b: no threes",
    class = "protonam_warning_left_out"
  )
  expect_identical(result, list(2, NULL, 8))
  expect_error(map_work(list(3, 3), double), "no threes")
})

test_that("an item that fails is tried once more, an error of ours is not", {
  tries <- 0
  expect_identical(map_work(list(1), function(item, threads) {
    tries <<- tries + 1
    if (tries == 1) stop("try again")
    item
  }), list(1))
  expect_identical(tries, 2)
  expect_error(map_work(list(1), function(item, threads) {
    tries <<- tries + 1
    pn_abort("bad input")
  }), class = "protonam_error")
  expect_identical(tries, 3)
})

test_that("threads of a machine are divided among its workers", {
  expect_identical(worker_threads(8, list(sharing = 2)), 4L)
  expect_identical(worker_threads(1, list(sharing = 4)), 1L)
  withr::local_envvar(PROTONAM_THREADS = "6")
  expect_identical(worker_threads(NULL, list(sharing = 4)), 1L)
  withr::local_envvar(PROTONAM_THREADS = "")
  withr::local_options(protonam.threads = NULL)
  # another machine counts its own cores
  expect_null(worker_threads(NULL, list(sharing = 2, local = FALSE)))
  expect_identical(share_of(5, 2), 2L)
})

test_that("a single item has all threads of a machine", {
  local_plan("multisession", workers = 2)
  told <- function(item, threads) threads
  environment(told) <- globalenv()
  expect_identical(map_work(list(1), told, threads = 2), list(2L))
  expect_identical(map_work(list(1, 2, 3), told, threads = 2), list(1L, 1L, 1L))
})

test_that("with_seed() leaves R's generator as it was", {
  set.seed(1)
  before <- .Random.seed
  value <- with_seed(5, runif(2))
  expect_identical(.Random.seed, before)
  expect_identical(with_seed(5, runif(2)), value)
})

test_that("a formula travels with what it needs", {
  shift <- 3
  formula <- portable_formula(y ~ I(x + shift), c("x", "y"))$formula
  expect_identical(ls(environment(formula)), "shift")
})

test_that("functions of a formula travel with what they use, and packages are named", {
  assign("exponent", 2, globalenv())
  assign("bend", eval(quote(function(x) abs(x)^exponent), globalenv()), globalenv())
  withr::defer(rm(list = c("exponent", "bend"), envir = globalenv()))
  portable <- portable_formula(stats::as.formula("y ~ bend(x)", globalenv()), c("x", "y"))
  slim <- environment(portable$formula)
  expect_true(all(c("exponent", "bend") %in% ls(slim)))
  expect_identical(environment(slim$bend), slim)
  expect_identical(portable$packages, character())
  attached <- stats::as.formula("y ~ test_that(x)", globalenv())
  expect_identical(portable_formula(attached, c("x", "y"))$packages, "testthat")
})

test_that("what travels is the data that are needed, and no frame of the caller", {
  unrelated <- stats::rnorm(1e5)
  data <- cbind(mixed_data(60), other = 1)
  job <- resampling_job(
    y ~ age, data, list(weights = NULL, offset = NULL, subset = NULL), environment(),
    list(task = ~male, na_action = stats::na.pass), list()
  )
  slim <- slim_job(job)
  expect_setequal(names(slim$columns), c("y", "age", "male"))
  expect_lt(length(serialize(list(slim, work_progress(3)), NULL)), 1e5)
})

test_that("the numbers are the same under every plan", {
  sequential <- many_fits()
  local({
    local_plan("multisession", workers = 2)
    expect_identical(many_fits(), sequential)
  })
  local({
    local_plan("cluster", workers = c("localhost", "localhost"))
    expect_identical(many_fits(), sequential)
  })
})

test_that("a lost worker's items are repeated, or left out with a warning", {
  local_plan("multisession", workers = 2)
  flag <- withr::local_tempfile()
  expect_warning(
    result <- map_work(list(1, 2, 3, 4), fragile, flag = flag),
    class = "protonam_warning_lost_worker"
  )
  expect_identical(result, list(1, 2, 3, 4))
  warnings <- capture_warnings(result <- map_work(list(1, 2, 3), fragile))
  expect_length(warnings, 2L)
  expect_identical(result, list(1, NULL, 3))
  # the plan has living workers again
  expect_identical(capture_warnings(again <- map_work(list(1, 3), fragile)), character())
  expect_identical(again, list(1, 3))
})

test_that("an ensemble outlives the death of a worker", {
  skip_on_os("windows")
  data <- simulate_icu(500, seed = 1)
  fit <- function(...) {
    protonam(died ~ age + lactate, data, procedure = "paper", seed = 1, threads = 1, verbose = FALSE, ...)
  }
  # long enough for the blow to fall while members train
  second <- 20 / system.time(fit(epochs = 20))[["elapsed"]]
  local_plan("multisession", workers = 2)
  workers <- lapply(1:2, function(i) {
    future::future(
      {
        Sys.sleep(0.3)
        Sys.getpid()
      },
      seed = NULL
    )
  })
  victim <- future::value(workers[[2]])
  system2("sh", c("-c", shQuote(sprintf("sleep 1.5; kill -9 %d", victim))), wait = FALSE)
  expect_warning(
    whole <- fit(ensemble = 2, epochs = ceiling(4 * second)), "repeating member",
    class = "protonam_warning_lost_worker"
  )
  expect_gte(length(whole$members), 1)
  expect_lt(additivity_gap(whole, data), 1e-6)
})

test_that("an ensemble grows by its members' parameters alone", {
  data <- mixed_data(120)
  size <- function(members) {
    control <- protonam_control(prototypes = 32, layers = 4, epochs = 4, procedure = "paper")
    fit <- protonam(y ~ age + lab, data, control = control, seed = 1, ensemble = members)
    c(all = as.numeric(object.size(timeless(fit))), parameters = 8 * length(fit$members[[1]]$params))
  }
  two <- size(2)
  ten <- size(10)
  expect_lt((ten[["all"]] - two[["all"]]) / 8, 1.2 * two[["parameters"]])
})

test_that("progressr hears of every item", {
  skip_if_not_installed("progressr")
  loadNamespace("progressr")
  heard <- 0
  progressr::with_progress(
    withCallingHandlers(map_work(list(1, 2), double), progression = function(p) {
      if (p$type == "update") heard <<- heard + p$amount
    }),
    handlers = progressr::handler_void(), enable = TRUE
  )
  expect_identical(heard, 2)
})

test_that("progressr hears of folds, trials and an ensemble's shares", {
  skip_if_not_installed("progressr")
  local_plan("multisession", workers = 2)
  data <- mixed_data(60)
  heard <- function(expr) {
    steps <- 0
    progressr::with_progress(
      withCallingHandlers(expr, progression = function(p) if (p$type == "update") steps <<- steps + p$amount),
      handlers = progressr::handler_void(), enable = TRUE
    )
    steps
  }
  expect_identical(heard(cv_protonam(y ~ age, data, folds = 3, control = tiny(), seed = 1)), 3)
  expect_identical(heard(tune_protonam(y ~ age, data, n = 2, control = tiny(), seed = 1, verbose = FALSE)), 2)
  searched <- heard(tune_protonam(y ~ age, data, n = 4, eta = 2, control = tiny(), seed = 1, verbose = FALSE))
  expect_identical(searched, 7) # 4, 2 and 1 trials
  expect_identical(heard(tiny_fit(y ~ age, data, ensemble = 4)), 2)
})
