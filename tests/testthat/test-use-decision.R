data <- jump_data(300)
fit <- own_fit(dead ~ a + b, data)
p <- unname(predict(fit, out_of_fold = TRUE))

test_that("net benefit is that of dcurves", {
  skip_if_not_installed("dcurves")
  at <- seq(0, 0.95, 0.05)
  found <- decision_curve(fit, thresholds = at)
  reference <- as.data.frame(dcurves::dca(dead ~ p, data.frame(dead = data$dead == "yes", p), thresholds = at)$dca)
  for (strategy in c("model", "all", "none")) {
    own <- found$net_benefit[found$strategy == strategy]
    other <- reference$net_benefit[reference$variable == if (strategy == "model") "p" else strategy]
    expect_equal(own, other, tolerance = 1e-8, label = strategy)
  }
})

test_that("net benefit, its band and the gain are those of the definitions", {
  found <- decision_curve(fit, thresholds = 0.3)
  event <- data$dead == "yes"
  worth <- (p >= 0.3) * (event - (!event) * 3 / 7)
  own <- found[found$strategy == "model", ]
  expect_equal(own$net_benefit, mean(worth))
  expect_equal(own$upper - own$net_benefit, qnorm(0.975) * sqrt(mean((worth - mean(worth))^2) / 300))
  all <- mean(event - (!event) * 3 / 7)
  expect_equal(own$gain, mean(worth) - max(all, 0))
  expect_equal(found$net_benefit[found$strategy == "none"], 0)
})

test_that("thresholds are checked, and reach as far as the predictions", {
  expect_lte(max(decision_curve(fit)$threshold), 0.99)
  expect_equal(usual_thresholds(c(0.01, 0.02)), 1:10 / 100)
  expect_snapshot(error = TRUE, {
    decision_curve(fit, thresholds = 1)
    decision_curve(fit, thresholds = c(0.2, NA))
    decision_curve(own_fit(count ~ a, data, family = poisson()))
  })
})

test_that("a subset is a plain data frame, and print() shows all of them", {
  found <- decision_curve(fit, thresholds = c(0.2, 0.4), by = ~group, data = data)
  expect_identical(class(found[1:2, ]), "data.frame")
  expect_snapshot(found, transform = without_numbers)
})
