options <- plot_options()
figure_of <- function(rows, terms, ..., with = options) shape_figure(fake_shapes(rows, terms, ...), with)
unit <- c("medical", "surgical", "trauma")
unit_facts <- level_facts(unit)

test_that("a curve breaks at its jumps and shows them as jumps", {
  rows <- jumpy()
  panel <- figure_of(rows, list(age = numeric_facts(c(18, 95))))$panels[[1L]]
  expect_identical(panel$kind, "curve")
  expect_identical(length(unique(panel$marks$curve$piece)), 3L)
  expect_equal(panel$marks$jump$yend - panel$marks$jump$y, c(0.5, -0.9), tolerance = 1e-12)
  expect_identical(panel$marks$jump$x, panel$marks$jump$xend)
  # no piece runs over a jump
  reach <- tapply(panel$marks$curve$y, panel$marks$curve$piece, function(y) max(diff(y)))
  expect_true(all(reach < 0.1))
})

test_that("there are 20 bars, the darkest where most rows are, and a rug of observed values", {
  facts <- numeric_facts(c(18, 95))
  marks <- figure_of(jumpy(), list(age = facts))$panels[[1L]]$marks
  expect_identical(nrow(marks$shade), 20L)
  expect_identical(which.max(marks$shade$opacity), which.max(facts$density$share))
  expect_equal(marks$shade$opacity / max(marks$shade$opacity), facts$density$share / max(facts$density$share))
  expect_identical(marks$rug$x, facts$rug)
  off <- plot_options(density = FALSE, rug = FALSE)
  marks <- figure_of(jumpy(), list(age = facts), with = off)$panels[[1L]]$marks
  expect_null(marks$shade)
  expect_null(marks$rug)
})

test_that("missing values have a mark of their own beyond the axis", {
  rows <- rbind(jumpy("lactate", c(0, 20)), fake_levels("lactate", "(missing)", -1.1, 0.4))
  panel <- figure_of(rows, list(lactate = numeric_facts(c(0, 20), missing_share = 0.4)))$panels[[1L]]
  expect_identical(panel$marks$missing$y, -1.1)
  expect_gt(panel$marks$missing$x, 20)
  expect_lt(panel$marks$missing$x, panel$x$limits[2L])
  expect_identical(panel$x$extra$label, "missing")
  expect_identical(nrow(panel$marks$shade), 21L)
  expect_false(any(panel$marks$curve$x > 20))
})

test_that("levels are points with intervals, in the order of the factor", {
  rows <- fake_levels("unit", rev(unit), c(0.3, 0, -0.2), c(0.1, 0.3, 0.6))
  rows$lower <- rows$effect - 0.1
  rows$upper <- rows$effect + 0.1
  panel <- figure_of(rows, list(unit = unit_facts))$panels[[1L]]
  expect_identical(panel$x$labels, unit)
  expect_identical(panel$marks$point$y[order(panel$marks$point$x)], c(-0.2, 0, 0.3))
  expect_identical(nrow(panel$marks$interval), 3L)
})

test_that("names of levels that do not fit side by side are written one below the other", {
  long <- paste("a level with a name that is rather long, number", 1:5)
  panel <- figure_of(fake_levels("unit", long, 1:5 / 5), list(unit = level_facts(long)))$panels[[1L]]
  expect_true(panel$flipped)
  # the first level is on top
  expect_identical(which.max(panel$y$at), 1L)
  expect_equal(panel$marks$point$x, 1:5 / 5)
  expect_equal(panel$marks$point$y, panel$y$at)
  expect_identical(panel$x$title, "log odds")
})

test_that("42 levels get a page with all their names", {
  levels <- paste0("country number ", 1:42)
  rows <- rbind(jumpy(), fake_levels("country", levels, sin(1:42)))
  facts <- list(age = numeric_facts(c(18, 95)), country = level_facts(levels))
  figure <- figure_of(rows, facts, with = plot_options(limits = new_room(c(7, 7))))
  expect_length(figure$pages, 2L)
  panel <- figure$panels[[figure$pages[[2L]]$panels]]
  expect_identical(panel$y$labels, levels)
  # on a lower page they stand in several panels
  figure <- figure_of(rows, facts, with = plot_options(limits = new_room(c(3.5, 3))))
  countries <- figure$panels[-1L]
  expect_identical(unlist(lapply(countries, function(panel) panel$y$labels)), levels)
  expect_identical(vapply(countries, `[[`, "", "title"), paste0("country, ", 1:3, " of 3"))
  expect_lte(max(lengths(lapply(countries, function(panel) panel$y$labels))), 20L)
})

test_that("effects share one scale unless each panel is to have its own", {
  rows <- rbind(jumpy("a"), jumpy("b", height = 0.1))
  terms <- list(a = numeric_facts(c(18, 95)), b = numeric_facts(c(18, 95)))
  panels <- figure_of(rows, terms)$panels
  expect_identical(panels[[1L]]$y$limits, panels[[2L]]$y$limits)
  panels <- figure_of(rows, terms, with = plot_options(free_y = TRUE))$panels
  expect_gt(diff(panels[[1L]]$y$limits), 5 * diff(panels[[2L]]$y$limits))
  expect_true(all(vapply(panels, function(panel) panel$y$limits[1L] < 0 && panel$y$limits[2L] > 0, NA)))
})

test_that("groups are series of one panel, classes too, both together split by group", {
  rows <- rbind(jumpy(task = "female"), jumpy(task = "male", height = 0.5))
  figure <- figure_of(rows, list(age = numeric_facts(c(18, 95))))
  expect_length(figure$panels, 1L)
  expect_identical(figure$series$labels, c("female", "male"))
  expect_identical(anyDuplicated(figure$series$colours), 0L)
  both <- rbind(transform(rows, output = "low"), transform(rows, output = "high"))
  figure <- figure_of(both, list(age = numeric_facts(c(18, 95))))
  expect_length(figure$panels, 2L)
  expect_identical(figure$series$labels, c("low", "high"))
  expect_match(figure$panels[[1L]]$title, "female")
})

test_that("layers are panels side by side", {
  rows <- do.call(rbind, lapply(1:3, function(l) jumpy(layer = l)))
  figure <- figure_of(rows, list(age = numeric_facts(c(18, 95))))
  expect_identical(vapply(figure$panels, `[[`, "", "title"), paste("age, layer", 1:3))
  expect_identical(figure$pages[[1L]]$columns, 3L)
})

test_that("the foot says what bands mean, and there is none without a band", {
  rows <- jumpy()
  terms <- list(age = numeric_facts(c(18, 95)))
  figure <- figure_of(rows, terms)
  expect_null(figure$panels[[1L]]$marks$band)
  expect_identical(figure$caption, "No band: one model.")
  rows$lower <- rows$effect - 0.1
  rows$upper <- rows$effect + 0.1
  figure <- figure_of(rows, terms, band = "What the band means.", members = 20L)
  expect_identical(figure$caption, "What the band means.")
  expect_identical(nrow(figure$panels[[1L]]$marks$band), nrow(rows))
})

test_that("ratios are drawn around 1", {
  rows <- jumpy()
  rows$effect <- exp(rows$effect)
  terms <- list(age = numeric_facts(c(18, 95)))
  figure <- figure_of(rows, terms, scale = "response", scale_label = "odds ratio")
  panel <- figure$panels[[1L]]
  expect_equal(panel$marks$curve$y, log(rows$effect))
  expect_identical(panel$y$labels[panel$y$at == 0], "1")
  expect_identical(figure$ylab, "odds ratio")
})

test_that("dates have calendar axes, durations their unit", {
  day <- as.numeric(as.Date("2015-03-01"))
  rows <- jumpy("admitted", day + c(0, 2200))
  panel <- figure_of(rows, list(admitted = numeric_facts(day + c(0, 2200), "Date")))$panels[[1L]]
  expect_true(all(panel$x$labels %in% as.character(2015:2021)))
  wait <- numeric_facts(c(0, 10), "difftime")
  wait$unit <- "days"
  expect_identical(figure_of(jumpy("wait", c(0, 10)), list(wait = wait))$panels[[1L]]$title, "wait (days)")
})

test_that("a feature of a single value and one with nothing but missing values can be drawn", {
  terms <- list(one = list(type = "numeric", range = c(3, 3)))
  panel <- figure_of(fake_curve("one", 3, 0), terms)$panels[[1L]]
  expect_gt(diff(panel$x$limits), 0)
  expect_identical(nrow(panel$marks$dot), 1L)
  rows <- fake_levels("none", "(missing)", 0.2)
  panel <- figure_of(rows, list(none = list(type = "numeric", missing_share = 1)))$panels[[1L]]
  expect_identical(nrow(panel$marks$missing), 1L)
})

test_that("ticks make room for the word below the slot of missing values", {
  quietly(
    {
      graphics::par(mar = c(2, 2, 1, 1))
      graphics::plot.new()
      graphics::plot.window(c(0, 11.8), c(0, 1), xaxs = "i")
      axis <- list(at = c(0, 5, 10), labels = c("0", "5", "10"), extra = list(at = 11, label = "missing"))
      kept <- roomy_ticks(axis)
      axis$extra <- NULL
      every <- roomy_ticks(axis)
    },
    2, 2
  )
  expect_identical(kept, 1:2)
  expect_identical(every, 1:3)
})

test_that("effects of single values and of two values are points with intervals, not a line", {
  rows <- data.frame(
    term = "x", series = 1L, x = c(0, 1), level = NA, effect = c(-1, 1), lower = c(-2, 0), upper = c(0, 2),
    density = 0.5
  )
  options <- list(density = FALSE, rug = FALSE, ticks = 5, log = character())
  y <- axis_number(c(-2, 2), "numeric", 5)
  panel <- panel_curve(rows, list(type = "numeric", points = TRUE), y, "x", options)
  expect_named(panel$marks, c("zero", "interval", "point"), ignore.order = TRUE)
  expect_identical(panel$marks$point$y, c(-1, 1))
  expect_identical(panel$x$labels, c("0", "1"))
  many <- rows[rep(1, 30), ]
  many$x <- 1:30
  expect_true("dot" %in% names(panel_curve(many, list(type = "numeric", points = TRUE), y, "x", options)$marks))
  expect_true("curve" %in% names(panel_curve(rows, list(type = "numeric"), y, "x", options)$marks))
  fit <- own_fit(y ~ a + b, transform(jump_data(100), b = as.numeric(a > 0)))
  facts <- attr(shapes(fit), "terms")
  expect_identical(c(facts$a$points, facts$b$points), c(FALSE, TRUE))
})
