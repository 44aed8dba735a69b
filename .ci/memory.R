# Rscript .ci/memory.R [FITS [KIND ...]]: by how much the process grows, in MB of resident memory, while FITS fits (200 by
# default) follow the first 20, each kind and mode in a process of its own. With gc() after each fit, what grows is still
# reachable or was never given back: a leak. Without, R's collector decides when it runs, and as long as it finds the heap
# too small it enlarges it; so the second half of the fits is judged. Fits that end in an error or an interrupt are kinds,
# too. Needs the installed package and Linux; fails where `allowed` is reached.

arguments <- commandArgs(trailingOnly = TRUE)
fits <- as.integer(c(arguments, 200L)[1L])
first <- 20L
allowed <- 5 # MB

worker <- '
  # the compiler catches, and drops, a time limit that is reached in it
  invisible(compiler::enableJIT(0))
  suppressPackageStartupMessages(library(protonam))
  arguments <- commandArgs(trailingOnly = TRUE)
  fits <- as.integer(arguments[1L])
  collect <- arguments[2L] == "gc"
  kind <- arguments[3L]
  icu <- simulate_icu(400, seed = 1)
  resident <- function() {
    line <- grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)
    as.double(gsub("[^0-9]", "", line)) / 1024
  }
  quiet <- function(...) suppressMessages(protonam(..., verbose = FALSE, threads = 1))
  few <- died ~ age + lactate + frailty
  run <- switch(kind,
    default = function(k) quiet(few, icu, ensemble = 2, epochs = 2, seed = k),
    paper = function(k) quiet(few, icu, procedure = "paper", epochs = 2, seed = k),
    pairs = function(k) quiet(few, icu, order = 2, ensemble = 2, procedure = "paper", epochs = 1, seed = k),
    # an error from below R: training diverges
    error = function(k) {
      try(quiet(age ~ lactate, icu, procedure = "paper", epochs = 3, lr = 1e30, seed = k), silent = TRUE)
    },
    # the engine sees a time limit as it sees Ctrl-C
    interrupt = function(k) {
      setTimeLimit(elapsed = 0.05, transient = TRUE)
      on.exit(setTimeLimit())
      ended <- try(quiet(few, icu, procedure = "paper", ensemble = 2, epochs = 2000, seed = k), silent = TRUE)
      stopifnot(grepl("elapsed time limit", ended))
    }
  )
  size <- numeric()
  for (k in seq_len(fits + as.integer(arguments[4L]))) {
    run(k)
    if (collect) gc()
    size[k] <- resident()
  }
  cat(format(size, digits = 10), sep = "\n")
'
script <- tempfile(fileext = ".R")
writeLines(worker, script)

measure <- function(kind, mode) {
  command <- c("--vanilla", script, fits, mode, kind, first)
  out <- system2(file.path(R.home("bin"), "Rscript"), shQuote(command), stdout = TRUE)
  size <- as.double(out)
  # the growth, and the part of it that the second half of the fits is responsible for
  c(at_20 = size[first], grown = size[first + fits] - size[first], late = size[first + fits] - size[first + fits %/% 2L])
}
bad <- 0L
cat(sprintf("%-10s %-6s %10s %12s %12s\n", "fits", "mode", sprintf("after %d", first), "growth", "second half"))
kinds <- c("default", "paper", "pairs", "error", "interrupt")
for (kind in if (length(arguments) > 1L) arguments[-1L] else kinds) {
  for (mode in c("gc", "no gc")) {
    found <- measure(kind, mode)
    cat(sprintf("%-10s %-6s %7.1f MB %9.2f MB %9.2f MB\n", kind, mode, found[1L], found[2L], found[3L]))
    judged <- found[[if (mode == "gc") "grown" else "late"]]
    if (!isTRUE(judged < allowed)) bad <- bad + 1L
  }
}
if (bad > 0L) quit(status = 1L)
