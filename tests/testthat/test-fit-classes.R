test_that("scores of classes add up to zero, for every term and layer, and probabilities stay the same", {
  data <- mixed_data()
  for (layers in 1:2) {
    for (order in 1:2) {
      control <- tiny(predictor_layers = layers)
      fit <- protonam(class ~ age + lab + unit, data,
        order = order, task = ~male, control = control, seed = 1, verbose = FALSE
      )
      expect_lt(max(abs(rowSums(predict(fit, data, type = "link")))), 1e-6)
      terms <- predict(fit, data, type = "terms")
      expect_lt(max(abs(apply(terms, 1:2, sum))), 1e-6)
      each <- shapes(fit, layers = TRUE)
      point <- paste(each$term, each$task, each$layer, each$x, each$level, each$y, each$level2)
      expect_lt(max(abs(rowsum(each$effect, point))), 1e-6)
      expect_lt(additivity_gap(fit, data), 1e-6)
      # any common score added to the parameters is taken out again
      moved <- fit$members[[1]]
      at <- tensor_index(.Call(ffi_layout, fit$config), sprintf("pred_b%d_0", layers))
      moved$params[at] <- moved$params[at] + 5
      expect_equal(center_classes(moved, fit$config)$params, fit$members[[1]]$params, tolerance = 1e-6)
    }
  }
})

test_that("probabilities are those of the engine's own scores", {
  data <- mixed_data()
  fit <- tiny_fit(class ~ age + lab + unit, data)
  moved <- fit
  layout <- .Call(ffi_layout, fit$config)
  at <- tensor_index(layout, "pred_w2_1")
  moved$members[[1]]$params[at] <- moved$members[[1]]$params[at] + rep(rnorm(ncol(at)), each = nrow(at))
  expect_equal(predict(seal_fit(moved), data), predict(fit, data), tolerance = 1e-6)
})
