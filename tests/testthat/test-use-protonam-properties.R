# Properties of every fit (helper-properties.R), on 300 random frames and settings. `.ci/fuzz N` checks more of them.

test_that("what holds for every fit holds for random frames and settings", {
  skip_on_cran()
  checked <- lapply(c(1:220, 1001:1080), function(seed) {
    found <- check_properties(random_problem(seed, wild = seed > 1000))
    structure(found, fit = NULL)
  })
  seeds <- rep(c(1:220, 1001:1080), lengths(checked))
  expect_identical(sprintf("seed %d: %s", seeds, unlist(checked)), character())
  # the test would be worth little if most frames were refused, or properties skipped
  outcome <- vapply(checked, attr, "", "outcome")
  expect_gt(mean(outcome == "fitted"), 0.9)
  tried <- table(unlist(lapply(checked, attr, "tried")))
  expect_true(all(tried[c(names(always), names(refits))] >= 30))
})

test_that("the same seed gives the same problem", {
  expect_identical(random_problem(7), random_problem(7))
  expect_false(identical(random_problem(7)$data, random_problem(8)$data))
})

test_that("properties notice what they are for", {
  data <- jump_data(60)
  problem <- list(
    seed = 1, data = data, formula = y ~ a + unit, features = c("a", "unit"), kind = "number",
    args = list(epochs = 1, ensemble = 1, prototypes_for = FALSE), new = data[1:5, ]
  )
  fit <- problem_fit(problem)
  problem$link <- predict(fit, problem$new, type = "link")
  for (name in c(names(always), names(refits))) {
    withr::local_seed(1)
    expect_null(c(always, refits)[[name]](problem, fit), label = name)
  }
  wrong <- replace(problem, "link", list(problem$link + c(1, 2)[c(1, 2, 1, 2, 1)]))
  for (name in c("additive", "predict", "saved", "names", "levels")) {
    expect_gt(length(c(always, refits)[[name]](wrong, fit)), 0, label = name)
  }
  # fits that differ: another seed
  expect_match(same_fits(
    function() fit, function() problem_fit(problem, data[1:50, ]), problem, "fewer rows"
  ), "fewer rows: not identical")
  expect_match(same_fits(function() fit, function() pn_abort("no", class = "argument"), problem, "x"), "one of two")
  expect_match(foreign_conditions(witness(stop("x")), "here"), "here: simpleError x")
  expect_match(foreign_conditions(witness(warning("x")), "here"), "here: simpleWarning x")
  expect_length(foreign_conditions(witness(pn_abort("x", class = "argument")), "here"), 0)
})
