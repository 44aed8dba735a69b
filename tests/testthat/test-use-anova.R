data <- jump_data(240)
small <- own_fit(y ~ b, data)
large <- own_fit(y ~ a + b, data)

test_that("fits are compared by the losses of their out-of-fold predictions", {
  table <- anova(small, large)
  one <- (data$y - predict(small, out_of_fold = TRUE))^2
  two <- (data$y - predict(large, out_of_fold = TRUE))^2
  expect_equal(table$loss, c(mean(one), mean(two)))
  expect_equal(table$difference, c(NA, mean(two - one)))
  error <- stats::sd(two - one) * sqrt(239 / 240) / sqrt(240)
  expect_equal(table$upper[2] - table$difference[2], stats::qnorm(0.975) * error, tolerance = 1e-8)
  expect_equal(table$z[2], mean(two - one) / error, tolerance = 1e-8)
  expect_lt(table$upper[2], 0)
  expect_identical(table$model, c("y ~ b", "y ~ a + b"))
  # each with the one before it
  three <- anova(small, large, small)
  expect_equal(three$difference[3], -three$difference[2])
  expect_identical(anova(small, small)$difference[2], 0)
})

test_that("one fit has a table of its terms", {
  expect_identical(anova(large), term_evidence(large))
})

test_that("several responses are compared each, and groups taken together", {
  both <- own_fit(cbind(y, y2) ~ a + b, data)
  table <- anova(both, own_fit(cbind(y, y2) ~ a, data))
  expect_identical(table$task, c("y", "y", "y2", "y2"))
  expect_identical(is.na(table$difference), c(TRUE, FALSE, TRUE, FALSE))
  grouped <- transform(data, id = rep(seq_len(60), 4))
  first <- own_fit(y ~ b, grouped, groups = ~id)
  second <- own_fit(y ~ a + b, grouped, groups = ~id)
  change <- (grouped$y - predict(second, out_of_fold = TRUE))^2 - (grouped$y - predict(first, out_of_fold = TRUE))^2
  table <- anova(first, second)
  error <- mean_error(change, NULL, grouped$id)
  expect_equal((table$upper - table$difference)[2], stats::qnorm(0.975) * error, tolerance = 1e-8)
  expect_output(print(table), "over groups")
})

test_that("comparisons print, and fits that cannot be compared are named", {
  local_reproducible_output(width = 100)
  # numbers, and the width of columns, may differ between machines
  rounded <- function(x) trimws(gsub(" +", " ", gsub("(< )?-?[0-9]+[.][0-9]+|[0-9]+ of", "#", x)))
  expect_snapshot(transform = rounded, anova(small, large))
  expect_output(print(anova(small, own_fit(y ~ a + b, data, seed = 2))), "different folds")
  expect_snapshot(error = TRUE, {
    anova(small, 1)
    anova(small, own_fit(y ~ b, data[-1, ]))
    anova(small, own_fit(y2 ~ b, data))
    anova(small, own_fit(dead ~ b, data))
    anova(small, own_fit(y ~ b, data, ensemble = 1))
    anova(small, own_fit(y ~ b, data, weights = rep(1:2, 120)))
  })
})

test_that("what a fit does not have is an error that says what to use", {
  expect_snapshot(error = TRUE, {
    AIC(small)
    BIC(small, large)
    vcov(small)
    confint(small)
  })
  expect_error(AIC(small), class = "protonam_error_not_defined")
})
