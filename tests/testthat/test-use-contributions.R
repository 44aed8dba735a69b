test_that("contributions run from the intercept to the prediction, largest first", {
  data <- mixed_data()
  for (order in 1:2) {
    fit <- tiny_fit(dead ~ age + lab + unit + day, data, order = order)
    rows <- data[c(3, 10, 15), ]
    table <- contributions(fit, rows)
    expect_s3_class(table, c("protonam_contributions", "data.frame"), exact = TRUE)
    expect_named(table, c("row", "task", "output", "term", "value", "contribution", "lower", "upper", "cumulative"))
    terms <- predict(fit, rows, type = "terms")
    for (i in 1:3) {
      one <- table[table$row == i, ]
      expect_identical(nrow(one), ncol(terms))
      expect_false(is.unsorted(-abs(one$contribution)))
      expect_equal(one$contribution, unname(terms[i, one$term]))
      expect_equal(one$cumulative, attr(terms, "constant") + cumsum(one$contribution))
    }
    last <- table$cumulative[!duplicated(table$row, fromLast = TRUE)]
    expect_equal(last, unname(predict(fit, rows, type = "link")))
    expect_equal(attr(table, "prediction")[, 1], last)
    expect_equal(attr(table, "intercept")[, 1], rep(attr(terms, "constant"), 3))
  }
})

test_that("values are shown as the data have them", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ age + lab + unit + male + day + time, data, order = 2, pairs = ~ age:unit)
  table <- contributions(fit, data[10, ])
  value <- stats::setNames(table$value, table$term)
  expect_identical(value[["age"]], "24")
  expect_identical(value[["lab"]], "(missing)")
  expect_identical(value[["male"]], "TRUE")
  expect_identical(value[["day"]], format(data$day[10]))
  expect_identical(value[["age:unit"]], paste0("24, ", data$unit[10]))
  text <- format_values(list(type = "numeric"), c(0.123456, 1234567, -2.5, 0, NA))
  expect_identical(text, c("0.1235", "1234567", "-2.5", "0", "(missing)"))
})

test_that("groups, classes and several responses", {
  data <- mixed_data()
  grouped <- tiny_fit(y ~ age + lab, data, task = ~grade)
  table <- contributions(grouped, data[1:3, ])
  expect_identical(table$task, rep(as.character(data$grade[1:3]), each = 2))
  expect_equal(attr(table, "prediction")[, 1], unname(predict(grouped, data[1:3, ], type = "link")))
  classes <- tiny_fit(class ~ age + lab, data)
  table <- contributions(classes, data[1:2, ])
  expect_identical(table$output, rep(rep(c("a", "b", "c"), each = 2), 2))
  expect_equal(attr(table, "prediction"), unname(predict(classes, data[1:2, ], type = "link")), ignore_attr = TRUE)
  several <- tiny_fit(cbind(y, count) ~ age + lab, data)
  table <- contributions(several, data[1:2, ])
  expect_identical(table$task, rep(rep(c("y", "count"), each = 2), 2))
  expect_equal(attr(table, "prediction"), unname(predict(several, data[1:2, ], type = "link")), ignore_attr = TRUE)
})

test_that("an offset is part of where the row starts", {
  data <- mixed_data()
  data$exposure <- seq(0.5, 2, length.out = nrow(data))
  fit <- tiny_fit(count ~ age + lab + offset(log(exposure)), data, family = poisson())
  table <- contributions(fit, data[1:3, ])
  expect_equal(attr(table, "prediction")[, 1], unname(predict(fit, data[1:3, ], type = "link")))
})

test_that("bad input is named", {
  fit <- tiny_fit(y ~ age + lab, mixed_data())
  all <- tiny_fit(y ~ age + lab + unit, mixed_data(), order = Inf)
  expect_snapshot(error = TRUE, {
    contributions(fit)
    contributions(fit, mixed_data()[0, ])
    contributions(fit, data.frame(age = 1))
    contributions(all, mixed_data())
  })
})

test_that("contributions print without empty columns", {
  fit <- tiny_fit(y ~ age + lab + unit, mixed_data())
  lines <- utils::capture.output(print(contributions(fit, mixed_data()[c(3, 10), ]), n = 4))
  expect_match(lines[1L], "^Contributions to 2 predictions; y, from the intercept [0-9.]+$")
  expect_match(lines[2L], "^ *row +term +value +contribution +cumulative$")
  expect_identical(lines[7L], "... and 2 more rows")
  expect_match(utils::capture.output(print(contributions(fit, mixed_data()[3, ])[1:2, ]))[1L], "1 prediction")
})

test_that("contributions add up and name their values when a pair would have the name of a feature", {
  fit <- colliding_fit()
  data <- colliding_data()[1:3, ]
  found <- contributions(fit, data)
  expect_equal(attr(found, "prediction")[, 1L], unname(predict(fit, data)), tolerance = 1e-6)
  expect_identical(as.vector(table(found$term)), rep(3L, 6L))
  value <- function(term) found$value[found$term == term & found$row == 1L]
  expect_identical(value("x:z.1"), paste(value("x"), value("z"), sep = ", "))
  expect_identical(value("x:x:z"), paste(value("x"), value("x:z"), sep = ", "))
  expect_identical(unique(contributions(fit, data, terms = "z:x")$value), found$value[found$term == "x:z.1"])
})
