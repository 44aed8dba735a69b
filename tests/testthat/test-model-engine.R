# The engine against golden numbers: outputs, loss, gradients, optimiser steps and whole trajectories, made in double
# precision by an independent automatic-differentiation implementation. Each on every kernel level of this machine.

golden_cases <- function(pattern) {
  files <- list.files(test_path("fixtures"), pattern = pattern, full.names = TRUE)
  stats::setNames(lapply(files, readRDS), sub("[.]rds$", "", basename(files)))
}

# Largest difference, as a share of the largest element.
relative_gap <- function(got, want, floor = 0) {
  max(abs(as.vector(got) - as.vector(want))) / max(abs(want), floor)
}

largest_gap <- function(got, want) max(mapply(relative_gap, got, want))

expect_close_tensors <- function(got, want, tolerance) {
  largest <- max(vapply(want, function(x) max(abs(x)), 0))
  for (name in names(want)) {
    gap <- relative_gap(got[[name]], want[[name]], floor = largest / 1000)
    expect(gap < tolerance, sprintf("%s is off by %.2g of its largest element", name, gap))
  }
  succeed()
}

cases <- golden_cases("^order.*rds$")
trajectories <- golden_cases("^trajectory.*rds$")

test_that("all golden files are there", {
  expect_length(cases, 9)
  expect_length(trajectories, 2)
})

for (level in kernel_levels()) {
  for (name in names(cases)) {
    case <- cases[[name]]
    for (equal_values in c(TRUE, FALSE)) {
      label <- sprintf("%s, %s kernels, equal values %s", name, level, if (equal_values) "once" else "apart")
      test_that(paste("outputs, loss and gradients:", label), {
        got <- engine_gradient(case, threads = 2L, equal_values = equal_values, kernels = level)
        expect_equal(got$loss, case$train$loss, tolerance = 1e-5)
        expect_lt(largest_gap(got$component_outputs, case$train$component_outputs), 1e-5)
        expect_lt(largest_gap(got$cumulative_predictions, case$train$cumulative_predictions), 1e-5)
        expect_close_tensors(got$grads, case$grads, 1e-4)
      })
    }
    test_that(paste("three AdamW steps:", name, level), {
      want <- case$after_3_steps
      got <- engine_steps(case, 3, kernels = level)
      expect_equal(got$losses, want$losses, tolerance = 1e-5)
      expect_close_tensors(got$params, want$params, 1e-3)
      expect_equal(got$running_mean, want$running_mean, tolerance = 1e-4)
      expect_equal(got$running_var, want$running_var, tolerance = 1e-4)
      eval <- case$eval_after_3_steps
      expect_lt(largest_gap(got$eval$component_outputs, eval$component_outputs), 1e-3)
      expect_lt(largest_gap(got$eval$cumulative_predictions, eval$cumulative_predictions), 1e-3)
    })
  }
  for (name in names(trajectories)) {
    test_that(paste("trajectory:", name, level), {
      case <- trajectories[[name]]
      want <- case$trajectory
      got <- engine_trajectory(case, kernels = level)
      expect_lt(max(abs(got$loss / want$loss - 1)), 1e-3)
      expect_equal(got$lr, want$lr, tolerance = 1e-12)
      expect_equal(got$temperature, want$temperature, tolerance = 1e-12)
      # At T -> 0 a value half way between two prototypes may fall to either side in single precision.
      gap <- abs(got$final_prediction - want$final_prediction) / max(abs(want$final_prediction))
      expect_lt(stats::median(gap), 5e-3)
    })
  }
}
