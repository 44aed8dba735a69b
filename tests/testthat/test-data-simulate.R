# simulate_icu(): what ?simulate_icu promises, checked on the data.

test_that("columns have the documented types, rounding and ranges", {
  icu <- simulate_icu(20000, seed = 1)
  expect_identical(dim(icu), c(20000L, 21L))
  expect_type(icu$died, "logical")
  expect_false(anyNA(icu$died))
  expect_identical(levels(icu$admission_type), c("elective", "emergency", "urgent"))
  expect_s3_class(icu$frailty, "ordered")
  expect_type(icu$ventilated, "logical")
  for (name in c("age", "gcs", "heart_rate", "systolic_bp", "glucose", "pf_ratio")) expect_type(icu[[name]], "integer")
  for (name in c("temperature", "potassium", "lactate")) {
    x <- icu[[name]][!is.na(icu[[name]])]
    expect_identical(x, as.numeric(sprintf("%.1f", x)))
  }
  expect_true(all(icu$urine_output %% 10 == 0))
  expect_true(all(icu$age >= 18 & icu$age <= 95))
  expect_lt(length(unique(icu$temperature)), 96)
})

test_that("a tenth of the patients die, whatever the seed", {
  rates <- vapply(1:5, function(seed) mean(simulate_icu(20000, seed = seed)$died), 0)
  expect_true(all(abs(rates - 0.1) < 0.01))
})

test_that("a seed repeats the data and leaves the caller's generator alone", {
  withr::local_seed(42)
  before <- .Random.seed
  a <- simulate_icu(500, seed = 7)
  expect_identical(.Random.seed, before)
  expect_identical(simulate_icu(500, seed = 7), a)
  expect_false(identical(simulate_icu(500, seed = 8)$age, a$age))
})

test_that("a seed gives the same data under another generator, which stays in place", {
  withr::local_preserve_seed()
  a <- simulate_icu(100, seed = 7)
  withr::defer(RNGkind("default", "default", "default"))
  suppressWarnings(RNGkind("Wichmann-Hill", "Box-Muller", "Rounding"))
  kind <- RNGkind()
  expect_identical(simulate_icu(100, seed = 7), a)
  expect_identical(RNGkind(), kind)
})

test_that("a seed leaves no generator state behind where there was none", {
  withr::local_preserve_seed()
  if (exists(".Random.seed", globalenv(), inherits = FALSE)) rm(".Random.seed", envir = globalenv())
  simulate_icu(10, seed = 7)
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
})

test_that("without a seed set.seed() governs and the generator moves on", {
  withr::local_preserve_seed()
  set.seed(3)
  a <- simulate_icu(200)
  b <- simulate_icu(200)
  set.seed(3)
  expect_identical(simulate_icu(200), a)
  expect_false(identical(a, b))
})

test_that("rows are drawn block by block", {
  draw <- function(n) with_own_rng(1, draw_icu(n, block = 30L))
  expect_identical(nrow(draw(100L)), 100L)
  expect_identical(draw(100L)[1:90, ], draw(90L)[1:90, ])
})

test_that("intercept, shapes and interaction add up to the log-odds that made the deaths", {
  icu <- simulate_icu(200000, seed = 11)
  truth <- attr(icu, "truth")
  eta <- truth$intercept
  for (term in names(truth$shapes)) eta <- eta + truth$shapes[[term]](icu[[term]])
  eta <- eta + do.call(truth$interaction$shape, unname(icu[truth$interaction$terms]))
  expect_identical(truth$link(icu), eta)
  expect_setequal(names(truth$shapes), setdiff(names(icu), "died"))

  # calibrated: intercept 0 and slope 1 within three standard errors
  fit <- glm(icu$died ~ eta, family = binomial())
  z <- (coef(fit) - c(0, 1)) / sqrt(diag(vcov(fit)))
  expect_true(all(abs(z) < 3))
  tenth <- cut(eta, quantile(eta, 0:10 / 10), include.lowest = TRUE)
  expect_equal(
    as.vector(tapply(icu$died, tenth, mean)), as.vector(tapply(plogis(eta), tenth, mean)),
    tolerance = 0.01
  )
})

test_that("the jumps are where and as large as stated", {
  truth <- attr(simulate_icu(1, seed = 1), "truth")
  expect_setequal(truth$jumps$term, c("systolic_bp", "glucose"))
  for (i in seq_len(nrow(truth$jumps))) {
    shape <- truth$shapes[[truth$jumps$term[i]]]
    at <- truth$jumps$position[i]
    expect_equal(shape(at) - shape(at - 1e-9), truth$jumps$size[i], tolerance = 1e-6)
  }
})

test_that("both sides of each jump are well populated", {
  icu <- simulate_icu(20000, seed = 3)
  expect_gt(mean(icu$systolic_bp < 90), 0.1)
  expect_gt(mean(icu$glucose >= 180), 0.1)
})

test_that("laboratory values are missing not at random", {
  icu <- simulate_icu(100000, seed = 4)
  labs <- c("creatinine", "lactate", "bilirubin", "pf_ratio", "albumin")
  expect_setequal(names(icu)[vapply(icu, anyNA, NA)], labs)
  share <- colMeans(is.na(icu[labs]))
  expect_equal(unname(share), c(0.06, 0.40, 0.29, 0.40, 0.29), tolerance = 0.05)

  # the value itself decides: what is seen is shifted against what was drawn (medians of the unmasked columns)
  seen <- vapply(icu[labs], stats::median, 0, na.rm = TRUE)
  drawn <- vapply(icu_measurements[labs], function(spec) spec$center, 0)
  expect_gt(seen[["lactate"]], 1.1 * drawn[["lactate"]])
  expect_lt(seen[["bilirubin"]], 0.95 * drawn[["bilirubin"]])
  expect_lt(seen[["pf_ratio"]], 0.95 * drawn[["pf_ratio"]])
  expect_gt(seen[["albumin"]], 1.02 * drawn[["albumin"]])

  # and it tells: being missing has the stated effect
  shapes <- attr(icu, "truth")$shapes
  expect_identical(shapes$lactate(c(NA, 1.8)), c(-1.1, 0))
  expect_identical(shapes$albumin(NA_real_), 1.1)
})

test_that("the interaction is pure: it has no main effects", {
  icu <- simulate_icu(200000, seed = 9)
  truth <- attr(icu, "truth")
  z <- truth$interaction$shape(icu$age, icu$heart_rate)
  expect_gt(sd(z), 0.2)
  groups <- lapply(icu[truth$interaction$terms], function(x) cut(x, quantile(x, 0:5 / 5), include.lowest = TRUE))
  for (group in groups) expect_lt(max(abs(tapply(z, group, mean))), 0.01)
})

test_that("the truth does not carry the data along", {
  small <- length(serialize(attr(simulate_icu(10, seed = 1), "truth"), NULL))
  large <- length(serialize(attr(simulate_icu(10000, seed = 1), "truth"), NULL))
  expect_identical(small, large)
})

test_that("one row is a data frame like any other", {
  icu <- simulate_icu(1, seed = 1)
  expect_identical(dim(icu), c(1L, 21L))
  expect_identical(levels(icu$frailty), c("fit", "managing", "mild", "moderate", "severe"))
})

test_that("bad arguments are refused by name", {
  expect_snapshot(error = TRUE, {
    simulate_icu(0)
    simulate_icu(2.5)
    simulate_icu("many")
    simulate_icu(c(10, 20))
    simulate_icu(NA)
    simulate_icu(10, seed = "a")
    simulate_icu(10, seed = 1.5)
  })
  expect_error(simulate_icu(-1), class = "protonam_error_argument")
})
