# Contributions of one pair at single rows, before purification.
raw_component <- function(fit, data, term) {
  encoded <- encode_newdata(fit, data)
  component_values(fit, seq_along(fit$members), encoded$data, encoded$unknown)[, match(term, fit$term_names), 1L, 1L]
}

test_that("parts are the weighted least-squares fit of two main effects", {
  data <- mixed_data()
  weights <- rep(c(1, 2.5, 0.25), length.out = nrow(data))
  fit <- tiny_fit(y ~ unit + grade + male, data, order = 2, weights = weights)
  train <- data[fit$train, ]
  train$unit[is.na(train$unit)] <- "(missing)"
  train$f <- raw_component(fit, data[fit$train, ], "unit:grade")
  train$w <- weights[fit$train]
  reference <- lm(f ~ unit + factor(grade, ordered = FALSE), train, weights = w)
  pure <- predict(fit, data[fit$train, ], type = "terms")[, "unit:grade"]
  expect_equal(unname(pure), unname(residuals(reference)), tolerance = 1e-8)
})

test_that("pure interactions have no weighted marginals, on the table and on the training rows", {
  data <- mixed_data()
  weights <- rep(c(1, 2.5, 0.25), length.out = nrow(data))
  for (ensemble in c(1, 3)) {
    fit <- protonam(y ~ age + lab + unit + male, data,
      order = 2, weights = weights, control = tiny(), seed = 1, verbose = FALSE, ensemble = ensemble
    )
    s <- shapes(fit)
    terms <- predict(fit, data[fit$train, ], type = "terms")
    w <- weights[fit$train]
    for (pair in grep(":", unique(s$term), value = TRUE)) {
      one <- s[s$term == pair, ]
      first <- tapply(one$effect * one$density, paste(one$x, one$level), sum)
      second <- tapply(one$effect * one$density, paste(one$y, one$level2), sum)
      # every column has fewer than 64 values here but `lab`, which is binned
      exact <- if (grepl("lab", pair)) 2e-3 else 1e-10
      expect_lt(max(abs(first), abs(second)), exact)
      expect_lt(abs(sum(w * terms[, pair])), 1e-10)
    }
    one <- terms[, "age:unit"]
    expect_lt(max(abs(tapply(one * w, data$age[fit$train], sum))), 1e-8)
    expect_lt(max(abs(tapply(one * w, data$unit[fit$train], sum))), 1e-8)
    expect_lt(max(abs(colSums(terms * w))), 1e-9)
  }
})

test_that("a model without interactions gets none", {
  # one-layer predictors add up over the features of a pair
  data <- mixed_data()
  fit <- protonam(y ~ age + lab + unit, data,
    order = 2, control = tiny(predictor_layers = 1), seed = 1, verbose = FALSE
  )
  table <- term_importance(fit)
  expect_lt(max(table$importance[grepl(":", table$term)]), 1e-6)
  expect_gt(max(table$importance), 1e-3)
  expect_lt(additivity_gap(fit, data), 1e-9)
})

test_that("tables are bounded whatever the number of pairs", {
  config <- function(pairs) list(components = matrix(0L, 2, pairs), n_tasks = 1, n_outputs = 1)
  expect_identical(purify_sizes(config(28), 64), list(exact = 64, bins = 64, nodes = 1000))
  expect_identical(purify_sizes(config(28), 64, 3000)$bins, 30)
  expect_identical(purify_sizes(config(28), 64, 100)$bins, 16)
  expect_identical(purify_sizes(config(28), 8, 100)$bins, 8)
  for (pairs in c(190, 1596, 20000)) {
    size <- purify_sizes(config(pairs), 64)
    expect_lte(pairs * size$bins^2, pair_cells)
    expect_lte(2 * pairs * size$nodes, pair_values)
  }
  expect_identical(purify_sizes(config(1), 16)$bins, 16)
})

test_that("bins are configurable and hold about equal weight", {
  set.seed(1)
  data <- data.frame(a = rnorm(600), b = rexp(600), f = factor(sample(letters, 600, TRUE)))
  data$y <- data$a * data$b
  fit <- protonam(y ~ a + b + f, data, order = 2, control = tiny(interaction_bins = 8), seed = 1, verbose = FALSE)
  expect_identical(dim(fit$purified$joint[[1]]), c(8L, 8L))
  expect_identical(dim(fit$purified$joint[[2]]), c(8L, 26L))
  expect_type(fit$purified$joint[[1]], "integer")
  weight <- rowSums(fit$purified$joint[[1]])
  expect_identical(sum(weight), as.double(fit$n_train))
  expect_lt(max(weight) / min(weight), 1.2)
  expect_lt(additivity_gap(fit, data), 1e-9)
})

test_that("values are located and interpolated in tables", {
  table <- c(0, 1, 3, NaN)
  place <- locate(table, c(-1, 0, 0.5, 2, 3, 9, NaN))
  expect_identical(as.vector(interpolate(c(10, 20, 40, 7), place)), c(10, 10, 15, 30, 40, 40, 7))
  expect_identical(as.vector(interpolate(5, locate(2, c(1, 2, 3)))), c(5, 5, 5))
  expect_identical(as.vector(interpolate(c(5, 7), locate(c(2, NaN), c(1, NaN)))), c(5, 7))
  values <- c(-1, 0.25, 2, NaN)
  counts <- c(1, 2, 3, 4)
  weight <- node_weights(table, values, counts)
  entries <- c(10, 20, 40, 7)
  expect_equal(sum(weight * entries), sum(counts * interpolate(entries, locate(table, values))) / 10)
})

test_that("a smaller model has the same contributions", {
  fit <- tiny_fit(class ~ age + lab + unit + male, mixed_data(), order = 2)
  rows <- encode_newdata(fit, mixed_data())$data
  member <- fit$members[[1]]
  all <- .Call(ffi_contributions, fit$config, member$params, member$running, rows, TRUE, NULL, 1L)
  some <- raw_components(fit, 1, rows, TRUE, 1L, keep = c(2L, 5L))
  expect_equal(some, all[, c(2, 5), , ], tolerance = 1e-12)
})

test_that("main effects and the true interaction are found again", {
  skip_on_cran()
  set.seed(1)
  data <- data.frame(a = runif(2000), b = runif(2000), c = runif(2000))
  truth <- scale(with(data, cbind(a = sin(2 * pi * a), b = 2 * b, c = 4 * (c - 0.5)^2)), scale = FALSE)
  data$y <- rowSums(truth) + 3 * (data$a - 0.5) * (data$c - 0.5) + rnorm(2000, sd = 0.1)
  fit <- protonam(y ~ ., data,
    order = 2, prototypes = 8, layers = 2, hidden = 32, epochs = 60, batch_size = 128, lr = 5e-3, seed = 1,
    verbose = FALSE
  )
  terms <- predict(fit, data, type = "terms")
  off <- sqrt(colMeans((scale(terms[, 1:3], scale = FALSE) - truth)^2)) / apply(truth, 2, sd)
  expect_lt(max(off), 0.1)
  pairs <- grep(":", term_importance(fit)$term, value = TRUE)
  expect_identical(pairs[1], "a:c")
})

test_that("weights of very different size do not break purification", {
  data <- mixed_data()
  for (range in c(12, 18, 100, 300)) {
    weights <- withr::with_seed(range, 10^stats::runif(nrow(data), -range, range))
    fit <- expect_no_warning(tiny_fit(y ~ age + lab + day, data, order = 2, weights = weights))
    expect_true(all(is.finite(fit$effects$importance)))
    expect_lt(additivity_gap(fit, data), 1e-6 * max(1, abs(predict(fit, data))))
    expect_true(all(is.finite(shapes(fit)$effect)))
  }
})
