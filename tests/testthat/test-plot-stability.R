test_that("panels can be chosen, and those that need more are named", {
  x <- example_validation()$stability
  titles <- function(figure) vapply(figure$panels, `[[`, "", "title")
  all <- stability_figure(x, NULL, plot_options())
  expect_identical(titles(all), c("predictions", "mean difference", "calibration", "changed sides"))
  expect_identical(titles(stability_figure(x, "mape", plot_options())), "mean difference")
  x$y <- NULL
  x$threshold <- NULL
  expect_identical(titles(stability_figure(x, NULL, plot_options())), c("predictions", "mean difference"))
  expect_error(stability_figure(x, "changed", plot_options()), "changed", class = "protonam_error_argument")
})
