test_that("members trained side by side are the ones trained alone", {
  data <- mixed_data(60)
  both <- tiny_fit(y ~ age + lab, data, ensemble = 2)
  first <- tiny_fit(y ~ age + lab, data)
  expect_identical(both$members[[1]]$params, first$members[[1]]$params)
  expect_length(both$members, 2L)
})

test_that("bootstrap members differ, by rows or by whole groups", {
  data <- mixed_data(60)
  data$id <- rep(1:20, 3)
  plain <- tiny_fit(y ~ age + lab, data, ensemble = 2)
  drawn <- tiny_fit(y ~ age + lab, data, ensemble = 2, bootstrap = TRUE)
  grouped <- tiny_fit(y ~ age + lab, data, ensemble = 2, bootstrap = TRUE, groups = ~id)
  expect_false(identical(plain$members[[1]]$params, drawn$members[[1]]$params))
  expect_false(identical(drawn$members[[1]]$params, drawn$members[[2]]$params))
  expect_length(grouped$members, 2L)
  expect_lt(additivity_gap(drawn, data), 1e-6)
  se <- predict(drawn, data, se.fit = TRUE)$se.fit
  expect_true(all(is.finite(se)) && any(se > 0))
})

test_that("counts of a bootstrap", {
  counts <- bootstrap_counts(50, NULL, 7)
  expect_identical(sum(counts), 50L)
  expect_identical(bootstrap_counts(50, NULL, 7), counts)
  groups <- rep(1:5, 10)
  by_group <- bootstrap_counts(50, groups, 7)
  expect_true(all(tapply(by_group, groups, function(x) length(unique(x))) == 1L))
  expect_identical(sum(by_group), 50L)
})

test_that("rows are drawn with all that belongs to them", {
  x <- c(3, 1, 2)
  feature <- .Call(ffi_distinct, x, NULL)
  data <- encoded_data(list(feature), 3, matrix(x), weights = x, offset = x, task = c(1L, 2L, 1L))
  drawn <- bootstrap_rows(data, c(0L, 2L, 1L))
  expect_identical(feature$values[decode_codes(drawn$features[[1]], 3) + 1L], c(1, 1, 2))
  expect_identical(drawn$y[, 1], c(1, 1, 2))
  expect_identical(drawn$weights, c(1, 1, 2))
  expect_identical(drawn$task, c(2L, 2L, 1L))
})

test_that("an ensemble of none is refused", {
  expect_error(tiny_fit(y ~ age, mixed_data(30), ensemble = 0), "ensemble", class = "protonam_error_argument")
})

test_that("an ensemble tells the validation score of its average", {
  data <- mixed_data(80)
  held <- 61:80
  both <- tiny_fit(y ~ age + lab, data[-held, ], validation = data[held, ], ensemble = 3)
  expect_equal(both$ensemble_score, sqrt(mean((predict(both, data[held, ]) - data$y[held])^2)), tolerance = 1e-6)
  expect_output(print(both), "3 members, RMSE [0-9.]+ on average, .*Validation +RMSE [0-9.]+; best")
  dead <- tiny_fit(dead ~ age + lab, data, ensemble = 2, bootstrap = TRUE)
  expect_true(dead$ensemble_score > 0 && dead$ensemble_score < 1)
  expect_output(print(dead), "2 members, each on rows drawn with replacement, AUC")
  expect_null(tiny_fit(y ~ age, data)$ensemble_score)
  expect_null(tiny_fit(y ~ age, data, ensemble = 2, validation = 0)$ensemble_score)
})
