test_that("the area stands in the panel, or in the legend", {
  objects <- example_validation()
  one <- roc_figure(objects$roc, plot_options())
  expect_match(one$panels[[1]]$marks$label$label, "^AUC 0[.][0-9]{3} [(]")
  expect_length(one$series$labels, 0L)
  several <- roc_figure(objects[["roc by group"]], plot_options())
  expect_match(several$series$labels[2], "female: 0[.]")
  expect_null(several$panels[[1]]$marks$label)
})

test_that("long curves are thinned and keep their ends", {
  table <- data.frame(x = 1:5000)
  thin <- thin_rows(table, 1000)
  expect_identical(nrow(thin), 1000L)
  expect_identical(range(thin$x), c(1L, 5000L))
})
