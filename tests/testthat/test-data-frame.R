frame_of <- function(formula, data, ...) formula_frame(formula, as_columns(data, "data"), ...)
d <- data.frame(y = c(1, 2, 3), a = 4:6, b = c("u", "v", "u"), `my col` = 7:9, check.names = FALSE)

test_that("`.`, minus, transformations and offsets work, text stays text", {
  expect_named(frame_of(y ~ ., d)$columns, c("a", "b", "my col"))
  expect_named(frame_of(y ~ . - a, d)$columns, c("b", "my col"))
  frame <- frame_of(log(y) ~ log(a) + I(a^2) + `my col` + offset(a), d)
  expect_named(frame$columns, c("log(a)", "I(a^2)", "my col"))
  expect_equal(frame$columns[["log(a)"]], log(4:6))
  expect_equal(frame$response$value, log(1:3))
  expect_identical(frame$offset, list(quote(a)))
  expect_identical(frame_of(y ~ ., d)$columns$b, d$b)
  expect_named(frame_of(log(y) ~ ., d)$columns, c("a", "b", "my col"))
  expect_named(frame_of(y ~ ., d, left_out = "a")$columns, c("b", "my col"))
  expect_named(frame_of(y ~ . + a, d, left_out = "a")$columns, c("a", "b", "my col"))
})

test_that("tibbles, data.tables, lists, matrices and bare variables do as data", {
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  columns <- frame_of(y ~ a + b, d)$columns
  expect_identical(frame_of(y ~ a + b, tibble::as_tibble(d))$columns, columns)
  expect_identical(frame_of(y ~ a + b, data.table::as.data.table(d))$columns, columns)
  expect_identical(frame_of(y ~ a + b, as.list(d))$columns, columns)
  expect_identical(frame_of(y ~ a, as.matrix(d[c("y", "a")]))$columns$a, as.double(d$a))
  y <- 1:3
  a <- 4:6
  expect_identical(formula_frame(y ~ a, environment())$columns$a, 4:6)
})

test_that("scale() in a formula keeps the training data's numbers", {
  frame <- frame_of(y ~ scale(a), d)
  new <- columns_from(frame$variables, frame$data_names, frame$env, as_columns(data.frame(a = 5), "newdata"))
  expect_equal(as.vector(new[[1]]), 0)
})

test_that("variables outside the data are kept with the fit, and nothing else is", {
  make <- function() {
    big <- rnorm(1e5)
    limit <- 4.5
    above <- function(x) x > limit
    frame_of(y ~ above(a) + b, d)
  }
  frame <- make()
  slim <- slim_environment(frame$variables, frame$data_names, frame$env)
  expect_setequal(ls(slim), "above")
  expect_false(exists("big", envir = slim))
  expect_identical(eval(frame$variables[[1]], list(a = 4:5), slim), c(FALSE, TRUE))
})

test_that("cbind() responses stay separate columns", {
  response <- frame_of(cbind(y, extra = a) ~ b, d)$response
  expect_named(response$value, c("y", "extra"))
  expect_identical(evaluate_response(quote(cbind(b, a)), as_columns(d, "d"), globalenv())$value$b, d$b)
})

test_that("formulas and data that cannot be meant are refused", {
  twice <- data.frame(y = 1, a = 1, a = 2, check.names = FALSE)
  expect_snapshot(error = TRUE, {
    frame_of(~a, d)
    frame_of(y ~ a:b, d)
    frame_of(y ~ a * b, d)
    frame_of(y ~ 1, d)
    frame_of(y ~ aa, d)
    frame_of(y ~ a, twice)
    frame_of(y ~ a, "d")
    frame_of(y ~ rep(1, 5), d)
    formula_frame(y ~ ., globalenv())
    table_frame(as_columns(d["a"], "x"), 1:2, "y")
    table_frame(as_columns(d[0], "x"), 1:3, "y")
    resolve_role(y ~ a, as_columns(d, "data"), globalenv(), "groups", 3)
    resolve_role(~aa, as_columns(d, "data"), globalenv(), "groups", 3)
    resolve_role(1:2, as_columns(d, "data"), globalenv(), "task", 3)
  })
  expect_message(frame_of(y ~ a - 1, d), class = "protonam_message_intercept")
})

test_that("variables are found in expressions, also in d$x and pkg::f(x)", {
  expect_identical(variables_in(quote(log(a) + b:c)), c("a", "b", "c"))
  expect_identical(variables_in(quote(d$x + stats::sd(y[i]))), c("d", "y", "i"))
  outside <- d
  expect_identical(formula_frame(outside$y ~ outside$a, environment())$columns[[1]], d$a)
})

# 64-bit integers as bit64 keeps them, made without it
integer64 <- function(x) {
  lower <- x %% 2^32
  words <- rbind(ifelse(lower >= 2^31, lower - 2^32, lower), floor(x / 2^32))
  words[] <- ifelse(words == -2^31, NA, words) # R's NA has these bits
  bytes <- writeBin(as.integer(words), raw(), endian = "little")
  structure(readBin(bytes, "double", n = length(x), endian = "little"), class = "integer64")
}

test_that("64-bit integers are numbers, whether bit64 is loaded or not", {
  x <- c(0, 1, -1, 2^31, -2^31, 2^32 - 1, 123456789012, -987654321098, 2^53, -2^62)
  expect_identical(plain_numbers(integer64(x)), x)
  expect_identical(plain_numbers(integer64(c(5, -2^63))), c(5, NA))
  expect_identical(plain_numbers(integer64(numeric())), numeric())
  expect_identical(plain_numbers(structure(integer64(1:4), dim = c(2L, 2L))), matrix(c(1, 2, 3, 4), 2))
  expect_identical(plain_numbers(letters), letters)
  skip_if_not_installed("bit64")
  # in a session of its own: bit64's methods stay once they are there
  made <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(
    "x <- bit64::as.integer64(c('9007199254740993', '-9223372036854775807', NA, '-5')); cat(serialize(x, NULL))"
  )), stdout = TRUE)
  x <- unserialize(as.raw(strtoi(strsplit(made, " ")[[1]], 16L)))
  expect_identical(plain_numbers(x), c(2^53, -2^63, NA, -5))
})

test_that("64-bit integers give the same fit as numbers, wherever they are", {
  plain <- mixed_data(60)[c("y", "age")]
  plain$y <- round(plain$y * 100)
  plain$times <- rep(c(1, 2, 3), 20)
  plain$id <- rep(-10:9, each = 3)
  wide <- plain
  wide[] <- lapply(plain, integer64)
  expected <- tiny_fit(y ~ age + log(times), plain, weights = times, offset = id, groups = ~id, subset = 60:1)
  same <- function(fit) expect_identical(fitted(fit), fitted(expected))
  same(tiny_fit(y ~ age + log(times), wide, weights = times, offset = id, groups = ~id, subset = integer64(60:1)))
  expect_identical(predict(expected, wide), predict(expected, plain))
  same(with(wide, tiny_fit(y ~ age + log(times), weights = times, offset = id, groups = id, subset = 60:1)))
  same(tiny_fit(wide$y ~ age + log(times), wide, weights = wide$times / 1, offset = 1 * wide$id, groups = ~id,
    subset = 60:1
  ))
  wide$offset <- wide$id
  plain$offset <- plain$id
  columns <- c("age", "times", "offset")
  # rows are taken before the bits become a class: without bit64 R's own `[` loses it
  narrow <- function(d, convert) {
    x <- plain[1:9, columns]
    x[] <- lapply(x, convert)
    tiny_fit(d[c("age", "times")], d$y,
      weights = d$times, offset = d$id, validation = list(x = x, y = convert(plain$y[1:9]))
    )
  }
  expect_identical(fitted(narrow(wide, integer64)), fitted(narrow(plain, identity)))
  scores <- function(d) {
    cv_protonam(y ~ age, d, folds = ~ id %% 3, weights = times, control = tiny(), seed = 1, verbose = FALSE)$scores
  }
  expect_identical(scores(wide), scores(plain))
})

test_that("syntax of other packages' formulas is refused by name", {
  d$flag <- c(TRUE, FALSE, TRUE)
  expect_snapshot(error = TRUE, {
    frame_of(y ~ a + (1 | b), d)
    frame_of(y ~ (a || b), d)
    frame_of(y ~ s(a), d)
    frame_of(y ~ te(a, y), d)
    frame_of(y ~ nosuch(a), d)
    frame_of(nosuch(y) ~ a, d)
    frame_of(y ~ log(b), d)
    resolve_role(~ nosuch(a), as_columns(d, "data"), globalenv(), "task", 3)
    resolve_role("", as_columns(d, "data"), globalenv(), "task", 3)
  })
  # what is meant as R means it stays
  expect_identical(frame_of(y ~ (flag | a > 5), d)$columns[[1]], c(TRUE, FALSE, TRUE))
  s <- function(x) 2 * x
  expect_identical(frame_of(y ~ s(a), d)$columns[["s(a)"]], 2 * d$a)
  skip_if_not_installed("mgcv")
  s <- mgcv::s
  expect_error(frame_of(y ~ s(a), d), class = "protonam_error_smooth")
})

test_that("arguments that cannot be evaluated are errors of ours", {
  data <- mixed_data(30)
  for (run in list(tiny_fit, function(...) cv_protonam(..., folds = 2))) {
    expect_error(run(y ~ age, data, weights = agee), "Did you mean \"age\"", class = "protonam_error_weights")
    expect_error(run(y ~ age, data, offset = nosuch), "`offset`.*nosuch", class = "protonam_error_offset")
    expect_error(run(y ~ age, data, subset = nosuch > 1), "`subset`.*nosuch", class = "protonam_error_subset")
    expect_error(run(y ~ age, data, task = ""), "`task`", class = "protonam_error_argument")
  }
})

test_that("a response has a value per row and is no list", {
  d$l <- list(1, 2, 3)
  d$asis <- I(list(1, 2, 3))
  short <- 1:2
  expect_snapshot(error = TRUE, {
    frame_of(l ~ a, d)
    frame_of(asis ~ a, d)
    table_frame(as_columns(d["a"], "x"), list(1, 2, 3), "y")
    frame_of(short ~ a, d)
    frame_of(cbind(y, short) ~ a, d)
    frame_of(d$nosuch ~ a, d)
  })
  expect_identical(table_frame(as_columns(d["a"], "x"), d[c("y", "a")], "y")$response$value, as.list(d[c("y", "a")]))
  data <- mixed_data(30)
  expect_error(
    tiny_fit(data["age"], data$y, validation = list(x = data[1:9, ], y = 1:8)),
    class = "protonam_error_length"
  )
})

test_that("odd names of columns do no harm", {
  odd <- stats::setNames(d[c("y", "a", "my col")], c("y", "a\u202eb", "c\\`d"))
  expect_named(frame_of(y ~ ., odd)$columns, names(odd)[-1])
  expect_named(frame_of(y ~ ., odd, left_out = names(odd)[2])$columns, names(odd)[3])
  data <- mixed_data(40)
  names(data)[1] <- names(odd)[2]
  fit <- tiny_fit(y ~ ., data[c(1, 2, 8)])
  expect_identical(predict(fit, data), fitted(fit))
  dotted <- stats::setNames(d[c("y", "a", "my col")], c("y", "a", "."))
  expect_error(frame_of(y ~ ., dotted), "column named", class = "protonam_error_formula")
  expect_error(frame_of(. ~ a, dotted), "column named", class = "protonam_error_formula")
  expect_named(frame_of(y ~ a, dotted)$columns, "a")
  names(data)[1] <- "."
  fit <- tiny_fit(data[c(".", "lab")], data$y, order = 2, pairs = ~ lab:.)
  expect_identical(unname(predict(fit, data)), unname(fitted(fit)))
})
