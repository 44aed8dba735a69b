test_that("a column with hardly a value in a half of the rows is screened all the same", {
  data <- jump_data(60)
  data$rare <- NA_real_
  data$rare[c(3, 20, 41, 55)] <- c(1, 2, 3, 4)
  for (seed in 1:4) {
    fit <- protonam(y ~ a + rare, data,
      ensemble = 2, epochs = 2, hidden = 4, prototypes = 2, seed = seed, verbose = FALSE
    )
    expect_true(all(is.finite(fitted(fit))))
  }
  term <- list(kind = "spline", knots = c(-1, 0, 1), missing = TRUE)
  base <- list(penalties = list(feature = 1L, curvature = TRUE, strength = 2), information = 1)
  values <- c(-1, 0, 1, NaN)
  effect <- c(1, 3, 2, 5)
  one <- smoothed(term, values, effect, c(0, 4, 0, 1), base, 1L, 1L)
  expect_equal(one[2], 3, tolerance = 1e-3)
  expect_true(all(is.finite(one)))
  expect_identical(smoothed(term, values, effect, c(0, 0, 0, 7), base, 1L, 1L), effect)
})

test_that("steps and networks decide together", {
  cut <- step_cut(9)
  expect_false(has_evidence(0, cut + 0.3, 9))
  expect_true(has_evidence(0, cut + 0.5, 9))
  # a step that is less clear, confirmed by networks, and one that networks contradict
  expect_true(has_evidence(3, cut, 9))
  expect_false(has_evidence(-1.5, cut + 0.5, 9))
  expect_identical(has_evidence(-50, cut + 1.2, 9), has_evidence(-2, cut + 1.2, 9))
  expect_false(has_evidence(0, cut + 0.5, 200))
  expect_identical(has_evidence(c(NA, 6), c(NA, 3), 2), c(NA, TRUE))
})
