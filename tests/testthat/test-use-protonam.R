data <- mixed_data()

test_that("formula, data frame and matrix give the same model", {
  numbers <- data[c("age", "lab")]
  by_formula <- tiny_fit(y ~ age + lab, data)
  by_frame <- tiny_fit(numbers, data$y)
  by_matrix <- tiny_fit(as.matrix(numbers), data$y)
  expect_identical(by_frame$members, by_formula$members)
  expect_identical(by_matrix$members, by_formula$members)
  expect_identical(predict(by_matrix, as.matrix(numbers)), predict(by_formula, data))
  bare <- tiny_fit(unname(as.matrix(numbers)), data$y)
  expect_identical(unname(predict(bare, unname(as.matrix(numbers)))), unname(predict(by_formula, data)))
  expect_identical(formula(by_frame), y ~ age + lab, ignore_formula_env = TRUE)
})

test_that("arguments may come in any order, and data may be piped in", {
  first <- tiny_fit(y ~ age, data)
  expect_identical(protonam(data = data, formula = y ~ age, control = tiny(), seed = 1)$fitted, first$fitted)
  expect_identical((data |> protonam(y ~ age, control = tiny(), seed = 1))$fitted, first$fitted)
})

test_that("tibble and data.table are data frames", {
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  first <- tiny_fit(y ~ ., data[1:8])
  for (convert in list(tibble::as_tibble, data.table::as.data.table)) {
    fit <- tiny_fit(y ~ ., convert(data[1:8]))
    expect_identical(fit$members, first$members)
    expect_identical(predict(fit, convert(data)), predict(first, data), ignore_attr = TRUE)
  }
})

test_that("weights, offset and subset are found in the data, as in lm()", {
  data$w <- rep(1:2, 60)
  inside <- tiny_fit(y ~ age + lab, data, weights = w, offset = age / 10, subset = male)
  outside <- tiny_fit(y ~ age + lab, data, weights = data$w, offset = data$age / 10, subset = which(data$male))
  expect_identical(inside$fitted, outside$fitted)
  expect_identical(nobs(inside), 60L)
  wrapper <- function(d) {
    local_weights <- d$w
    tiny_fit(y ~ age + lab, d, weights = local_weights, offset = age / 10, subset = male)
  }
  expect_identical(wrapper(data)$fitted, inside$fitted)
  expect_message(fit <- tiny_fit(y ~ ., data[c("y", "age", "w")], weights = w), class = "protonam_message_left_out")
  expect_identical(fit$term_names, "age")
})

test_that("all families, orders and tasks are additive, and fitted values are predictions", {
  fits <- list(
    tiny_fit(y ~ age + lab + unit, data),
    tiny_fit(dead ~ age + lab + unit + grade + male + day + time, data),
    tiny_fit(class ~ age + lab + unit, data),
    tiny_fit(count ~ age + lab, data, family = poisson),
    tiny_fit(dead ~ age + lab, data, task = ~male),
    tiny_fit(class ~ age + lab, data, task = ~male),
    tiny_fit(cbind(y, count) ~ age + lab, data),
    tiny_fit(y ~ age + lab + unit, data, order = 2),
    tiny_fit(class ~ age + lab + unit, data, order = 2),
    tiny_fit(y ~ age + lab + unit, data, order = 2, pairs = ~ age:lab),
    tiny_fit(y ~ age + lab, data, offset = age / 20),
    tiny_fit(dead ~ age + lab, data, offset = age / 20, weights = rep(1:3, 40)),
    protonam(y ~ age + lab, data, control = tiny(scaling = "minmax", norm = "batch", bins = 8), seed = 1)
  )
  for (fit in fits) {
    expect_lt(additivity_gap(fit, data), 1e-6)
    expect_equal(fitted(fit), predict(fit, data), tolerance = 1e-12)
  }
  for (order in c(3, Inf)) {
    fit <- tiny_fit(dead ~ age + lab + unit, data, order = order)
    expect_equal(fitted(fit), predict(fit, data), tolerance = 1e-12)
  }
})

test_that("few rows, few values, many columns and odd names still fit", {
  expect_message(two <- tiny_fit(y ~ age, data[1:2, ]), class = "protonam_message_no_validation")
  expect_length(predict(two, data), 120)
  constant <- data.frame(y = data$y, k = 7, x = data$age, none = NA_real_, one = "a")
  fit <- tiny_fit(y ~ ., constant)
  expect_identical(fit$effects$importance[fit$effects$term %in% c("k", "none", "one")], c(0, 0, 0))
  only <- tiny_fit(y ~ k, constant)
  expect_lt(diff(range(predict(only, constant))), 1e-10)
  wide <- as.data.frame(matrix(sin(1:8000), 40))
  expect_length(predict(tiny_fit(wide, cos(1:40)), wide), 40)
  odd <- stats::setNames(data[c("y", "age", "lab", "day")], c("y", "my col", "Gr\u00f6\u00dfe", "a{b}"))
  fit <- tiny_fit(y ~ ., odd)
  expect_identical(fit$term_names, names(odd)[-1])
  expect_identical(predict(fit, odd[3:1, ]), predict(fit, odd)[3:1])
  names <- names(odd)[-1]
  expect_identical(tiny_fit(odd[-1], odd$y)$term_names, names)
  capture.output(print(summary(fit)))
  more <- protonam(y ~ age, data[1:10, ], control = tiny(), prototypes = 64, batch_size = 5000, seed = 1)
  expect_true(all(is.finite(fitted(more))))
  empty <- factor(rep(c("a", "b"), 60), levels = c("a", "b", "unused"))
  expect_identical(tiny_fit(data.frame(empty), data$y)$encoder[[1]]$levels, c("a", "b"))
})

test_that("a validation set of one class works", {
  rows <- which(data$dead == "no")[1:10]
  fit <- tiny_fit(dead ~ age + lab, data, validation = rows)
  expect_identical(fit$members[[1]]$score_name, "logloss")
  expect_true(is.finite(fit$members[[1]]$score))
})

test_that("a saved fit predicts the same, and is small", {
  make <- function() {
    local_data <- mixed_data()
    ballast <- rnorm(1e6)
    tiny_fit(log(y + 10) ~ log(age) + lab, local_data)
  }
  fit <- make()
  file <- withr::local_tempfile()
  saveRDS(fit, file)
  expect_lt(file.size(file), 1e5)
  expect_identical(predict(readRDS(file), data), predict(fit, data))
})

test_that("bad input is refused by name", {
  d <- data[c("y", "age", "lab", "unit", "dead")]
  d$list <- as.list(1:120)
  d$complex <- complex(120)
  fit <- function(...) tiny_fit(...)
  expect_snapshot(error = TRUE, {
    fit(y ~ age, d, order = 0)
    fit(y ~ age + lab, d, order = 3)
    fit(y ~ age, d, order = 1.5)
    fit(y ~ age, d[0, ])
    fit(y ~ list, d)
    fit(y ~ complex, d)
    fit(y ~ age, d, lr = -1)
    fit(y ~ age, d, epoch = 3)
    fit(y ~ age, d, wieghts = 1:120)
    fit(y ~ age, d, weights = 1:3)
    fit(y ~ age, d, weights = -age)
    fit(y ~ age, d, weights = 0 * age)
    fit(y ~ age, d, offset = lab)
    fit(y ~ age, d, validation = 2:500)
    fit(y ~ age, d, ensemble = 0)
    fit(y ~ age, d, threads = 0)
    fit(y ~ age, d, seed = "a")
    protonam(y ~ age, d, verbose = NA)
    fit(y ~ age, d, groups = ~nobody)
    fit(y ~ age, d, task = ~age)
    protonam(y ~ age, d, control = 3)
    fit(y ~ I(1 / (age - age)), d, scaling = "minmax")
    fit(d["age"])
    fit(d["age"], d$y[1:3])
    fit("y ~ age", d)
    protonam()
  })
})
