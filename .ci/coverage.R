# Rscript coverage.R TREE [FILTER]: see .ci/coverage.

arguments <- commandArgs(trailingOnly = TRUE)
tree <- arguments[1L]
filter <- if (length(arguments) > 1L && nzchar(arguments[2L])) arguments[2L]
least <- 95

folder <- file.path(tree, "tests", "testthat")
code <- sprintf(
  "testthat::test_dir(%s, filter = %s, package = 'protonam', load_package = 'installed', reporter = 'silent',
    stop_on_failure = FALSE)",
  deparse(folder), deparse(filter)
)
# without optimisation: a line is then what it says; kernels are one line in three files
coverage <- covr::package_coverage(tree, type = "none", code = code, quiet = TRUE)
lines <- covr::tally_coverage(coverage, by = "line")
side <- ifelse(grepl("^src/", lines$filename), "C", "R")
share <- function(rows) 100 * mean(lines$value[rows] > 0)
for (one in c("R", "C")) cat(sprintf("%s: %.1f %% of %d lines\n", one, share(side == one), sum(side == one)))
all <- share(rep(TRUE, nrow(lines)))
cat(sprintf("both: %.1f %%\n", all))

ranges <- function(x) {
  x <- sort(unique(x))
  group <- cumsum(c(TRUE, diff(x) > 1L))
  ends <- tapply(x, group, range, simplify = FALSE)
  paste(vapply(ends, function(r) paste(unique(r), collapse = "-"), ""), collapse = ", ")
}
missed <- lines[lines$value == 0, ]
for (file in unique(missed$filename)) cat(sprintf("%s: %s\n", file, ranges(missed$line[missed$filename == file])))
if (is.null(filter) && all < least) quit(status = 1L)
