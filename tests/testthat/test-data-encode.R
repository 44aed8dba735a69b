encoded_numbers <- function(fitted, n) fitted$feature$values[encoded_index(fitted$feature, n)]

test_that("every type gets codes in its order, and numbers come back in their class", {
  plain <- function(x) fit_encoder(x, "x", scaling = "none")
  expect_identical(plain(c("b", "A", "a", "b"))$encoder$levels, c("A", "a", "b"))
  expect_identical(encoded_numbers(plain(c("b", "A", "a", "b")), 4), c(2, 0, 1, 2))
  expect_identical(encoded_numbers(plain(factor(c("z", "a"), levels = c("z", "q", "a"))), 2), c(1, 0))
  ordered <- plain(factor(c("lo", "hi", "lo"), levels = c("lo", "mid", "hi"), ordered = TRUE))
  expect_identical(ordered$encoder$levels, c("lo", "hi"))
  expect_identical(encoded_numbers(ordered, 3), c(0, 1, 0))
  expect_identical(encoded_numbers(plain(c(TRUE, FALSE)), 2), c(1, 0))
  day <- as.Date("2020-01-01") + 0:3
  expect_identical(decode_numbers(plain(day)$encoder, as.double(day)), day)
  time <- as.POSIXct("2020-01-01", tz = "Europe/Vienna") + 0:3
  expect_warning(moments <- plain(time)$encoder, class = "protonam_warning_precision")
  expect_equal(decode_numbers(moments, as.double(time)), time)
  wait <- as.difftime(c(1, 2), units = "hours")
  expect_equal(decode_numbers(plain(wait)$encoder, c(1, 2)), wait)
  expect_identical(decode_numbers(plain(c("b", "a", NA))$encoder, 0:2), c("a", "b", "(missing)"))
})

test_that("level order does not depend on the locale", {
  for (locale in c("C", "en_US.UTF-8")) {
    old <- Sys.getlocale("LC_COLLATE")
    ok <- suppressWarnings(Sys.setlocale("LC_COLLATE", locale))
    expect_identical(fit_encoder(c("b", "A", "a", "B"), "x")$encoder$levels, c("A", "B", "a", "b"))
    Sys.setlocale("LC_COLLATE", old)
  }
})

test_that("missing numbers stay missing, missing categories are a level of their own", {
  number <- fit_encoder(c(1, NA, 2, NaN), "x", scaling = "none")
  expect_identical(encoded_numbers(number, 4), c(1, NaN, 2, NaN))
  expect_true(number$encoder$has_missing)
  expect_identical(which(is.nan(number$feature$values)), 3L)
  text <- fit_encoder(c("a", NA, "b"), "x", scaling = "none")
  expect_identical(encoded_numbers(text, 3), c(0, 2, 1))
  expect_true(text$encoder$has_missing)
  expect_identical(encoded_numbers(fit_encoder(addNA(c("a", NA)), "x", scaling = "none"), 2), c(0, 1))
  none <- fit_encoder(c(NA_real_, NA_real_), "x")
  expect_identical(encoded_numbers(none, 2), c(NaN, NaN))
  expect_identical(encode_column(none$encoder, c(1, NA))$feature$values, c(NaN, NaN))
  expect_false(any(encode_column(none$encoder, c(1, NA))$unknown))
})

test_that("weights count in scaling and prototypes as copies do", {
  x <- c(1, 5, 2, 9)
  k <- c(3, 1, 0, 2)
  keep <- k > 0
  weighted <- fit_encoder(x[keep], "x", counts = k[keep], prototypes = 5)
  copied <- fit_encoder(rep(x, k), "x", prototypes = 5)
  expect_identical(weighted$encoder, copied$encoder)
  expect_identical(weighted$centers, copied$centers)
  expect_equal(copied$centers, quantile(encoded_numbers(copied, 6), 1:5 / 6, names = FALSE), tolerance = 1e-12)
})

test_that("one-column matrices, AsIs and integers are numbers", {
  x <- c(1, 4, 2)
  expect_equal(
    encoded_numbers(fit_encoder(scale(x), "x", scaling = "none"), 3), as.vector(scale(x)),
    tolerance = 1e-15
  )
  expect_identical(encoded_numbers(fit_encoder(I(x), "x", scaling = "none"), 3), x)
  expect_identical(fit_encoder(1:3, "x")$encoder$type, "numeric")
})

test_that("new data go through what training taught", {
  encoder <- fit_encoder(c("a", "b", "a"), "x", scaling = "none")$encoder
  new <- encode_column(encoder, factor(c("b", "zz", NA)))
  expect_identical(new$new_levels, "zz")
  expect_true(new$new_missing)
  expect_identical(new$unknown[encoded_index(new$feature, 3)], c(FALSE, TRUE, TRUE))
  with_missing <- fit_encoder(c("a", NA, "b"), "x", scaling = "none")$encoder
  new <- encode_column(with_missing, c("b", "zz", NA))
  expect_identical(new$feature$values[encoded_index(new$feature, 3)], c(1, 2, 2))
  expect_false(new$new_missing)
  expect_identical(new$new_levels, "zz")
  number <- fit_encoder(c(1, 2, 3), "x")$encoder
  expect_true(all(encode_column(number, c(NA, NA))$unknown))
})

test_that("difftime in other units is converted", {
  encoder <- fit_encoder(as.difftime(c(1, 2, 3), units = "hours"), "x", scaling = "none")$encoder
  new <- encode_column(encoder, as.difftime(c(60, 120), units = "mins"))
  expect_identical(new$feature$values, c(1, 2))
})

test_that("binned columns are mapped the same way at prediction", {
  x <- seq(0, 1, length.out = 500)
  fitted <- fit_encoder(c(x, NA), "x", bins = 16, scaling = "minmax")
  expect_lte(length(fitted$feature$values), 17)
  expect_identical(fitted$feature$width, 1L)
  expect_equal(sum(fitted$counts), 501)
  again <- encode_column(fitted$encoder, c(x, NA))
  expect_identical(
    again$feature$values[encoded_index(again$feature, 501)], encoded_numbers(fitted, 501)
  )
  # few values are kept as they are
  expect_null(fit_encoder(rep(1:16, 4), "x", bins = 16)$encoder$bins)
})

test_that("support is thinned to observed values that keep the weight", {
  x <- qnorm(ppoints(5000))
  support <- fit_encoder(c(x, NA, NA), "x")$encoder$support
  expect_lte(length(support$value), max_support)
  expect_true(all(support$value %in% x))
  expect_identical(range(support$value), range(x))
  expect_identical(c(sum(support$count), support$missing), c(5000, 2))
})

test_that("infinite values: clipped by quantiles, refused otherwise, moved at prediction", {
  expect_identical(encoded_numbers(fit_encoder(c(-Inf, 1, 2, Inf), "x"), 4), c(-1, -1, 1, 1) * clip_score)
  expect_error(fit_encoder(c(1, Inf), "x", scaling = "minmax"), "x", class = "protonam_error_infinite")
  expect_error(fit_encoder(c(1, Inf), "x", scaling = "none"), class = "protonam_error_infinite")
  encoder <- fit_encoder(c(1, 2, 5), "x", scaling = "minmax")$encoder
  new <- encode_column(encoder, c(-Inf, Inf, 9))
  expect_true(new$infinite)
  expect_identical(new$feature$values[encoded_index(new$feature, 3)], c(0, 1, 2))
})

test_that("columns that are no features, and columns of another type, are named", {
  encoder <- fit_encoder(c(1, 2, 3), "age")$encoder
  expect_snapshot(error = TRUE, {
    column_type(list(1, 2), "x")
    column_type(complex(real = 1, imaginary = 1), "x")
    column_type(matrix(1:4, 2), "x")
    column_type(raw(2), "x")
    encode_column(encoder, c("1", "2"))
    encode_column(encoder, factor("a"))
    encode_column(encoder, Sys.Date())
    encode_column(fit_encoder(c("a", "b"), "unit")$encoder, 1:2)
    encode_column(fit_encoder(c(TRUE, FALSE), "male")$encoder, 0:1)
  })
})

test_that("values that single precision cannot tell apart, or square, are told", {
  data <- mixed_data(60)
  data$seconds <- 1.7e9 + 1:60
  none <- function(...) protonam(..., control = tiny(scaling = "none"), seed = 1)
  expect_warning(none(y ~ seconds, data), "48 distinct values of seconds, 1 ", class = "protonam_warning_precision")
  expect_no_warning(tiny_fit(y ~ seconds, data))
  expect_no_warning(none(y ~ I(seconds - 1.7e9), data))
  expect_no_warning(check_single(withr::with_seed(1, runif(1e5)), "x"))
  expect_error(none(y ~ I(age * 1e30), data), "age", class = "protonam_error_infinite")
})

test_that("values beyond single precision are refused before training, and moved at prediction", {
  for (most in c(1e39, 1e25)) {
    expect_error(fit_encoder(c(1, 2, -most), "x", scaling = "none"), class = "protonam_error_infinite")
  }
  expect_error(fit_encoder(c(-1, 1) * 1.7e308, "x", scaling = "minmax"), class = "protonam_error_infinite")
  expect_no_error(fit_encoder(c(1, 2, 1e39), "x"))
  encoder <- fit_encoder(c(1, 2, 3), "x", scaling = "none")$encoder
  moved <- encode_column(encoder, c(-1e39, 2, 1e39, NaN))
  expect_true(moved$infinite)
  expect_identical(range(moved$feature$values), c(1, 3))
})

test_that("levels are shown in the order of the factor, the missing value last", {
  set.seed(1)
  data <- data.frame(a = rnorm(120), grade = factor(rep(c("mild", "severe", "moderate", NA), 30)))
  data$grade <- factor(data$grade, levels = c("severe", "moderate", "mild", "unused"))
  data$text <- rep(c("z", "b"), 60)
  data$y <- data$a + as.integer(factor(data$grade, exclude = NULL)) + rnorm(120)
  fit <- own_fit(y ~ a + grade + text, data, epochs = 1, ensemble = 2)
  own <- c("severe", "moderate", "mild")
  expect_identical(unique(shapes(fit, "grade")$level), c(own, "(missing)"))
  expect_identical(unique(shapes(fit, "text")$level), c("b", "z"))
  expect_identical(effect_table(fit, terms = "grade")$level, c(own, "(missing)"))
  panel <- shape_figure(shapes(fit, "grade"), plot_options())$panels[[1L]]
  expect_identical(panel$x$labels, own)
  # another order is a matter of what is shown, and only of that
  data$grade <- factor(data$grade, levels = rev(own))
  turned <- own_fit(y ~ a + grade + text, data, epochs = 1, ensemble = 2)
  expect_identical(unique(shapes(turned, "grade")$level), c(rev(own), "(missing)"))
  expect_identical(predict(turned, data), predict(fit, data))
  # fits of earlier versions do not know the order
  old <- fit
  old$encoder[[2L]]$shown <- NULL
  expect_identical(shown_levels(old$encoder[[2L]]), sort(own))
  fit$encoder[[2L]]$shown <- c("severe", "other", "mild")
  expect_error(check_encoder(fit$encoder[[2L]], "encoder[[2]]"), "shown", class = "protonam_error_damaged_fit")
})
