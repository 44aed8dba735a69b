test_that("rows of weight zero are neither trained on nor validated with", {
  expect_identical(rows_of_weight(NULL, 3), 1:3)
  expect_identical(rows_of_weight(c(1, 0, 0.5), 3), c(1L, 3L))
})

test_that("classes and groups of rows of weight zero alone are not those of the fit", {
  rows <- function(y, weights, family = NULL) {
    suppressMessages(drop_unweighted(c(4L, 1:3, 1L), class_labels(y, family), weights, 4, "y"))
  }
  labels <- c("a", "b", "c", "a")
  expect_identical(rows(labels, c(1, 1, 0, 0)), c(4L, 1:2, 1L))
  expect_identical(rows(factor(labels), c(1, 0, 0, 1)), c(4L, 1L, 1L))
  expect_identical(rows(labels, c(2, 1, 1, 0)), c(4L, 1:3, 1L))
  # numbers are no classes, unless they are declared as such
  expect_identical(rows(1:4, c(1, 1, 0, 0)), c(4L, 1:3, 1L))
  for (family in list("multinomial", multinomial_family())) {
    expect_identical(rows(c(1, 1, 2, 1), c(1, 1, 0, 0), family), c(4L, 1:2, 1L))
  }
  expect_identical(rows(labels, NULL), c(4L, 1:3, 1L))
  expect_identical(rows(labels, c(0, 0, 0, 0)), c(4L, 1:3, 1L)) # refused by check_weights()
  expect_message(
    drop_unweighted(1:4, labels, c(1, 1, 0, 0), 4, "y"), "1 row of weight zero is left out.*\"c\"",
    class = "protonam_message_dropped_rows"
  )
})

test_that("a fit has the classes and groups that the rows with a weight have", {
  withr::local_seed(4)
  data <- data.frame(x = rnorm(60), class = sample(c("u", "v", "w"), 60, TRUE), sex = rep(c(0, 1, 2), each = 20))
  data$own <- as.numeric(data$class != "w")
  data$two <- as.numeric(data$sex != 2)
  quick <- function(...) suppressMessages(protonam(..., ensemble = 1, epochs = 1, seed = 1, verbose = FALSE))
  zero <- quick(class ~ x, data, weights = own)
  expect_identical(zero$response$levels, c("u", "v"))
  expect_identical(predict(zero, data), predict(quick(class ~ x, data, subset = own == 1), data))
  zero <- quick(x ~ own, data, weights = two, task = ~sex)
  expect_identical(zero$task$levels, c("0", "1"))
  left <- quick(x ~ own, data, subset = two == 1, task = ~sex)
  expect_identical(predict(zero, data[1:40, ]), predict(left, data[1:40, ]))
})
