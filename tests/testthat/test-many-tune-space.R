test_that("the default space holds the paper's ranges", {
  space <- protonam_space()
  expect_identical(space$prototypes, 2^(0:7))
  expect_identical(space$lr, search_range(1e-6, 1e-1))
  expect_output(print(space), "1e-06 to 0.1, log scale")
})

test_that("draws lie in the space, and depend on seed and trial alone", {
  space <- protonam_space()
  draws <- lapply(2:200, function(trial) draw_settings(space, 1, trial))
  lr <- vapply(draws, `[[`, 0, "lr")
  expect_true(all(lr >= 1e-6 & lr <= 1e-1))
  expect_gt(mean(lr < 10^-3.5), 0.35)
  expect_setequal(vapply(draws, `[[`, "", "norm"), c("layer", "batch"))
  expect_setequal(vapply(draws, `[[`, 0, "prototypes"), 2^(0:7))
  space$norm <- NULL
  expect_identical(draw_settings(space, 1, 5)$lr, draws[[4]]$lr)
})

test_that("a range may hold a share of zeros", {
  dropout <- vapply(2:400, function(trial) draw_settings(protonam_space(), 1, trial)$dropout, 0)
  expect_equal(mean(dropout == 0), 0.75, tolerance = 0.1)
  expect_gt(max(dropout), 0.45)
  expect_lte(max(dropout), 0.5)
  expect_output(print(protonam_space()), "0 to 0.5; 0 with probability 0.75", fixed = TRUE)
  expect_identical(protonam_space(dropout = search_range(0, 0.1, log = FALSE))$dropout$zero, 0)
  expect_error(search_range(0, 1, log = FALSE, zero = 1), "zero", class = "protonam_error_argument")
  expect_error(protonam_space(lr = search_range(1e-3, 1, zero = 0.5)), "lr", class = "protonam_error_argument")
})

test_that("a space with what is no setting, or no value of it, is refused", {
  expect_error(protonam_space(lrr = 1), "Did you mean \"lr\"", class = "protonam_error_unknown_setting")
  expect_error(protonam_space(layers = 0:2), "layers", class = "protonam_error_argument")
  expect_error(protonam_space(lr = list()), "lr", class = "protonam_error_argument")
  expect_error(search_range(0, 1), "log = FALSE", class = "protonam_error_argument")
})

test_that("whole numbers are drawn as such", {
  space <- protonam_space(hidden = search_range(8, 16), layers = search_range(1, 3, log = FALSE))
  drawn <- lapply(1:20, function(trial) draw_settings(space, 1, trial))
  hidden <- vapply(drawn, `[[`, 0, "hidden")
  expect_identical(hidden, round(hidden))
  expect_true(all(hidden >= 8 & hidden <= 16) && length(unique(hidden)) > 3L)
  expect_setequal(vapply(drawn, `[[`, 0, "layers"), 1:3)
})
