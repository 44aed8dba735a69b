data <- jump_data()

fits <- list(
  gaussian = own_fit(y ~ a + b + unit, data, prototypes_for = TRUE),
  binomial = own_fit(dead ~ a + b + unit, data, prototypes_for = "a"),
  poisson = own_fit(count ~ a + b + unit, data, family = poisson()),
  multinomial = own_fit(class ~ a + b + unit, data, prototypes_for = "b"),
  responses = own_fit(cbind(y, y2) ~ a + b + unit, data, prototypes_for = TRUE),
  groups = own_fit(y ~ a + b + unit, data, task = ~group, prototypes_for = "a"),
  group_classes = own_fit(class ~ a + b, data, task = ~group, prototypes_for = "a"),
  smooth = own_fit(y ~ a + b + unit, data, prototypes_for = FALSE),
  one = own_fit(y ~ a + b + unit, data, ensemble = 1, prototypes_for = TRUE)
)

test_that("terms and constant add up to the link, with layer 0 and without prototypes", {
  for (name in names(fits)) expect_lt(additivity_gap(fits[[name]], data), 1e-6, label = name)
  holes <- data
  holes$a[1:20] <- NA
  expect_lt(suppressWarnings(additivity_gap(fits$gaussian, holes)), 1e-6)
  learned <- own_fit(y ~ a + b + unit, holes, prototypes_for = TRUE)
  expect_lt(additivity_gap(learned, holes), 1e-6)
  shifted <- own_fit(y ~ a + b + offset(noise), data, prototypes_for = TRUE)
  expect_lt(additivity_gap(shifted, data), 1e-6)
  for (order in c(2, Inf)) {
    fit <- own_fit(y ~ a + b + unit, data, order = order)
    expect_identical(length(fit$members), 4L)
    if (order == 2) expect_lt(additivity_gap(fit, data), 1e-6)
  }
})

test_that("layer 0 is the first layer, and the last one is the prediction", {
  for (fit in fits) {
    layers <- predict(fit, data, type = "layers")
    expect_identical(dimnames(layers)[[2]], c("smooth", "layer1", "layer2"))
    link <- as.matrix(predict(fit, data, type = "link"))
    expect_equal(unname(layers[, 3, ]), unname(drop(link)), tolerance = 1e-10)
  }
  still <- predict(fits$smooth, data, type = "layers")
  expect_identical(still[, 1, 1], still[, 3, 1])
})

test_that("shapes by layer add up to the shape", {
  for (fit in fits[c("gaussian", "binomial", "smooth", "responses")]) {
    points <- list(a = c(-1, 0, 1))
    whole <- shapes(fit, "a", points = points)
    parts <- shapes(fit, "a", layers = TRUE, points = points)
    expect_identical(length(unique(parts$layer)), 3L)
    expect_equal(Reduce(`+`, split(parts$effect, parts$layer)), whole$effect, tolerance = 1e-8)
  }
})

test_that("a term without prototypes has no weights, and no prototypes to show", {
  weights <- coef(fits$binomial)$weights
  expect_true(all(is.na(weights[c("b", "unit"), , , ])))
  expect_false(anyNA(weights["a", , , ]))
  expect_identical(unique(prototypes(fits$binomial)$term), "a")
  expect_error(prototypes(fits$binomial, "b"), "smooth", class = "protonam_error_no_prototypes")
  expect_error(prototypes(fits$smooth), "smooth", class = "protonam_error_no_prototypes")
  expect_error(plot(fits$smooth, which = "history"), "no training history", class = "protonam_error_no_prototypes")
})

test_that("predictions of some rows do not depend on the others", {
  for (fit in fits) {
    expect_equal(predict(fit, data[5, ], type = "link"), head(predict(fit, data[5:9, ], type = "link"), 1))
    expect_length(predict(fit, data[0, ], type = "terms"), 0)
  }
})
