withr::with_seed(1, {
  data <- data.frame(x = stats::runif(400), noise = stats::rnorm(400))
  data$y <- 2 * (data$x > 0.6) + stats::rnorm(400)
  data$dead <- ifelse(stats::runif(400) < stats::plogis(3 * (data$x > 0.6) - 1.5), "yes", "no")
})
fit <- own_fit(y ~ x + noise, data)
events <- own_fit(dead ~ x + noise, data)

test_that("jumps have intervals that grow with the level", {
  table <- jumps(fit)
  expect_s3_class(table, "protonam_jumps")
  expect_identical(table$term, "x")
  expect_true(table$lower <= table$position && table$position <= table$upper)
  expect_equal(table$size_upper - table$size, stats::qnorm(0.975) * fit$jumps$found$se)
  expect_true(table$holds)
  wide <- jumps(fit, level = 0.999)
  expect_true(wide$lower <= table$lower && wide$upper >= table$upper)
  expect_gt(wide$upper - wide$lower, table$upper - table$lower)
  expect_gt(wide$size_upper, table$size_upper)
  # Hansen's critical value of 7.35 at 95 %
  expect_equal(jump_drop(0.95), 7.35, tolerance = 1e-3)
})

test_that("sizes are ratios on request", {
  expect_equal(jumps(events, scale = "odds ratio")$size_lower, exp(jumps(events)$size_lower))
  expect_error(jumps(fit, scale = "odds ratio"), class = "protonam_error_scale")
})

test_that("no jumps are an empty table with a sentence", {
  none <- jumps(fit, "noise")
  expect_identical(nrow(none), 0L)
  expect_identical(names(none), names(jumps(fit)))
  expect_output(print(none), "No jumps: none of these features has prototypes")
  flat <- own_fit(y ~ noise, data, prototypes_for = TRUE)
  expect_identical(nrow(jumps(flat)), 0L)
  expect_output(print(jumps(flat)), "No jumps were found: a smooth curve describes noise as well.", fixed = TRUE)
})

test_that("summaries mark the jumps that hold, and only these", {
  position <- format_values(fit$encoder[[1]], jumps(fit)$position)
  effects <- summary(fit)$effects
  expect_identical(effects$jumps[effects$term == "x"], position)
  expect_identical(effects$jumps[effects$term == "noise"], "")
  expect_output(print(summary(fit)), "jumps")
  short <- summary(shapes(fit))
  expect_identical(short$jumps, c(position, ""))
  shape <- shapes(fit, "x")
  expect_equal(c(short$low[1], short$high[1]), range(shape$effect))
  not <- fit
  not$jumps$found$check <- 1
  not <- seal_fit(not)
  expect_false(jumps(not)$holds)
  expect_identical(summary(shapes(not))$jumps, c("", ""))
})

test_that("tables print as a paper has them, dates as dates", {
  local_reproducible_output(width = 100)
  # numbers, and the width of columns, may differ between machines
  rounded <- function(x) trimws(gsub(" +", " ", gsub("(< )?-?[0-9]+[.][0-9]+|[0-9]+ of", "#", x)))
  expect_snapshot(transform = rounded, jumps(events, scale = "odds ratio"))
  dated <- own_fit(y ~ day + noise, transform(data, day = as.Date("2020-01-01") + round(300 * x)))
  expect_output(print(jumps(dated)), "2020-0[67]-[0-9]{2} \\(2020-0[67]")
  expect_output(print(jumps(fit)["size"]), "size")
})

test_that("fits without such information say so", {
  expect_snapshot(error = TRUE, {
    jumps(1)
    jumps(own_fit(y ~ x + noise, data, order = 2, base = "none", epochs = 2))
    jumps(tiny_fit(y ~ x, data))
    jumps(tiny_fit(y ~ x + noise, data, order = Inf))
    jumps(fit, "nois")
    jumps(fit, level = 0)
  })
})
