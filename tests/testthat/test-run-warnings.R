# conditions signalled by `code`: warnings in order
warnings_of <- function(code) {
  seen <- list()
  withCallingHandlers(code, warning = function(w) {
    seen <<- c(seen, list(w))
    invokeRestart("muffleWarning")
  })
  seen
}

pieces <- function(n) stats::setNames(lapply(n, function(one) list(n = one)), letters[seq_along(n)])

noisy <- function(item, threads) {
  item <- item$n
  if (item > 1) pn_warn("{item} is more than one.", class = "much", arg = "x", columns = letters[item])
  if (item > 2) pn_warn("Too much.", class = "too_much", levels = list(u = item, v = "w"))
  if (item > 3) pn_abort("not that much")
  item
}

test_that("warnings of many pieces are told once for each kind, when all are done", {
  values <- NULL
  seen <- warnings_of(values <- map_work(pieces(1:3), noisy))
  expect_identical(values, list(1L, 2L, 3L))
  expect_identical(vapply(seen, function(w) class(w)[1], ""), paste0("protonam_warning_", c("much", "too_much")))
  expect_identical(
    conditionMessage(seen[[1]]),
    paste0("In b and c: 2 is more than one.\n", format_message(c(i = "Details are those of b."), environment()))
  )
  expect_identical(seen[[1]]$columns, c("b", "c"))
  expect_identical(conditionMessage(seen[[2]]), "In c: Too much.")
  expect_identical(seen[[2]]$levels, list(u = 3L, v = "w"))
})

test_that("pieces that fail have warned, too, and those of others are not collected", {
  seen <- warnings_of(map_work(pieces(c(1, 4)), noisy))
  expect_match(vapply(seen, conditionMessage, ""), "^In b: 4 is|^In b: Too|1 of 2 failed")
  expect_length(seen, 3L)
  foreign <- function(item, threads) warning("not ours")
  expect_warning(map_work(list(a = 1), foreign), "^not ours$")
  at_once <- function(item, threads) pn_warn("disk full", class = "checkpoint_failed")
  expect_warning(map_work(list(a = 1), at_once), "^disk full$")
})

test_that("what is read back from a checkpoint warns as it did when it was done", {
  withr::local_options(protonam.checkpoint_seconds = 0)
  open <- function(file) {
    store <- open_checkpoint(file, "fit")
    suppressMessages(begin_checkpoint(store, list(data = "d"), 1, "piece"))
    store
  }
  store <- open(withr::local_tempfile())
  first <- warnings_of(map_work(pieces(2:3), noisy, store = store))
  again <- open(store$core$file)
  never <- function(item, threads) stop("done before")
  second <- warnings_of(values <- map_work(pieces(2:3), never, store = again))
  expect_identical(values, list(2L, 3L))
  expect_identical(lapply(second, unclass), lapply(first, unclass))
})
