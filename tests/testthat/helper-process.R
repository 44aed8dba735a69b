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
