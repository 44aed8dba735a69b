test_that("interactions agree with predictions on the grid", {
  data <- mixed_data()
  for (ensemble in 1:2) {
    fit <- tiny_fit(y ~ age + lab + unit, data, order = 2, ensemble = ensemble)
    s <- shapes(fit)
    one <- s[s$term == "age:unit", ]
    rows <- data[rep(1, nrow(one)), ]
    rows$age <- one$x
    rows$unit <- replace(one$level2, one$level2 == "(missing)", NA)
    expect_equal(one$effect, unname(predict(fit, rows, type = "terms")[, "age:unit"]), tolerance = 1e-9)
    one <- s[s$term == "age:lab", ]
    rows <- data[rep(1, nrow(one)), ]
    rows$age <- one$x
    rows$lab <- one$y
    expect_identical(is.na(one$y), one$level2 %in% "(missing)")
    expect_equal(one$effect, unname(predict(fit, rows, type = "terms")[, "age:lab"]), tolerance = 1e-9)
    expect_equal(sum(one$density), 1)
  }
  expect_true(all(one$lower < one$upper))
})

test_that("grids can be coarser or given, and density goes to the nearest point", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ age + lab + unit, data, order = 2)
  coarse <- shapes(fit, "age:lab", points = 5)
  expect_identical(nrow(coarse), 5L * 6L)
  expect_equal(sum(coarse$density), 1)
  given <- shapes(fit, "age:lab", points = list(age = c(30, 60), lab = c(4, NA)))
  expect_identical(given$x, c(30, 60, 30, 60))
  expect_identical(given$y, c(4, 4, NA, NA))
  expect_equal(sum(given$density[3:4]), mean(is.na(data$lab[fit$train])))
  rows <- data[rep(1, 4), ]
  rows$age <- given$x
  rows$lab <- given$y
  expect_equal(given$effect, unname(predict(fit, rows, type = "terms")[, "age:lab"]), tolerance = 1e-9)
})

test_that("many pairs share a bounded number of rows", {
  expect_identical(pair_grid_size(64, 10), 64)
  for (pairs in c(500, 1596, 2e4)) expect_lte(pairs * pair_grid_size(64, pairs)^2, max_pair_rows)
  expect_identical(pair_grid_size(64, 1e8), 2)
})
