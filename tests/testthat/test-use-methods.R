data <- mixed_data()

test_that("residuals, deviance and logLik agree with glm's definitions", {
  w <- rep(1:2, 60)
  for (fit in list(
    tiny_fit(y ~ age, data, weights = w), tiny_fit(dead ~ age, data, weights = w),
    tiny_fit(count ~ age, data, family = poisson, weights = w)
  )) {
    y <- fit$y[, 1]
    mean <- unname(fitted(fit))
    expect_equal(unname(residuals(fit)), y - mean)
    expect_equal(deviance(fit), sum(family(fit)$dev.resids(y, mean, w)), tolerance = 1e-10)
    expect_equal(
      unname(residuals(fit, "pearson")), (y - mean) * sqrt(w / family(fit)$variance(mean)),
      tolerance = 1e-10
    )
    expect_equal(sum(residuals(fit, "deviance")^2), deviance(fit))
  }
  expect_equal(
    as.numeric(logLik(tiny_fit(dead ~ age, data))),
    sum(dbinom(data$dead == "yes", 1, fitted(tiny_fit(dead ~ age, data)), log = TRUE))
  )
  line <- lm(y ~ age, data)
  fit <- tiny_fit(y ~ age, data)
  fit$fitted[, 1] <- fitted(line)
  expect_equal(as.numeric(logLik(seal_fit(fit))), as.numeric(logLik(line)))
  multi <- tiny_fit(class ~ age, data)
  expect_identical(dim(residuals(multi)), c(120L, 3L))
  p <- fitted(multi)[cbind(1:120, as.integer(data$class))]
  expect_equal(deviance(multi), -2 * sum(log(p)))
})

test_that("formula, terms, family, nobs, weights and update work as for lm()", {
  fit <- tiny_fit(y ~ . - dead - class - count, data[-7], weights = rep(2, 120))
  expect_identical(labels(terms(fit)), c("age", "lab", "unit", "grade", "male", "day"))
  expect_identical(family(fit)$family, "gaussian")
  expect_identical(family(tiny_fit(class ~ age, data))$family, "multinomial")
  expect_identical(nobs(fit), 120L)
  expect_identical(weights(fit), rep(2, 120))
  expect_null(weights(tiny_fit(y ~ age, data)))
  start <- protonam(y ~ age + lab, data, control = tiny(), seed = 1)
  expect_identical(update(start, . ~ . - lab)$term_names, "age")
  expect_identical(update(start, order = 2)$term_names, "age:lab")
  expect_identical(update(start)$fitted, start$fitted)
})

test_that("coef() has the intercept and one weight per component, layer and task", {
  fit <- tiny_fit(y ~ age + lab, data, task = ~male)
  coef <- coef(fit)
  expect_named(coef$intercept, c("FALSE", "TRUE"))
  expect_identical(dim(coef$weights), c(2L, 2L, 2L))
  expect_identical(dimnames(coef$weights)[[3]], c("FALSE", "TRUE"))
  expect_identical(dim(coef(tiny_fit(y ~ age, data, ensemble = 2))$weights), c(1L, 2L, 1L, 2L))
  # one term, two groups: contributions differ between groups by the ratio of their weights, layer by layer
  by_layer <- .Call(
    ffi_contributions, fit$config, fit$members[[1]]$params, fit$members[[1]]$running,
    encode_newdata(fit, data)$data, TRUE, NULL, 1L
  )
  expect_equal(
    by_layer[, 1, 1, 1] / by_layer[, 1, 2, 1], rep(coef$weights[1, 1, 1] / coef$weights[1, 1, 2], 120),
    tolerance = 1e-5
  )
})
