# How far an axis of effects reaches, and what is cut off at the frame.

rare <- function() {
  x <- c(1:100, 101)
  data.frame(
    series = 1L, x = x, level = NA_character_, effect = c(sin(1:100), 50), lower = c(sin(1:100) - 0.1, 0),
    upper = c(sin(1:100) + 0.1, 100), density = c(rep(0.00999, 100), 0.0001)
  )
}

test_that("effects and bands that nobody has do not stretch the axis", {
  expect_lt(diff(effect_limits(list(rare()))), 3)
  # unless there is nothing else, or they stretch it by little
  alone <- rare()[101, ]
  expect_gt(diff(effect_limits(list(alone))), 50)
  little <- rare()
  little$effect[101] <- 1.5
  expect_gt(max(effect_limits(list(little))), 1.5)
  no_density <- rare()
  no_density$density <- NA_real_
  expect_gt(diff(effect_limits(list(no_density))), 100)
  levels <- data.frame(
    series = 1L, x = NA_real_, level = c("a", "b", "c"), effect = c(-1, 1, 40), lower = c(-2, 0, -99),
    upper = c(0, 2, 99), density = c(0.5, 0.4999, 0.0001)
  )
  expect_lt(diff(effect_limits(list(levels))), 5)
})

test_that("lines end at the frame, bands and points stay within it", {
  line <- data.frame(x = c(0, 1, 2, 3, 4), y = c(0, 4, 0, -4, 0), piece = 1L, series = 1L)
  cut <- cut_lines(line, c(-1, 2))
  expect_true(all(cut$y >= -1 & cut$y <= 2))
  expect_equal(cut$x, c(0, 0.5, 1.5, 2, 2.25, 3.75, 4))
  expect_identical(cut$piece, c(1L, 1L, 2L, 2L, 2L, 3L, 3L))
  inside <- data.frame(x = 1:3, y = c(0, 1, 0), piece = 1L, series = 1L)
  expect_identical(cut_lines(inside, c(-1, 2))$y, inside$y)

  panel <- list(
    y = list(limits = c(-1, 1)), x = list(limits = c(0, 1)),
    marks = list(
      band = data.frame(x = 1:2, lower = c(-3, 0), upper = c(0, 3), piece = 1L, series = 1L),
      missing = data.frame(x = 1, y = 7, series = 1L)
    )
  )
  cut <- cut_panel(panel)
  expect_identical(range(cut$marks$band[c("lower", "upper")]), c(-1, 1))
  expect_identical(cut$marks$missing$y, 1)
  expect_true(cut$cut)
  expect_match(cut_note(list(cut)), "Cut off at the frame")
  expect_false(cut_panel(list(y = panel$y, x = panel$x, marks = list()))$cut)
})
