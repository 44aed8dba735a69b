# What C is given is checked there again: past check_fit(), damaged pieces of a fit are errors of ours, or numbers.
test_that("damaged pieces of a fit that reach C are classed errors or numbers", {
  withr::local_seed(1)
  for (one in tamper_fits()[c("default", "pairs", "classes")]) {
    fit <- check_fit(one$fit)
    member <- fit$members[[1]]
    parts <- list(
      engine = engine_of(fit), params = member$params, running = member$running, base = fit$base,
      fitted = member$base[c("value", "intercept")], data = encode_newdata(fit, one$data)$data
    )
    calls <- list(
      function(x) .Call(ffi_predict, x$engine, x$params, x$running, x$data, 1L),
      function(x) .Call(ffi_contributions, x$engine, x$params, x$running, x$data, TRUE, NULL, 1L),
      function(x) .Call(ffi_layout, x$engine)$total,
      function(x) if (!is.null(x$base)) .Call(ffi_smooth_terms, x$base, x$fitted, x$data)
    )
    damages <- tamper_list(parts)
    damages <- damages[sort(sample.int(nrow(damages), min(nrow(damages), 80L))), ]
    for (k in seq_len(nrow(damages))) {
      value <- tamper_values(tamper_get(parts, damages$at[[k]]))[[damages$kind[k]]]
      new <- tamper_set(parts, damages$at[[k]], value)
      for (call in calls) {
        result <- tryCatch(call(new), error = identity)
        expect_true(
          is.null(result) || is.numeric(result) || inherits(result, "protonam_error_engine") ||
            inherits(result, c("protonam_error_memory", "protonam_error_variation")),
          info = paste(damages$name[k], damages$kind[k])
        )
      }
    }
  }
})

test_that("checksums depend on type, values, names, dimensions and class, not on how numbers are stored", {
  sums <- function(...) .Call(ffi_checksum, list(...), FALSE)
  x <- c(1, 2.5, NA, NaN, -Inf)
  expect_identical(sums(x), sums(x * (1 + 1e-16)))
  # on every platform
  known <- sums(x, 1:3, c("a", "\u00e9", NA), TRUE, NULL, quote(f(x, a = 1)))
  expect_identical(sprintf("%.0f", known), c(
    "2276156548080179", "2426825087131543", "3298720021512493", "1373263242126330", "264053450120499",
    "4343527192023805"
  ))
  different <- list(
    x, c(1, 2.5, NaN, NaN, -Inf), c(1, 2.5, NA, NaN, Inf), x[-1], c(a = 1), c(b = 1), 1, 1L, TRUE, "1", matrix(1),
    list(1), factor("a"), factor("a", c("a", "b")), structure(1, class = "b"), quote(x), quote(f(x)), quote(f(y)),
    quote(f(a = x)), list(a = 1, b = 2), list(b = 1, a = 2), NULL, character(), as.raw(1:9), as.raw(1:8), c("ab", "c"),
    c("a", "bc"), 1e300, Inf
  )
  found <- .Call(ffi_checksum, different, FALSE)
  expect_identical(anyDuplicated(found), 0L)
  expect_true(all(found == floor(found) & found >= 0 & found < 2^52))
  latin <- "\xe9"
  Encoding(latin) <- "latin1"
  expect_identical(sums(latin), sums(enc2utf8(latin)))
  expect_identical(sums(function(x) 1, globalenv()), sums(function(y) 2, emptyenv()))
})
