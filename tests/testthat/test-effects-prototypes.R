test_that("the table has every prototype, by layer, with counts that add up to the training rows", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ age + lab + unit, data)
  table <- prototypes(fit)
  expect_named(table, c("term", "layer", "prototype", "center", "label", "slope", "intercept", "count"))
  expect_identical(nrow(table), 3L * 2L * 4L)
  sums <- tapply(table$count, list(table$layer, table$term), sum)
  expect_equal(unname(sums[, "age"]), rep(fit$n_train, 2))
  expect_equal(unname(sums[, "lab"]), rep(sum(!is.na(data$lab[fit$train])), 2))
  expect_false(is.unsorted(table$center[table$term == "age" & table$layer == 1]))
})

test_that("counts are of the rows nearest to each prototype", {
  data <- mixed_data()
  fit <- protonam(y ~ age, data, control = tiny(scaling = "none"), seed = 1, verbose = FALSE, validation = 0)
  table <- prototypes(fit, layer = 2)
  nearest <- apply(abs(outer(data$age, table$center, `-`)), 1, which.min)
  expect_equal(table$count, tabulate(nearest, 4))
  weighted <- protonam(y ~ age, data,
    control = tiny(scaling = "none"), seed = 1, verbose = FALSE, validation = 0, weights = rep(2, nrow(data))
  )
  expect_equal(sum(prototypes(weighted, layer = 1)$count), 2 * nrow(data))
})

test_that("min-max: the paper's map to original units", {
  data <- mixed_data()
  fit <- protonam(y ~ age, data, control = tiny(scaling = "minmax"), seed = 1, verbose = FALSE, validation = 0)
  own <- prototypes(fit)
  z <- prototypes(fit, units = "processed")
  lo <- min(data$age)
  hi <- max(data$age)
  expect_equal(own$center, lo + z$center * (hi - lo))
  expect_equal(own$slope, z$slope)
  expect_equal(own$intercept, lo + z$intercept * (hi - lo) - z$slope * lo)
  expect_identical(own$count, z$count)
})

test_that("quantile scaling: the local linear map at the prototype", {
  set.seed(1)
  data <- data.frame(x = rexp(800))
  data$y <- data$x + rnorm(800)
  fit <- tiny_fit(y ~ x, data)
  own <- prototypes(fit, layer = 1)
  z <- prototypes(fit, layer = 1, units = "processed")
  scaling <- fit$encoder[[1]]$scaling
  # at the centre the line's value is the centre moved by the local stretch
  moved <- z$slope * z$center + z$intercept - z$center
  stretch <- (own$intercept + own$slope * own$center - own$center) / moved
  expect_equal(own$center, unscale_values(scaling, z$center))
  inner <- abs(z$center) < 2
  expect_true(all(stretch[inner] > 0))
  secant <- (unscale_values(scaling, z$center + 0.1) - unscale_values(scaling, z$center - 0.1)) / 0.2
  expect_equal(stretch[inner], secant[inner], tolerance = 0.3)
})

test_that("levels and dates are named, members can be picked", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ unit + day, data, ensemble = 2)
  expect_true(all(prototypes(fit, "unit")$label %in% c("er", "icu", "ward", "(missing)")))
  expect_match(prototypes(fit, "day")$label, "^2020-")
  expect_false(identical(prototypes(fit, member = 1)$center, prototypes(fit, member = 2)$center))
})

test_that("fits of any order have prototypes", {
  fit <- tiny_fit(y ~ age + lab + unit, mixed_data(), order = Inf)
  expect_identical(nrow(prototypes(fit, "age", layer = 1)), 4L)
})

test_that("bad input is named", {
  fit <- tiny_fit(y ~ age + lab, mixed_data())
  none <- protonam(y ~ age, mixed_data(), control = tiny(use_prototypes = FALSE), seed = 1, verbose = FALSE)
  expect_snapshot(error = TRUE, {
    prototypes(fit, "agee")
    prototypes(fit, 1)
    prototypes(fit, layer = 3)
    prototypes(fit, units = "years")
    prototypes(fit, member = 2)
    prototypes(none)
    prototypes(1)
  })
})

test_that("prototypes are told in original units when the rows of a value weigh less than one", {
  data <- mixed_data()
  data$rare <- as.numeric(seq_len(nrow(data)) == 7L)
  weights <- ifelse(data$rare == 1, 0.01, 1)
  fit <- tiny_fit(y ~ rare + age, data, weights = weights, validation = 0)
  table <- prototypes(fit)
  expect_true(all(is.finite(table$intercept)))
  expect_identical(range(fit$encoder[[1L]]$scaling$value), c(0, 1))
})
