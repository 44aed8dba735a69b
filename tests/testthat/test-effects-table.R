data <- jump_data(160)
data$b[1:12] <- NA
fit <- own_fit(dead ~ a + b + unit, data, ensemble = 4)

test_that("levels and missing values are compared with their reference", {
  table <- effect_table(fit, at = list(unit = c("icu", "er", "ward"), b = c(0.5, NA)), reference = list(unit = "er"))
  expect_identical(table$term, c("unit", "unit", "unit", "b", "b"))
  rows <- data[c(30, 30, 30), ]
  rows$unit <- c("icu", "er", "ward")
  terms <- predict(fit, rows, type = "terms")[, "unit"]
  expect_equal(table$estimate[1:3], unname(terms - terms[2]), tolerance = 1e-6)
  expect_identical(table$is_reference, c(FALSE, TRUE, FALSE, FALSE, FALSE))
  expect_true(is.na(table$lower[2]) && all(is.finite(table$lower[-2])))
  rows$b <- c(0.5, NA, as.numeric(table$reference[4]))
  terms <- predict(fit, rows, type = "terms")[, "b"]
  # the printed reference is rounded
  expect_equal(table$estimate[4:5], unname(terms[1:2] - terms[3]), tolerance = 1e-3)
  expect_identical(table$count, c(as.vector(table(data$unit)[c("icu", "er", "ward")]), NA, 12))
})

test_that("odds ratios are exponentials of differences", {
  link <- effect_table(fit)
  ratio <- effect_table(fit, scale = "odds ratio")
  expect_equal(ratio$estimate, exp(link$estimate))
  expect_equal(ratio$lower, exp(link$lower))
  expect_equal(ratio$se, link$se)
  expect_identical(attr(ratio, "scale_label"), "odds ratio")
})

test_that("values outside the data are allowed and marked", {
  table <- effect_table(fit, list(a = c(0, 50)))
  expect_identical(table$outside, c(FALSE, TRUE))
  expect_true(all(effect_table(fit, list(a = 0), list(a = -99))$outside))
  expect_output(print(table), "50*", fixed = TRUE)
  expect_output(print(table), "outside the range")
  expect_false(any(effect_table(fit)$outside))
})

test_that("terms select features; a number the most important ones", {
  expect_identical(unique(effect_table(fit, terms = c("unit", "a"))$term), c("unit", "a"))
  expect_identical(unique(effect_table(fit, terms = 1)$term), term_importance(fit)$term[1])
})

test_that("order 2 compares main effects, several outputs have rows each, one model has no intervals", {
  pairs <- own_fit(y ~ a + b, data, order = 2, base = "none", ensemble = 4)
  table <- effect_table(pairs, list(a = c(-1, 1)), list(a = 0))
  main <- shapes(pairs, "a", points = list(a = c(-1, 0, 1)))
  expect_equal(table$estimate, (main$effect - main$effect[2])[c(1, 3)], tolerance = 1e-6)
  expect_true(all(is.finite(table$lower)))
  expect_output(print(table), "averaged over the interactions")
  classes <- own_fit(class ~ a + b, data)
  table <- effect_table(classes, list(a = c(-1, 1)), list(a = 0), scale = "odds ratio")
  expect_identical(table$output, rep(c("u", "v", "w"), each = 2))
  # differences of centred scores add up to zero over the classes
  expect_equal(as.vector(tapply(log(table$estimate), table$value, sum)), c(0, 0), tolerance = 1e-5)
  one <- own_fit(y ~ a, data, ensemble = 1)
  expect_true(all(is.na(effect_table(one)$lower)))
  expect_output(print(effect_table(one)), "Difference on y\n", fixed = TRUE)
  joint <- tiny_fit(y ~ a + b + noise, data, order = Inf)
  expect_error(effect_table(joint), class = "protonam_error_order")
})

test_that("a column of NA alone has no rows, and a constant one has no effect", {
  odd <- transform(data, gone = NA_real_, same = 3)
  table <- suppressWarnings(effect_table(own_fit(y ~ a + gone + same, odd)))
  expect_false("gone" %in% table$term)
  expect_identical(table$value[table$term == "same"], "3")
})

test_that("tables print as a paper has them", {
  local_reproducible_output(width = 100)
  # numbers, and the width of columns, may differ between machines
  rounded <- function(x) trimws(gsub(" +", " ", gsub("(< )?-?[0-9]+[.][0-9]+|[0-9]+ of", "#", x)))
  expect_snapshot(transform = rounded, {
    effect_table(fit, list(a = c(-1, 0, 1)), list(a = 0), scale = "odds ratio")
    effect_table(fit, list(unit = c("icu", "er"), a = 1))
  })
  table <- effect_table(fit, scale = "odds ratio")
  expect_output(print(table["estimate"]), "estimate")
  expect_output(print(table[table$term == "a", ]), "Odds ratio of dead")
  expect_output(print(table[0, ]))
})

test_that("bad input is named", {
  expect_snapshot(error = TRUE, {
    effect_table(1)
    effect_table(fit, list(unti = "icu"))
    effect_table(fit, list(unit = "icv"))
    effect_table(fit, list(a = "old"))
    effect_table(fit, list(a = Inf))
    effect_table(fit, list(a = NA))
    effect_table(fit, list(a = numeric()))
    effect_table(fit, 40)
    effect_table(fit, list(40))
    effect_table(fit, reference = list(a = 1:2))
    effect_table(fit, reference = list(aa = 1))
    effect_table(fit, scale = "rate ratio")
    effect_table(fit, scale = "odds")
    effect_table(fit, list(a = 1), terms = "b")
    effect_table(fit, terms = "unti")
    effect_table(fit, level = 2)
  })
})
