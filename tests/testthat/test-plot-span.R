test_that("a value far from all others does not press the rest into a corner", {
  x <- c(seq(1, 10, length.out = 199), 999)
  share <- rep(1 / 200, 200)
  expect_equal(bulk_range(x, share), c(1, 10))
  expect_equal(bulk_range(x[-200], share[-200]), c(1, 10))
  # an exponential tail is no outlier up to twice the range of most rows
  tail <- stats::qexp(stats::ppoints(500))
  expect_equal(bulk_range(tail, rep(1, 500)), range(tail))
  expect_equal(bulk_range(c(-500, x[-200], 999), rep(1, 201)), c(1, 10))
  # many rows at one value are no outliers, however far it is
  far <- c(seq(1, 10, length.out = 100), 999)
  expect_equal(bulk_range(far, c(rep(1, 100), 20)), c(1, 999))
  # few values are shown whole
  expect_equal(bulk_range(c(0, 1, 50), c(100, 100, 1)), c(0, 50))
  # nothing but one value and outliers
  expect_equal(bulk_range(c(rep(0, 5), 1:20), c(rep(1000, 5), rep(1, 20))), c(0, 20))
})

facts <- list(dose = numeric_facts(c(1, 999)))
rows <- fake_curve("dose", c(seq(1, 10, length.out = 199), 999), seq(-1, 1, length.out = 200), lower = -2, upper = 2)
outlier <- fake_shapes(rows, facts)
figure_of <- function(...) shape_figure(outlier, plot_options(..., features = "dose"))

test_that("the foot of the page says what is not shown, and xlim shows it", {
  figure <- figure_of()
  panel <- figure$panels[[1L]]
  expect_lt(panel$x$limits[2L], 11)
  expect_lte(max(panel$marks$curve$x), 10)
  expect_match(page_caption(figure, 1L), "Not shown: dose above 10 (0.5 % of the rows).", fixed = TRUE, all = FALSE)
  # the background has bars in the part that is shown
  expect_gt(sum(panel$marks$shade$opacity > 0.2), 15L)
  whole <- figure_of(xlim = "range")
  expect_gt(whole$panels[[1L]]$x$limits[2L], 999)
  expect_no_match(page_caption(whole, 1L), "Not shown")
  part <- figure_of(xlim = list(dose = c(2.5, 5)))$panels[[1L]]
  expect_equal(range(part$marks$curve$x), c(2.5, 5))
  expect_equal(part$x$limits, c(2.45, 5.05))
  expect_equal(part$marks$curve$y[1L], stats::approx(rows$x, rows$effect, 2.5)$y)
  expect_equal(range(part$marks$band$x), c(2.5, 5))
  expect_true(all(part$marks$shade$xmin >= 2.45 & part$marks$shade$xmax <= 5.05))
})

test_that("a logarithmic axis places logarithms and labels values", {
  panel <- figure_of(log = "x", xlim = "range")$panels[[1L]]
  expect_true(panel$x$ratio)
  expect_equal(max(panel$marks$curve$x), log(999))
  expect_true(all(c("1", "10", "100") %in% panel$x$labels))
  expect_equal(panel$x$at[panel$x$labels == "10"], log(10))
  expect_identical(figure_of(log = "dose")$panels[[1L]]$x$ratio, TRUE)
})

test_that("both features of a pair end where the rows are", {
  x <- c(seq(1, 20, length.out = 20), 5000)
  pair <- fake_pair("dose:age", x, seq(20, 90, 10), function(i, j) i - j)
  known <- c(facts, list(age = numeric_facts(c(18, 95))))
  figure <- shape_figure(fake_shapes(pair, known), plot_options())
  panel <- figure$panels[[1L]]
  expect_lt(panel$x$limits[2L], 25)
  expect_true(all(panel$marks$tile$xmax <= panel$x$limits[2L]))
  expect_match(page_caption(figure, 1L), "Not shown: dose above 20", fixed = TRUE, all = FALSE)
  logged <- shape_figure(fake_shapes(pair, known), plot_options(log = "x", xlim = "range"))$panels[[1L]]
  expect_equal(logged$x$limits[1L], 0)
  expect_true(logged$x$ratio && logged$y$ratio)
})
