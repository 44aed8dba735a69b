test_that("terms of order 2 add up for every kind of model", {
  data <- mixed_data()
  data$y2 <- replace(50 * data$y, 1:15, NA)
  new <- data
  new$age[3] <- NA
  new$grade[4] <- NA
  new$unit[5] <- "elsewhere"
  new$age[5] <- NA
  new$lab[6] <- NA
  new$age[7] <- 500
  weights <- rep(c(1, 2.5, 0.25), length.out = nrow(data))
  fits <- list(
    tiny_fit(y ~ age + lab + unit + grade + male + day, data, order = 2, weights = weights),
    tiny_fit(dead ~ age + lab + unit + grade, data, order = 2, ensemble = 3),
    tiny_fit(class ~ age + lab + unit + grade, data, order = 2, weights = weights),
    tiny_fit(count ~ age + lab + unit + grade, data, order = 2, family = poisson()),
    tiny_fit(cbind(y, y2) ~ age + lab + unit + grade, data, order = 2, ensemble = 2),
    tiny_fit(dead ~ age + lab + unit + grade, data, order = 2, task = ~male),
    tiny_fit(class ~ age + lab + unit + grade, data, order = 2, task = ~male, ensemble = 2),
    protonam(y ~ age + lab + unit + grade, data,
      order = 2, control = tiny(norm = "batch", scaling = "minmax", bins = 16), seed = 1, verbose = FALSE
    )
  )
  for (fit in fits) {
    expect_lt(suppressWarnings(additivity_gap(fit, new)), 1e-6)
    terms <- suppressWarnings(predict(fit, new, type = "terms"))
    expect_identical(dimnames(terms)[[2]][1:4], c("age", "lab", "unit", "grade"))
    # a feature about which the row says nothing has no main effect
    expect_true(all(array(terms, c(120, dim(terms)[2], length(terms) / 120 / dim(terms)[2]))[c(3, 5), 1, ] == 0))
  }
})

test_that("features without a pair keep an effect of their own", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ age + lab + unit + male, data, order = 2, pairs = ~ age:unit)
  terms <- predict(fit, data, type = "terms")
  expect_identical(colnames(terms), c("age", "lab", "unit", "male", "age:unit"))
  expect_lt(additivity_gap(fit, data), 1e-9)
  expect_lt(max(abs(colMeans(terms[fit$train, ]))), 1e-9)
  s <- shapes(fit, "lab")
  given <- s[!is.na(s$x) & s$density > 0, ]
  rows <- data[rep(1, nrow(given)), ]
  rows$lab <- given$x
  expect_equal(given$effect, unname(predict(fit, rows, type = "terms")[, "lab"]), tolerance = 1e-10)
  expect_identical(term_importance(fit)$term, names(sort(-colMeans(abs(terms[fit$train, ])))))
  both <- tiny_fit(y ~ age + lab + unit, data, order = 2, pairs = ~ age + age:unit)
  expect_lt(additivity_gap(both, data), 1e-9)
  layered <- shapes(fit, "lab", layers = TRUE)
  expect_equal(
    layered$effect[layered$layer == 1][1] + layered$effect[layered$layer == 2][1], s$effect[1],
    tolerance = 1e-10
  )
})

test_that("main effects of order 2 agree between shapes and predictions, and members average to them", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ age + lab + unit, data, order = 2, ensemble = 2)
  s <- shapes(fit)
  for (term in c("age", "lab")) {
    one <- s[s$term == term & !is.na(s$x) & s$density > 0, ]
    rows <- data[rep(1, nrow(one)), ]
    rows[[term]] <- one$x
    expect_equal(one$effect, unname(predict(fit, rows, type = "terms")[, term]), tolerance = 1e-9)
  }
  values <- list(numeric(), c(-1, 0.5, NaN), numeric())
  stored <- main_effects(fit, values)$mean[[2]]
  averaged <- main_effects(fit, values, spread = TRUE)
  expect_equal(averaged$mean[[2]], stored, tolerance = 1e-10)
  expect_true(all(averaged$sd[[2]] > 0))
})

test_that("the summary has ranges and missing effects", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ age + lab + unit, data, order = 2)
  terms <- predict(fit, data[fit$train, ], type = "terms")
  effects <- fit$effects
  expect_identical(effects$term, colnames(terms))
  expect_equal(effects$low[1], min(terms[, "age"]))
  expect_equal(effects$missing[2], terms[which(is.na(data$lab[fit$train]))[1], "lab"][[1]])
  expect_equal(effects$high[3], max(terms[!is.na(data$unit[fit$train]), "unit"]))
  expect_output(print(summary(fit)), "age:lab")
})

test_that("terms add up when a pair would have the name of a feature", {
  fit <- colliding_fit()
  data <- colliding_data()
  terms <- predict(fit, data, type = "terms")
  expect_identical(colnames(terms), c("x", "z", "x:z", "x:z.1", "x:x:z", "z:x:z"))
  expect_lt(additivity_gap(fit, data), 1e-6)
  expect_identical(term_importance(fit)$term[order(term_importance(fit)$term)], sort(colnames(terms)))
  # one feature alone, at the values of the first row, moves its main effect and its pairs only
  moved <- data[c(1L, 1L), ]
  moved[["x:z"]][2L] <- data[["x:z"]][2L]
  expect_identical(unname(which(diff(predict(fit, moved, type = "terms"))[1L, ] != 0)), c(3L, 5L, 6L))
  expect_equal(predict(fit, data, type = "terms", terms = c("x:z.1", "x:z"))[, 1:2], terms[, c("x:z.1", "x:z")],
    tolerance = 1e-12, ignore_attr = c("constant", "offset")
  )
})
