data <- mixed_data()
# Last digits depend on the system's mathematical functions.
hide_numbers <- function(lines) {
  lines <- gsub("#+ *", "# ", lines) # bars
  lines <- gsub("(epochs? )[0-9]+( to [0-9]+)? of", "\\1# of", lines)
  gsub("-?[0-9]+[.][0-9]+( s)?", "#.###", lines)
}

test_that("print() and summary() say what was fitted and how well", {
  expect_snapshot(transform = hide_numbers, {
    protonam(y ~ age + lab + unit, data, control = tiny(), seed = 1)
    summary(protonam(dead ~ age + lab + unit + grade, data, control = tiny(), seed = 1))
    protonam(class ~ age + lab, data, order = 2, control = tiny(), seed = 1)
    protonam(cbind(y, count) ~ age + lab, data, ensemble = 2, control = tiny(), seed = 1)
    summary(protonam(y ~ age + lab, data, task = ~male, validation = 0, control = tiny(), seed = 1))
    protonam(data["age"], data$count, family = poisson, order = Inf, control = tiny(), seed = 1)
  })
})

test_that("data passed by value do not fill the screen", {
  fit <- do.call(protonam, list(y ~ age, data = data, control = tiny(), seed = 1))
  expect_lt(length(capture.output(print(fit))), 15)
  expect_match(paste(capture.output(print(fit)), collapse = "\n"), "<data.frame>", fixed = TRUE)
})

test_that("summary() keeps the term table as a data frame, most important first", {
  table <- summary(tiny_fit(y ~ age + lab + unit, data))$effects
  expect_named(table, c("term", "output", "importance", "low", "high", "missing", "missing_rows"))
  expect_false(is.unsorted(rev(table$importance)))
  expect_identical(is.na(table$missing), table$term == "age")
  out <- capture.output(print(summary(tiny_fit(data[1:7], data$y)), n = 2))
  expect_match(out[length(out)], "5 more terms")
})

test_that("times are short", {
  expect_identical(format_seconds(2.345), "2.3 s")
  expect_identical(format_seconds(125), "2 min 05 s")
})
