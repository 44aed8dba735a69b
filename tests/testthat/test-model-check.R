# Fits that versions of the package saved (fixtures/make_saved_fits.R).
saved_fits <- function(version) readRDS(test_path("fixtures", sprintf("saved_%s.rds", version)))

# What a saved fit gives now against what the version that saved it gave, at most.
saved_gap <- function(one) {
  predicted <- function(type) suppressWarnings(predict(one$fit, one$newdata, type = type))
  gap <- function(x, y) max(abs(as.vector(x) - as.vector(y)))
  out <- c(link = gap(predicted("link"), one$link), response = gap(predicted("response"), one$response))
  if (is.null(one$terms)) {
    return(out)
  }
  terms <- predicted("terms")
  shapes <- suppressMessages(shapes(one$fit, points = one$points))
  importance <- term_importance(one$fit)
  labels <- c("term", "task", "output", "x", "level", "y", "level2")
  expect_identical(as.list(as.data.frame(unclass(shapes)[labels])), one$shapes[labels])
  expect_identical(importance$term, one$importance$term)
  c(
    out,
    terms = gap(terms, one$terms), constant = gap(attr(terms, "constant"), one$constant),
    shapes = gap(shapes$effect, one$shapes$effect), importance = gap(importance$importance, one$importance$importance)
  )
}

for (version in c("0.1.0", "0.2.0")) {
  test_that(sprintf("fits saved by version %s predict what they predicted then", version), {
    for (one in saved_fits(version)) expect_lt(max(saved_gap(one)), 1e-6)
  })
}

test_that("fits of version 0.1 can be used like others", {
  for (one in saved_fits("0.1.0")) {
    expect_output(print(one$fit), "ProtoNA")
    expect_output(print(summary(one$fit)), "importance")
    expect_length(residuals(one$fit), length(fitted(one$fit)))
    expect_true(is.finite(deviance(one$fit)) && is.finite(logLik(one$fit)))
    expect_s3_class(prototypes(one$fit), "data.frame")
    expect_type(coef(one$fit)$intercept, "double")
    expect_s3_class(suppressWarnings(contributions(one$fit, one$newdata)), "protonam_contributions")
    quietly(plot(one$fit))
    quietly(plot(one$fit, which = "history"))
  }
})

test_that("a fit survives being saved in any way", {
  fit <- own_fit(dead ~ a + unit, jump_data(80), ensemble = 2, prototypes_for = TRUE, epochs = 3)
  file <- withr::local_tempfile()
  for (ascii in c(FALSE, TRUE, NA)) {
    saveRDS(fit, file, ascii = ascii)
    expect_equal(predict(readRDS(file), jump_data(5)), predict(fit, jump_data(5)), tolerance = 1e-12)
  }
  expect_identical(check_fit(check_fit(fit)), check_fit(fit))
  expect_identical(fit$format, fit_format)
})

test_that("checks find nothing wrong with fits of all kinds", {
  data <- jump_data(90)
  data$lab <- ifelse(seq_len(90) %% 7 == 0, NA, data$b)
  data$day <- as.Date("2020-01-01") + seq_len(90)
  fits <- list(
    own_fit(y ~ a + lab + unit + day, data, ensemble = 2, epochs = 2, prototypes_for = TRUE),
    own_fit(y ~ a + unit, data, ensemble = 2, epochs = 2, prototypes_for = FALSE),
    own_fit(dead ~ a + lab, data, ensemble = 1, epochs = 2, base = "none"),
    own_fit(class ~ a + lab + unit, data, ensemble = 2, epochs = 2, order = 2),
    own_fit(cbind(y, y2) ~ a + b, data, ensemble = 2, epochs = 2, weights = seq_len(90)),
    own_fit(y ~ a + lab + unit, data, ensemble = 2, epochs = 2, order = Inf),
    tiny_fit(y ~ a + lab + unit, data, order = 2, pairs = ~ a:unit, subset = -(1:3)),
    tiny_fit(dead ~ a + unit, data, task = ~group),
    tiny_fit(count ~ a + lab, data, offset = b, ensemble = 2, na.action = na.exclude),
    tiny_fit(mixed_data()[c("age", "lab", "unit", "grade", "male", "day", "time")], mixed_data()$y, scaling = "minmax"),
    tiny_fit(cbind(dead == "yes", y > 1) ~ a + b + noise, data, order = 3)
  )
  for (fit in fits) expect_no_error(check_fields(check_fit(fit)))
})

test_that("a fit of a newer version is told apart from a damaged one", {
  fit <- tiny_fit(y ~ age + lab, mixed_data())
  newer <- replace(fit, c("format", "version"), list(fit_format + 1L, "9.0.0"))
  unknown <- replace(newer, "version", list(1))
  wrong <- replace(fit, "format", list("two"))
  none <- fit
  none$format <- NULL
  expect_snapshot(error = TRUE, transform = function(x) sub(own_version(), "<version>", x, fixed = TRUE), {
    predict(newer, mixed_data())
    print(unknown)
    summary(wrong)
    shapes(none)
  })
})

test_that("messages name the field, what is there and what is needed", {
  fit <- own_fit(y ~ a + unit, jump_data(80), ensemble = 2, prototypes_for = TRUE, epochs = 3)
  changed <- short <- nan <- other <- unnamed <- without <- fit
  changed$members[[2]]$params[3] <- 0.5
  short$fitted <- fit$fitted[-1, , drop = FALSE]
  nan$members[[1]]$params[c(2, 5)] <- NaN
  other$base <- NULL
  unnamed$encoder[[2]]["levels"] <- list(NULL)
  without$members[[1]]$base$value <- NULL
  expect_snapshot(error = TRUE, {
    predict(changed, jump_data(5))
    fitted(short)
    predict(nan, jump_data(5))
    term_importance(other)
    shapes(unnamed)
    predict(without, jump_data(5))
  })
})

test_that("what users may change is harmless", {
  data <- jump_data(80)
  fit <- own_fit(y ~ a + unit, data, ensemble = 2, prototypes_for = TRUE, epochs = 3)
  for (call in list(NULL, NA, "text", list(1, 2), globalenv(), quote(f(x)), 1:20)) {
    new <- fit
    new["call"] <- list(call)
    new$note <- "mine"
    expect_output(print(new), "regression")
    expect_identical(predict(new, data), predict(fit, data))
  }
  new$task <- new$offset <- new$elapsed <- new$family <- NULL
  expect_identical(predict(new, data), predict(fit, data))
  expect_identical(family(new)$family, "gaussian")
  expect_output(print(new), "regression")
})

test_that("every function that takes a fit checks it", {
  data <- jump_data(80)
  fit <- own_fit(dead ~ a + unit, data, ensemble = 2, prototypes_for = TRUE, epochs = 3)
  fit$response$scale <- "1"
  used <- list(
    predict = function(x) predict(x, data), shapes = shapes, term_importance = term_importance, prototypes = prototypes,
    contributions = function(x) contributions(x, data), plot = plot, print = print, summary = summary, coef = coef,
    fairness = function(x) fairness(x, data, group = "group"), residuals = residuals, fitted = fitted, nobs = nobs,
    deviance = deviance, logLik = logLik, weights = weights, family = family, formula = formula, terms = terms,
    update = function(x) update(x, . ~ a)
  )
  if (requireNamespace("ggplot2", quietly = TRUE)) used$autoplot <- function(x) ggplot2::autoplot(x)
  for (name in names(used)) expect_error(used[[name]](fit), class = "protonam_error_damaged_fit", info = name)
})

test_that("no damage gives foreign errors, NaN or other numbers", {
  withr::local_seed(1)
  fits <- tamper_fits()
  for (kind in names(fits)) {
    one <- fits[[kind]]
    before <- tamper_results(one$fit, one$data)
    damages <- tamper_list(one$fit)
    damages <- damages[sort(sample.int(nrow(damages), 50L)), ]
    outcome <- vapply(seq_len(nrow(damages)), function(k) tamper_one(one, before, damages[k, ]), "")
    wrong <- !outcome %in% c("classed", "same")
    expect_identical(paste(damages$name, damages$kind, outcome)[wrong], character(), info = kind)
  }
})

test_that("fits without checksums are checked field by field", {
  withr::local_seed(2)
  for (one in saved_fits("0.1.0")[c("numbers", "pairs")]) {
    one <- list(fit = one$fit, data = one$newdata)
    before <- tamper_results(one$fit, one$data)
    damages <- tamper_list(one$fit)
    # another finite number in the place of one cannot be told there
    damages <- damages[!damages$kind %in% c("turned", "other", "whole", "renamed", "opposite", "huge", "negative"), ]
    damages <- damages[sort(sample.int(nrow(damages), 40L)), ]
    outcome <- vapply(seq_len(nrow(damages)), function(k) tamper_one(one, before, damages[k, ]), "")
    wrong <- outcome %in% c("foreign", "nan")
    expect_identical(paste(damages$name, damages$kind, outcome)[wrong], character())
  }
})
