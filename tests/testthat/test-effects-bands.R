data <- jump_data(160)
fit <- own_fit(y ~ a + b + unit, data, prototypes_for = TRUE, ensemble = 5)

test_that("standard errors are the group jackknife's", {
  each <- vapply(seq_along(fit$members), function(m) {
    predict(one_member(fit, m), data[1:10, ], type = "link")
  }, numeric(10))
  jackknife <- sqrt(4 / 5 * rowSums((each - rowMeans(each))^2))
  given <- predict(fit, data[1:10, ], type = "link", se.fit = TRUE)
  expect_equal(unname(given$se.fit), unname(jackknife), tolerance = 1e-8)
  expect_equal(unname(given$fit), unname(rowMeans(each)), tolerance = 1e-10)
})

test_that("members with several seeds have the jackknife within seeds and the variance of a mean over seeds", {
  values <- c(1, 5, 2, 7, 4, 9)
  seeds <- c(1, 2, 1, 2, 1, 2)
  object <- list(members = lapply(seeds, function(seed) list(seed = seed)), fold = 1)
  out <- over_members(object, function(m) list(values[m]))
  expect_equal(out$mean[[1]], mean(values))
  means <- tapply(values, seeds, mean)
  within <- sum((values - means[seeds])^2)
  between <- sum((means - mean(values))^2) / (2 * 1)
  expect_equal(out$sd[[1]], sqrt(5^2 / (6 * 4) * within + between))
  pairs <- own_fit(y ~ a + b, data, order = 2, base = "none", ensemble = 4)
  expect_identical(seed_groups(pairs), c(1L, 2L, 1L, 2L))
  expect_true(all(is.finite(term_importance(pairs)$upper)))
})

test_that("bands are symmetric, no narrower than layer 0's own, and wider for a higher level", {
  shape <- shapes(fit, "a", points = list(a = c(-1, 0, 1)))
  expect_equal(shape$upper - shape$effect, shape$effect - shape$lower)
  wide <- shapes(fit, "a", points = list(a = c(-1, 0, 1)), level = 0.99)
  expect_true(all(wide$upper > shape$upper))
  half <- (shape$upper - shape$effect) / band_width(fit, 0.95)
  z <- scale_values(fit$encoder[[1]]$scaling, c(-1, 0, 1))
  least <- sqrt(base_variance(fit, 1L, z)[, 1]) * fit$response$scale
  expect_true(all(half >= least - 1e-10))
  # levels and missing values have bands, too
  expect_true(all(is.finite(shapes(fit, "unit")$lower)))
  expect_match(attr(shape, "band"), "jackknife over 5 folds")
})

test_that("one model has no band", {
  one <- own_fit(y ~ a + b, data, ensemble = 1)
  expect_true(all(is.na(shapes(one)$lower)))
  expect_null(attr(shapes(one), "band"))
  expect_message(shapes(one, level = 0.9), class = "protonam_message_no_band")
  expect_error(predict(one, data, se.fit = TRUE), class = "protonam_error_no_ensemble")
  expect_output(print(one), "no band")
})

test_that("the paper's ensembles keep the plain standard deviation", {
  paper <- protonam(y ~ a + b, data, control = tiny(), ensemble = 3, seed = 1)
  rows <- data[1:3, ]
  each <- vapply(1:3, function(m) predict(one_member(paper, m), rows, type = "link"), numeric(3))
  expect_equal(unname(predict(paper, rows, type = "link", se.fit = TRUE)$se.fit), unname(apply(each, 1, sd)))
  expect_identical(band_width(paper, 0.95), qnorm(0.975))
  expect_match(attr(shapes(paper), "band"), "different seeds")
})

test_that("the basis of layer 0 gives its effects again", {
  member <- fit$members[[1]]$base
  first <- 1
  for (i in seq_along(fit$base$terms)) {
    term <- fit$base$terms[[i]]
    rows <- first - 1 + seq_len(length(term$knots) + term$missing)
    first <- first + length(rows)
    z <- if (length(term$knots) > 2) (term$knots[-1] + term$knots[-length(term$knots)]) / 2 else term$knots
    if (term$kind == "levels") z <- term$knots
    z <- c(z, term$knots[1] - 5) # constant beyond the ends
    features <- lapply(fit$base$terms, function(term) .Call(ffi_distinct, rep_len(term$knots[1], length(z)), NULL))
    features[[i]] <- .Call(ffi_distinct, z, NULL)
    effect <- smooth_terms(fit, 1L, encoded_data(features, length(z)))[, i, 1]
    expect_equal(effect, as.vector(base_basis(term, z) %*% member$value[rows]), tolerance = 1e-5)
  }
})

test_that("bands contain zero where there is nothing", {
  withr::local_seed(3)
  empty <- as.data.frame(matrix(rnorm(100 * 20), 100))
  empty$y <- factor(rbinom(100, 1, 0.4))
  nothing <- own_fit(y ~ ., empty, ensemble = NULL)
  shape <- shapes(nothing)
  expect_gt(mean(shape$lower <= 0 & shape$upper >= 0), 0.95)
  expect_lt(diff(range(fitted(nothing))), 0.5)
  expect_output(print(nothing), "nothing was learned")
})
