# Groups, several responses, several classes and counts, as a user meets them (R/data-roles.R, R/data-response.R,
# R/data-prepare.R, R/model-task-scores.R).

data <- mixed_data()
data$g <- factor(ifelse(data$male, "m", "f"))

test_that("a group has its own weights, over the same encoders", {
  fit <- tiny_fit(dead ~ age + lab, data, task = ~g)
  expect_identical(dimnames(coef(fit)$weights)[[3]], c("f", "m"))
  expect_named(coef(fit)$intercept, c("f", "m"))
  other <- transform(data, g = factor(ifelse(g == "m", "f", "m")))
  p <- predict(fit, data)
  expect_false(any(p == predict(fit, other)))
  # a row is scored with its own group's weights
  link <- engine_link(fit, encode_newdata(fit, data)$data, NULL, 1L)
  expect_equal(unname(p), plogis(link[cbind(1:120, as.integer(data$g))]))
  curves <- shapes(fit, points = list(age = c(30, 60)))
  expect_setequal(unique(curves$task), c("f", "m"))
  at <- curves[curves$term == "age" & curves$x %in% 30 & curves$task == "m", ]
  terms <- predict(fit, data.frame(age = 30, lab = 5, g = "m"), type = "terms")
  expect_equal(at$effect, terms[, "age"][[1]], tolerance = 1e-6)
})

test_that("a missing or new group is an error that names it, unless task_default does", {
  fit <- tiny_fit(y ~ age, data, task = ~g)
  new <- data.frame(age = c(30, 40, 50), g = c("m", "x", NA))
  expect_error(predict(fit, new), "\"x\" and \"NA\"", class = "protonam_error_task")
  expect_equal(predict(fit, new, task_default = "f"), predict(fit, transform(new, g = c("m", "f", "f"))))
  expect_error(predict(fit, new, task_default = "w"), class = "protonam_error_argument")
  expect_error(predict(fit, data.frame(age = 30)), "\\bg\\b", class = "protonam_error_missing_column")
})

test_that("the task variable leaves the features in any disguise", {
  for (formula in list(y ~ age + g, y ~ age + factor(g), y ~ age + I(g == "m"))) {
    expect_message(fit <- tiny_fit(formula, data, task = ~g), "task", class = "protonam_message_task_feature")
    expect_identical(fit$term_names, "age")
    expect_length(predict(fit, data), 120)
  }
  expect_message(
    fit <- tiny_fit(y ~ age + lab, data, task = ~ cut(age, c(-Inf, 50, Inf))), "age",
    class = "protonam_message_task_feature"
  )
  expect_identical(fit$term_names, "lab")
  expect_identical(unname(predict(fit, data[5:9, ])), unname(predict(fit, data)[5:9]))
})

test_that("tasks that are no groups are refused", {
  fit <- function(...) tiny_fit(y ~ age, data, ...)
  expect_snapshot(error = TRUE, {
    fit(task = ~time)
    fit(task = ~y)
    fit(task = rep("a", 120))
    fit(task = sprintf("id%d", 1:120))
    fit(task = ~gender)
    fit(task = g ~ age)
    fit(task = ~ g + unit)
  })
})

test_that("a small group is announced and trained on", {
  part <- transform(data, h = c(rep("rare", 3), rep(c("u", "v"), length.out = 117)))
  expect_message(fit <- tiny_fit(dead ~ age, part, task = ~h), "\"rare\" (3)",
    fixed = TRUE,
    class = "protonam_message_small_group"
  )
  expect_true(all(1:3 %in% fit$train))
  expect_true(all(is.finite(predict(fit, part))))
})

test_that("scores by group and by response agree with the overall score", {
  fit <- tiny_fit(dead ~ age + lab, data, task = ~g)
  scores <- summary(fit)$task_scores
  expect_identical(scores$task, rep(c("f", "m"), each = 2))
  held_out <- setdiff(1:120, fit$train)
  expect_equal(sum(scores$n[scores$rows == "validation"]), length(held_out))
  at <- fit$train[data$g[fit$train] == "m"]
  p <- predict(fit, data)[at]
  y <- data$dead[at] == "yes"
  own <- scores[scores$task == "m" & scores$rows == "training", ]
  expect_equal(own$logloss, -mean(log(ifelse(y, p, 1 - p))), tolerance = 1e-10)
  expect_equal(own$auc, mean(outer(p[y], p[!y], function(a, b) (a > b) + (a == b) / 2)))

  number <- tiny_fit(y ~ age, data, task = ~g, validation = data[1:30, ])
  scores <- summary(number)$task_scores
  validation <- scores[scores$rows == "validation", ]
  expect_equal(sqrt(sum(validation$n * validation$rmse^2) / 30), sqrt(number$members[[1]]$score), tolerance = 1e-5)

  part <- transform(data, count = replace(count, 1:60, NA))
  both <- summary(tiny_fit(cbind(y, count) ~ age, part, validation = 0))$task_scores
  expect_identical(both$n, c(120L, 60L))
  several <- summary(tiny_fit(class ~ age, data, task = ~g))$task_scores
  expect_named(several, c("task", "rows", "n", "logloss", "accuracy"))
  expect_null(summary(tiny_fit(y ~ age, data))$task_scores)
})

test_that("several responses may have missing values; an unobserved label costs nothing", {
  part <- transform(data, count = replace(count, seq_len(120) %% 5 != 0, NA))
  fit <- tiny_fit(cbind(y, count) ~ age + lab, part, validation = 0)
  expect_identical(colnames(predict(fit, part)), c("y", "count"))
  expect_false(anyNA(predict(fit, part)))
  expect_identical(dimnames(coef(fit)$weights)[[3]], c("y", "count"))
  expect_setequal(shapes(fit)$task, c("y", "count"))
  expect_lt(additivity_gap(fit, part), 1e-6)
  expect_identical(is.na(residuals(fit)[, "count"]), is.na(part$count), ignore_attr = TRUE)
  same <- tiny_fit(as.matrix(data["age"]), as.matrix(data[c("y", "count")]))
  expect_identical(colnames(predict(same, as.matrix(data["age"]))), c("y", "count"))
  binary <- tiny_fit(cbind(dead, male) ~ age, transform(data, dead = replace(dead, 1:50, NA)))
  expect_identical(binary$family$family, "binomial")
  nothing <- transform(data, y = NA_real_, count = NA_real_)
  expect_error(suppressMessages(tiny_fit(cbind(y, count) ~ age, nothing)), class = "protonam_error")
})

test_that("a response without labels among the validation rows leaves the score to the others", {
  part <- transform(data, count = replace(count, 81:120, NA), male = replace(male, 81:120, NA))
  numbers <- tiny_fit(cbind(y, count) ~ age, part, validation = 81:120)
  expect_true(all(is.finite(numbers$members[[1]]$history$score)))
  classes <- tiny_fit(cbind(dead, male) ~ age, part, validation = 81:120)
  expect_identical(classes$members[[1]]$score_name, "auc")
  p <- predict(classes, part)[81:120, "dead"]
  expect_equal(classes$members[[1]]$score, score_auc(as.double(part$dead[81:120] == "yes"), p), tolerance = 1e-12)
})

test_that("the validation score of several responses counts each by its labels", {
  part <- transform(data, count = replace(count, seq_len(120) %% 4 != 0, NA))
  fit <- tiny_fit(cbind(y, count) ~ age, part, validation = 81:120)
  error <- (predict(fit, part) - as.matrix(part[c("y", "count")])) / rep(fit$response$scale, each = 120)
  expect_equal(fit$members[[1]]$score, mean(error[81:120, ]^2, na.rm = TRUE), tolerance = 1e-5)
})

test_that("several responses that differ in kind are refused", {
  binary <- transform(data, event = as.numeric(male))
  expect_error(tiny_fit(cbind(y, event) ~ age, binary), "\"event\"", class = "protonam_error_mixed_responses")
  expect_identical(suppressMessages(tiny_fit(cbind(y, event) ~ age, binary, family = gaussian()))$nobs, 120L)
  expect_error(tiny_fit(cbind(y, dead) ~ age, data), "numeric or all binary", class = "protonam_error_mixed_responses")
  expect_error(tiny_fit(cbind(dead, class) ~ age, data), "class", class = "protonam_error_response")
  expect_error(tiny_fit(cbind(y, count) ~ age, data, task = ~g), "several responses", class = "protonam_error_task")
})

test_that("classes add up in every order, with and without tasks", {
  for (order in c(1, 2)) {
    for (task in list(NULL, ~g)) {
      fit <- tiny_fit(class ~ age + lab + grade, data, order = order, task = task)
      expect_lt(additivity_gap(fit, data), 1e-6)
      expect_equal(rowSums(predict(fit, data)), rep(1, 120), ignore_attr = TRUE)
    }
  }
  whole <- tiny_fit(class ~ age + lab + grade, data, order = Inf, task = ~g)
  expect_identical(dim(predict(whole, data, type = "prob")), c(120L, 3L))
  expect_setequal(shapes(tiny_fit(class ~ age, data))$output, c("a", "b", "c"))
  expect_identical(tiny_fit(class ~ age, data)$members[[1]]$score_name, "logloss")
})

test_that("a level that no row has is dropped with a message; two left are binomial", {
  part <- data[data$class != "b", ]
  expect_message(fit <- tiny_fit(class ~ age, part), "\"b\".*dropped", class = "protonam_message_empty_level")
  expect_identical(fit$family$family, "binomial")
  expect_identical(colnames(predict(fit, part, type = "prob")), c("a", "c"))
  expect_message(
    fit <- tiny_fit(class ~ age, data, subset = class != "b"), "\"b\"",
    class = "protonam_message_empty_level"
  )
  expect_identical(levels(predict(fit, data, type = "class")), c("a", "c"))
  four <- transform(data, class = factor(class, levels = c("a", "b", "c", "d")))
  expect_message(fit <- tiny_fit(class ~ age, four), "\"d\"", class = "protonam_message_empty_level")
  expect_identical(fit$family$family, "multinomial")
})

test_that("a class with one row is kept in training, with a message", {
  one <- transform(data, class = factor(replace(as.character(class), 7, "rare")))
  expect_message(fit <- tiny_fit(class ~ age, one), "\"rare\"", class = "protonam_message_rare_class")
  expect_true(7 %in% fit$train)
  expect_identical(colnames(predict(fit, one)), c("a", "b", "c", "rare"))
  expect_message(tiny_fit(class ~ age, one, validation = 0), "\"rare\"", class = "protonam_message_rare_class")
})

test_that("a class with no row in training is announced as such", {
  one <- transform(data, class = factor(replace(as.character(class), 7, "rare")))
  told <- capture_messages(tiny_fit(class ~ age, one, validation = 5:20))
  expect_length(told, 1)
  expect_match(told, "No training row has class \"rare\"")
  # a weight of zero leaves the row, and so the class, out
  told <- capture_messages(fit <- tiny_fit(class ~ age, one, weights = as.numeric(seq_len(120) != 7)))
  expect_match(told[1], "1 row of weight zero is left out.*No other row has class \"rare\"")
  expect_match(told[2], "level dropped")
  expect_identical(fit$response$levels, c("a", "b", "c"))
  two <- transform(data, dead = factor(replace(rep("no", 120), 7, "yes")))
  expect_message(tiny_fit(dead ~ age, two), "used for training", class = "protonam_message_rare_class")
  seventh <- seq_len(120) == 7
  expect_error(tiny_fit(dead ~ age, two, validation = seventh), "one class", class = "protonam_error_one_class")
})

test_that("an offset shifts the log rate exactly", {
  part <- transform(data, time = rep(c(1, 2, 5), 40))
  fit <- tiny_fit(count ~ age + lab + offset(log(time)), part, family = poisson())
  link <- predict(fit, part, type = "link")
  expect_equal(predict(fit, transform(part, time = 10 * time), type = "link"), link + log(10), tolerance = 1e-14)
  expect_equal(predict(fit, transform(part, time = 10 * time)), 10 * predict(fit, part), tolerance = 1e-12)
  expect_equal(predict(fit, part), exp(link))
  expect_equal(predict(fit, part, type = "link", offset = 0), link - log(part$time), tolerance = 1e-12)
  expect_identical(fit$members[[1]]$score_name, "deviance")
  expect_error(tiny_fit(I(count - 5) ~ age, data, family = poisson), "negative", class = "protonam_error_response")
})

test_that("several responses begin with the same weights, groups with their own", {
  start <- tiny(lr = 1e-300, scale_response = FALSE)
  both <- coef(protonam(cbind(y, count) ~ age + lab, data, control = start, seed = 1))$weights
  expect_identical(both[, , "y"], both[, , "count"])
  expect_false(any(duplicated(c(both[, , "y"]))))
  groups <- coef(protonam(y ~ age + lab, data, task = ~g, control = start, seed = 1))$weights
  expect_false(any(groups[, , "f"] == groups[, , "m"]))
})

test_that("a response that is 80 % missing gains from another with the same structure", {
  skip_on_cran()
  shape <- function(data) sin(3 * data$a) + 2 * (data$b > 0.5) + data$c^2 - abs(data$d)
  simulate <- function(n) as.data.frame(matrix(runif(4 * n, -1, 1), n, dimnames = list(NULL, c("a", "b", "c", "d"))))
  control <- protonam_control(
    prototypes = 4, layers = 2, hidden = 8, epochs = 20, lr = 0.01, batch_size = 8, procedure = "paper"
  )
  error <- vapply(1:3, function(seed) {
    set.seed(seed)
    train <- simulate(1000)
    test <- simulate(3000)
    train$y1 <- shape(train) + rnorm(1000)
    train$y2 <- 1.5 * shape(train) + rnorm(1000)
    train$y2[runif(1000) < 0.8] <- NA
    together <- protonam(cbind(y1, y2) ~ a + b + c + d, train, control = control, seed = seed)
    alone <- protonam(y2 ~ a + b + c + d, train[!is.na(train$y2), ], control = control, seed = seed)
    truth <- 1.5 * shape(test)
    sqrt(c(mean((predict(together, test)[, "y2"] - truth)^2), mean((predict(alone, test) - truth)^2)))
  }, c(0, 0))
  expect_lt(mean(error[1, ]), 0.9 * mean(error[2, ]))
})
