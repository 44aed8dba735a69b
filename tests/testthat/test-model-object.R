test_that("components are all subsets in lexicographic order", {
  expect_identical(model_components(3, 1), matrix(1:3, 1))
  expect_identical(model_components(3, 2), rbind(c(1L, 1L, 2L), c(2L, 3L, 3L)))
  expect_identical(model_components(4, 3)[, 1], 1:3)
  expect_identical(model_components(4, Inf), matrix(1:4))
  expect_identical(model_components(1, Inf), matrix(1L))
  expect_identical(model_components(5, 2), matrix(combn(5L, 2L), 2))
})

test_that("components are named after their features", {
  expect_identical(component_names(c("a", "b"), matrix(1:2, 1), 1), c("a", "b"))
  expect_identical(component_names(c("a", "b"), matrix(1:2), 2), "a:b")
  expect_identical(component_names(c("a", "b"), matrix(1:2), Inf), "(all features)")
  expect_identical(component_names(c("a", "b", "c"), rbind(c(1L, 3L), c(2L, 3L)), 2), c("a:b", "c"))
})

test_that("orders that do not fit the features are refused", {
  expect_snapshot(error = TRUE, {
    model_components(3, 4)
    model_components(1, 2)
    model_components(200, 4)
  })
})

test_that("ranges of rows cover all rows once", {
  ranges <- row_chunks(50000, 2^14)
  expect_identical(unlist(lapply(ranges, function(r) seq.int(r[1], r[2]))), 1:50000)
  expect_identical(row_chunks(0, 5), list())
})

test_that("a damaged object is not accepted", {
  fit <- tiny_fit(y ~ age + lab, mixed_data())
  expect_silent(check_sizes(fit))
  fit$members[[1]]$params <- fit$members[[1]]$params[-1]
  expect_error(check_sizes(fit))
})

test_that("names of components are unique, and features keep theirs", {
  pairs <- utils::combn(3L, 2L)
  expect_identical(component_names(c("x", "z", "x:z"), pairs, 2), c("x:z.1", "x:x:z", "z:x:z"))
  expect_identical(component_names(c("x", "z", "x:z"), matrix(1:3, 1L), 1), c("x", "z", "x:z"))
  # pairs whose names would be those of each other, and a feature that has the name with a number already
  features <- c("a", "b:c", "a:b", "c")
  expect_identical(component_names(features, rbind(c(1L, 3L), c(2L, 4L)), 2), c("a:b:c", "a:b:c.1"))
  expect_identical(component_names(c("x", "z", "x:z", "x:z.1"), rbind(1L, 2L), 2), "x:z.2")
})
