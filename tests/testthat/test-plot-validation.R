test_that("one panel per measure, one line per group", {
  objects <- example_validation()
  one <- validation_figure(objects$validation, plot_options())
  expect_length(one$panels, 5L)
  expect_identical(one$panels[[1]]$y$labels, c("apparent", "corrected"))
  slope <- one$panels[[5]]
  expect_identical(slope$title, "calibration slope")
  expect_identical(slope$marks$guide$x, 1)
  groups <- validation_figure(objects[["validation by group"]], plot_options())
  expect_identical(groups$panels[[1]]$y$labels, c("male", "female", "(all)"))
  expect_identical(nrow(groups$panels[[1]]$marks$interval), 3L)
})
