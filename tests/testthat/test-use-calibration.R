data <- jump_data(300)
fit <- own_fit(dead ~ a + b, data)

test_that("calibration agrees with rms::val.prob() on the same predictions", {
  skip_if_not_installed("rms")
  new <- jump_data(400, seed = 3)
  found <- calibration(fit, new, smooth = "lowess")
  p <- unname(predict(fit, new))
  y <- as.double(new$dead == "yes")
  reference <- rms::val.prob(p, y, pl = FALSE)
  expect_equal(found$line$intercept, reference[["Intercept"]], tolerance = 1e-8)
  expect_equal(found$line$slope, reference[["Slope"]], tolerance = 1e-8)
  expect_equal(found$summary$ici, reference[["Eavg"]], tolerance = 1e-8)
  expect_equal(found$summary$e90, reference[["E90"]], tolerance = 1e-8)
  expect_equal(found$summary$emax, reference[["Emax"]], tolerance = 1e-8)
  scores <- validate_protonam(fit, newdata = new)$scores
  expect_equal(scores$corrected[scores$measure == "brier"], reference[["Brier"]], tolerance = 1e-8)
  # lrm() sorts predictions into bins for its C; pROC does not (test-model-measures.R)
  expect_equal(scores$corrected[scores$measure == "auc"], reference[["C (ROC)"]], tolerance = 1e-3)
})

test_that("the spline is that of rms::rcs(), and the band that of a regression", {
  skip_if_not_installed("rms")
  x <- sort(withr::with_seed(1, stats::rnorm(50)))
  knots <- c(-1, -0.2, 0.4, 1.2)
  expect_equal(
    unname(restricted_cubic(x, knots)), unname(unclass(Hmisc::rcspline.eval(x, knots, inclx = TRUE))),
    tolerance = 1e-12, ignore_attr = TRUE
  )
})

test_that("perfectly calibrated predictions have a curve near the diagonal within its band", {
  withr::local_seed(1)
  link <- stats::rnorm(4000, -1)
  rows <- list(
    family = stats::binomial(), y = as.double(stats::runif(4000) < stats::plogis(link)), link = link,
    mean = stats::plogis(link)
  )
  curve <- calibration_curve(rows, "spline", 0.95)
  at <- seq(0.1, 0.6, 0.1)
  band <- curve$at(at)
  expect_true(all(abs(band$observed - at) < 0.05))
  expect_true(mean(band$lower < at & at < band$upper) > 0.8)
  expect_lt(calibration_distances(rows, curve)[["ici"]], 0.02)
  # twice too extreme
  rows$link <- 2 * link
  rows$mean <- stats::plogis(2 * link)
  expect_gt(calibration_distances(rows, calibration_curve(rows, "spline", 0.95))[["ici"]], 0.05)
})

test_that("tenths of the rows, histogram and means add up", {
  cal <- calibration(fit)
  expect_identical(sum(cal$groups$n), 300)
  expect_identical(sum(cal$histogram$events + cal$histogram$others), 300L)
  expect_identical(sum(cal$histogram$events), sum(data$dead == "yes"))
  expect_equal(cal$summary$observed, mean(data$dead == "yes"))
  expect_equal(sum(cal$groups$n * cal$groups$observed) / 300, mean(data$dead == "yes"))
  expect_true(all(cal$groups$lower <= cal$groups$observed & cal$groups$observed <= cal$groups$upper))
})

test_that("groups, classes and responses have their own", {
  by <- calibration(fit, data, by = ~unit)
  expect_identical(by$summary$group, c("(all)", "er", "icu", "ward"))
  icu <- calibration(fit, data[data$unit == "icu", ])
  expect_equal(by$summary[by$summary$group == "icu", -1], icu$summary, ignore_attr = TRUE)
  classes <- calibration(own_fit(class ~ a + b, data))
  expect_identical(classes$summary$class, c("u", "v", "w"))
  expect_equal(classes$summary$observed, as.vector(table(data$class)) / 300)
  both <- calibration(own_fit(cbind(y, y2) ~ a + b, data))
  expect_identical(both$summary$response, c("y", "y2"))
  counts <- calibration(own_fit(count ~ a + b, data, family = poisson()), data)
  expect_equal(counts$summary$observed, mean(data$count))
})

test_that("print() says what was compared with what", {
  expect_snapshot(calibration(fit, by = ~group, data = data), transform = without_numbers)
})

test_that("bad arguments are named", {
  weighted <- own_fit(dead ~ a, data, weights = data$b)
  expect_snapshot(error = TRUE, {
    calibration(fit, smooth = "loess")
    calibration(fit, level = 95)
    calibration(fit, data[1:3])
    calibration(weighted, smooth = "lowess")
    calibration(data)
  })
})
