test_that("shortened names keep both ends, their width and their differences", {
  expect_identical(shorten(c("age", "weight"), 10), c("age", "weight"))
  expect_identical(shorten("abcdefghijklmnopqrstuvwxyz", 11), "abcd...wxyz")
  names <- paste0("a_long_common_beginning_", c("x", "y"), "_and_a_long_common_end")
  short <- shorten(names, 14)
  expect_true(all(nchar(short) <= 14L))
  expect_identical(anyDuplicated(short), 0L)
  expect_identical(shorten(NA_character_, 10), NA_character_)
})

test_that("names break after marks and never within dots", {
  expect_identical(wrap_name("age", 20), "age")
  expect_identical(wrap_name("systolic blood pressure at admission", 24), "systolic blood pressure\nat admission")
  long <- "a_very_long_feature_name_that_goes_on_and_on_until_sixty_chr"
  lines <- strsplit(wrap_name(long, 26), "\n")[[1L]]
  expect_length(lines, 2L)
  expect_true(all(nchar(lines) <= 26L))
  expect_false(any(grepl("[^.][.]{1,2}$|^[.]{1,2}[^.]", lines)))
  unbroken <- strsplit(wrap_name(strrep("x", 60L), 20), "\n")[[1L]]
  expect_true(all(nchar(unbroken) <= 20L))
})

test_that("ticks and values are written for readers", {
  expect_identical(format_ticks(c(0, 0.5, 1)), c("0.0", "0.5", "1.0"))
  expect_identical(format_ticks(c(0, 50000)), c("0", "50,000"))
  expect_identical(format_ticks(numeric()), character())
  expect_identical(format_alike(c(1.234, -0.0001, -0.5), signed = TRUE), c("+1.23", "0.00", "-0.50"))
  expect_identical(format_alike(c(12345, 1)), c("12,345", "1"))
  expect_identical(format_alike(0), "0")
})

test_that("probabilities keep two digits at both ends", {
  shown <- vapply(c(0.4, 0.0312, 0.968, 0.99962, 1e-9, 1), format_probability, "")
  expect_identical(shown, c("0.40", "0.031", "0.968", "0.99962", "below 0.0001", "above 0.9999"))
})
