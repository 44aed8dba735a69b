data <- jump_data()

test_that("members each leave one fold out, and every row is left out once", {
  fit <- own_fit(dead ~ a + b, data, ensemble = 6)
  expect_identical(vapply(fit$members, `[[`, 1L, "skip"), 1:6)
  expect_lte(diff(range(table(fit$fold))), 1L)
  events <- tapply(data$dead == "yes", fit$fold, sum)
  expect_lte(diff(range(events)), 1L)
  expect_false(anyNA(fit$out_of_fold))
  expect_identical(dim(fit$out_of_fold), c(240L, 1L))
  expect_length(own_fit(dead ~ a + b, data, ensemble = NULL)$members, default_members)
})

test_that("groups stay whole, and copies of a row together", {
  data$id <- rep(1:40, 6)
  fit <- own_fit(y ~ a + b, data, groups = ~id)
  expect_true(all(tapply(fit$fold, data$id, function(fold) length(unique(fold))) == 1L))
  rows <- withr::with_seed(1, sample(240, replace = TRUE))
  fit <- own_fit(y ~ a + b, data, subset = rows)
  expect_true(all(tapply(fit$fold, rows, function(fold) length(unique(fold))) == 1L))
})

test_that("there are no more folds than groups, or rows of the rarest class", {
  data$site <- rep(1:3, 80)
  expect_message(fit <- own_fit(y ~ a, data, groups = ~site, ensemble = NULL), "only 3 groups",
    class = "protonam_message_fewer_members"
  )
  expect_length(fit$members, 3L)
  data$rare <- factor(c(rep("no", 235), rep("yes", 5)))
  expect_message(fit <- own_fit(rare ~ a, data, ensemble = NULL), "only 5 rows of the rarest class")
  expect_length(fit$members, 5L)
  expect_true(all(tapply(data$rare == "yes", fit$fold, sum) == 1L))
  expect_message(fit <- own_fit(y ~ a, data, groups = rep(1, 240), ensemble = NULL), "only 1 group,.*1 member")
  expect_length(fit$members, 1L)
  expect_null(fit$out_of_fold)
  expect_message(own_fit(y ~ a, data[1:9, ], ensemble = NULL), "only 9 rows")
  # who asks for one has no message
  expect_no_message(own_fit(rare ~ a, data, ensemble = 1))
})

test_that("out-of-fold predictions come from the member that has not seen the row", {
  # nothing but the folds depends on the rows: no screening, no scaling, no penalty in units of the loss
  fit_to <- function(data) {
    own_fit(y ~ a + b, data, prototypes_for = c("a", "b"), variation = 0, scale_response = FALSE)
  }
  fit <- fit_to(data)
  changed <- data
  left_out <- fit$fold == 2
  changed$y[left_out] <- changed$y[left_out] + 10 * sin(seq_len(sum(left_out)))
  other <- fit_to(changed)
  expect_identical(other$fold, fit$fold)
  expect_identical(other$members[[2]]$params, fit$members[[2]]$params)
  expect_identical(other$members[[2]]$base$value, fit$members[[2]]$base$value)
  expect_false(identical(other$members[[1]]$params, fit$members[[1]]$params))
  expect_false(identical(other$members[[1]]$base$value, fit$members[[1]]$base$value))
  # before a recalibration the predictions are this member's
  alone <- one_member(fit, 2)
  expect_equal(unname(fit$out_of_fold[left_out, 1]), unname(predict(alone, data[left_out, ])), tolerance = 1e-8)
})

test_that("the same seed gives the same bits for any number of threads", {
  fit <- function(...) own_fit(dead ~ a + b + unit, data, ...)
  parts <- function(fit) fit[c("members", "fitted", "out_of_fold", "fold", "evidence", "judged", "effects")]
  one <- fit(threads = 1)
  expect_identical(parts(fit(threads = 2)), parts(one))
  expect_identical(parts(fit(threads = 1)), parts(one))
  expect_false(identical(fit(seed = 2)$fold, one$fold))
})

test_that("validation rows are scored and never learned from", {
  rows <- 1:60
  fit <- suppressMessages(own_fit(y ~ a + b + unit, data, validation = rows))
  expect_identical(fit$n_train, 180L)
  expect_identical(fit$judged$rows, "validation")
  expect_output(print(fit), "Validation +RMSE")
  changed <- data
  changed$y[rows] <- 1000
  changed[rows, c("a", "b")] <- 17
  other <- suppressMessages(own_fit(y ~ a + b + unit, changed, validation = rows))
  expect_identical(other$members, fit$members)
  expect_true(all(is.na(fit$out_of_fold[rows, 1])))
  expect_false(anyNA(fit$out_of_fold[-rows, 1]))
  apart <- suppressMessages(own_fit(y ~ a + b + unit, data[-rows, ], validation = data[rows, ]))
  expect_equal(apart$judged$scores, fit$judged$scores, tolerance = 1e-10)
  error <- sqrt(mean((data$y[rows] - predict(fit, data[rows, ]))^2))
  expect_equal(fit$judged$scores$value[1], error, tolerance = 1e-8)
})

test_that("the names and the order of levels without order change nothing", {
  fit <- own_fit(dead ~ a + unit, data, prototypes_for = "a")
  renamed <- data
  renamed$unit <- factor(c(er = "zz", icu = "m", ward = "a1")[as.character(data$unit)])
  reordered <- data
  reordered$unit <- factor(data$unit, levels = c("ward", "er", "icu"))
  link <- predict(fit, data, type = "link")
  for (other in list(renamed, reordered)) {
    again <- own_fit(dead ~ a + unit, other, prototypes_for = "a")
    expect_lt(max(abs(predict(again, other, type = "link") - link)), 1e-6)
  }
  # levels are shown sorted by name all the same
  expect_identical(shapes(fit, "unit")$level, c("er", "icu", "ward"))
  for (settings in list(list(order = 2), list(order = Inf), list(base = "none"))) {
    links <- lapply(list(data, renamed, reordered), function(data) {
      fit <- do.call(own_fit, c(list(dead ~ a + b + unit, data, epochs = 4, ensemble = 2), settings))
      predict(fit, data, type = "link")
    })
    expect_lt(max(abs(links[[2]] - links[[1]]), abs(links[[3]] - links[[1]])), 1e-6)
  }
})

test_that("evidence, or the user, decides which features have prototypes", {
  names_of <- function(...) {
    fit <- own_fit(y ~ a + b + unit + noise, data, ...)
    feature_names(fit)[fit$engine$net]
  }
  long <- names_of(epochs = 60)
  expect_true("a" %in% long)
  expect_false("unit" %in% long)
  expect_identical(names_of(prototypes_for = TRUE), c("a", "b", "noise"))
  expect_identical(names_of(prototypes_for = "b"), "b")
  expect_identical(names_of(prototypes_for = FALSE), character())
  expect_identical(names_of(prototypes_for = character()), character())
  # levels have no order that prototypes could follow
  expect_identical(names_of(prototypes_for = "unit"), character())
  expect_snapshot(error = TRUE, {
    own_fit(y ~ a + noise, data, prototypes_for = "noize")
    own_fit(y ~ a + noise, data, prototypes_for = 2)
    own_fit(y ~ a + noise, data, prototypes_for = NA_character_)
  })
})

test_that("a fit survives saving, updating and its own control", {
  fit <- protonam(y ~ a + b, data, control = quick_own(), ensemble = 3, seed = 1, verbose = FALSE)
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(fit, file)
  again <- readRDS(file)
  expect_identical(predict(again, data), predict(fit, data))
  expect_identical(shapes(again), shapes(fit))
  wider <- update(fit, . ~ . + unit)
  expect_identical(wider$term_names, c("a", "b", "unit"))
  expect_length(wider$members, 3L)
  expect_identical(update(fit, ensemble = 2)$members[[2]]$skip, 2L)
  expect_identical(update(fit, procedure = "paper", ensemble = NULL)$control$procedure, "paper")
  own <- protonam(y ~ a + b, data, control = fit$control, ensemble = 3, seed = 1, verbose = FALSE)
  expect_identical(own$fitted, fit$fitted)
})

test_that("matrices and data frames take the same arguments as formulas", {
  by_formula <- own_fit(y ~ a + b, data, smoothness = c(a = 2))
  by_table <- own_fit(data[c("a", "b")], data$y, smoothness = c(a = 2))
  by_matrix <- own_fit(as.matrix(data[c("a", "b")]), data$y, smoothness = c(a = 2))
  expect_identical(unname(fitted(by_table)), unname(fitted(by_formula)))
  expect_identical(unname(fitted(by_matrix)), unname(fitted(by_formula)))
})

test_that("procedures and arguments that do not go together are refused", {
  expect_snapshot(error = TRUE, {
    own_fit(y ~ a, data, bootstrap = TRUE)
    own_fit(y ~ a, data, dropout = 0.1)
    own_fit(y ~ a, data, order = Inf, smoothness = 2)
    own_fit(y ~ a, data, procedure = "paper", smoothness = 2)
  })
  expect_s3_class(own_fit(y ~ a, data, dropout = 0.1, variation = 0), "protonam")
  expect_s3_class(own_fit(y ~ a, data, dropout = 0.1, base = "none"), "protonam")
})

test_that("cross-validation fits as protonam() does", {
  folds <- rep(1:2, 120)
  cv <- cv_protonam(dead ~ a + b, data, folds = folds, control = quick_own(), ensemble = 3, seed = 1, verbose = FALSE)
  fit <- own_fit(dead ~ a + b, data[folds == 2, ], ensemble = 3)
  expect_equal(unname(cv$predictions[folds == 1]), unname(predict(fit, data[folds == 1, ])), tolerance = 1e-8)
  smoother <- cv_protonam(y ~ a + b, data,
    folds = 2, control = quick_own(), ensemble = 2, seed = 1, verbose = FALSE, smoothness = c(a = 3)
  )
  expect_false(anyNA(smoother$predictions))
})

test_that("a search judges the default fit by its out-of-fold loss", {
  space <- protonam_space(hidden = 8, prototypes = 2:4, layers = 1, epochs = 8, lr = search_range(1e-3, 1e-2))
  search <- function(...) {
    tune_protonam(..., n = 2, space = space, control = quick_own(), eta = 1, seed = 1, verbose = FALSE)
  }
  found <- search(dead ~ a + b, data, ensemble = 3)
  expect_identical(found$score_name, "logloss")
  expect_identical(found$judged, "out-of-fold")
  expect_output(print(found), "out-of-fold log-loss")
  expect_false("dropout" %in% names(found$space))
  fit <- protonam(dead ~ a + b, data, control = found$best, ensemble = 3, seed = 1, verbose = FALSE)
  scores <- fit$judged$scores
  expect_equal(scores$value[scores$score == "log-loss"], found$best_score, tolerance = 1e-8)
  expect_identical(search(y ~ a, data, ensemble = 2, validation = 0.3)$judged, "validation")
  several <- search(cbind(y, y2) ~ a, data, ensemble = 2)
  expect_true(all(is.finite(several$trials$score)))
  expect_error(search(y ~ a, data, ensemble = 1), "rows to judge by", class = "protonam_error_validation")
  expect_error(
    tune_protonam(dead ~ a + b, data, n = 1, control = tiny(), resume = found, seed = 1, verbose = FALSE),
    class = "protonam_error_resume"
  )
})

test_that("single values that stand out have effects of their own; a curve or a step in few values has not", {
  withr::local_seed(3)
  n <- 1500
  data <- data.frame(money = sample(1:30, n, replace = TRUE), age = sample(20:50, n, replace = TRUE))
  data$y <- 2 * (data$money %in% c(3, 8, 9, 14, 20, 27)) + 1.5 * (data$age > 35) + rnorm(n)
  fit <- own_fit(y ~ ., data, ensemble = 4)
  expect_identical(has_values(fit$base), c(TRUE, FALSE))
  expect_identical(fit$engine$net, 2L)
  at <- shapes(fit, "money")
  expect_gt(min(at$effect[at$x %in% c(3, 8, 9, 14, 20, 27)]), 1)
  expect_lt(max(at$effect[!at$x %in% c(3, 8, 9, 14, 20, 27)]), 0.5)
  expect_lt(max(abs(at$upper - at$lower)), 2)
  expect_output(print(summary(fit)), "single values, z = ")
  expect_gt(fit$evidence$values[1], values_cut)
  # a value that no row has lies on the curve, between the two
  between <- predict(fit, data.frame(money = c(8, 8.5), age = 30), type = "terms")[, "money"]
  expect_gt(between[1] - between[2], 0.5)
  terms <- predict(fit, data, type = "terms")
  expect_equal(rowSums(terms) + attr(terms, "constant"), predict(fit, data, type = "link"), tolerance = 1e-8)
  data$y <- sin(data$money / 5) + rnorm(n)
  expect_false(any(has_values(own_fit(y ~ ., data, ensemble = 4)$base)))
})

test_that("pairs stand over a smooth layer where it helps, and main effects contain it", {
  withr::local_seed(5)
  n <- 400
  data <- data.frame(a = rnorm(n), b = rnorm(n), unit = factor(sample(letters[1:3], n, replace = TRUE)))
  data$b[1:20] <- NA
  b <- ifelse(is.na(data$b), 0.5, data$b)
  data$y <- sin(data$a) + b + data$a * b / 2 + as.integer(data$unit) / 2 + rnorm(n, sd = 0.5)
  fit <- own_fit(y ~ ., data, order = 2, base = "smooth")
  expect_true(has_base(fit))
  expect_identical(shown_terms(fit), c("a", "b", "unit", "a:b", "a:unit", "b:unit"))
  terms <- predict(fit, data, type = "terms")
  expect_equal(rowSums(terms) + attr(terms, "constant"), predict(fit, data, type = "link"), tolerance = 1e-8)
  expect_equal(as.vector(colMeans(terms)), rep(0, 6), tolerance = 1e-6)
  # the smooth layer's effects are in the main effects, at every value, and pairs have none of it
  by_layer <- shapes(fit, layers = TRUE, level = NULL)
  smooth <- by_layer[by_layer$layer == 0, ]
  expect_true(all(smooth$effect[smooth$term %in% c("a:b", "a:unit", "b:unit")] == 0))
  member <- seq_along(fit$members)
  points <- list(a = seq(-1.5, 1.5, 0.25))
  at <- shapes(fit, "a", layers = TRUE, points = points)
  rows <- encode_newdata(fit, data.frame(a = points$a, b = 0, unit = "a"))$data
  known <- Reduce(`+`, lapply(member, function(m) smooth_terms(fit, m, rows)[, 1, 1])) / length(member)
  expect_equal(diff(at$effect[at$layer == 0]), diff(known * fit$response$scale), tolerance = 1e-6)
  sums <- as.vector(tapply(at$effect, at$x, sum))
  expect_equal(sums, shapes(fit, "a", points = points)$effect, tolerance = 1e-6)
  expect_identical(dim(predict(fit, data[1:2, ], type = "layers"))[2], fit$config$n_layers + 1L)
  expect_null(own_fit(y ~ ., data, order = 2, base = "none")$base)
  expect_false(is.null(own_fit(y ~ ., data, order = Inf, base = "smooth")$base))
  # smooth effects and noise alone speak for the smooth layer
  data$y <- data$a + b + rnorm(n)
  chosen <- own_fit(y ~ ., data, order = 2)
  expect_true(has_base(chosen))
  expect_output(print(chosen), "Smooth part +below the network")
  lonely <- own_fit(y ~ ., data, order = 2, pairs = ~ a:b, base = "smooth")
  terms <- predict(lonely, data, type = "terms")
  expect_equal(rowSums(terms) + attr(terms, "constant"), predict(lonely, data, type = "link"), tolerance = 1e-8)
})

test_that("all features together are one component, even if there are two", {
  data <- jump_data(60)
  for (base in c("smooth", "none")) {
    fit <- own_fit(y ~ a + b, data, order = Inf, ensemble = 2, base = base)
    expect_identical(fit$term_names, "(all features)")
    expect_true(all(is.finite(predict(fit, data))))
    expect_output(print(summary(fit)), "ProtoNAnM")
  }
})

test_that("a schedule that falls below what single precision holds trains on", {
  data <- jump_data(60)
  fit <- own_fit(y ~ a + b, data, epochs = 1, prototypes_for = NULL)
  expect_true(all(is.finite(fitted(fit))))
  fit <- tiny_fit(y ~ a + b, data, tau = 0.01)
  expect_true(all(is.finite(fitted(fit))))
  expect_gt(min(fit$members[[1L]]$history$temperature), 0)
})
