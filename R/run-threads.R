# How many threads the engine may use.

#' Thread count: argument, then PROTONAM_THREADS, then options(protonam.threads), then 2
#'
#' Upper limits (number of cores, OpenMP's own limit, threads that cannot be created, forked processes) are applied by
#' the engine; results do not depend on the number.
#' @noRd
resolve_threads <- function(threads = NULL) {
  arg <- "threads"
  if (is.null(threads)) {
    variable <- Sys.getenv("PROTONAM_THREADS")
    if (nzchar(variable)) {
      arg <- "PROTONAM_THREADS"
      number <- suppressWarnings(as.numeric(variable))
      threads <- if (is.na(number)) variable else number
    } else {
      arg <- "options(protonam.threads)"
      threads <- getOption("protonam.threads", 2L)
    }
  }
  as.integer(check_number(threads, arg, min = 1, max = 1e6, whole = TRUE))
}
