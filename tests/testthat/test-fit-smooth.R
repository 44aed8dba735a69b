encoded_training <- function(data, ...) {
  columns <- as.list(data)
  part <- list(n = nrow(data), columns = function(x) x, weights = NULL)
  encode_training(columns, part, resolve_control(quick_own(...), nrow(data)))
}

test_that("every column has the term that suits it", {
  data <- mixed_data(120)[c("age", "lab", "unit", "grade", "male", "day")]
  data$one <- 1
  data$two <- rep(1:2, 60)
  base <- base_terms(encoded_training(data), 120)
  kinds <- vapply(base$terms, `[[`, "", "kind")
  expect_identical(kinds, c("spline", "spline", "levels", "spline", "spline", "spline", "none", "spline"))
  expect_identical(vapply(base$terms, `[[`, NA, "missing"), c(FALSE, TRUE, rep(FALSE, 6)))
  knots <- lapply(base$terms, `[[`, "knots")
  expect_identical(lengths(knots)[c(4, 5, 7, 8)], c(3L, 2L, 0L, 2L))
  # three levels, and the missing value is one, too
  expect_length(knots[[3]], 4)
  expect_false(any(vapply(knots, is.unsorted, NA)))
  expect_identical(which(may_jump(base)), c(1L, 2L, 4L, 6L))
  straight <- base_terms(encoded_training(data), 120, kind = "linear")
  expect_identical(lengths(lapply(straight$terms, `[[`, "knots"))[1:2], c(2L, 2L))
})

test_that("there are never many more coefficients than the rows can tell apart", {
  expect_identical(base_knots(20000, 5), 30)
  expect_identical(base_knots(1e6, 200), 2)
  expect_lte(base_knots(150, 10) * 10, 150)
  expect_gte(base_knots(10, 1), 2)
})

test_that("ordered levels with missing values have no order", {
  data <- mixed_data(60)
  data$grade[1:5] <- NA
  encoded <- encoded_training(data["grade"])
  expect_true(has_no_order(encoded$encoders[[1]]))
  expect_identical(base_terms(encoded, 60)$terms[[1]]$kind, "levels")
})

test_that("initial prototypes stand at quantiles of the distinct values", {
  feature <- .Call(ffi_distinct, c(rep(0, 90), 1:10), NULL)
  centers <- distinct_centers(list(feature), 4)
  expect_equal(centers[, 1], stats::quantile(0:10, 1:4 / 5, names = FALSE))
  expect_identical(dim(distinct_centers(list(feature, feature), 3)), c(3L, 2L))
  all_missing <- .Call(ffi_distinct, c(NaN, NaN), NULL)
  expect_identical(distinct_centers(list(all_missing), 2)[, 1], c(0, 0))
})

test_that("the summary has degrees of freedom and evidence", {
  data <- jump_data()
  fit <- own_fit(y ~ a + b + unit, data)
  effects <- fit$effects
  expect_true(all(c("edf", "evidence", "prototypes") %in% names(effects)))
  expect_true(all(effects$edf >= 0 & effects$edf < 30))
  # levels are out of the question for prototypes
  expect_identical(is.na(effects$evidence), c(FALSE, FALSE, TRUE))
  expect_output(print(summary(fit)), "edf +prototypes")
  expect_output(print(summary(fit)), "z = ")
})

test_that("base = \"none\" has no layer 0, \"linear\" a straight one", {
  data <- jump_data(120)
  none <- own_fit(y ~ a + b, data, base = "none")
  expect_null(none$base)
  expect_identical(dimnames(predict(none, data[1:2, ], type = "layers"))[[2]], c("layer1", "layer2"))
  line <- own_fit(y ~ a + b, data, base = "linear", prototypes_for = FALSE, scaling = "minmax")
  at <- data.frame(a = seq(-1, 1, length.out = 5), b = 0.5)
  expect_lt(max(abs(diff(predict(line, at), differences = 2))), 1e-6)
})

test_that("more smoothness makes a calmer curve, of the feature it names", {
  data <- jump_data()
  edf <- function(smoothness) {
    own_fit(y ~ a + b, data, prototypes_for = FALSE, smoothness = smoothness)$effects$edf
  }
  found <- edf(NULL)
  expect_identical(edf(1), found)
  expect_lt(edf(c(b = 4))[2], found[2] - 0.2)
  expect_equal(edf(c(b = 4))[1], found[1], tolerance = 0.3)
  expect_gt(edf(0)[2], found[2] + 1)
})
