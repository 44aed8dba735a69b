# Gradients of random configurations against central differences of the loss along random directions, and the same
# bits for any number of threads.

shift_params <- function(case, direction, by) {
  case$params <- Map(function(p, d) p + by * d, case$params, direction)
  case
}

for (seed in 1:40) {
  case <- random_case(seed)
  label <- with(case$config, paste0(
    "case ", seed, ": order ", order, ", ", norm, " norm, ", n_layers, " layers, ", problem, ", ", n_tasks, " tasks"
  ))
  test_that(paste("gradient agrees with finite differences,", label), {
    grads <- engine_gradient(case)$grads
    withr::local_seed(seed)
    # Half along the gradient, so that the change stands well above single precision, half random.
    size <- sqrt(sum(vapply(grads, function(g) sum(g^2), 0)))
    direction <- lapply(grads, function(g) g / size + array(stats::rnorm(length(g)), dim(g)) / sqrt(length(g)) / 4)
    slope <- sum(mapply(function(g, d) sum(g * d), grads, direction))
    by <- 2e-3
    loss <- function(by) engine_gradient(shift_params(case, direction, by))$loss
    difference <- (loss(by) - loss(-by)) / (2 * by)
    expect_lt(abs(difference - slope) / max(abs(slope), 1e-2), 0.03)
  })

  test_that(paste("any number of threads gives the same bits,", label), {
    one <- engine_gradient(case, threads = 1L)
    for (threads in c(2L, 3L, 8L)) expect_identical(engine_gradient(case, threads = threads), one)
  })
}

test_that("equal values computed once or apart give the same gradient", {
  for (seed in 1:10) {
    case <- random_case(seed)
    once <- engine_gradient(case, equal_values = TRUE)
    apart <- engine_gradient(case, equal_values = FALSE)
    expect_equal(once$loss, apart$loss, tolerance = 1e-6)
    expect_equal(once$grads, apart$grads, tolerance = 1e-4)
  }
})

test_that("an integer weight is as good as copies of the row", {
  for (seed in 1:10) {
    case <- random_case(seed)
    times <- sample(1:3, nrow(case$x), replace = TRUE)
    rows <- rep(seq_len(nrow(case$x)), times)
    case$weights <- times
    copied <- case
    copied$weights <- NULL
    copied$x <- case$x[rows, , drop = FALSE]
    copied$y <- case$y[rows, , drop = FALSE]
    copied$offset <- case$offset[rows]
    copied$task <- case$task[rows]
    weighted <- engine_gradient(case)
    expect_equal(weighted$loss, engine_gradient(copied)$loss, tolerance = 1e-6)
    expect_equal(weighted$grads, engine_gradient(copied)$grads, tolerance = 1e-4)
  }
})

test_that("dropout masks differ by step, keep the mean and vanish at prediction", {
  case <- random_case(3)
  case$config[c("dropout", "dropout_output")] <- list(0.4, 0.2)
  config <- engine_config(case)
  expect_false(config$dropout == 0)
  dropped <- engine_gradient(case, equal_values = FALSE)
  expect_false(isTRUE(all.equal(dropped$loss, engine_gradient(random_case(3))$loss)))
  expect_identical(engine_gradient(case, equal_values = FALSE, threads = 3L), dropped)
  steps <- engine_steps(utils::modifyList(case, list(config = list(lr = 0))), 3, equal_values = FALSE)
  expect_length(unique(steps$losses), 3)
})
