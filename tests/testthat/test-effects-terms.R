data <- mixed_data()

test_that("the constant is the mean link of the training rows in order 1", {
  fit <- tiny_fit(y ~ age + lab + unit, data)
  terms <- predict(fit, data, type = "terms")
  expect_equal(attr(terms, "constant"), mean(predict(fit, data)[fit$train]), tolerance = 1e-8)
})

test_that("group tasks have one constant per row, classes one per class", {
  fit <- tiny_fit(y ~ age, data, task = ~male)
  constant <- attr(predict(fit, data, type = "terms"), "constant")
  expect_length(constant, 120)
  expect_length(unique(constant), 2)
  classes <- tiny_fit(class ~ age, data)
  expect_named(attr(predict(classes, data, type = "terms"), "constant"), levels(data$class))
})

test_that("tensors of the slab are those of slab_unpack()", {
  fit <- tiny_fit(class ~ age + lab, data, task = ~male)
  layout <- .Call(ffi_layout, fit$config)
  all <- slab_unpack(fit$members[[1]]$params, fit$config)
  for (name in c("agg_b0", "agg_w1", "center")) {
    expect_identical(slab_tensor(fit$members[[1]]$params, layout, name), all[[name]])
  }
})

test_that("many rows go through in pieces", {
  fit <- tiny_fit(y ~ age + lab, data, order = 2)
  new <- transform(data, age = replace(age, c(3, 60), NA))
  all <- function() {
    suppressWarnings(lapply(c("link", "terms", "layers"), function(type) predict(fit, new, type = type)))
  }
  whole <- all()
  # pieces of 50 rows
  space <- asNamespace("protonam")
  original <- space$row_chunks
  set <- function(f) {
    unlockBinding("row_chunks", space)
    assign("row_chunks", f, envir = space)
    lockBinding("row_chunks", space)
  }
  withr::defer(set(original))
  set(function(n, per_row) Map(c, seq(1, n, 50), pmin(seq(50, n + 49, 50), n)))
  expect_equal(all(), whole, tolerance = 1e-12)
})
