data <- jump_data(160)
fit <- own_fit(dead ~ a + b, data)
validation <- validate_protonam(fit, "bootstrap", data = data, repeats = 3, seed = 1)

test_that("differences are those between the models and the fit", {
  found <- stability(validation, threshold = 0.4)
  expect_equal(found$rows$prediction, unname(fitted(fit)))
  models <- do.call(cbind, validation$bootstrap$predictions[[1]])
  expect_equal(found$rows$mape, rowMeans(abs(models - fitted(fit))), ignore_attr = TRUE)
  expect_equal(found$rows$changed, rowMeans((models >= 0.4) != (fitted(fit) >= 0.4)), ignore_attr = TRUE)
  expect_equal(found$summary$mape, mean(found$rows$mape))
  expect_snapshot(found, transform = without_numbers)
})

test_that("members stand for models, with the standard error of the fit", {
  found <- stability(fit, data)
  link <- stats::qlogis(found$predictions)
  expect_equal(found$rows$prediction, unname(predict(fit, data)), tolerance = 1e-8)
  expect_equal(
    sqrt(rowMeans((link - rowMeans(link))^2)), unname(predict(fit, data, type = "link", se.fit = TRUE)$se.fit),
    tolerance = 1e-5
  )
})

test_that("several responses and classes are looked at one by one", {
  classes <- own_fit(class ~ a + b, data)
  found <- stability(classes, data, response = "v")
  expect_equal(found$rows$prediction, unname(predict(classes, data)[, "v"]), tolerance = 1e-6)
  boot <- validate_protonam(classes, "bootstrap", data = data, repeats = 2, seed = 1)
  expect_equal(stability(boot, response = "w")$rows$prediction, unname(fitted(classes)[, "w"]))
  expect_error(stability(boot), "one of", class = "protonam_error_argument")
})

test_that("bad arguments are named", {
  numbers <- own_fit(y ~ a, data)
  expect_snapshot(error = TRUE, {
    stability(fit)
    stability(validation, newdata = data)
    stability(validate_protonam(fit, newdata = data))
    stability(validation, threshold = 2)
    stability(validation, threshold = c(0.1, 0.2))
    stability(numbers, data, threshold = 0.5)
    stability(own_fit(dead ~ a, data, ensemble = 1), data)
    stability(data)
  })
})
