# cells of a curve with known steps; one row per value
cells_of <- function(y, x = seq(-2, 2, length.out = length(y)), weight = rep(1, length(y))) {
  step_cells(x, seq_along(x), weight, y)
}
knots <- seq(-2, 2, length.out = 12)
noise <- function(n, seed) withr::with_seed(seed, stats::rnorm(n))

test_that("rows are added up by value, in order, without those that have no information", {
  cells <- step_cells(c(3, NaN, 1), c(1, 1, 2, 3, 3, 3), c(1, 2, 5, 1, 1, 0), c(4, 1, 9, 2, 4, 100))
  expect_identical(cells$z, c(1, 3))
  expect_equal(cells$weight, c(2, 3))
  expect_equal(cells$y, c(3, 2))
  expect_equal(cells$rows, c(2, 2))
})

test_that("size and error of a step are those of a penalised regression", {
  y <- noise(80, 1) + (seq_len(80) > 30)
  cells <- cells_of(y)
  found <- step_sums(cells, knots)
  l <- 15L
  basis <- base_basis(list(kind = "spline", knots = knots, missing = FALSE), cells$z)
  gram <- crossprod(basis)
  gram <- gram + diag(1e-9 * mean(diag(gram)), ncol(gram))
  penalty <- curvature_penalty(knots)
  strength <- sum(diag(gram)) / sum(diag(penalty)) * step_strengths[l]
  both <- cbind(basis, seq_len(80) > 30)
  whole <- rbind(cbind(gram + strength * penalty, crossprod(basis, both[, 13])), crossprod(both[, 13], both))
  inverse <- solve(whole)
  expect_equal(found$top[30, l] / found$below[30, l], (inverse %*% crossprod(both, y))[13], tolerance = 1e-6)
  expect_equal(1 / found$below[30, l], inverse[13, 13], tolerance = 1e-6)
})

test_that("a step is found where it is, beside a curve", {
  x <- seq(-2, 2, length.out = 400)
  y <- sin(2 * x) + 1.5 * (x > 0.7) + noise(400, 2) / 2
  steps <- find_steps(cells_of(y, x), knots, step_cut(1))
  expect_length(steps, 1L)
  expect_lt(abs(x[steps] - 0.7), 0.04)
  scan <- scan_steps(cells_of(y, x), knots)[steps, ]
  expect_lt(abs(scan$size - 1.5), 4 * scan$se)
  expect_gt(scan$z, step_cut(1))
})

test_that("two steps between which a curve returns are found together", {
  x <- seq(-2, 2, length.out = 500)
  y <- 0.75 * (x > -0.5 & x < 0.4) + noise(500, 3)
  cells <- cells_of(y, x)
  alone <- max(abs(scan_steps(cells, knots)$z))
  pair <- double_steps(step_sums(cells, knots), some_borders(cells))
  expect_gt(pair$z, alone)
  # two steps are at least as good as the best of one
  expect_gte(pair$z + 1e-8, max(abs(scan_steps(cells, knots)$z[some_borders(cells)])))
  steps <- find_steps(cells, knots, step_cut(1))
  expect_length(steps, 2L)
  expect_lt(max(abs(x[steps] - c(-0.5, 0.4))), 0.1)
})

test_that("smooth curves and noise have no steps but by chance", {
  x <- seq(-2, 2, length.out = 400)
  found <- vapply(1:30, function(seed) {
    curve <- if (seed %% 2) sin(3 * x) else 0
    length(find_steps(cells_of(curve + noise(400, 100 + seed), x), knots, step_cut(1)))
  }, 1L)
  expect_lte(sum(found > 0), 3)
})

test_that("steps keep their distance from the ends and from each other, and few cells have none", {
  cells <- cells_of(noise(200, 4))
  open <- which(open_borders(cells))
  expect_identical(range(open), c(20L, 180L))
  near <- which(open_borders(cells, 100L))
  expect_true(all(abs(near - 100L) >= 20L))
  expect_identical(find_steps(cells_of(c(1, 2), c(0, 1)), knots, 3), integer())
  expect_gt(step_cut(1000), step_cut(10))
})
