test_that("few panels share one page, 57 fill pages of at most 12", {
  for (n in 1:12) {
    pages <- panel_pages(rep(FALSE, n))
    expect_length(pages, 1L)
    expect_gte(pages[[1L]]$rows * pages[[1L]]$columns, n)
    expect_lte(pages[[1L]]$columns, 3L)
  }
  pages <- panel_pages(rep(FALSE, 57L))
  expect_identical(unlist(lapply(pages, `[[`, "panels")), 1:57)
  expect_identical(lengths(lapply(pages, `[[`, "panels")), c(12L, 12L, 12L, 12L, 9L))
  expect_identical(lengths(lapply(panel_pages(rep(FALSE, 13L)), `[[`, "panels")), c(7L, 6L))
})

test_that("every panel has a cell, whatever room the device has", {
  for (rows in 1:4) {
    for (columns in 1:3) {
      for (n in c(1L, 2L, 4L, 5L, 11L)) {
        pages <- panel_pages(rep(FALSE, n), list(most = 12L, limits = c(rows, columns)))
        expect_identical(unlist(lapply(pages, `[[`, "panels")), seq_len(n))
        for (page in pages) {
          expect_gte(page$rows * page$columns, length(page$panels))
          expect_lte(page$rows, rows)
          expect_lte(page$columns, columns)
        }
      }
    }
  }
})

test_that("panels of many levels come last, two to a page", {
  pages <- panel_pages(c(FALSE, TRUE, FALSE, TRUE, TRUE))
  expect_identical(lapply(pages, `[[`, "panels"), list(c(1L, 3L), c(2L, 4L), 5L))
  expect_identical(pages[[3L]]$columns, 1L)
})

test_that("layers of a term stand side by side", {
  pages <- panel_pages(rep(FALSE, 20L), across = 4L)
  expect_identical(pages[[1L]]$panels, 1:12)
  expect_identical(c(pages[[1L]]$rows, pages[[1L]]$columns), c(3L, 4L))
  expect_identical(pages[[2L]]$panels, 13:20)
})

test_that("panels with a line per name share a page as far as the names have room", {
  pages_of <- function(n, lines, size) line_pages(n, lines, plot_options(limits = new_room(size)))
  expect_length(pages_of(5L, 3L, c(3.5, 3)), 1L)
  expect_length(pages_of(5L, 3L, c(7, 5)), 1L)
  many <- pages_of(5L, 10L, c(3.5, 3))
  expect_gt(length(many), 1L)
  expect_identical(unlist(lapply(many, `[[`, "panels")), 1:5)
  # letters of low panels are small, down to a size that can be read
  room <- new_room(c(3.5, 3))
  expect_lt(page_cex(list(rows = 3, columns = 2), room), page_cex(list(rows = 2, columns = 2), room))
  expect_identical(page_cex(list(rows = 12, columns = 1), room), least_cex)
})
