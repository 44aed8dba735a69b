# 40 observations of some trials each, and the same trials as rows
withr::local_seed(1)
n <- 40
trials <- data.frame(dose = seq(-2, 2, length.out = n), size = rep(c(3, 8, 20, 0), 10))
trials$dead <- stats::rbinom(n, trials$size, stats::plogis(trials$dose))
trials$alive <- trials$size - trials$dead
trials$lab <- cos(1:n)
single <- trials[rep(seq_len(n), trials$size), ]
single$died <- unlist(Map(function(s, f) rep(1:0, c(s, f)), trials$dead, trials$alive))
single$row <- rep(seq_len(n), trials$size)

fit_trials <- function(...) own_fit(cbind(dead, alive) ~ dose + lab, trials, family = binomial(), epochs = 2, ...)

test_that("counts of trials give the fit of the trials themselves", {
  fit <- fit_trials(prototypes_for = FALSE)
  rows <- own_fit(died ~ dose + lab, single, family = binomial(), epochs = 2, prototypes_for = FALSE, groups = ~row)
  new <- data.frame(dose = c(-1, 0, 1.5), lab = c(0, 0.5, -0.5))
  # folds differ, as rows stand in another order
  expect_equal(predict(fit, new), predict(rows, new), tolerance = 0.05)
  glm <- suppressWarnings(stats::glm(cbind(dead, alive) ~ dose, binomial(), trials))
  expect_lt(max(abs(predict(fit, new) - stats::predict(glm, new, type = "response"))), 0.1)
})

test_that("one model is that of mgcv and of the weighted rows", {
  skip_if_not_installed("mgcv")
  fit <- fit_trials(prototypes_for = FALSE, ensemble = 1)
  gam <- mgcv::gam(cbind(dead, alive) ~ s(dose) + s(lab), binomial(), trials, method = "REML")
  keep <- trials$size > 0
  other <- stats::predict(gam, trials[keep, ], type = "response")
  expect_gt(stats::cor(fitted(fit), other), 0.98)
  expect_lt(max(abs(fitted(fit) - other)), 0.12)
  long <- rbind(transform(trials, event = 1, count = dead), transform(trials, event = 0, count = alive))
  long$row <- rep(seq_len(n), 2)
  long <- long[order(long$row), ]
  long <- long[long$count > 0, ]
  weighted <- protonam(
    event ~ dose + lab, long,
    family = binomial(), weights = count, groups = ~row, ensemble = 1, seed = 1,
    control = quick_own(epochs = 2, prototypes_for = FALSE), verbose = FALSE
  )
  expect_equal(unname(fitted(fit)), unname(fitted(weighted)[!duplicated(long$row)]), tolerance = 1e-12)
})

test_that("methods speak of observations", {
  fit <- fit_trials()
  keep <- trials$size > 0
  expect_identical(nobs(fit), sum(keep))
  expect_identical(names(fitted(fit)), as.character(which(keep)))
  expect_equal(weights(fit), trials$size[keep])
  share <- (trials$dead / trials$size)[keep]
  expect_equal(unname(residuals(fit)), share - unname(fitted(fit)))
  expect_identical(length(predict(fit, out_of_fold = TRUE)), sum(keep))
  mean <- unname(fitted(fit))
  expect_equal(
    as.numeric(logLik(fit)), sum(stats::dbinom(trials$dead[keep], trials$size[keep], mean, log = TRUE)),
    tolerance = 1e-10
  )
  expect_equal(deviance(fit), sum(stats::binomial()$dev.resids(share, mean, trials$size[keep])), tolerance = 1e-10)
  # both rows of an observation are in one fold
  expect_true(all(tapply(fit$fold, fit$rows, function(fold) length(unique(fold))) == 1L))
  expect_equal(predict(fit, trials[3, ]), fitted(fit)[3L], tolerance = 1e-6)
})

test_that("missing counts, other families and two binary columns", {
  gap <- trials
  gap$dead[2] <- NA
  expect_message(
    own_fit(cbind(dead, alive) ~ dose, gap, family = binomial(), epochs = 1),
    class = "protonam_message_dropped_rows"
  )
  two <- data.frame(a = rep(0:1, 20), b = rep(c(0, 1, 1, 0), 10), x = 1:40)
  fit <- tiny_fit(cbind(a, b) ~ x, two, family = binomial())
  expect_identical(fit$response$names, c("a", "b"))
  expect_null(fit$response$trials)
})

test_that("what cannot be combined with counts of trials says so", {
  odd <- transform(trials, dead = dead / 3)
  expect_snapshot(error = TRUE, {
    tiny_fit(cbind(dead, alive) ~ dose, odd, family = binomial())
    tiny_fit(cbind(-dead, alive) ~ dose, trials, family = binomial())
    tiny_fit(cbind(dead, alive) ~ dose, trials, family = binomial(), validation = trials)
    cv_protonam(cbind(dead, alive) ~ dose, trials, family = binomial(), control = tiny())
    fairness(tiny_fit(cbind(dead, alive) ~ dose, trials, family = binomial()), trials, group = ~ lab > 0)
  })
})
