test_that("few events and small counts are worth fewer rows", {
  rows <- function(family, y, weights = NULL) {
    equivalent_rows(list(family = family), list(n = length(y), y = matrix(y), weights = weights))
  }
  rare <- rep(c(0, 1), c(90, 10))
  expect_equal(rows("gaussian", rare), 100)
  expect_equal(rows("binomial", rare), 36)
  expect_equal(rows("binomial", rep(0:1, 50)), 100)
  expect_equal(rows("binomial", c(0, 1, NA), c(9, 1, 5)), 15 * 0.36)
  expect_equal(rows("poisson", c(0, 0, 0, 1)), 1)
  expect_equal(rows("poisson", c(5, 9, 2, 7)), 4)
  expect_equal(rows("multinomial", rep(0:2, c(96, 2, 2))), 100 * 2 * (1 - 0.96^2 - 2 * 0.02^2))
})
