test_that("the additive fit solves the normal equations, also where the table falls apart", {
  set.seed(1)
  weights <- matrix(rpois(30, 2), 6)
  weights[1:3, 4:5] <- 0
  weights[4:6, 1:3] <- 0
  weights[1, 1] <- weights[4, 4] <- 1
  table <- array(rnorm(60), c(6, 5, 2))
  fit <- additive_fit(weights, table)
  expect_identical(connected_parts(weights > 0), list(rows = rep(1:2, each = 3), columns = c(1L, 1L, 1L, 2L, 2L)))
  expect_identical(connected_parts(matrix(TRUE, 3, 4)), list(rows = rep(1L, 3), columns = rep(1L, 4)))
  for (k in 1:2) {
    rest <- weights * (table[, , k] - outer(fit$g[, k], fit$h[, k], `+`))
    expect_lt(max(abs(rowSums(rest)), abs(colSums(rest))), 1e-9)
  }
  # additive in all cells, filled or not
  table <- array(outer(1:6, c(2, 7, 1, 8, 3), `+`), c(6, 5, 1))
  fit <- additive_fit(weights, table)
  expect_equal(outer(fit$g[, 1], fit$h[, 1], `+`), table[, , 1], tolerance = 1e-10)
})
