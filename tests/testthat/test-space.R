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

test_that("a space with what is no setting, or no value of it, is refused", {
  expect_error(protonam_space(lrr = 1), "Did you mean \"lr\"", class = "protonam_error_unknown_setting")
  expect_error(protonam_space(layers = 0:2), "layers", class = "protonam_error_argument")
  expect_error(protonam_space(lr = list()), "lr", class = "protonam_error_argument")
  expect_error(search_range(0, 1), "log = FALSE", class = "protonam_error_argument")
})
