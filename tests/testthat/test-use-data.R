test_that("the data of a fit are found through its call, and checked", {
  data <- jump_data(120)
  fit <- own_fit(dead ~ a + b, data)
  fit$call <- quote(protonam(formula = dead ~ a + b, data = data, groups = ~unit))
  expect_identical(fit_data(fit, NULL, environment())$n, 120L)
  expect_identical(fit_data(fit, data, globalenv())$rows, 1:120)
  elsewhere <- new.env(parent = baseenv())
  expect_snapshot(error = TRUE, {
    fit_data(fit, NULL, elsewhere)
    fit_data(fit, data[-1, ], elsewhere)
    fit_data(fit, data[120:1, ], elsewhere)
    member_links(fit, fit_data(fit, transform(data, a = a + 1), elsewhere))
  })
})

test_that("members predict the rows of the fit, and their mean is the fit", {
  data <- jump_data(120)
  data$off <- data$b / 2
  fit <- own_fit(dead ~ a + offset(off), data, subset = data$b > 0.2, task = ~group)
  links <- member_links(fit, fit_data(fit, data, globalenv()))
  expect_length(links, 4L)
  expect_equal(Reduce(`+`, links) / 4, fit$fitted, tolerance = 1e-5, ignore_attr = TRUE)
})
