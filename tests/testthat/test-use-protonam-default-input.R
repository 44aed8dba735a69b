# The default fit on data and arguments that go wrong easily: right, or refused with a class.

data <- jump_data(120)

# Everything that is done with a fit; finite, and terms that add up.
expect_sound <- function(fit, newdata) {
  expect_true(all(is.finite(fitted(fit))))
  expect_true(all(is.finite(unlist(predict(fit, newdata, type = "link")))))
  expect_lt(additivity_gap(fit, newdata), 1e-6)
  expect_true(all(is.finite(shapes(fit)$effect)))
  expect_output(print(summary(fit)), "Members")
  quietly({
    plot(fit)
    plot(fit, which = "importance")
    plot(contributions(fit, newdata[1, , drop = FALSE]))
  })
  invisible(fit)
}

test_that("smoothness must be a number or named after features", {
  refused <- function(smoothness) own_fit(y ~ a + b, data, smoothness = smoothness)
  expect_snapshot(error = TRUE, {
    refused(-1)
    refused(NA)
    refused(NA_real_)
    refused(c(a = 1, b = NaN))
    refused(Inf)
    refused("a")
    refused(1:2)
    refused(numeric())
    refused(c(aa = 2))
    refused(c(something = 2))
    refused(c(a = 2, 3))
    refused(c(a = 2, a = 3))
  })
  for (smoothness in list(0, 2L, 100, c(b = 0), c(unit = 3))) {
    expect_sound(own_fit(y ~ a + b + unit, data, smoothness = smoothness), data)
  }
})

test_that("fewer rows of a class, or groups, than folds", {
  for (events in c(1, 2, 3)) {
    data$rare <- factor(rep(c("no", "yes"), c(120 - events, events)))
    fit <- suppressMessages(own_fit(rare ~ a + b, data, ensemble = NULL))
    expect_length(fit$members, events)
    expect_sound(fit, data)
  }
  for (groups in 1:3) {
    fit <- suppressMessages(own_fit(y ~ a + b, data, groups = rep_len(seq_len(groups), 120), ensemble = NULL))
    expect_length(fit$members, groups)
    expect_sound(fit, data)
  }
})

test_that("columns that say nothing, or say it twice", {
  data$constant <- 3
  data$level <- factor("only")
  data$empty <- NA_real_
  data$twin <- data$a
  expect_warning(
    expect_sound(own_fit(y ~ a + constant + level + empty, data), data),
    class = "protonam_warning_empty_column"
  )
  expect_sound(own_fit(y ~ constant, data), data)
  twins <- expect_sound(own_fit(y ~ a + twin, data, prototypes_for = FALSE), data)
  expect_equal(twins$effects$importance[1], twins$effects$importance[2], tolerance = 1e-3)
  expect_sound(own_fit(y ~ a + twin, data, prototypes_for = TRUE), data)
})

test_that("more columns than rows", {
  withr::local_seed(4)
  wide <- as.data.frame(matrix(rnorm(150 * 200), 150))
  wide$y <- 2 * wide$V1 + rnorm(150)
  fit <- own_fit(y ~ ., wide, ensemble = 2)
  expect_length(fit$term_names, 200L)
  expect_lt(additivity_gap(fit, wide), 1e-6)
  expect_identical(term_importance(fit)$term[1], "V1")
})

test_that("one number for validation is asked about", {
  expect_error(own_fit(y ~ a, data, validation = 30), "fraction below 1", class = "protonam_error_validation")
  expect_error(
    protonam(y ~ a, data, control = tiny(), validation = 30), "row 30 only",
    class = "protonam_error_validation"
  )
  expect_message(fit <- own_fit(y ~ a, data, validation = 0.25), "30 validation rows .* choose nothing",
    class = "protonam_message_validation"
  )
  expect_identical(fit$n_validation, 30)
  expect_identical(suppressMessages(own_fit(y ~ a, data, validation = 1:30))$n_validation, 30)
  expect_no_message(protonam(y ~ a, data, control = tiny(), validation = 0.25, seed = 1))
})

test_that("a column that tells the classes apart has finite effects", {
  data$a_class <- factor(data$a > 0, labels = c("no", "yes"))
  data$b_class <- factor(data$unit == "icu", labels = c("no", "yes"))
  data$flag <- data$a > 0
  for (formula in list(a_class ~ a + b, b_class ~ unit + b, a_class ~ flag + b)) {
    fit <- expect_sound(own_fit(formula, data), data)
    expect_lt(max(abs(predict(fit, data, type = "link"))), 30)
    expect_output(print(fit), "AUC (0\\.99|1\\.00)")
  }
  data$zeros <- ifelse(data$unit == "icu", 0, 3)
  expect_sound(own_fit(zeros ~ unit + b, data, family = poisson()), data)
})

test_that("hardly any rows, or a response that does not vary", {
  for (n in 1:8) expect_sound(suppressMessages(own_fit(y ~ a + b, data[seq_len(n), ], ensemble = NULL)), data)
  constant <- "protonam_warning_constant_response"
  expect_warning(expect_sound(own_fit(I(0 * y + 3) ~ a, data), data), class = constant)
  expect_warning(expect_sound(own_fit(I(0 * count + 3) ~ a, data, family = poisson()), data), class = constant)
  expect_sound(own_fit(y ~ a, data, weights = rep(c(1, 0), c(60, 60))), data)
  expect_error(own_fit(y ~ a, data, weights = rep(0, 120)), class = "protonam_error_weights")
})

test_that("missing values, dates, levels that are new", {
  holes <- mixed_data()
  for (name in c("age", "lab", "unit", "grade", "day", "time")) holes[[name]][seq(3, 120, by = 7)] <- NA
  fit <- own_fit(y ~ age + lab + unit + grade + male + day + time, holes)
  expect_sound(fit, holes)
  new <- holes
  new$unit[1:5] <- "theatre"
  expect_warning(link <- predict(fit, new, type = "link"), "theatre", class = "protonam_warning_unknown_values")
  expect_true(all(is.finite(link)))
  whole <- own_fit(y ~ age + unit, stats::na.omit(mixed_data()))
  expect_lt(suppressWarnings(additivity_gap(whole, transform(mixed_data(), age = NA))), 1e-6)
})

test_that("tables of other packages, transformations and subsets", {
  fit <- protonam(y ~ log(b + 1) + I(a^2), data, subset = a > -1, control = quick_own(), ensemble = 3, seed = 1)
  expect_sound(fit, data)
  if (requireNamespace("tibble", quietly = TRUE)) {
    expect_identical(
      fitted(own_fit(y ~ a + unit, tibble::as_tibble(data))), fitted(own_fit(y ~ a + unit, data))
    )
  }
  if (requireNamespace("data.table", quietly = TRUE)) {
    expect_identical(
      unname(fitted(own_fit(y ~ a + unit, data.table::as.data.table(data)))),
      unname(fitted(own_fit(y ~ a + unit, data)))
    )
  }
})

test_that("orders above 1 have members, bands and out-of-fold scores, too", {
  for (order in c(2, Inf)) {
    fit <- own_fit(dead ~ a + b + unit, data, order = order, epochs = 4, ensemble = 3)
    expect_length(fit$members, 3L)
    expect_false(anyNA(fit$out_of_fold))
    expect_true("AUC" %in% fit$judged$scores$score)
    expect_true(all(predict(fit, data, se.fit = TRUE)$se.fit >= 0))
  }
})
