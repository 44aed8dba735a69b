distinct <- function(x, weights = NULL) .Call(ffi_distinct, x, weights)
decoded <- function(x, table) table$values[encoded_index(table, length(x))]

test_that("distinct values are sorted, and codes lead back to the column", {
  columns <- list(
    c(3, 1, NA, -0, 0, NaN, Inf, -Inf, -2.5, 1), c(4L, NA, -5L, 4L), c(TRUE, NA, FALSE), numeric(),
    sin(1:70000), round(sin(1:1e5), 2), 1:300 / 7, c(sin(1:2e5), NA, 0, -0)
  )
  for (x in columns) {
    table <- distinct(x)
    expect_identical(decoded(x, table), replace(as.double(x) + 0, is.na(x), NaN))
    expect_identical(table$values, c(sort(unique(as.double(x) + 0)), if (anyNA(x)) NaN))
    expect_identical(table$counts, as.vector(table(match(decoded(x, table), table$values))) + 0)
    expect_identical(table$width, encoded_feature(table$values, 1L)$width)
    expect_identical(length(table$codes), length(x) * table$width)
  }
})

test_that("counts are sums of weights", {
  expect_identical(distinct(c(2, 1, NA, 2), c(0.5, 1, 2, 3))$counts, c(1, 3.5, 2))
  expect_error(distinct(1:3, 1), "as long as", class = "protonam_error_engine")
  expect_error(distinct("a"), "as doubles", class = "protonam_error_engine")
})

test_that("recoding and slicing keep every row's value", {
  x <- c(5, 1, 3, NaN, 1, 5)
  table <- distinct(x)
  doubled <- encoded_feature(c(10, NaN, 2), c(3L, 1L, 1L, 2L)[encoded_index(table)])
  expect_identical(decoded(x, doubled), c(10, 2, 10, NaN, 2, 10))
  part <- encoded_slice(list(table), c(6, 4), 6)[[1]]
  expect_identical(decoded(1:2, part), c(5, NaN))
})

test_that("bins are few, ordered, of about equal weight, and heavy values stay alone", {
  number <- c(0, seq(0.1, 100, length.out = 999), NaN)
  counts <- c(500, rep(1, 999), 20)
  binned <- bin_values(number, number / 10, counts, 1:1000, 16)
  expect_lte(length(binned$bins$value), 16)
  expect_identical(length(binned$bins$breaks), length(binned$bins$value) - 1L)
  expect_false(is.unsorted(binned$bins$value))
  expect_identical(sum(binned$map == binned$map[1]), 1L)
  expect_identical(binned$map[1001], length(binned$values))
  weight <- rowsum(counts[1:1000], binned$map[1:1000])
  expect_lt(max(weight[-1]), 1.6 * 1500 / 16)
  expect_identical(findInterval(number[1:1000], binned$bins$breaks) + 1L, binned$map[1:1000])
})

test_that("values of bins stay ordered and known whatever the weights", {
  number <- c(1, 2, 3, 4)
  # sums of weights times equal values round differently
  equal <- bin_values(number, rep(0.1, 4), c(1e-9, 1 / 3, 1e9, 7), 1:4, 2)
  expect_identical(equal$bins$value, rep(0.1, length(equal$bins$value)))
  none <- bin_values(number, number, c(1, 0, 0, 1), 1:4, 4)
  expect_false(anyNA(none$bins$value))
  expect_false(is.unsorted(none$bins$value))
})
