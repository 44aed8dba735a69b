data <- jump_data(200)
fit <- own_fit(dead ~ a + b, data)
corrected <- function(v, measure) v$scores$corrected[v$scores$measure == measure]

test_that("out of fold: values are those of the left-out rows, moved by what the fit gains over its members", {
  v <- validate_protonam(fit, data = data)
  p <- predict(fit, out_of_fold = TRUE)
  expect_equal(v$out_of_fold[2], mean((p - (data$dead == "yes"))^2))
  links <- member_links(fit, fit_data(fit, data, globalenv()))
  brier <- function(link) mean((stats::plogis(link) - (data$dead == "yes"))^2)
  gain <- brier(fit$fitted[, 1]) - mean(vapply(links, function(link) brier(link[, 1]), 0))
  expect_equal(corrected(v, "brier"), v$out_of_fold[2] + gain, tolerance = 1e-8)
  expect_equal(v$scores$optimism, v$scores$apparent - v$scores$corrected)
  expect_true(all(v$scores$lower < v$scores$corrected & v$scores$corrected < v$scores$upper))
  # a slope by its ratio
  expect_equal(members_gain("slope", 1.5, 1.2, 0.8), 0.8 * 0.25)
})

test_that("without the data there is a message", {
  elsewhere <- own_fit(dead ~ a + b, data)
  elsewhere$call <- quote(protonam(dead ~ a + b, data = gone))
  expect_message(v <- validate_protonam(elsewhere), class = "protonam_message_members_alone")
  expect_equal(v$scores$corrected, v$out_of_fold)
  expect_error(validate_protonam(elsewhere, "bootstrap"), "gone", class = "protonam_error_data_not_found")
})

test_that("new data: values are those of their rows", {
  new <- jump_data(300, seed = 2)
  v <- validate_protonam(fit, newdata = new, by = ~group)
  expect_identical(v$method, "newdata")
  event <- new$dead == "yes"
  expect_equal(corrected(v, "auc")[1], score_auc(as.double(event), unname(predict(fit, new))))
  male <- validate_protonam(fit, newdata = new[new$group == "m", ])
  same <- c("n", "measure", "corrected", "lower", "upper")
  expect_equal(v$scores[v$scores$group == "m", same], male$scores[same], ignore_attr = TRUE)
  # the groups of the training rows are not known
  expect_true(all(is.na(v$scores$apparent[v$scores$group == "m"])))
})

test_that("samples that lack the ends of a range are not a matter for messages", {
  wide <- data
  wide$a[1] <- 50
  few <- own_fit(dead ~ a + b, wide, epochs = 1, ensemble = 2)
  # this seed leaves the row out of a sample
  expect_true(any(vapply(1:3, function(k) bootstrap_counts(200, NULL, member_seed(1, k))[1L] == 0, NA)))
  expect_silent(validate_protonam(few, "bootstrap", data = wide, repeats = 3, seed = 1, verbose = FALSE))
})

test_that("bootstrap: optimism is the mean over samples of apparent minus test", {
  v <- validate_protonam(fit, "bootstrap", data = data, repeats = 4, seed = 3)
  boot <- v$bootstrap
  expect_identical(dim(boot$test), c(4L, 5L))
  # one sample, repeated by hand
  counts <- bootstrap_counts(200, NULL, member_seed(3, 2))
  drawn <- rep(1:200, counts)
  again <- update(fit, data = data[drawn, ], groups = drawn, seed = member_seed(3, 2))
  p <- predict(again, data)
  event <- as.double(data$dead == "yes")
  expect_equal(boot$test[2, 1], score_auc(event, p), tolerance = 1e-6)
  expect_equal(boot$apparent[2, 2], sum(counts * (p - event)^2) / 200, tolerance = 1e-6)
  optimism <- colMeans(boot$apparent - boot$test)
  expect_equal(v$scores$corrected[1:4], v$scores$apparent[1:4] - optimism[1:4])
  expect_equal(v$scores$corrected[5], v$scores$apparent[5] * mean(boot$test[, 5] / boot$apparent[, 5]))
  apparent <- score_predictions("binomial", event, fitted(fit))
  expect_equal(v$scores$apparent[1], apparent[["auc"]])
})

test_that("bootstrap samples have whole groups", {
  data$id <- rep(1:50, each = 4)
  grouped <- own_fit(dead ~ a + b, data, groups = ~id)
  v <- validate_protonam(grouped, "bootstrap", data = data, repeats = 2, seed = 1)
  job <- fit_job(grouped, data, environment())
  expect_identical(job$groups, data$id)
  counts <- bootstrap_counts(200, job$groups[job$rows], 1)
  expect_true(all(tapply(counts, data$id, function(x) length(unique(x)) == 1L)))
  expect_s3_class(v, "protonam_validation")
  # intervals know of the groups
  clustered <- validate_protonam(grouped, data = data)$scores
  grouped$call$groups <- NULL
  plain <- validate_protonam(grouped, data = data)$scores
  expect_equal(clustered$corrected, plain$corrected)
  expect_false(isTRUE(all.equal(clustered$upper, plain$upper)))
})

test_that("every family and kind of fit can be validated", {
  expect_measures <- function(fit, measures, ...) {
    for (v in list(
      validate_protonam(fit, data = data, ...), validate_protonam(fit, "bootstrap", data = data, repeats = 2, seed = 1),
      validate_protonam(fit, newdata = data)
    )) {
      expect_setequal(v$scores$measure, measures)
      expect_true(all(is.finite(v$scores$corrected)))
      expect_output(print(v), "Validation of a protonam fit")
    }
  }
  expect_measures(own_fit(y ~ a + b, data), family_measures$gaussian)
  expect_measures(own_fit(count ~ a + b, data, family = poisson()), family_measures$poisson)
  expect_measures(own_fit(class ~ a + b, data), family_measures$multinomial)
  expect_measures(own_fit(cbind(y, y2) ~ a + b, data), family_measures$gaussian)
  expect_measures(own_fit(dead ~ a + b, data, task = ~group), family_measures$binomial)
  expect_measures(own_fit(dead ~ a + b, data, order = 2), family_measures$binomial)
})

test_that("fits of x and y, weights, offsets and the paper's procedure are repeated as they were made", {
  x <- data[c("a", "b")]
  y <- data$y
  v <- validate_protonam(own_fit(x, y), "bootstrap", data = cbind(x, y = y), repeats = 2, seed = 1)
  w <- validate_protonam(own_fit(y ~ a + b, data), "bootstrap", data = data, repeats = 2, seed = 1)
  expect_equal(v$scores, w$scores, tolerance = 1e-6)
  data$w <- rep(1:2, 100)
  data$off <- data$b
  weighted <- own_fit(dead ~ a + offset(off), data, weights = data$w)
  job <- fit_job(weighted, data, environment())
  expect_identical(job$weights, data$w)
  expect_equal(job$total_offset, data$off)
  paper <- tiny_fit(dead ~ a + b, data)
  expect_error(validate_protonam(paper), class = "protonam_error_no_out_of_fold")
  expect_s3_class(validate_protonam(paper, "bootstrap", data = data, repeats = 2, seed = 1), "protonam_validation")
})

test_that("a plan does not change the result", {
  skip_if_not_installed("future")
  skip_on_cran()
  alone <- validate_protonam(fit, "bootstrap", data = data, repeats = 3, seed = 5)
  withr::defer(future::plan("sequential"))
  future::plan("multisession", workers = 2)
  parallel <- validate_protonam(fit, "bootstrap", data = data, repeats = 3, seed = 5)
  expect_identical(parallel$scores, alone$scores)
})

test_that("a checkpoint keeps finished samples", {
  file <- withr::local_tempfile()
  first <- validate_protonam(fit, "bootstrap", data = data, repeats = 2, seed = 5)
  second <- validate_protonam(fit, "bootstrap", data = data, repeats = 2, seed = 5, checkpoint = file)
  expect_identical(first$scores, second$scores)
  expect_false(file.exists(file))
})

test_that("print() shows the table", {
  v <- validate_protonam(fit, data = data, by = ~group)
  expect_snapshot(v, transform = without_numbers)
})

test_that("bad arguments are named", {
  expect_snapshot(error = TRUE, {
    validate_protonam(data)
    validate_protonam(fit, "boot")
    validate_protonam(fit, "newdata")
    validate_protonam(fit, "bootstrap", newdata = data)
    validate_protonam(fit, "bootstrap", data = data, repeats = 1)
    validate_protonam(fit, newdata = data[c("a", "b")])
    validate_protonam(fit, newdata = data[data$dead == "no", ])
    validate_protonam(fit, newdata = data, treads = 3)
    validate_protonam(fit, level = 95)
    validate_protonam(fit, data = data[-1, ])
  })
})
