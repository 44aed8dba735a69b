data <- mixed_data()

test_that("order 1: an unknown feature counts with its training mean, exactly", {
  fit <- tiny_fit(y ~ age + unit + grade, data, weights = rep(1:2, 60), ensemble = 2)
  row <- data[7, ]
  expect_warning(link <- predict(fit, transform(row, age = NA)), class = "protonam_warning_unknown_values")
  terms <- predict(fit, row, type = "terms")
  expect_equal(link, predict(fit, row) - terms[, "age"], tolerance = 1e-12)
  unknown <- suppressWarnings(predict(fit, transform(row, age = NA, grade = "new"), type = "terms"))
  expect_identical(unknown[1, c("age", "grade")], c(age = 0, grade = 0))
  expect_equal(unknown[1, "unit"], terms[1, "unit"])
  layers <- suppressWarnings(predict(fit, transform(row, age = NA), type = "layers"))
  expect_equal(layers[1, 2, 1], unname(link), tolerance = 1e-12)
})

test_that("higher orders: predictions are averaged over typical values", {
  for (order in c(2, Inf)) {
    fit <- tiny_fit(y ~ age + unit + grade, data, order = order)
    new <- transform(data[1:6, ], age = replace(age, 2:3, NA), grade = c("mid", "mid", "new", "low", "low", "new"))
    expect_warning(link <- predict(fit, new), class = "protonam_warning_unknown_values")
    expect_true(all(is.finite(link)))
    expect_equal(link[c(1, 4, 5)], predict(fit, new[c(1, 4, 5), ]), ignore_attr = TRUE)
    # the average over the feature's training values
    each <- vapply(data$age[fit$train], function(age) predict(fit, transform(data[4, ], age = age)), 1)
    one <- suppressWarnings(predict(fit, transform(data[4, ], age = NA)))
    expect_equal(unname(one), mean(each), tolerance = 0.05)
    if (order == 2) expect_lt(suppressWarnings(additivity_gap(fit, new)), 1e-6)
  }
})

test_that("what is unknown in other rows does not change the average of a row", {
  known <- data.frame(a = sin(1:60), b = cos(1:60), c = sin((1:60)^2))
  known$y <- known$a * known$b + known$b * known$c
  # two features are unknown in the first row, and one that stands before them in the second
  new <- data.frame(a = c(0.5, NA), b = c(NA, 0.5), c = c(NA, 0.5))
  for (order in c(2, Inf)) {
    fit <- tiny_fit(y ~ a + b + c, known, order = order)
    both <- suppressWarnings(predict(fit, new))
    expect_identical(both[[1]], suppressWarnings(predict(fit, new[1, ]))[[1]])
    expect_identical(both[[2]], suppressWarnings(predict(fit, new[2, ]))[[1]])
  }
})

test_that("one warning names columns and levels; nothing is said about missing values that training had", {
  fit <- tiny_fit(y ~ age + lab + unit + grade, data)
  new <- transform(data[1:4, ], age = c(NA, 1, 2, 3), lab = NA, unit = c("er", NA, "moon", "sun"), grade = "top")
  expect_snapshot(out <- predict(fit, new))
  expect_length(out, 4)
  expect_no_warning(predict(fit, transform(data, lab = NA, unit = NA)))
  # a new level counts as missing where missing was learned
  learned <- suppressWarnings(predict(fit, transform(data[1, ], unit = "moon")))
  expect_identical(learned, predict(fit, transform(data[1, ], unit = NA)))
})

test_that("infinite values at prediction are clipped, with a warning where scaling has no ends", {
  fit <- tiny_fit(y ~ age, data)
  expect_identical(predict(fit, data.frame(age = c(Inf, 1e9))), predict(fit, data.frame(age = c(1e9, Inf))))
  minmax <- protonam(y ~ age, data, control = tiny(scaling = "minmax"), seed = 1)
  new <- data.frame(age = c(Inf, max(data$age)))
  expect_warning(value <- predict(minmax, new), class = "protonam_warning_unknown_values")
  expect_equal(value[[1]], value[[2]])
})
