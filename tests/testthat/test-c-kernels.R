# Kernels of every level against the portable ones, through the engine: odd widths, every order, norm and loss.

for (level in setdiff(kernel_levels(), "scalar")) {
  test_that(paste("kernels agree with the portable ones:", level), {
    for (seed in 101:130) {
      case <- random_case(seed)
      case$config$hidden <- c(1L, 5L, 8L, 13L, 16L, 31L, 32L, 33L, 64L, 67L)[seed %% 10 + 1L]
      index <- slab_index(engine_config(case))
      case$params <- withr::with_seed(seed, {
        lapply(index, function(at) array(stats::rnorm(length(at), sd = 0.4), dim(at)))
      })
      want <- engine_gradient(case, kernels = "scalar")
      got <- engine_gradient(case, kernels = level)
      label <- sprintf("case %d, order %d, hidden %d", seed, case$config$order, case$config$hidden)
      expect_equal(got$loss, want$loss, tolerance = 1e-5, label = label)
      size <- max(abs(unlist(want$grads)))
      expect_lt(max(abs(unlist(got$grads) - unlist(want$grads))), 2e-4 * size, label = label)
    }
  })
}

test_that("an option forces the kernels", {
  withr::local_options(protonam.kernels = "scalar")
  fit <- function() protonam(mpg ~ wt + hp, mtcars, epochs = 5, procedure = "paper", seed = 1, validation = 0)
  forced <- fit()
  withr::local_options(protonam.kernels = NULL)
  expect_equal(predict(fit(), mtcars), predict(forced, mtcars), tolerance = 1e-3)
  withr::local_options(protonam.kernels = "abacus")
  expect_error(fit(), "no kernels called", class = "protonam_error_kernels")
})
