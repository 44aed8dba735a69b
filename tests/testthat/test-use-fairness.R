data <- mixed_data()
data$g <- ifelse(data$male, "m", "f")
multi <- tiny_fit(dead ~ age + lab, data, task = ~g)
one <- tiny_fit(dead ~ age + lab + g, data)

test_that("measures are those of the definitions", {
  f <- fairness(multi, data, "dead", "g", threshold = 0.4)
  expect_s3_class(f, "data.frame")
  expect_identical(as.character(f$group), c("f", "m"))
  p <- predict(multi, data)
  for (group in c("f", "m")) {
    at <- data$g == group
    row <- f[f$group == group, ]
    y <- data$dead[at] == "yes"
    q <- p[at]
    expect_identical(row$n, sum(at))
    expect_equal(row$base_rate, mean(y))
    expect_equal(row$predicted, mean(q))
    expect_equal(row$calibration, mean(q) - mean(y))
    expect_equal(row$selection_rate, mean(q > 0.4))
    expect_equal(row$tpr, mean(q[y] > 0.4))
    expect_equal(row$fpr, mean(q[!y] > 0.4))
    pairs <- outer(q[y], q[!y], function(a, b) (a > b) + (a == b) / 2)
    expect_equal(row$auc, mean(pairs))
  }
  expect_equal(attr(f, "overall")$base_rate, mean(data$dead == "yes"))
})

test_that("gaps are the largest differences between groups", {
  f <- fairness(one, data, ~dead, ~unit)
  expect_identical(as.character(f$group), c("er", "icu", "ward", "(missing)"))
  expect_identical(f$n[4], sum(is.na(data$unit)))
  gaps <- summary(f)
  tpr <- gaps[gaps$measure == "tpr", ]
  expect_equal(tpr$gap, max(f$tpr) - min(f$tpr))
  expect_equal(tpr$highest, as.character(f$group[which.max(f$tpr)]))
  rate <- gaps[gaps$measure == "base_rate", ]
  expect_equal(rate$ratio, min(f$base_rate) / max(f$base_rate))
})

test_that("response and group are columns, formulas, vectors, or the fit's own", {
  f <- fairness(multi, data, "dead", "g")
  expect_equal(fairness(multi, data), f)
  expect_equal(fairness(multi, data, ~dead, ~g), f)
  expect_equal(fairness(multi, data, data$dead, data$g), f, ignore_attr = TRUE)
  expect_equal(fairness(multi, data, data$dead == "yes", data$g), f, ignore_attr = TRUE)
  expect_equal(fairness(multi, data, as.numeric(data$dead == "yes"), factor(data$g)), f, ignore_attr = TRUE)
  expect_equal(fairness(multi, data, group = ~ g == "m")$tpr, f$tpr)
  expect_equal(fairness(one, data, group = "g")$base_rate, f$base_rate)
  expect_error(fairness(one, data), "group", class = "protonam_error_argument")
  expect_error(fairness(one, data[names(data) != "dead"], group = "g"), "dead", class = "protonam_error_missing_column")
  numbers <- suppressMessages(tiny_fit(am ~ wt, mtcars))
  expect_equal(fairness(numbers, mtcars, "am", "vs")$base_rate, unname(c(tapply(mtcars$am, mtcars$vs, mean))))
})

test_that("what has no two classes is refused", {
  classes <- tiny_fit(class ~ age, data)
  expect_error(fairness(classes, data, "class", "g"), "multinomial", class = "protonam_error_family")
  counts <- tiny_fit(count ~ age, data, family = poisson())
  expect_error(fairness(counts, data, "count", "g"), "poisson", class = "protonam_error_family")
  expect_error(fairness(tiny_fit(y ~ age, data), data, "y", "g"), "0 or 1", class = "protonam_error_response")
  expect_error(fairness(lm(y ~ age, data), data, "y", "g"), "lm", class = "protonam_error_argument")
})

test_that("several responses are compared one at a time", {
  both <- tiny_fit(cbind(dead, male) ~ age + lab, data)
  f <- fairness(both, data, "male", "unit")
  expect_equal(f$base_rate, unname(c(tapply(data$male, addNA(data$unit), mean))))
  at <- which(data$unit == "icu")
  expect_equal(f$predicted[f$group == "icu"], mean(predict(both, data)[at, "male"]))
  expect_error(fairness(both, data, group = "unit"), "dead", class = "protonam_error_argument")
})

test_that("rows without a response are left out, and one-sided groups have no AUC", {
  part <- data
  part$dead[1:10] <- NA
  part$h <- ifelse(part$dead %in% "yes" & seq_len(120) > 60, "u", "v")
  expect_message(f <- fairness(one, part, "dead", "h"), "10 rows", class = "protonam_message_dropped_rows")
  expect_identical(sum(f$n), 110L)
  expect_identical(is.na(f$auc), c(TRUE, FALSE))
  expect_identical(is.na(f$fpr), c(TRUE, FALSE))
  expect_message(fairness(one, data, "dead", rep("a", 120)), class = "protonam_message_one_group")
})

test_that("a missing group of a task needs task_default, which is passed on", {
  part <- data
  part$g[1:3] <- NA
  expect_error(fairness(multi, part, "dead", "g"), "NA", class = "protonam_error_task")
  f <- fairness(multi, part, "dead", "g", task_default = "m")
  expect_identical(as.character(f$group), c("f", "m", "(missing)"))
})

test_that("several fits stand side by side", {
  f <- fairness(list(feature = one, task = multi), data, "dead", "g")
  expect_identical(f$model, rep(c("feature", "task"), each = 2))
  expect_equal(f$tpr[3:4], fairness(multi, data, "dead", "g")$tpr)
  expect_identical(unique(summary(f)$model), c("feature", "task"))
  expect_error(fairness(list(one, multi), data), "names", class = "protonam_error_argument")
})

test_that("a part of the table is a plain data frame", {
  f <- fairness(multi, data)
  expect_identical(class(f[1, ]), "data.frame")
  expect_null(attr(f[1, ], "gaps"))
  expect_identical(f[, "n"], c(60L, 60L))
  expect_output(print(rbind(f, f)), "calibration")
})

test_that("plot() draws a panel per measure and returns the table", {
  f <- fairness(list(feature = one, task = multi), data, "dead", "unit")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(f), f)
  expect_identical(plot(fairness(multi, data))$group, factor(c("f", "m")))
  figure <- fairness_figure(f, plot_options())
  expect_length(figure$panels, 5)
  expect_identical(figure$series$labels, c("feature", "task"))
  expect_equal(figure$panels[[2]]$marks$point$x, f$auc[!is.na(f$auc)])
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(f), "ggplot")
})

test_that("print() shows groups, all rows and gaps", {
  fixed <- structure(
    data.frame(
      group = factor(c("f", "m")), n = c(10L, 1000L), base_rate = c(0.1, 0.3), predicted = c(0.15, 0.25),
      calibration = c(0.05, -0.05), auc = c(NA, 0.9), selection_rate = c(0, 0.2), tpr = c(0, 0.5), fpr = c(0, 0.1)
    ),
    class = c("protonam_fairness", "data.frame"), threshold = 0.5, response = "dead", event = "yes", group = "sex"
  )
  attr(fixed, "gaps") <- group_gaps(fixed)
  attr(fixed, "overall") <- fixed[2, -1]
  expect_snapshot(fixed)
})

test_that("what cannot be compared is refused", {
  several <- tiny_fit(class ~ age, data)
  number <- tiny_fit(y ~ age, data)
  expect_snapshot(error = TRUE, {
    fairness(several, data, "class", "g")
    fairness(number, data, "y", "g")
    fairness(one, data, "class", "g")
    fairness(one, data, "dead", "age")
    fairness(one, data, "dead", "sex_of_patient")
    fairness(one, data, "dead", "g", threshold = 2)
    fairness(one, group = "g")
    fairness(one, data[0, ], "dead", "g")
    fairness(3, data, "dead", "g")
    fairness(one, data, "dead", c("a", "b"))
    fairness(one, data, "dead", "g", treshold = 0.2)
  })
})
