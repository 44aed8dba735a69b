# Rows of newdata at the points of one term's shape, other features as in the first row of `data`.
rows_at <- function(shape, data, term, column = "x", level = "level") {
  rows <- data[rep(1L, nrow(shape)), ]
  old <- data[[term]]
  gone <- shape[[level]] %in% "(missing)"
  if (is.numeric(old) || inherits(old, c("Date", "POSIXct"))) {
    new <- shape[[column]]
    attributes(new) <- attributes(old)[setdiff(names(attributes(old)), "names")]
  } else {
    new <- ifelse(gone, NA, shape[[level]])
    if (is.factor(old)) new <- factor(new, levels = levels(old), ordered = is.ordered(old))
    if (is.logical(old)) new <- as.logical(new)
  }
  rows[[term]] <- new
  rows
}

# The largest difference from predict(); of the two sides of a jump one must agree.
agreement <- function(shape, predicted) {
  gap <- abs(shape$effect - predicted)
  point <- ifelse(is.na(shape$x), paste("level", shape$level), format(shape$x, digits = 17))
  max(tapply(gap, point, min))
}

test_that("shapes agree with predict(type = 'terms') at the same values, for all column types and scalings", {
  data <- mixed_data()
  for (scaling in c("quantile", "minmax", "none")) {
    features <- c("age", "lab", "unit", "grade", "male", if (scaling != "none") c("day", "time"))
    fit <- protonam(reformulate(features, "y"), data, control = tiny(scaling = scaling), seed = 1, verbose = FALSE)
    s <- shapes(fit)
    expect_identical(unique(s$term), features)
    for (term in features) {
      one <- s[s$term == term, ]
      predicted <- predict(fit, rows_at(one, data, term), type = "terms")[, term]
      expect_lt(agreement(one, predicted), 1e-9)
      expect_equal(sum(one$density), 1, tolerance = 1e-12)
    }
  }
})

test_that("columns, types and attributes are as documented", {
  fit <- tiny_fit(dead ~ age + lab + unit + day, mixed_data())
  s <- shapes(fit)
  expect_s3_class(s, c("protonam_shapes", "data.frame"), exact = TRUE)
  columns <- c(
    "term", "task", "output", "layer", "x", "level", "y", "level2", "effect", "lower", "upper", "density", "count"
  )
  expect_named(s, columns)
  text <- c("term", "task", "output", "level", "level2")
  types <- ifelse(columns %in% text, "character", ifelse(columns == "layer", "integer", "double"))
  expect_identical(unname(vapply(s, typeof, "")), types)
  expect_true(all(is.na(s$lower)) && all(is.na(s$task)) && all(is.na(s$layer)))
  expect_identical(s$level[s$term == "unit"], c("er", "icu", "ward", "(missing)"))
  expect_identical(sum(s$level %in% "(missing)"), 2L)
  expect_identical(attr(s, "scale_label"), "log odds")
  expect_equal(attr(s, "intercept"), coef(fit)$intercept)
  about <- attr(s, "terms")
  expect_named(about, c("age", "lab", "unit", "day"))
  expect_identical(about$day$type, "Date")
  expect_identical(about$unit$levels, c("er", "icu", "ward"))
  expect_length(about$age$density$breaks, 21L)
  expect_equal(sum(about$age$density$share), 1)
  expect_equal(about$age$range, range(mixed_data()$age[fit$train]))
  expect_equal(about$lab$missing_share, mean(is.na(mixed_data()$lab[fit$train])))
  expect_null(attr(s, "band"))
  expect_identical(attr(s[s$term == "age", ], "scale_label"), "log odds")
})

test_that("layers add up to the whole", {
  for (order in 1:2) {
    fit <- tiny_fit(y ~ age + lab + unit, mixed_data(), order = order)
    whole <- shapes(fit)
    parts <- shapes(fit, layers = TRUE)
    expect_identical(sort(unique(parts$layer)), 1:2)
    key <- function(s) paste(s$term, s$x, s$level, s$y, s$level2)
    # jumps that are visible in a layer need not be in the sum
    single <- !duplicated(key(whole)) & !duplicated(key(whole), fromLast = TRUE)
    expect_gt(sum(single), 50)
    for (k in which(single)[seq(1, sum(single), length.out = 40)]) {
      rows <- parts[key(parts) == key(whole)[k], ]
      if (nrow(rows) == 2L) expect_equal(sum(rows$effect), whole$effect[k], tolerance = 1e-6)
    }
  }
})

test_that("groups, responses and classes have curves of their own", {
  data <- mixed_data()
  grouped <- tiny_fit(y ~ age + lab, data, task = ~grade)
  s <- shapes(grouped)
  expect_identical(unique(s$task), c("low", "mid", "high"))
  for (group in unique(s$task)) {
    one <- s[s$task == group & s$term == "age", ]
    rows <- rows_at(one, data, "age")
    rows$grade <- factor(group, levels = levels(data$grade), ordered = TRUE)
    expect_lt(agreement(one, predict(grouped, rows, type = "terms")[, "age"]), 1e-9)
  }
  data$y2 <- 100 * data$y
  several <- tiny_fit(cbind(y, y2) ~ age + lab, data)
  s <- shapes(several)
  expect_identical(unique(s$task), c("y", "y2"))
  one <- s[s$task == "y2" & s$term == "age", ]
  expect_lt(agreement(one, predict(several, rows_at(one, data, "age"), type = "terms")[, "age", "y2"]), 1e-7)
  classes <- tiny_fit(class ~ age + lab, data)
  s <- shapes(classes)
  expect_identical(unique(s$output), c("a", "b", "c"))
  expect_true(all(is.na(s$task)))
  one <- s[s$output == "b" & s$term == "age", ]
  expect_lt(agreement(one, predict(classes, rows_at(one, data, "age"), type = "terms")[, "age", "b"]), 1e-9)
})

test_that("ensembles have bands around the mean, single models none", {
  data <- mixed_data()
  fit <- tiny_fit(y ~ age + unit, data, ensemble = 4)
  s <- shapes(fit, level = 0.9)
  expect_true(all(s$lower <= s$effect & s$effect <= s$upper))
  expect_match(attr(s, "band"), "4 models trained with different seeds, plus and minus 1.64")
  drawn <- tiny_fit(y ~ age + unit, data, ensemble = 2, bootstrap = TRUE)
  expect_match(attr(shapes(drawn), "band"), "rows drawn with replacement")
  expect_lt(additivity_gap(drawn, data), 1e-9)
  members <- vapply(1:4, function(m) {
    predict(one_member(fit, m), data[5, ], type = "terms")[, "unit"]
  }, 0)
  row <- s[s$term == "unit" & s$level == data$unit[5], ]
  expect_equal(row$effect, mean(members), tolerance = 1e-10)
  expect_equal(row$upper - row$effect, qnorm(0.95) * sd(members), tolerance = 1e-10)
  wide <- shapes(fit, level = 0.99)
  expect_true(all(wide$upper - wide$lower >= s$upper - s$lower))
  single <- tiny_fit(y ~ age + unit, data)
  expect_message(s <- shapes(single, level = 0.9), class = "protonam_message_no_band")
  expect_true(all(is.na(s$lower)))
  expect_no_message(shapes(single))
})

test_that("the response scale gives ratios, with bands", {
  data <- mixed_data()
  fit <- tiny_fit(dead ~ age + unit, data, ensemble = 2)
  link <- shapes(fit)
  ratio <- shapes(fit, scale = "response")
  expect_equal(ratio$effect, exp(link$effect))
  expect_equal(ratio$lower, exp(link$lower))
  expect_identical(attr(ratio, "scale_label"), "odds ratio")
  counts <- tiny_fit(count ~ age, data, family = poisson())
  expect_identical(attr(shapes(counts, scale = "response"), "scale_label"), "rate ratio")
  numbers <- tiny_fit(y ~ age, data)
  expect_equal(shapes(numbers, scale = "response")$effect, shapes(numbers)$effect)
  expect_identical(attr(shapes(numbers), "scale_label"), "effect on y")
})

test_that("terms are picked by name or by importance", {
  fit <- tiny_fit(y ~ age + lab + unit, mixed_data(), order = 2)
  expect_identical(unique(shapes(fit, c("unit", "age"))$term), c("unit", "age"))
  expect_identical(unique(shapes(fit, "lab:age")$term), "age:lab")
  expect_identical(unique(shapes(fit, 2)$term), term_importance(fit)$term[1:2])
  expect_length(unique(shapes(fit, 99)$term), 6L)
})

test_that("points thin the curve and keep its ends, or are the given values", {
  set.seed(1)
  data <- data.frame(x = rnorm(1500), f = factor(sample(letters[1:3], 1500, TRUE)))
  data$y <- data$x + rnorm(1500)
  data$x[1:100] <- NA
  fit <- tiny_fit(y ~ x + f, data)
  s <- shapes(fit, "x")
  inner <- s[s$density > 0 & !is.na(s$x), ]
  expect_lte(nrow(inner), 1000L)
  expect_gt(nrow(inner), 900L)
  expect_equal(range(inner$x), range(data$x[fit$train], na.rm = TRUE))
  few <- shapes(fit, "x", points = 20)
  few <- few[few$density > 0 & !is.na(few$x), ]
  expect_lte(nrow(few), 20L)
  expect_equal(range(few$x), range(data$x[fit$train], na.rm = TRUE))
  given <- shapes(fit, points = list(x = c(0.5, -1, NA), f = c("b", "a")))
  expect_identical(given$x[given$term == "x"], c(0.5, -1, NA))
  expect_identical(given$level[given$term == "f"], c("b", "a"))
  expect_equal(sum(given$density[given$term == "x"]), 1)
  expect_equal(
    given$effect[given$term == "x"],
    unname(predict(fit, data.frame(x = c(0.5, -1, NA), f = "a"), type = "terms")[, "x"])
  )
})

test_that("density bars of whole numbers have no stripes, and all rows are in them", {
  even <- density_table(50:99, rep(2, 50))
  expect_equal(sum(even$share), 1, tolerance = 1e-12)
  expect_lt(diff(range(even$share[2:19])), 1e-12)
  # values far apart stay where they are
  two <- density_table(c(0, 1), c(30, 70))
  expect_equal(two$share[c(1, 20)], c(0.3, 0.7))
  lone <- density_table(5, 3)
  expect_equal(sum(lone$share), 1)
  set.seed(1)
  x <- sort(rexp(500))
  counted <- tabulate(findInterval(x, seq(min(x), max(x), length.out = 21), all.inside = TRUE), 20) / 500
  expect_lt(max(abs(density_table(x, rep(1, 500))$share - counted)), 0.01)
})

test_that("one feature, a constant feature and a wholly missing feature have shapes", {
  data <- mixed_data()
  expect_identical(unique(shapes(tiny_fit(y ~ age, data))$term), "age")
  data$same <- 5
  data$never <- NA_real_
  fit <- tiny_fit(y ~ age + same + never, data)
  s <- shapes(fit)
  expect_equal(s$effect[s$term == "same"], 0)
  expect_identical(s$level[s$term == "never"], "(missing)")
  expect_lt(additivity_gap(fit, data), 1e-9)
})

test_that("bad input is named", {
  fit <- tiny_fit(y ~ age + lab + unit, mixed_data())
  all <- tiny_fit(y ~ age + lab + unit, mixed_data(), order = Inf)
  triple <- tiny_fit(y ~ age + lab + unit + male, mixed_data(), order = 3)
  expect_snapshot(error = TRUE, {
    shapes(fit, "agee")
    shapes(fit, "zzzzzz")
    shapes(fit, TRUE)
    shapes(fit, level = 1.5)
    shapes(fit, level = 1)
    shapes(fit, layers = NA)
    shapes(fit, scale = "odds")
    shapes(fit, points = 1)
    shapes(fit, points = list(agee = 1))
    shapes(fit, points = list(age = NA))
    shapes(all)
    shapes(all, layers = TRUE)
    shapes(triple)
    predict(all, mixed_data(), type = "terms")
    shapes(lm(mpg ~ wt, mtcars))
  })
  expect_snapshot({
    invisible(shapes(fit, "age", level = 0.9))
    print(shapes(fit, "unit")[c("term", "level")], n = 2)
  })
})

test_that("a pair that would have the name of a feature is a term of its own", {
  fit <- colliding_fit()
  every <- shapes(fit)
  expect_identical(unique(every$term), c("x", "z", "x:z", "x:z.1", "x:x:z", "z:x:z"))
  pair <- !is.na(every$y)
  expect_identical(unique(every$term[pair]), c("x:z.1", "x:x:z", "z:x:z"))
  # the exact name wins; the other order means the pair
  expect_identical(unique(shapes(fit, "x:z")$term), "x:z")
  expect_identical(unique(shapes(fit, c("z:x", "x:z.1"))$term), "x:z.1")
  expect_identical(unique(shapes(fit, 2)$term), head(term_importance(fit)$term, 2L))
  expect_identical(attr(shapes(fit, "z:x"), "features"), list("x:z.1" = c("x", "z")))
  main <- every[every$term == "x:z", ]
  data <- colliding_data()[rep(1L, nrow(main)), ]
  data[["x:z"]] <- main$x
  seen <- main$density > 0
  expect_equal(main$effect[seen], unname(predict(fit, data, type = "terms")[seen, "x:z"]), tolerance = 1e-6)
})

test_that("a name that may mean two pairs is an error", {
  features <- list("a:b:c" = c("a", "b:c"), "c:a:b" = c("c:a", "b"))
  expect_identical(find_terms(c("a:b:c", "a:b:c"), names(features), features, "terms"), "a:b:c")
  expect_error(find_terms("b:c:a", names(features), features, "terms"), class = "protonam_error_ambiguous_term")
  expect_error(find_terms("b:c", names(features), features, "terms"), class = "protonam_error_unknown_term")
})
