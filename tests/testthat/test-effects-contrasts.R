data <- jump_data(160)
data$b[1:12] <- NA
fit <- own_fit(dead ~ a + b + unit, data, prototypes_for = TRUE, ensemble = 5)

# terms of single values: rows that differ in one column alone
terms_at <- function(fit, name, values, data) {
  rows <- data[rep(20L, length(values)), ]
  rows[[name]] <- values
  unname(predict(fit, rows, type = "terms")[, name])
}

test_that("contrasts are those of predict(type = \"terms\"), member by member", {
  table <- effect_table(fit, at = list(a = c(-1, 0.5, 1)), reference = list(a = 0))
  at <- terms_at(fit, "a", c(-1, 0.5, 1, 0), data)
  expect_equal(table$estimate, at[1:3] - at[4], tolerance = 1e-6)
  each <- vapply(seq_along(fit$members), function(m) {
    one <- terms_at(one_member(fit, m), "a", c(-1, 0.5, 1, 0), data)
    one[1:3] - one[4]
  }, numeric(3))
  jackknife <- sqrt(4 / 5 * rowSums((each - rowMeans(each))^2))
  # no smaller than the difference has in layer 0
  encoder <- fit$encoder[[1]]
  z <- process_numbers(encoder, c(-1, 0.5, 1, 0))
  least <- sqrt(base_variance(fit, 1L, z[1:3], z[4])[, 1]) * fit$response$scale
  expect_equal(table$se, pmax(jackknife, least), tolerance = 1e-6)
  expect_equal(table$upper - table$estimate, band_width(fit, 0.95) * table$se, tolerance = 1e-10)
})

test_that("the variance of a difference in layer 0 includes the covariance", {
  z <- process_numbers(fit$encoder[[2]], c(0.2, 0.9))
  covariance <- Reduce(`+`, lapply(fit$members, function(member) member$base$covariance[[2]][, , 1])) / 5
  basis <- base_basis(fit$base$terms[[2]], z)
  both <- basis %*% covariance %*% t(basis)
  expect_equal(base_variance(fit, 2L, z[1], z[2])[1, 1], both[1, 1] + both[2, 2] - 2 * both[1, 2])
  expect_equal(base_variance(fit, 2L, z[2], z[2])[1, 1], 0)
})

test_that("contrasts add up, and turn their sign with the reference", {
  value <- function(at, reference) effect_table(fit, list(b = at), list(b = reference))$estimate
  expect_equal(value(0.9, 0.5) - value(0.1, 0.5), value(0.9, 0.1), tolerance = 1e-10)
  expect_equal(value(0.1, 0.9), -value(0.9, 0.1), tolerance = 1e-10)
  one <- effect_table(fit, list(b = 0.9), list(b = 0.1))
  other <- effect_table(fit, list(b = 0.1), list(b = 0.9))
  expect_equal(one$se, other$se, tolerance = 1e-10)
})

test_that("shapes(reference = ) is the same contrast, and leaves other features alone", {
  shape <- shapes(fit, c("a", "b"), points = list(a = c(-1, 0, 1)), reference = list(a = 0))
  table <- effect_table(fit, list(a = c(-1, 1)), list(a = 0))
  expect_equal(shape$effect[c(1, 3)], table$estimate)
  expect_equal(shape$lower[c(1, 3)], table$lower)
  expect_identical(shape$effect[2], 0)
  expect_equal(shape$upper[2], 0)
  centred <- shapes(fit, "b")
  expect_equal(shape$effect[shape$term == "b"], centred$effect, tolerance = 1e-10)
  expect_equal(shape$upper[shape$term == "b"], centred$upper, tolerance = 1e-10)
  expect_identical(attr(shape, "reference"), c(a = "0"))
  # a value beyond the data is allowed, and marked
  far <- shapes(fit, "a", reference = list(a = 1e6))
  expect_match(attr(far, "reference")[["a"]], "(beyond the training data)", fixed = TRUE)
  expect_output(print(far), "beyond the training data", fixed = TRUE)
  expect_match(shape_figure(far, plot_options())$caption[1L], "beyond the training data", fixed = TRUE)
  expect_output(print(shape), "Compared with a = 0.", fixed = TRUE)
  expect_identical(names(attr(shapes(fit, reference = TRUE), "reference")), c("a", "b", "unit"))
  # layers add up to the contrast, too
  layers <- shapes(fit, "a", layers = TRUE, points = list(a = c(-1, 0, 1)), reference = list(a = 0))
  expect_equal(as.vector(tapply(layers$effect, layers$x, sum)), shape$effect[1:3], tolerance = 1e-6)
})

test_that("a ratio is the exponential, whatever its name", {
  link <- shapes(fit, "a", reference = list(a = 0))
  ratio <- shapes(fit, "a", reference = list(a = 0), scale = "odds ratio")
  expect_equal(ratio$upper, exp(link$upper))
  expect_identical(ratio, shapes(fit, "a", reference = list(a = 0), scale = "response"))
  count <- own_fit(count ~ a, data, family = poisson())
  expect_identical(attr(shapes(count, scale = "rate ratio"), "scale_label"), "rate ratio")
  expect_error(shapes(count, scale = "odds ratio"), class = "protonam_error_scale")
})

test_that("references are found: the most frequent level, FALSE, the smaller of two values, the median", {
  mixed <- mixed_data()
  mixed$two <- rep(c(3, 7, 7), 40)
  other <- own_fit(y ~ age + lab + unit + grade + male + day + two, mixed)
  found <- effect_table(other)
  expect_setequal(unique(found$term), c("age", "lab", "unit", "grade", "male", "day", "two"))
  reference <- tapply(found$reference, found$term, `[`, 1L)
  expect_identical(reference[["male"]], "FALSE")
  expect_identical(reference[["two"]], "3")
  expect_identical(reference[["unit"]], names(which.max(table(mixed$unit))))
  expect_true(as.numeric(reference[["age"]]) %in% mixed$age)
  expect_lt(abs(as.numeric(reference[["age"]]) - median(mixed$age)), 1.01)
  expect_identical(found$value[found$term == "grade"], c("low", "mid", "high"))
  # missing values come last, with their rows
  expect_identical(tail(found$value[found$term == "unit"], 1), "(missing)")
  expect_equal(tail(found$count[found$term == "lab"], 1), sum(is.na(mixed$lab)))
  expect_identical(tail(found$level[found$term == "lab"], 1), "(missing)")
})
