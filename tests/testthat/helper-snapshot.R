# Snapshots that do not depend on testthat's version.
#
# testthat lays out the conditions in a snapshot differently from version to version, so a snapshot of an error made by
# one version fails under another. This expect_snapshot() masks testthat's own and writes code, output and
# conditions itself: for every expression of `x` its code, then what it prints, then class and message of what it
# signals. `error = TRUE` means that every expression must fail; `transform` maps the lines of output and messages.

expect_snapshot <- function(x, error = FALSE, transform = identity, env = parent.frame()) {
  block <- substitute(x)
  expressions <- if (is.call(block) && identical(block[[1L]], quote(`{`))) as.list(block)[-1L] else list(block)
  lines <- unlist(lapply(expressions, replay, error = error, transform = transform, env = env))
  testthat::expect_snapshot_output(cat(lines, sep = "\n"))
}

replay <- function(expression, error, transform, env) {
  code <- deparse(expression, width.cutoff = 100L)
  code <- paste0(rep(c("> ", "+ "), c(1L, length(code) - 1L)), code)
  shown <- character()
  show <- function(lines) shown <<- c(shown, transform(unlist(strsplit(lines, "\n", fixed = TRUE))))
  show_condition <- function(cnd) show(c(paste0("<", class(cnd)[1L], ">"), conditionMessage(cnd)))
  failed <- FALSE

  output <- utils::capture.output(
    tryCatch(
      withCallingHandlers(
        {
          result <- withVisible(eval(expression, env))
          if (result$visible) print(result$value)
        },
        message = function(cnd) {
          show_condition(cnd)
          invokeRestart("muffleMessage")
        },
        warning = function(cnd) {
          show_condition(cnd)
          invokeRestart("muffleWarning")
        }
      ),
      error = function(cnd) {
        failed <<- TRUE
        if (!error) stop(cnd)
        show_condition(cnd)
      }
    )
  )
  if (error && !failed) testthat::fail(paste("No error from", code[1L]))
  c(code, transform(output), shown, "")
}

# Output without its decimals and the width that they had: what is said, not what was computed
without_numbers <- function(x) gsub(" +", " ", gsub("-?[0-9]+[.][0-9]{2,}", "#", x))
