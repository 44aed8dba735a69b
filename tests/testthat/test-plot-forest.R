# lines of a figure: values 1 to n in one block each
fake_lines <- function(blocks = c(2, 3), half = 0.5, ...) {
  n <- sum(blocks)
  data.frame(
    block = rep(letters[seq_along(blocks)], blocks), name = rep(paste("feature", seq_along(blocks)), blocks),
    value = as.character(sequence(blocks)), x = sin(seq_len(n)), lower = sin(seq_len(n)) - half,
    upper = sin(seq_len(n)) + half, role = "point", series = 1L, panel = NA_character_, ...
  )
}
scale <- list(title = "odds ratio", ratio = TRUE)
figure_of <- function(lines, size = c(7, 5), series = character(), ...) {
  forest_figure(lines, scale, series, "Note.", plot_options(..., limits = new_room(size)))
}

test_that("each estimate has a line, from top to bottom, with gaps between blocks", {
  lines <- fake_lines()
  panel <- figure_of(lines)$panels[[1L]]
  expect_equal(panel$marks$point$x, lines$x)
  expect_equal(-diff(panel$marks$point$y), c(1, 1 + block_gap, 1, 1))
  expect_equal(panel$y$at, panel$marks$point$y)
  expect_identical(panel$y$labels, c("feature 1 = 1", "2", "feature 2 = 1", "2", "3"))
  expect_true(all(unlist(panel$marks$interval[c("x", "xend")]) >= panel$x$limits[1L]))
  expect_true(all(unlist(panel$marks$interval[c("x", "xend")]) <= panel$x$limits[2L]))
  # lines without values have their names
  lines$value <- NA
  lines$line <- 1:5
  expect_identical(figure_of(lines)$panels[[1L]]$y$labels, lines$name)
})

test_that("an interval far wider than most is cut, and the foot of the page says so", {
  lines <- fake_lines()
  lines$upper[2] <- 100
  figure <- figure_of(lines)
  expect_lt(figure$panels[[1L]]$x$limits[2L], 5)
  expect_equal(figure$panels[[1L]]$marks$interval$xend[2L], figure$panels[[1L]]$x$limits[2L])
  expect_match(paste(page_caption(figure, 1L), collapse = " "), "Cut off")
  given <- figure_of(lines, xlim = c(0.5, 2))
  expect_equal(given$panels[[1L]]$x$limits, log(c(0.5, 2)))
  expect_error(figure_of(lines, xlim = c(-1, 2)), "positive", class = "protonam_error_argument")
  expect_error(figure_of(lines, xlim = "range"), class = "protonam_error_argument")
})

test_that("more lines than have room are divided between blocks, at the same distance", {
  lines <- fake_lines(c(4, 5, 6, 3))
  figure <- figure_of(lines, size = c(3.5, 3))
  expect_gt(length(figure$pages), 1L)
  shown <- lapply(figure$panels, function(panel) panel$marks$point$x)
  expect_equal(unlist(shown), lines$x)
  expect_true(all(grepl("^fea.* = 1$", vapply(figure$panels, function(panel) panel$y$labels[1L], ""))))
  distance <- vapply(figure$panels, function(panel) diff(panel$y$limits), 0)
  expect_equal(distance, rep(distance[1L], length(distance)))
  # a block that is longer than a page
  long <- figure_of(fake_lines(40), size = c(3.5, 3))
  expect_equal(unlist(lapply(long$panels, function(panel) panel$marks$point$x)), fake_lines(40)$x)
})

test_that("series stand side by side and references once", {
  lines <- rbind(fake_lines(), transform(fake_lines(), series = 2L))
  lines$role[lines$value == "1"] <- "end"
  figure <- figure_of(lines, series = c("female", "male"))
  marks <- figure$panels[[1L]]$marks
  expect_identical(nrow(marks$point), 6L)
  expect_identical(nrow(marks$end), 2L)
  expect_identical(anyDuplicated(marks$point$y), 0L)
  expect_identical(figure$series$labels, c("female", "male"))
})

test_that("names are as small as their distance needs", {
  sizes <- on_device(vapply(c(5, 20, 60), function(n) name_size(axis_level(as.character(seq_len(n))), 3), 0))
  expect_identical(sizes[1L], 1)
  expect_true(all(diff(sizes) < 0))
  expect_gt(on_device(name_size(axis_level(letters), -1)), 0)
})
