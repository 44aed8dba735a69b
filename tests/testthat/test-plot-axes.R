test_that("axes have ticks within their limits, calendar ticks for dates", {
  axis <- axis_number(c(18, 95))
  expect_true(all(axis$at >= 18 & axis$at <= 95))
  expect_identical(length(axis$at), length(axis$labels))
  days <- as.numeric(as.Date(c("2015-03-01", "2021-03-01")))
  axis <- axis_number(days, "Date")
  expect_true(all(axis$labels %in% as.character(2015:2021)))
  expect_false(axis$plain)
  times <- as.numeric(as.POSIXct(c("2020-01-01 06:00", "2020-01-01 18:00"), tz = "UTC"))
  expect_match(axis_number(times, "POSIXct")$labels, ":00")
})

test_that("ratios are drawn at their logarithms and labelled as they are", {
  axis <- axis_effect(log(c(0.4, 3)), ratio = TRUE)
  expect_true("1" %in% axis$labels)
  expect_equal(axis$at, log(as.numeric(axis$labels)), tolerance = 1e-12)
  narrow <- axis_effect(log(c(0.98, 1.03)), ratio = TRUE)
  expect_gte(length(narrow$at), 2L)
})

test_that("limits never have zero width", {
  expect_gt(diff(spread(c(3, 3))), 0)
  expect_gt(diff(spread(0)), 0)
  expect_identical(spread(c(NA, Inf)), c(-1, 1))
  expect_equal(spread(c(0, 1), 0.1), c(-0.1, 1.1))
})

test_that("ticks are thinned evenly and zero stays", {
  at <- seq(-1, 1, 0.5)
  expect_identical(thin_ticks(at, rep(0.1, 5)), 1:5)
  kept <- thin_ticks(at, rep(0.45, 5))
  expect_true(all(diff(kept) == 2L))
  expect_true(0 %in% at[kept])
})
