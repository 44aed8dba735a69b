data <- mixed_data()
train <- data[1:90, ]
held_out <- data[91:120, ]

test_that("a validation data frame equals the same rows held out by number", {
  by_frame <- tiny_fit(dead ~ age + log(lab + 3) + unit, train, validation = held_out)
  by_rows <- tiny_fit(dead ~ age + log(lab + 3) + unit, data, validation = 91:120)
  expect_identical(by_frame$members, by_rows$members)
  expect_identical(c(nobs(by_frame), by_frame$n_validation), c(90, 30))
  x <- c("age", "unit")
  expect_identical(
    tiny_fit(train[x], train$y, validation = list(x = held_out[x], y = held_out$y))$members,
    tiny_fit(data[x], data$y, validation = 91:120)$members
  )
})

test_that("a validation data frame brings its weights, offset and task", {
  data$w <- rep(1:3, 40)
  both <- function(...) tiny_fit(y ~ age + lab, ..., weights = w, offset = age / 10, task = ~male)
  frame <- both(data[1:90, ], validation = data[91:120, ])
  rows <- both(data, validation = 91:120)
  expect_equal(frame$members[[1]]$history, rows$members[[1]]$history, tolerance = 1e-6)
})

test_that("validation rows have no influence on what is learned from training rows", {
  wild <- data
  wild$age[91:120] <- 1e6 * seq_len(30)
  wild$unit[91:120] <- "elsewhere"
  fit <- tiny_fit(y ~ age + unit + lab, wild, validation = 91:120)
  calm <- tiny_fit(y ~ age + unit + lab, data, validation = 91:120)
  expect_identical(fit$encoder, calm$encoder)
  expect_identical(fit$response, calm$response)
  expect_identical(fit$members[[1]]$history$loss, calm$members[[1]]$history$loss)
  last <- tiny_fit(y ~ age + unit + lab, data[1:90, ], validation = 0)
  expect_identical(last$encoder, calm$encoder)
})

test_that("groups stay on one side", {
  data$id <- rep(1:30, each = 4)
  fit <- suppressMessages(tiny_fit(y ~ . - dead - class - count, data, groups = ~id))
  expect_false("id" %in% fit$term_names)
  expect_length(intersect(data$id[fit$train], data$id[-fit$train]), 0)
  expect_identical(fit$train, tiny_fit(y ~ age, data, groups = data$id)$train)
})

test_that("the task variable leaves the features", {
  expect_no_message(fit <- tiny_fit(y ~ ., data[c("y", "age", "male")], task = ~male))
  expect_identical(fit$term_names, "age")
  expect_message(
    fit <- tiny_fit(y ~ age + male, data, task = ~male), "male",
    class = "protonam_message_task_feature"
  )
  expect_identical(formula(fit), y ~ age, ignore_formula_env = TRUE)
  expect_identical(tiny_fit(data[c("age", "male")], data$y, task = ~male)$term_names, "age")
})

test_that("a row is predicted with its own group; unknown groups are errors unless named", {
  fit <- tiny_fit(y ~ age, data, task = ~male)
  flipped <- transform(data, male = !male)
  expect_false(isTRUE(all.equal(predict(fit, data), predict(fit, flipped))))
  unknown <- transform(data[1:3, ], male = c("TRUE", NA, "maybe"))
  expect_error(predict(fit, unknown), "\"maybe\"", class = "protonam_error_task")
  expect_error(predict(fit, data["age"]), "male", class = "protonam_error_missing_column")
  expect_equal(predict(fit, unknown, task_default = "TRUE"), predict(fit, transform(data[1:3, ], male = TRUE)))
  female <- predict(fit, transform(data[1:3, ], male = FALSE))
  expect_equal(predict(fit, data[1:3, "age", drop = FALSE], task_default = "FALSE"), female)
  expect_error(predict(fit, unknown, task_default = "no"), class = "protonam_error_argument")
})

test_that("rows without a group are left out with a message, and every group is trained on", {
  data$g <- ifelse(seq_len(120) <= 3, "rare", "common")
  data$g[50] <- NA
  expect_message(fit <- tiny_fit(y ~ age, data, task = ~g), "1 row", class = "protonam_message_dropped_rows")
  expect_identical(nobs(fit), 119L)
  expect_true(any(fit$train <= 3))
})

test_that("rows of weight zero are fitted but not used", {
  w <- rep(c(0, 1), 60)
  fit <- tiny_fit(y ~ age + lab, data, weights = w)
  expect_length(fitted(fit), 120)
  expect_true(all(fit$train %% 2 == 0))
  expect_equal(fitted(fit), predict(fit, data))
})

test_that("validation rows are drawn from those with a weight", {
  w <- rep(c(0, 2, 1), 40)
  fit <- tiny_fit(dead ~ age + lab, data, weights = w)
  without <- tiny_fit(dead ~ age + lab, data[w > 0, ], weights = w[w > 0])
  expect_identical(predict(fit, data), predict(without, data))
  expect_error(tiny_fit(y ~ age, data, weights = w, validation = which(w > 0)), class = "protonam_error_validation")
})

test_that("validation frames that cannot be meant are refused", {
  expect_snapshot(error = TRUE, {
    tiny_fit(dead ~ age, train, validation = held_out["age"])
    tiny_fit(dead ~ age, train, validation = held_out["dead"])
    tiny_fit(dead ~ age, train, validation = transform(held_out, dead = "maybe"))
    tiny_fit(y ~ age, train, validation = transform(held_out, y = NA))
    tiny_fit(y ~ age, train, validation = transform(held_out, age = "old"))
    tiny_fit(train["age"], train$y, validation = held_out)
  })
})

test_that("an infinite value is refused by minmax scaling wherever its row falls", {
  wild <- data
  wild$age <- as.double(wild$age)
  wild$age[5] <- Inf
  for (validation in list(c(5L, 7L), c(6L, 8L))) {
    expect_error(tiny_fit(y ~ age + lab, wild, validation = validation, scaling = "minmax"), "age",
      class = "protonam_error_infinite"
    )
  }
})

test_that("weights that single precision cannot hold are brought to its scale", {
  expect_null(engine_weights(NULL))
  expect_identical(engine_weights(c(0, 1, 7)), c(0, 1, 7))
  expect_identical(engine_weights(c(0, 0)), c(0, 0))
  expect_equal(engine_weights(c(1, 3) * 1e-50), c(1, 3) / 3, tolerance = 1e-12)
  expect_equal(engine_weights(c(1e-300, 1, 1e20)), c(1e-30, 1e-20, 1), tolerance = 1e-12)
})

test_that("only ratios of weights matter, however small or large they are", {
  data <- mixed_data()
  for (norm in c("layer", "batch")) {
    fitted <- vapply(c(1, 1e-50, 1e-200, 1e50, 1e300), function(scale) {
      fit <- protonam(y ~ age + lab, data,
        weights = rep(1:2, 60) * scale / 2, control = tiny(norm = norm), seed = 1, verbose = FALSE
      )
      expect_true(all(prototypes(fit)$count >= 0))
      unname(predict(fit, data))
    }, numeric(nrow(data)))
    expect_lt(max(abs(fitted - fitted[, 1L])), 1e-2)
  }
})
