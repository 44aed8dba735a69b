# Crafted sizes whose products exceed what a size can hold: refused, never wrapped.

crafted <- function(...) {
  shape <- list(n_outputs = 1L, n_tasks = 1L, task_kind = "none")
  config <- model_config(tiny(output_penalty = 0), matrix(1L), 1, "gaussian", shape)
  config[names(list(...))] <- list(...)
  config
}
refused <- c("protonam_error_memory", "protonam_error_engine")
expect_refused <- function(expr) {
  raised <- tryCatch(expr, error = identity)
  expect_true(inherits(raised, refused), info = paste(class(raised), collapse = ", "))
}

test_that("a layout whose size wraps is refused", {
  expect_refused(.Call(ffi_layout, crafted(hidden = 2^31 - 1, n_layers = 2^31 - 1)))
  expect_refused(.Call(ffi_layout, crafted(n_layers = 2^32, hidden = 2^32)))
  expect_refused(.Call(ffi_layout, crafted(n_prototypes = 2^52, n_layers = 2^12)))
  expect_refused(.Call(ffi_layout, crafted(n_layers = 2^29)))
  expect_refused(.Call(ffi_layout, crafted(predictor_layers = 2^32 + 1)))
})

test_that("parameters are not taken for those of a model whose size wraps to theirs", {
  rows <- encoded_data(list(.Call(ffi_distinct, as.double(1:20), NULL)), 20, matrix(0, 20, 1))
  for (config in list(
    crafted(n_tasks = 2^52, n_layers = 2^12), crafted(hidden = 2^32, n_layers = 1),
    crafted(n_outputs = 2^53 - 1, n_layers = 2^11, predictor_layers = 1)
  )) {
    expect_refused(.Call(ffi_predict, config, numeric(100), NULL, rows, 1L))
    expect_refused(.Call(ffi_outputs, config, numeric(100), NULL, rows, 1L))
  }
})

test_that("a number of steps that is none is refused", {
  expect_refused(.Call(ffi_steps, crafted(), numeric(), list(), list(), NA_integer_))
})
