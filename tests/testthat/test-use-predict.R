data <- mixed_data()
columns <- c("age", "lab", "unit", "grade", "male", "day", "time")
fit <- tiny_fit(data[columns], data$y)
binary <- tiny_fit(data[columns], data$dead)
several <- tiny_fit(data[columns], data$class)

test_that("rows and columns may be shuffled, and other columns are ignored", {
  rows <- order(sin(1:120))
  shuffled <- data[rows, sample(names(data))]
  shuffled$more <- "x"
  for (object in list(fit, binary)) {
    expect_identical(predict(object, shuffled), predict(object, data)[rows])
    expect_identical(predict(object, shuffled)[rownames(data)], predict(object, data))
  }
})

test_that("types of a binomial fit", {
  p <- predict(binary, data)
  expect_true(all(p > 0 & p < 1))
  expect_identical(predict(binary, data, type = "link"), qlogis(p), tolerance = 1e-12) |> expect_no_error()
  expect_equal(plogis(predict(binary, data, type = "link")), p)
  prob <- predict(binary, data, type = "prob")
  expect_identical(colnames(prob), c("no", "yes"))
  expect_equal(prob[, "yes"], p)
  expect_equal(rowSums(prob), rep(1, 120), ignore_attr = TRUE)
  class <- predict(binary, data, type = "class")
  expect_identical(levels(class), c("no", "yes"))
  expect_identical(as.vector(class == "yes"), unname(p > 0.5))
})

test_that("types of a multinomial fit", {
  p <- predict(several, data)
  expect_identical(dim(p), c(120L, 3L))
  expect_identical(colnames(p), levels(data$class))
  expect_equal(rowSums(p), rep(1, 120), ignore_attr = TRUE)
  expect_identical(predict(several, data, type = "prob"), p)
  expect_identical(as.character(predict(several, data, type = "class")), colnames(p)[max.col(p)])
  expect_identical(dim(predict(several, data, type = "link")), c(120L, 3L))
  expect_identical(dim(predict(several, data, type = "terms")), c(120L, 7L, 3L))
})

test_that("counts, several responses, and their classes", {
  counts <- tiny_fit(count ~ age, data, family = poisson())
  expect_equal(predict(counts, data), exp(predict(counts, data, type = "link")))
  two <- tiny_fit(cbind(dead, male) ~ age + lab, data)
  p <- predict(two, data)
  expect_identical(colnames(p), c("dead", "male"))
  expect_equal(p, plogis(predict(two, data, type = "link")))
  class <- predict(two, data, type = "class")
  expect_s3_class(class, "data.frame")
  expect_identical(levels(class$male), c("FALSE", "TRUE"))
  expect_identical(rownames(predict(two, data[5:6, ], type = "class")), c("5", "6"))
})

test_that("layers are cumulative predictions, the last one the link", {
  layers <- predict(fit, data, type = "layers")
  expect_identical(dim(layers), c(120L, 2L, 1L))
  expect_identical(layers[, 2, 1], predict(fit, data, type = "link"))
  expect_identical(dim(predict(several, data[1, ], type = "layers")), c(1L, 2L, 3L))
})

test_that("terms can be picked, and are zero on average", {
  terms <- predict(fit, data, type = "terms", terms = c("unit", "age"))
  expect_identical(colnames(terms), c("unit", "age"))
  expect_identical(terms, predict(fit, data, type = "terms")[, c("unit", "age")], ignore_attr = TRUE)
})

test_that("without newdata the fitted values are returned, na.exclude pads them", {
  expect_identical(predict(fit), predict(fit, data))
  expect_identical(predict(binary, type = "class"), predict(binary, data, type = "class"))
  padded <- tiny_fit(y ~ age + lab, data, na.action = na.exclude)
  expect_length(predict(padded), 120)
  expect_identical(which(is.na(fitted(padded))), which(is.na(data$lab)), ignore_attr = TRUE)
  expect_identical(is.na(residuals(padded)), is.na(data$lab), ignore_attr = TRUE)
  expect_length(predict(tiny_fit(y ~ age + lab, data, na.action = na.omit)), 108)
})

test_that("zero rows, one row, text for factors, factors for text", {
  expect_length(predict(fit, data[0, ]), 0)
  expect_identical(dim(predict(binary, data[0, ], type = "prob")), c(0L, 2L))
  expect_identical(dim(predict(fit, data[0, ], type = "terms")), c(0L, 7L))
  expect_identical(predict(fit, data[5, ]), predict(fit, data)[5])
  swapped <- transform(data, unit = factor(unit), grade = as.character(grade))
  expect_identical(predict(fit, swapped), predict(fit, data))
})

test_that("offsets are added on the link scale", {
  data$e <- data$age / 30
  for (fit in list(
    tiny_fit(count ~ lab + offset(e), data, family = poisson),
    tiny_fit(count ~ lab, data, family = poisson, offset = e)
  )) {
    link <- predict(fit, data, type = "link")
    expect_equal(predict(fit, transform(data, e = e + 1), type = "link"), link + 1)
    expect_equal(predict(fit, data, type = "link", offset = data$e + 2), link + 2)
    expect_equal(predict(fit, data[1:3, ], type = "link", offset = 0), link[1:3] - data$e[1:3])
    expect_error(predict(fit, data["lab"]), "e", class = "protonam_error_missing_column")
    expect_lt(additivity_gap(fit, data), 1e-10)
  }
  vector <- tiny_fit(data["lab"], data$y, offset = data$e)
  expect_error(predict(vector, data["lab"]), class = "protonam_error_offset")
  expect_equal(predict(vector, data["lab"], offset = data$e), fitted(vector))
  expect_equal(predict(vector, transform(data["lab"], offset = data$e)), fitted(vector))
})

test_that("ensembles give the spread of their members", {
  both <- tiny_fit(dead ~ age + lab, data, ensemble = 3)
  out <- predict(both, data, se.fit = TRUE)
  expect_identical(out$fit, predict(both, data))
  expect_true(all(out$se.fit > 0))
  expect_named(out$se.fit, names(out$fit))
  prob <- predict(both, data, type = "prob", se.fit = TRUE)
  expect_identical(dim(prob$se.fit), c(120L, 2L))
})

test_that("ensembles give the spread of their members' terms", {
  for (order in 1:2) {
    both <- tiny_fit(dead ~ age + lab + unit, data, ensemble = 3, order = order)
    out <- predict(both, data, type = "terms", se.fit = TRUE)
    expect_identical(out$fit, predict(both, data, type = "terms"))
    expect_identical(dimnames(out$se.fit), dimnames(out$fit))
    new <- encode_newdata(both, data)
    each <- vapply(1:3, function(m) member_terms(both, m, new, 1L), array(0, c(dim(out$fit), 1L)))
    expect_equal(rowMeans(each, dims = 2L), out$fit, ignore_attr = TRUE)
    expect_equal(apply(each, 1:2, stats::sd), out$se.fit, ignore_attr = TRUE)
    expect_true(all(out$se.fit > 0))
  }
  # a member's terms are those of the member alone
  one <- tiny_fit(dead ~ age + lab + unit, data, ensemble = 3)
  new <- encode_newdata(one, data)
  second <- member_terms(one, 2L, new, 1L)[, , 1L]
  expect_equal(second, predict(one_member(one, 2), data, type = "terms"), ignore_attr = TRUE)
})

test_that("what cannot be predicted is refused by name", {
  expect_snapshot(error = TRUE, {
    predict(fit, data[c("age", "lab")])
    predict(fit, transform(data, age = as.character(age)))
    predict(fit, transform(data, unit = 1))
    predict(fit, transform(data, day = "2020-01-01"))
    predict(fit, 1:3)
    predict(fit, data, type = "prob")
    predict(fit, data, type = "responce")
    predict(fit, data, se.fit = TRUE)
    predict(fit, data, tpye = "link")
    predict(fit, data, type = "terms", terms = "ag")
    predict(fit, type = "terms")
    predict(fit, data, offset = c(1, 2))
  })
})

test_that("an offset is never taken from a feature, nor left out", {
  data <- mixed_data(40)
  data$offset <- data$lab <- sin(1:40)
  shift <- cos(1:40)
  fit <- tiny_fit(y ~ age + offset, data, offset = shift)
  expect_error(predict(fit, data), "is a feature", class = "protonam_error_offset")
  expect_equal(predict(fit, data, offset = shift), fitted(fit), tolerance = 1e-12)
  other <- tiny_fit(y ~ age, data, offset = shift)
  expect_equal(predict(other, transform(data, offset = shift)), fitted(other), tolerance = 1e-12)
  # a term and a vector: both count
  both <- tiny_fit(y ~ age + offset(lab), data, offset = shift)
  expect_error(predict(both, data["age"]), class = "protonam_error_offset")
  expect_equal(predict(both, transform(data, offset = shift)), fitted(both), tolerance = 1e-12)
  # validation rows need one, too
  expect_error(
    tiny_fit(y ~ age, data, offset = shift, validation = data[1:9, c("y", "age")]),
    "validation", class = "protonam_error_offset"
  )
  expect_no_error(tiny_fit(y ~ age, data, offset = shift, validation = data))
})
