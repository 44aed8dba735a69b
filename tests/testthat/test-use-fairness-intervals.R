test_that("intervals of shares are Wilson's, those of means Student's", {
  event <- c(TRUE, TRUE, FALSE, FALSE, FALSE, FALSE, FALSE, FALSE, TRUE, FALSE)
  prediction <- c(0.9, 0.4, 0.3, 0.6, 0.1, 0.2, 0.1, 0.3, 0.7, 0.2)
  ends <- group_intervals(prediction, event, 0.5)
  rownames(ends) <- ends$measure
  wilson <- function(x, n) stats::prop.test(x, n, correct = FALSE)$conf.int[1:2]
  row <- function(measure) unlist(ends[measure, c("lower", "upper")], use.names = FALSE)
  expect_equal(row("base_rate"), suppressWarnings(wilson(3, 10)))
  expect_equal(row("selection_rate"), suppressWarnings(wilson(3, 10)))
  expect_equal(row("tpr"), suppressWarnings(wilson(2, 3)))
  expect_equal(row("fpr"), suppressWarnings(wilson(1, 7)))
  expect_equal(row("predicted"), stats::t.test(prediction)$conf.int[1:2])
  expect_equal(row("calibration"), stats::t.test(prediction - event)$conf.int[1:2])
  expect_lt(ends["auc", "lower"], score_auc(event, prediction))
  expect_gt(ends["auc", "upper"], score_auc(event, prediction))
})

test_that("a group without events has no intervals of what it lacks", {
  ends <- group_intervals(c(0.1, 0.7), c(FALSE, FALSE), 0.5)
  expect_identical(ends$lower[ends$measure == "tpr"], NA_real_)
  expect_identical(ends$lower[ends$measure == "auc"], NA_real_)
  one <- group_intervals(0.4, TRUE, 0.5)
  expect_identical(one$upper[one$measure == "predicted"], NA_real_)
})
