on_null_device <- function(code, size = 7) {
  grDevices::pdf(NULL, size, size)
  on.exit(grDevices::dev.off())
  code
}

test_that("a panel has the curve, its band, tenths of the rows and a histogram", {
  x <- example_validation()$calibration
  figure <- calibration_figure(x, plot_options())
  panel <- figure$panels[[1]]
  expect_equal(panel$marks$point$y, x$groups$observed)
  expect_true(all(panel$marks$band$lower <= panel$marks$curve$y & panel$marks$curve$y <= panel$marks$band$upper))
  # everything lies within the axes
  for (mark in panel$marks) {
    heights <- unlist(mark[intersect(names(mark), c("y", "yend", "lower", "upper", "ymin"))])
    expect_true(all(heights >= panel$y$limits[1]))
    expect_true(all(unlist(mark[intersect(names(mark), c("x", "xend", "xmin"))]) <= panel$x$limits[2]))
  }
  # events above the line, others below
  middle <- panel$marks$zero$y
  up <- panel$marks$shade$ymax > middle
  expect_true(all(panel$marks$shade$ymin[up] == middle) && all(panel$marks$shade$ymax[!up] == middle))
  expect_match(panel$marks$note$label, "slope .* to .*\nin the large .*\nICI")
})

test_that("groups have panels of their own on the same axes", {
  figure <- calibration_figure(example_validation()[["calibration by group"]], plot_options())
  expect_identical(vapply(figure$panels, `[[`, "", "title"), c("(all)", "female", "male"))
  expect_identical(figure$panels[[1]]$x$limits, figure$panels[[3]]$x$limits)
})

test_that("a part without a curve is drawn all the same", {
  rows <- fake_outcomes(40)
  rows$y[] <- 1
  x <- example_validation()$calibration
  found <- calibrate_part(rows, "spline", 0.95)
  x[names(found)] <- found
  expect_no_error(on_null_device(plot(x)))
})

test_that("all figures can be drawn, small and large, with both renderers", {
  skip_if_not_installed("ggplot2")
  for (x in example_validation()) {
    for (size in c(3.5, 12)) expect_no_error(on_null_device(plot(x, main = "Title"), size))
    expect_s3_class(ggplot2::autoplot(x), "ggplot")
  }
  expect_error(plot(example_validation()$roc, mian = "x"), class = "protonam_error_argument")
})

test_that("figures of validation look as they did", {
  skip_on_cran()
  skip_if_not_installed("vdiffr")
  skip_if_not_installed("ggplot2")
  objects <- example_validation()
  for (name in names(objects)) {
    vdiffr::expect_doppelganger(paste("base", name), function() plot(objects[[name]]))
    vdiffr::expect_doppelganger(paste("ggplot", name), ggplot2::autoplot(objects[[name]]))
  }
})
