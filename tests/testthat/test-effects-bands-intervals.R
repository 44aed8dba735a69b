# Bands and intervals of cross-fitted fits: the jackknife over members, simultaneous bands, out-of-fold predictions.

crossfitted <- function(formula, data, ...) {
  protonam(
    formula, data, ...,
    prototypes = 4, layers = 2, hidden = 8, epochs = 4, ensemble = 4, seed = 1, threads = 1, verbose = FALSE
  )
}

crossfitted_once <- function() {
  protonam(y ~ age, mixed_data(), ensemble = 1, epochs = 2, hidden = 8, prototypes = 4, seed = 1, verbose = FALSE)
}

test_that("bands are jackknife standard errors, no smaller than layer 0's", {
  data <- mixed_data()
  fit <- crossfitted(y ~ age + lab + unit, data, prototypes_for = TRUE)
  rows <- data[c(3, 10, 15), ]
  out <- predict(fit, rows, type = "terms", se.fit = TRUE)
  each <- vapply(1:4, function(m) {
    unclass(predict(one_member(fit, m), rows, type = "terms"))[, ]
  }, matrix(0, 3, 3))
  jackknife <- sqrt(3 / 4 * apply((each - rep(apply(each, 1:2, mean), 4))^2, 1:2, sum))
  expect_true(all(out$se.fit >= jackknife - 1e-12))
  expect_equal(pmax(out$se.fit, jackknife), out$se.fit, ignore_attr = TRUE)
  # tables, rows and curves agree
  at <- shapes(fit, "age", points = list(age = rows$age))
  expect_equal(at$effect, unname(out$fit[, "age"]), tolerance = 1e-6)
  width <- stats::qt(0.975, 24) * sqrt(1 + 2 * mean(vapply(fit$members, function(m) sum(m$base$edf), 0)) / nrow(data))
  expect_equal((at$upper - at$effect) / width, unname(out$se.fit[, "age"]), tolerance = 1e-6)
  table <- contributions(fit, rows)
  age <- table[table$term == "age", ]
  expect_equal(age$upper - age$lower, 2 * width * unname(out$se.fit[, "age"]), tolerance = 1e-6)
})

test_that("simultaneous bands are wider by the factor that the degrees of freedom give", {
  fit <- crossfitted(y ~ age + lab, mixed_data(), prototypes_for = FALSE)
  one <- shapes(fit)
  all <- shapes(fit, simultaneous = TRUE)
  edf <- fit$effects$edf[match(one$term, fit$effects$term)]
  m <- pmax(2, ceiling(edf))
  factor <- stats::qt((1 + 0.95^(1 / m)) / 2, 24) / stats::qt(0.975, 24)
  expect_equal(all$upper - all$effect, factor * (one$upper - one$effect))
  expect_match(attr(all, "band"), "95 % simultaneous for each curve, jackknife over 4 folds")
  expect_match(attr(one, "band"), "95 % pointwise")
  expect_message(
    shapes(crossfitted_once(), simultaneous = TRUE), "single model",
    class = "protonam_message_no_band"
  )
})

test_that("bands are wider when events are few for the degrees of freedom", {
  data <- mixed_data()
  fit <- crossfitted(dead ~ age + lab, data)
  freedom <- mean(vapply(fit$members, function(m) sum(m$base$edf), 0))
  expect_identical(informative_rows(fit), min(table(data$dead)) + 0)
  expect_equal(few_rows_factor(fit), sqrt(1 + 2 * freedom / min(table(data$dead))))
  expect_identical(few_rows_factor(crossfitted(dead ~ age + lab, data, base = "none")), 1)
})

test_that("levels and missing values have their number of rows", {
  data <- mixed_data()
  s <- shapes(crossfitted(y ~ lab + unit, data))
  expect_identical(s$count[s$term == "lab" & s$level %in% "(missing)"], as.double(sum(is.na(data$lab))))
  unit <- s[s$term == "unit", ]
  expect_identical(unit$count[match(c("a", "b"), unit$level)], as.vector(table(data$unit)[c("a", "b")]) + 0)
  expect_equal(s$density[s$term == "lab"], s$count[s$term == "lab"] / nrow(data))
})

test_that("layer 0 is the smooth one", {
  fit <- crossfitted(y ~ age + lab, mixed_data(), prototypes_for = TRUE)
  expect_identical(sort(unique(shapes(fit, layers = TRUE)$layer)), 0:2)
  figure <- shape_figure(shapes(fit, "age", layers = TRUE), plot_options())
  expect_identical(
    vapply(figure$panels, `[[`, "", "title"), c("age, smooth", "age, layer 1", "age, layer 2")
  )
})

test_that("importance has intervals, and figures show them", {
  fit <- crossfitted(y ~ age + lab, mixed_data())
  table <- term_importance(fit, level = 0.9)
  expect_true(all(table$lower <= table$importance & table$importance <= table$upper & table$lower >= 0))
  figure <- importance_figure(table, plot_options())
  expect_identical(nrow(figure$panels[[1L]]$marks$whisker), 2L)
  expect_match(figure$caption, "^Lines: 90 % intervals, jackknife over 4 folds; they cover")
  once <- importance_figure(term_importance(crossfitted_once()), plot_options())
  expect_identical(once$caption, "No band: one model.")
  expect_null(once$panels[[1L]]$marks$whisker)
  rows <- waterfall_figure(contributions(fit, mixed_data()[3, ]), plot_options())
  expect_identical(nrow(rows$panels[[1L]]$marks$whisker), 3L) # two terms and the prediction
})

test_that("out-of-fold predictions are those of the members that left the rows out", {
  data <- mixed_data()
  fit <- crossfitted(dead ~ age + lab, data)
  link <- predict(fit, type = "link", out_of_fold = TRUE)
  for (m in 1:4) {
    one <- one_member(fit, m)
    left <- which(fit$fold == m)
    expect_equal(unname(link[left]), unname(predict(one, data[left, ], type = "link")), tolerance = 1e-6)
  }
  expect_equal(predict(fit, out_of_fold = TRUE), stats::plogis(link))
  expect_identical(colnames(predict(fit, type = "prob", out_of_fold = TRUE)), levels(data$dead))
  expect_identical(levels(predict(fit, type = "class", out_of_fold = TRUE)), levels(data$dead))
  # validation rows have none
  held <- crossfitted(class ~ age + lab, data, validation = c(1, 5, 9))
  expect_identical(unname(which(is.na(predict(held, type = "class", out_of_fold = TRUE)))), c(1L, 5L, 9L))
  expect_error(predict(fit, data, out_of_fold = TRUE), class = "protonam_error_argument")
  expect_error(predict(fit, type = "terms", out_of_fold = TRUE), class = "protonam_error_argument")
  expect_error(predict(fit, out_of_fold = NA), class = "protonam_error_argument")
  expect_error(predict(crossfitted_once(), out_of_fold = TRUE), class = "protonam_error_no_out_of_fold")
})
