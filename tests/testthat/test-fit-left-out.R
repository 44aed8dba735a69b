data <- jump_data(160)
fit <- own_fit(dead ~ a + b + unit, data, ensemble = 4)

test_that("losses without a term are those of each row's own member", {
  terms <- predict(fit, data, type = "terms")
  expect_identical(fit$dropped$term, colnames(terms))
  event <- as.integer(data$dead) - 1
  log_loss <- function(link) -stats::dbinom(event, 1, stats::plogis(link), log = TRUE)
  link <- predict(fit, out_of_fold = TRUE, type = "link")
  own <- numeric(nrow(data))
  for (m in seq_along(fit$members)) {
    rows <- which(fit$fold == fit$members[[m]]$skip)
    own[rows] <- predict(one_member(fit, m), data[rows, ], type = "terms")[, "b"]
  }
  gain <- log_loss(link - own) - log_loss(link)
  at <- match("b", fit$dropped$term)
  expect_equal(fit$dropped$increase[at], mean(gain), tolerance = 1e-6)
  expect_equal(fit$dropped$error[at], sqrt(sum((gain - mean(gain))^2)) / nrow(data), tolerance = 1e-6)
  expect_equal(fit$dropped$loss[1], mean(log_loss(link)), tolerance = 1e-8)
})

test_that("rows of a group are taken together", {
  grouped <- transform(data, id = rep(seq_len(40), 4))
  fit <- own_fit(y ~ a + b, grouped, groups = ~id)
  expect_identical(fit$groups, rep(seq_len(40), 4))
  link <- predict(fit, out_of_fold = TRUE)
  own <- numeric(nrow(data))
  for (m in seq_along(fit$members)) {
    rows <- which(fit$fold == fit$members[[m]]$skip)
    own[rows] <- predict(one_member(fit, m), grouped[rows, ], type = "terms")[, "a"]
  }
  gain <- (grouped$y - link + own)^2 - (grouped$y - link)^2
  expect_equal(fit$dropped$error[1], mean_error(gain, NULL, grouped$id), tolerance = 1e-6)
  expect_null(own_fit(y ~ a, data)$groups)
})

test_that("losses are those that fits are judged by", {
  y <- matrix(c(0, 1, NA, 1))
  link <- matrix(c(-1, 0, 1, NA))
  expect_equal(link_losses(list(family = stats::binomial()), link, y)[, 1], c(log1p(exp(-1)), log(2), NA, NA))
})
