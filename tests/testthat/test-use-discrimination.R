data <- jump_data(300)
fit <- own_fit(dead ~ a + b, data)

test_that("the curve and its area are those of pROC", {
  skip_if_not_installed("pROC")
  p <- unname(predict(fit, out_of_fold = TRUE))
  roc <- pROC::roc(data$dead, p, quiet = TRUE, direction = "<", levels = c("no", "yes"))
  found <- discrimination(fit)
  expect_equal(found$summary$auc, as.double(pROC::auc(roc)), tolerance = 1e-8)
  expect_equal(sort(unique(found$curve$tpr)), sort(unique(roc$sensitivities)), tolerance = 1e-12)
  area <- with(found$curve, sum(diff(fpr) * (tpr[-1] + tpr[-length(tpr)]) / 2))
  expect_equal(area, found$summary$auc, tolerance = 1e-12)
  # the band is about that of pROC's bootstrap
  band <- withr::with_seed(1, pROC::ci.se(roc, specificities = c(0.5, 0.7, 0.9), boot.n = 500, progress = "none"))
  own <- function(column) stats::approx(found$curve$fpr, found$curve[[column]], c(0.5, 0.3, 0.1), ties = mean)$y
  expect_equal(own("lower"), unname(band[, 1]), tolerance = 0.05)
  expect_equal(own("upper"), unname(band[, 3]), tolerance = 0.05)
})

test_that("shares at thresholds are those of their definitions", {
  found <- discrimination(fit, thresholds = 0.4)$thresholds
  p <- unname(predict(fit, out_of_fold = TRUE))
  event <- data$dead == "yes"
  expect_equal(found$value, c(
    mean(p[event] >= 0.4), mean(p[!event] < 0.4), mean(event[p >= 0.4]), mean(!event[p < 0.4])
  ))
  expect_equal(
    c(found$lower[1], found$upper[1]),
    as.vector(stats::prop.test(sum(p[event] >= 0.4), sum(event), correct = FALSE)$conf.int), tolerance = 1e-8
  )
})

test_that("bad thresholds are refused", {
  expect_snapshot(error = TRUE, {
    discrimination(fit, thresholds = 1.2)
    discrimination(fit, thresholds = c(0.1, -0.1))
    discrimination(fit, thresholds = "high")
    discrimination(own_fit(y ~ a, data))
  })
})

test_that("print() shows areas and thresholds", {
  expect_snapshot(discrimination(fit, thresholds = c(0.2, 0.4)), transform = without_numbers)
})
