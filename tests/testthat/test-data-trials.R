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

# outcomes of new data with a row per observation, and with a row per trial
both_outcomes <- function(fit) {
  rows <- outcomes_of(fit, trials)$sets[[1L]]
  mean <- unname(predict(fit, single))
  alone <- list(
    family = fit$family, y = as.double(single$died), mean = mean, link = stats::qlogis(mean), index = seq_along(mean)
  )
  list(rows = rows, alone = alone)
}

test_that("measures count trials, as if each were a row", {
  fit <- fit_trials(prototypes_for = FALSE)
  both <- both_outcomes(fit)
  expect_identical(outcome_count(both$rows), as.double(nrow(single)))
  expect_identical(event_count(both$rows), as.double(sum(single$died)))
  expect_equal(measure_table(both$rows), measure_table(both$alone), tolerance = 1e-10)
  expect_equal(threshold_rows(both$rows, c(0.2, 0.6), 0.9), threshold_rows(both$alone, c(0.2, 0.6), 0.9))
  expect_equal(net_benefits(both$rows, c(0.1, 0.5), 0.9), net_benefits(both$alone, c(0.1, 0.5), 0.9))
  one <- calibrate_part(both$rows, "spline", 0.95)
  other <- calibrate_part(both$alone, "spline", 0.95)
  # quantiles of distances are those of weighted rows
  same <- setdiff(names(one$summary), c("e50", "e90"))
  expect_equal(one$summary[same], other$summary[same])
  for (table in c("line", "curve", "groups", "histogram")) expect_equal(one[[table]], other[[table]], tolerance = 1e-8)
  # the band is drawn: the same distribution, not the same numbers
  width <- function(rows) mean(with(roc_curve(rows, 0.95), upper - lower))
  expect_equal(width(both$rows), width(both$alone), tolerance = 0.15)
})

test_that("validation of counts of trials, out of fold and in new data", {
  fit <- fit_trials(prototypes_for = FALSE)
  v <- validate_protonam(fit, data = trials)
  expect_identical(unique(v$scores$n), as.double(nrow(single)))
  expect_true(v$moved)
  auc <- discrimination(fit, trials)$summary
  if (requireNamespace("pROC", quietly = TRUE)) {
    other <- pROC::ci.auc(single$died, unname(predict(fit, single)), quiet = TRUE, direction = "<")
    expect_equal(auc$auc, other[2L], tolerance = 1e-10)
    error <- sqrt(pROC::var(pROC::roc(single$died, unname(predict(fit, single)), quiet = TRUE, direction = "<")))
    expect_equal(measure_table(both_outcomes(fit)$rows)$error[1L], error, tolerance = 1e-10)
  }
  # case weights multiply the trials, as in glm()
  double <- protonam(
    cbind(dead, alive) ~ dose, transform(trials, w = 2),
    family = binomial(), weights = w, seed = 1, control = quick_own(epochs = 2), verbose = FALSE
  )
  expect_identical(calibration(double)$summary$n, 2 * nrow(single))
  other <- transform(trials, dead = rev(dead))
  expect_error(validate_protonam(fit, data = other), class = "protonam_error_data")
  expect_error(calibration(fit, transform(trials, dead = NULL)), class = "protonam_error_missing_column")
  expect_error(validate_protonam(fit, "bootstrap", data = trials, repeats = 2), class = "protonam_error_trials")
})

test_that("what is printed speaks of trials", {
  fit <- fit_trials(prototypes_for = FALSE)
  expect_snapshot(transform = function(x) without_numbers(sub("Time .*", "Time", x)), {
    fit
    validate_protonam(fit, data = trials)
    decision_curve(fit, trials, thresholds = 0.3)
    term_evidence(fit)
  })
  expect_identical(error_units(own_fit(cbind(dead, alive) ~ dose, trials, family = binomial(), groups = ~ lab > 0,
    epochs = 1, ensemble = 2)), "groups")
})
