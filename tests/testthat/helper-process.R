# R code in a process of its own, for what could end R or interrupts it.

# Output lines of `code` after library(protonam); attribute "status" as system2() gives it, NULL for success.
run_r <- function(code) {
  skip_if_not(nzchar(system.file("Meta", "package.rds", package = "protonam")), "protonam is not installed")
  file <- withr::local_tempfile(fileext = ".R")
  writeLines(c("library(protonam)", code), file)
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), R_TESTS = "", NO_COLOR = "true")
  suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), shQuote(c("--vanilla", file)),
    stdout = TRUE, stderr = TRUE
  ))
}

# Cores that Linux lets this process use; skips elsewhere and where there is one.
count_cores <- function() {
  skip_if_not(nzchar(Sys.which("nproc")), "nproc")
  cores <- as.integer(system2("nproc", stdout = TRUE))
  skip_if(cores < 2L, "one core")
  cores
}

# Runs `code`, which uses `checkpoint`, in a process that is killed by SIGKILL as soon as its checkpoint has so many
# bytes; TRUE if that came to pass.
kill_r <- function(code, checkpoint, bytes) {
  output <- run_r(c(
    "options(protonam.checkpoint_seconds = 0)", sprintf("checkpoint <- %s", encodeString(checkpoint, quote = "\"")),
    sprintf(
      "killer <- '(while [ $(cat %s 2>/dev/null | wc -c) -lt %d ]; do sleep 0.01; done; kill -9 %%d) &'",
      shQuote(checkpoint, "cmd"), bytes
    ),
    "system(sprintf(killer, Sys.getpid()))",
    code, "cat('not killed')"
  ))
  !any(grepl("not killed", output)) && file.exists(checkpoint)
}

# Another function in the place of one of this package, for the rest of a test.
local_replaced <- function(name, value, envir = parent.frame()) {
  space <- asNamespace("protonam")
  real <- get(name, space)
  set <- function(value) {
    unlockBinding(name, space)
    assign(name, value, space)
    lockBinding(name, space)
  }
  withr::defer(set(real), envir = envir)
  set(value)
  invisible(real)
}
