test_that("curves end where they leave the panel", {
  rows <- data.frame(x = 1:4, y = c(1, 0.5, -0.5, -2), piece = 1, series = 1)
  cut <- cut_below(rows, -0.25)
  expect_equal(cut$x, c(1, 2, 2.75))
  expect_equal(cut$y, c(1, 0.5, -0.25))
  expect_identical(nrow(cut_below(rows, 2)), 0L)
  expect_identical(cut_below(rows, -3), rows)
})

test_that("groups share the axis of net benefit", {
  figure <- decision_figure(example_validation()[["decision by group"]], plot_options())
  expect_length(figure$panels, 3L)
  expect_identical(figure$panels[[1]]$y$limits, figure$panels[[2]]$y$limits)
  for (panel in figure$panels) {
    expect_true(all(panel$marks$curve$y >= panel$y$limits[1] - 1e-12))
    expect_setequal(panel$marks$curve$series, 1:3)
  }
})
