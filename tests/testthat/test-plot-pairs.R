options <- plot_options()
age <- c(20, 40, 60, 80)
rate <- seq(50, 150, 20)
unit <- c("medical", "surgical", "trauma")
facts <- list(age = numeric_facts(c(18, 95)), rate = numeric_facts(c(45, 160)), unit = level_facts(unit))
pair_of <- function(rows, with = options) shape_figure(fake_shapes(rows, facts), with)

test_that("cells of a heat map tile the plane without gaps", {
  figure <- pair_of(fake_pair("age:rate", age, rate, function(i, j) (i - 2.5) * (j - 3.5)))
  panel <- figure$panels[[1L]]
  tile <- panel$marks$tile
  expect_identical(nrow(tile), 24L)
  area <- sum((tile$xmax - tile$xmin) * (tile$ymax - tile$ymin))
  expect_equal(area, diff(panel$x$limits) * diff(panel$y$limits), tolerance = 1e-12)
  expect_equal(panel$x$limits, c(18, 95))
  expect_identical(c(panel$x$title, panel$y$title), c("age", "rate"))
})

test_that("the colour scale is symmetric about zero and white there", {
  figure <- pair_of(fake_pair("age:rate", age, rate, function(i, j) i * j / 10))
  expect_equal(figure$key$most, 2.4)
  expect_equal(figure$key$axis$limits, c(-2.4, 2.4))
  expect_identical(figure$key$title, "log odds")
  expect_null(figure$ylab)
  colours <- grDevices::col2rgb(diverging(c(-1, 0, 1), 1))
  expect_gt(min(colours[, 2L]), 240)
  expect_gt(colours["blue", 1L], colours["red", 1L])
  expect_gt(colours["red", 3L], colours["blue", 3L])
  expect_identical(diverging(0, 0), diverging(0, 1))
})

test_that("levels stand along y with the first on top, missing values have a slot", {
  panel <- pair_of(fake_pair("unit:age", unit, age, function(i, j) i))$panels[[1L]]
  expect_identical(panel$y$labels, unit)
  expect_identical(which.max(panel$y$at), 1L)
  tile <- panel$marks$tile
  expect_true(all(tile$value[tile$ymin < 1.2] == 3))
  rows <- rbind(
    fake_pair("age:rate", age, rate, function(i, j) 0 * i), fake_pair("age:rate", age, "(missing)", function(i, j) i)
  )
  panel <- pair_of(rows)$panels[[1L]]
  expect_identical(panel$y$extra$label, "missing")
  expect_equal(panel$marks$divider$y, panel$marks$divider$yend)
  expect_identical(sum(panel$marks$tile$ymin > 160), 4L)
})

test_that("the scatter shows observed cells only, with areas by share", {
  rows <- fake_pair("age:rate", age, rate, function(i, j) i)
  rows$density <- c(rep(0, 20), 0.1, 0.2, 0.3, 0.4)
  panel <- pair_of(rows, plot_options(style = "scatter"))$panels[[1L]]
  expect_null(panel$marks$tile)
  expect_identical(nrow(panel$marks$cell), 4L)
  expect_identical(order(panel$marks$cell$size), 1:4)
})

test_that("features of a pair come with the data; without them the name is taken apart", {
  features <- list("a:b" = "a:b", "a:b.1" = c("a", "b"), "a:b:c" = c("a", "b:c"))
  expect_identical(lapply(names(features), term_parts, features), unname(features))
  expect_identical(term_parts("a:b", NULL), c("a", "b"))
})

test_that("groups have a heat map each", {
  rows <- rbind(
    fake_pair("age:rate", age, rate, function(i, j) i, task = "female"),
    fake_pair("age:rate", age, rate, function(i, j) j, task = "male")
  )
  figure <- pair_of(rows)
  expect_identical(vapply(figure$panels, `[[`, "", "words"), c("female", "male"))
})

test_that("points at the ends of a scatter are whole", {
  panel <- panel_pair(
    fake_pair("a:b", c(0, 1, 2), c(0, 10), function(i, j) i - j), list(numeric_facts(c(0, 2)), numeric_facts(c(0, 10))),
    c("a", "b"), NULL, "scatter", list(ticks = 5L, rug = FALSE)
  )
  expect_lt(panel$x$limits[1L], min(panel$marks$cell$x) - 0.03)
  expect_gt(panel$x$limits[2L], max(panel$marks$cell$x) + 0.03)
  expect_lt(panel$y$limits[1L], min(panel$marks$cell$y) - 0.1)
})

test_that("heat maps are grey where no training rows are near, and the scale is that of the rest", {
  x <- as.double(1:10)
  pair <- fake_pair("a:b", x, x, function(i, j) i * j)
  pair$density <- ifelse(pair$x <= 3 & pair$y <= 3, 1 / 9, 0)
  facts <- list(a = numeric_facts(c(1, 10)), b = numeric_facts(c(1, 10)))
  figure <- shape_figure(fake_shapes(pair, facts), plot_options())
  marks <- figure$panels[[1L]]$marks
  # two cells beyond the third
  expect_identical(nrow(marks$tile), 25L)
  expect_identical(nrow(marks$blank), 75L)
  expect_identical(figure$key$most, 25)
  expect_match(page_caption(figure, 1L), "Grey: no training rows near.", fixed = TRUE)
  # levels have no neighbours
  levels <- fake_pair("a:f", x, c("u", "v"), function(i, j) i * j)
  levels$density <- ifelse(levels$level2 == "u" & levels$x == 5, 1, 0)
  expect_identical(sum(!unseen_cells(levels)), 5L)
  expect_true(all(levels$level2[!unseen_cells(levels)] == "u"))
  # without densities everything is drawn
  levels$density <- NA_real_
  expect_false(any(unseen_cells(levels)))
})
