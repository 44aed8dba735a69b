small_cv <- function(formula, data, ...) {
  cv_protonam(formula, data, ..., epochs = 2, hidden = 8, prototypes = 4, ensemble = 2, seed = 1, verbose = FALSE)
}

test_that("scores are a point per fold, with the mean of the folds", {
  data <- mixed_data(40)
  cv <- small_cv(dead ~ age, data, folds = 4)
  figure <- cv_figure(cv, "scores", plot_options())
  expect_identical(length(figure$panels), length(unique(cv$summary$score)))
  first <- figure$panels[[1]]
  name <- cv$summary$score[1]
  expect_identical(first$marks$point$x, cv$scores[[name]])
  expect_identical(first$marks$guide$x, cv$summary$mean[1])
  several <- small_cv(cbind(y, lab) ~ age, data, folds = 2)
  expect_identical(cv_figure(several, "scores", plot_options())$series$labels, c("y", "lab"))
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    # without bars, points explain the colours
    expect_false(identical(ggplot2::autoplot(several)$scales$get_scales("colour")$guide, "none"))
  }
  single <- suppressWarnings(small_cv(y ~ age, data[1:4, ], folds = 4))
  empty <- cv_figure(single, "scores", plot_options())$panels
  expect_true("not defined in any fold" %in% unlist(lapply(empty, function(panel) panel$marks$label$label)))
})

test_that("predictions of two classes are compared in groups, with Wilson's intervals", {
  mean <- rep(c(0.2, 0.8), c(30, 20))
  y <- rep(c(1, 0, 1, 0), c(6, 24, 15, 5))
  marks <- shares_in_groups(mean, y, rep(1, 50))
  expect_equal(marks$point$y, c(0.2, 0.75), ignore_attr = TRUE)
  wilson <- stats::prop.test(6, 30, correct = FALSE)$conf.int
  expect_equal(c(marks$interval$y[1], marks$interval$yend[1]), as.vector(wilson), tolerance = 1e-8)
})

test_that("both renderers draw both figures", {
  data <- mixed_data(40)
  cv <- small_cv(dead ~ age, data, folds = 2)
  number <- small_cv(y ~ age, data, folds = 2)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  expect_identical(plot(cv), cv)
  expect_identical(plot(cv, "predictions", main = "Validation"), cv)
  expect_identical(plot(number, "predictions"), number)
  expect_error(plot(cv, pch = 3), class = "protonam_error")
  expect_error(plot(small_cv(cbind(y, lab) ~ age, data, folds = 2), "predictions"), class = "protonam_error_argument")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(cv), "ggplot")
  expect_s3_class(ggplot2::autoplot(number, which = "predictions"), "ggplot")
})
