data <- jump_data(240)
fit <- own_fit(dead ~ a + b + unit + noise, data, ensemble = 5)

test_that("terms are listed by how much the loss grows without them", {
  table <- term_evidence(fit)
  expect_setequal(table$term, c("a", "b", "unit", "noise"))
  expect_false(is.unsorted(rev(table$increase)))
  at <- match(table$term, fit$dropped$term)
  expect_equal(table$upper - table$increase, stats::qnorm(0.975) * fit$dropped$error[at])
  expect_equal(table$share, (fit$dropped$increase / fit$dropped$loss)[at])
  expect_identical(table$term[1], "a")
  expect_gt(table$lower[1], 0)
  expect_lt(table$lower[table$term == "noise"], 0)
  expect_identical(term_evidence(fit, c("b", "noise"))$term, setdiff(table$term, c("a", "unit")))
  expect_equal(term_evidence(fit, level = 0.5)$p, table$p)
})

test_that("p is the level at which the simultaneous band just touches zero", {
  table <- term_evidence(fit)
  for (term in c("b", "noise", "unit")) {
    p <- table$p[table$term == term]
    if (p > 0.999 || p < 1e-6) next
    touches <- function(level) {
      shape <- shapes(fit, term, level = level, simultaneous = TRUE)
      any(shape$lower > 0 | shape$upper < 0)
    }
    expect_true(touches(1 - p * 1.001 - 1e-9))
    expect_false(touches(1 - p * 0.999))
  }
  expect_lt(table$p[table$term == "a"], 0.01)
  expect_gt(table$p[table$term == "noise"], 0.05)
})

test_that("pairs, classes, several responses and constant columns have evidence", {
  pairs <- own_fit(y ~ a + b, data, order = 2, base = "none", ensemble = 4)
  expect_setequal(term_evidence(pairs)$term, c("a", "b", "a:b"))
  classes <- own_fit(class ~ a + b, data)
  expect_identical(nrow(term_evidence(classes)), 2L)
  expect_true(all(is.finite(term_evidence(classes)$p)))
  both <- own_fit(cbind(y, y2) ~ a + b, data)
  expect_identical(term_evidence(both)$task, c("y", "y", "y2", "y2"))
  same <- suppressWarnings(own_fit(y ~ a + same, transform(data, same = 1)))
  table <- term_evidence(same)
  expect_equal(table$increase[table$term == "same"], 0)
  expect_equal(table$p[table$term == "same"], 1)
})

test_that("tables print, and bad input is named", {
  local_reproducible_output(width = 100)
  # numbers, and the width of columns, may differ between machines
  rounded <- function(x) trimws(gsub(" +", " ", gsub("(< )?-?[0-9]+[.][0-9]+|[0-9]+ of", "#", x)))
  expect_snapshot(transform = rounded, term_evidence(fit, c("a", "b")))
  expect_output(print(term_evidence(fit)["term"]), "unit")
  expect_snapshot(error = TRUE, {
    term_evidence(1)
    term_evidence(own_fit(y ~ a, data, ensemble = 1))
    term_evidence(tiny_fit(y ~ a, data))
    term_evidence(tiny_fit(y ~ a + b + noise, data, order = Inf))
    term_evidence(fit, "nosie")
    term_evidence(fit, level = 1)
  })
})
