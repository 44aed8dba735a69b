test_that("importance is the weighted mean absolute effect over the training rows, largest first", {
  data <- mixed_data()
  weights <- rep(c(1, 2.5, 0.25), length.out = nrow(data))
  for (order in 1:2) {
    fit <- tiny_fit(y ~ age + lab + unit, data, order = order, weights = weights)
    table <- term_importance(fit)
    expect_s3_class(table, c("protonam_importance", "data.frame"), exact = TRUE)
    expect_named(table, c("term", "task", "output", "importance", "lower", "upper"))
    expect_true(all(is.na(table$lower))) # one model
    expect_false(is.unsorted(-table$importance))
    terms <- predict(fit, data[fit$train, ], type = "terms")
    w <- weights[fit$train]
    expect_equal(table$importance, unname(colSums(abs(terms) * w) / sum(w))[match(table$term, colnames(terms))])
  }
})

test_that("groups, responses and classes are listed one by one", {
  data <- mixed_data()
  expect_identical(term_importance(tiny_fit(class ~ age + lab, data))$output, rep(c("a", "b", "c"), each = 2))
  expect_identical(unique(term_importance(tiny_fit(y ~ age + lab, data, task = ~male))$task), c("FALSE", "TRUE"))
  several <- tiny_fit(cbind(y, count) ~ age + lab, data, order = 2)
  table <- term_importance(several)
  expect_identical(table$task, rep(c("y", "count"), each = 3))
  terms <- predict(several, data[several$train, ], type = "terms")
  one <- table[table$task == "count", ]
  expect_equal(one$importance, unname(colMeans(abs(terms[, , "count"]))[one$term]))
})

test_that("there is none for higher orders", {
  fit <- tiny_fit(y ~ age + lab + unit, mixed_data(), order = Inf)
  expect_error(term_importance(fit), class = "protonam_error_order")
})

test_that("importance prints what it measures, without empty columns", {
  fit <- tiny_fit(dead ~ age + lab + unit, mixed_data())
  lines <- utils::capture.output(print(term_importance(fit), n = 2))
  expect_identical(lines[1L], "Importance of 3 terms: mean |log odds|")
  expect_match(lines[2L], "^ *term +importance$")
  expect_identical(lines[5L], "... and 1 more row")
})
