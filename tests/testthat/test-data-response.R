test_that("the family is inferred from the response", {
  kind <- function(y) read_response(y, "y")$family$family
  expect_identical(kind(c(1.5, 2)), "gaussian")
  expect_identical(kind(1:3), "gaussian")
  expect_identical(kind(c(TRUE, FALSE, NA)), "binomial")
  expect_identical(kind(factor(c("a", "b"))), "binomial")
  expect_identical(kind(c("a", "b", "a")), "binomial")
  expect_identical(kind(c("a", "b", "c")), "multinomial")
  expect_identical(kind(factor(c("a", "b", "c"))), "multinomial")
  expect_identical(read_response(c(0, 3), "y", poisson)$family$family, "poisson")
  expect_identical(read_response(c(0, 1), "y", "binomial")$levels, c("0", "1"))
})

test_that("the event is the last level", {
  expect_identical(read_response(c("no", "yes", "no"), "y")$y[, 1], c(0, 1, 0))
  expect_identical(read_response(factor(c("no", "yes"), levels = c("yes", "no")), "y")$y[, 1], c(1, 0))
  expect_identical(read_response(c(TRUE, FALSE), "y")$y[, 1], c(1, 0))
  expect_identical(read_response(factor(c("a", "c", "b")), "y")$y[, 1], c(0, 2, 1))
})

test_that("levels without rows are left out with a message", {
  y <- factor(c("a", "c", "a"), levels = c("a", "b", "c"))
  expect_message(response <- read_response(y, "y"), "\"b\"", class = "protonam_message_empty_level")
  expect_identical(response$family$family, "binomial")
  expect_identical(response$y[, 1], c(0, 1, 0))
})

test_that("a 0/1 number is regression, with a message", {
  expect_message(response <- read_response(c(0L, 1L, 1L), "y"), "binomial", class = "protonam_message_binary_number")
  expect_identical(response$family$family, "gaussian")
  expect_no_message(read_response(c(0L, 1L, 1L), "y", binomial))
  expect_no_message(read_response(c(0, 1, 2), "y"))
})

test_that("several responses are all numeric or all binary, with missing values", {
  two <- read_response(cbind(u = c(1.5, NA), v = c(2, 3.5)), "y")
  expect_identical(two$names, c("u", "v"))
  expect_identical(two$y, matrix(c(1.5, NA, 2, 3.5), 2))
  binary <- read_response(list(u = factor(c("a", "b", NA)), v = c(TRUE, NA, FALSE)), "y")
  expect_identical(binary$levels, list(u = c("a", "b"), v = c("FALSE", "TRUE")))
  expect_identical(binary$y[, 2], c(1, NA, 0))
  expect_null(read_response(cbind(u = c(1.5, 2)), "y")$names)
})

test_that("the response is standardised by weights, given the offset", {
  y <- matrix(c(1, 2, 6))
  w <- c(2, 1, 1)
  scale <- response_scale(y, gaussian(), w, NULL, TRUE)
  copies <- response_scale(matrix(c(1, 1, 2, 6)), gaussian(), NULL, NULL, TRUE)
  expect_equal(scale, copies, tolerance = 1e-14)
  expect_equal(scale$center, 2.5)
  expect_equal(response_scale(y, gaussian(), NULL, c(1, 2, 6), TRUE), list(center = 0, scale = 1))
  expect_identical(response_scale(y, gaussian(), NULL, NULL, FALSE), list(center = 0, scale = 1))
  expect_identical(response_scale(matrix(c(3, 3)), gaussian(), NULL, NULL, TRUE), list(center = 3, scale = 1))
  expect_equal(response_scale(matrix(c(2, 4)), poisson(), NULL, log(c(1, 2)), TRUE)$center, log(2))
})

test_that("new values are coded by the known classes", {
  response <- read_response(c("no", "yes"), "y")
  expect_identical(apply_response(response, factor(c("yes", NA))), matrix(c(1, NA)))
  expect_error(apply_response(response, "maybe"), "maybe", class = "protonam_error_response")
  number <- suppressMessages(read_response(c(0, 1), "y", binomial))
  expect_identical(apply_response(number, c(1, 0, NA)), matrix(c(1, 0, NA)))
})

test_that("responses that cannot be fitted are refused", {
  many <- sprintf("id%04d", 1:1000)
  expect_snapshot(error = TRUE, {
    read_response(c("a", "a"), "y")
    read_response(factor(c("a", "a"), levels = c("a", "b")), "y")
    read_response(c(TRUE, TRUE), "y")
    read_response(c(1, 1), "y", binomial)
    read_response(c(NA_real_, NA), "y")
    read_response(many, "y")
    read_response(as.character(1:1000), "y")
    read_response(c(1, Inf), "y")
    read_response(c(-1, 2), "y", poisson)
    read_response(c(0, 0), "y", poisson)
    read_response(c(1, 2, 3), "y", binomial)
    read_response(c("a", "b", "c"), "y", binomial)
    read_response(c("a", "b"), "y", gaussian)
    read_response(Sys.Date(), "y")
    read_response(complex(2), "y")
    read_response(list(u = c(1, 2), v = c("a", "b")), "y")
    read_response(list(u = c("a", "b", "c"), v = c("a", "b", "a")), "y")
    as_family("gausian")
    as_family(Gamma())
    as_family(binomial("probit"))
    as_family(3)
  })
})

test_that("the response's unit does not matter, however small or large", {
  data <- mixed_data(60)
  in_unit <- function(unit, shift = 0) {
    data$y <- data$y * unit + shift
    fit <- tiny_fit(y ~ age, data)
    expect_identical(fit$response$scale != 1, TRUE)
    (fitted(fit) - shift) / unit
  }
  for (unit in c(1e-14, 1e-100, 1e100)) expect_equal(in_unit(unit), in_unit(1), tolerance = 1e-4)
  expect_equal(in_unit(1e-6, 1e6), in_unit(1), tolerance = 1e-3)
  # rounding is no variation
  expect_identical(response_scale(matrix(rep(0.1, 7)), gaussian(), NULL, NULL, TRUE)$scale, 1)
  moved <- matrix(c(0.1, 0.2, 0.3) + 1e6)
  expect_identical(response_scale(moved, gaussian(), NULL, c(0.1, 0.2, 0.3), TRUE)$scale, 1)
})

test_that("responses and offsets that cannot be trained with are told by name", {
  data <- mixed_data(60)
  offset <- rep(1000, 60)
  wide <- seq(-100, 100, length.out = 60)
  expect_snapshot(error = TRUE, {
    tiny_fit(y * 1e155 ~ age, data)
    tiny_fit(y * 1e-155 ~ age, data)
    tiny_fit(cbind(y, lab * 1e200) ~ age, data)
    tiny_fit(y ~ age, data, offset = offset * 1e200)
    protonam(y * 1e20 ~ age, data, control = tiny(scale_response = FALSE), seed = 1)
    tiny_fit(count * 1e20 ~ age, data, family = poisson())
    tiny_fit(count ~ age, data, family = poisson(), offset = wide)
    tiny_fit(dead ~ age, data, offset = offset)
    tiny_fit(y ~ age, data, validation = transform(data, y = y * 1e30))
  })
})

test_that("a constant offset changes nothing but the offset", {
  data <- mixed_data(60)
  offset <- rep(1000, 60)
  for (response in list(quote(y), quote(count))) {
    family <- if (response == "y") gaussian() else poisson()
    formula <- eval(call("~", response, quote(age)))
    expect_equal(
      fitted(tiny_fit(formula, data, family = family, offset = offset)),
      fitted(tiny_fit(formula, data, family = family)), tolerance = 1e-4
    )
  }
})

test_that("numbers as classes are found again in validation rows", {
  data <- mixed_data(60)
  data$stage <- c(1, 2.5, 100000)[as.integer(data$class)]
  fit <- tiny_fit(stage ~ age, data, family = "multinomial", validation = data)
  expect_identical(fit$response$levels, c("1", "2.5", "1e+05"))
  expect_identical(apply_response(fit$response, c(100000, NA, 1))[, 1], c(2, NA, 0))
})
