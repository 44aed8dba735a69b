test_that("folds have classes alike and differ by one row at most", {
  classes <- rep(c(0, 1), c(41, 12))
  id <- draw_folds(5, classes, 53, 1)
  expect_lte(diff(range(table(id))), 1L)
  expect_lte(diff(range(table(id[classes == 1]))), 1L)
  expect_identical(draw_folds(5, classes, 53, 1), id)
  expect_false(identical(draw_folds(5, classes, 53, 2), id))
})

test_that("groups stay whole, and folds of groups are about equal", {
  groups <- rep(1:12, 1:12)
  id <- draw_grouped(3, groups, NULL, 1)
  expect_true(all(rowSums(table(groups, id) > 0) == 1L))
  expect_lte(diff(range(table(id))), 3L)
  classes <- as.double(groups %in% c(3, 7, 11))
  id <- draw_grouped(3, groups, classes, 1)
  expect_true(all(table(id, classes) > 0))
})
