# Every level of kernels gives the same bits as the portable one: through the engine with odd widths, every order, norm
# and loss, and in whole fits.

others <- setdiff(kernel_levels(), "scalar")

for (level in others) {
  test_that(paste("kernels give the bits of the portable ones:", level), {
    for (seed in 101:140) {
      case <- random_case(seed)
      case$config$hidden <- c(1L, 5L, 8L, 13L, 16L, 31L, 32L, 33L, 64L, 67L)[seed %% 10 + 1L]
      case$config$temperature <- c(0.3, 0.02, 0.001, 1)[seed %/% 10 %% 4 + 1L]
      index <- slab_index(engine_config(case))
      case$params <- withr::with_seed(seed, {
        lapply(index, function(at) array(stats::rnorm(length(at), sd = 0.4), dim(at)))
      })
      label <- sprintf("case %d, order %d, hidden %d", seed, case$config$order, case$config$hidden)
      want <- engine_gradient(case, kernels = "scalar")
      expect_identical(engine_gradient(case, kernels = level), want, label = label)
      expect_identical(engine_gradient(case, kernels = level, threads = 2L), want, label = label)
    }
  })
}

# What a fit computed: all of it but times, calls and environments.
numbers_of <- function(fit) {
  fit[intersect(names(fit), c(
    "config", "engine", "base", "evidence", "strength", "members", "centering", "calibration", "fitted", "out_of_fold",
    "gain", "purified", "effects", "nearest"
  ))]
}

few_rows <- withr::with_seed(1, {
  data <- data.frame(a = stats::rnorm(150), b = round(stats::runif(150), 1L), c = gl(3L, 50L, labels = letters[1:3]))
  data$y <- with(data, sin(2 * a) + 2 * (a > 0) * b + (c == "a") + stats::rnorm(150, sd = 0.25))
  data$z <- factor(ifelse(data$y + stats::rnorm(150, sd = 0.5) > 0.5, "yes", "no"))
  data
})

# 30 epochs, an odd number of hidden units, temperatures down to where one prototype acts alone.
fit_with <- function(kernels, threads, response, ...) {
  withr::local_options(protonam.kernels = kernels)
  fit <- suppressMessages(protonam(
    stats::reformulate(c("a", "b", "c"), response), few_rows,
    epochs = 30, hidden = 13, prototypes = 5, tau = 1, seed = 1, threads = threads, verbose = FALSE, ...
  ))
  c(numbers_of(fit), list(prediction = predict(fit, few_rows)))
}

procedures <- list(
  default = list(ensemble = 2, prototypes_for = TRUE), screened = list(ensemble = 2),
  `without layer 0` = list(ensemble = 2, base = "none"),
  paper = list(procedure = "paper", base = "none", dropout = 0.1, validation = 0.2),
  `paper on layer 0` = list(procedure = "paper", validation = 0.2)
)
for (order in c(1, 2, Inf)) {
  for (procedure in names(procedures)) {
    for (response in c("y", "z")) {
      label <- sprintf("order %s, %s, %s", order, procedure, if (response == "y") "gaussian" else "binomial")
      test_that(paste("30 epochs on all levels end at the same bits:", label), {
        skip_if(length(others) == 0L, "only portable kernels here")
        settings <- c(list(response = response, order = order), procedures[[procedure]])
        fit <- function(kernels, threads) do.call(fit_with, c(list(kernels, threads), settings))
        want <- fit("scalar", 1)
        for (level in others) for (threads in 1:2) expect_identical(fit(level, threads), want, label = level)
      })
    }
  }
}

test_that("an option forces the kernels", {
  withr::local_options(protonam.kernels = "scalar")
  expect_identical(with_kernels(expr = .Call(ffi_kernel_level, NULL)), "scalar")
})

test_that("the option acts wherever the engine computes: a misspelt level is refused everywhere", {
  fit <- protonam(mpg ~ wt + hp, mtcars, order = 2, epochs = 2, ensemble = 2, seed = 1, verbose = FALSE)
  withr::local_options(protonam.kernels = "abacus")
  refused <- function(code) expect_error(code, "no kernels called", class = "protonam_error_kernels")
  refused(protonam(mpg ~ wt + hp, mtcars, epochs = 5, procedure = "paper", seed = 1, validation = 0))
  refused(protonam(mpg ~ wt + hp, mtcars, epochs = 5, ensemble = 2, seed = 1))
  for (type in c("response", "link", "terms", "layers")) refused(predict(fit, mtcars, type = type))
  refused(shapes(fit))
  refused(shapes(fit, layers = TRUE))
  refused(contributions(fit, mtcars))
  refused(plot(fit))
})
