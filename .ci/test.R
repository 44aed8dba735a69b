# Rscript test.R FOLDER UPDATE FILTER: runs the tests in FOLDER on the installed protonam, ends with the line
# "N passed, N failed, N skipped". UPDATE "yes" accepts changed snapshots in FOLDER.

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1L]
update <- identical(arguments[2L], "yes")
filter <- if (length(arguments) > 2L && nzchar(arguments[3L])) arguments[3L]

library(testthat)
library(protonam)

results <- test_dir(
  folder,
  filter = filter, package = "protonam", load_package = "installed", reporter = "check", stop_on_failure = FALSE
)
if (update) snapshot_accept(path = folder)

kinds <- unlist(lapply(results, function(test) vapply(test$results, function(result) class(result)[1L], "")))
failed <- sum(kinds %in% c("expectation_failure", "expectation_error"))
skipped <- sum(kinds == "expectation_skip")
passed <- sum(kinds == "expectation_success")
cat(sprintf("%d passed, %d failed%s\n", passed, failed, if (skipped) sprintf(", %d skipped", skipped) else ""))
if (failed > 0L || passed == 0L) quit(status = 1L)
