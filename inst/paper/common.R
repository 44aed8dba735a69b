# What the paper's scripts share: arguments, kept fits, and results that say where they come from. Not a script.
#
# Every script takes the path of the data and, as --name=value:
#   --epochs    0 for the published number; anything else makes a quick run whose figures mean nothing
#   --threads   threads of a fit; figures do not depend on them
#   --fits      a folder that keeps fitted models, so that several tables and figures need each of them once
#   --results   the folder for CSV and PNG files; by default a new one under the working directory
#   --overwrite yes to replace result files that are there already
library(protonam)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(dirname(normalizePath(here)), "benchmarks", "common.R"))

paper_arguments <- function(...) {
  read_arguments(
    path = "", epochs = 0, threads = 2, fits = "", results = "paper-results", overwrite = "no", ...
  )
}

# The commit of the package's sources, where they stand in a repository.
source_commit <- function() {
  commit <- suppressWarnings(tryCatch(
    system2("git", c("-C", shQuote(here), "rev-parse", "--short", "HEAD"), stdout = TRUE, stderr = FALSE),
    error = function(e) character()
  ))
  if (length(commit) == 1L) commit else NA_character_
}

# A fitted model by name: read from --fits when it is there, else fitted by `expr` and kept there.
# Returns list(fit, seconds, threads, machine, commit, date).
keep_fit <- function(name, expr, arguments) {
  if (arguments$epochs > 0) name <- paste0(name, "_epochs", arguments$epochs)
  file <- if (nzchar(arguments$fits)) file.path(arguments$fits, paste0(name, ".rds"))
  if (!is.null(file) && file.exists(file)) {
    return(readRDS(file))
  }
  seconds <- seconds_of(fit <- expr)
  kept <- list(
    fit = fit, seconds = seconds, threads = arguments$threads, machine = machine_line(arguments$threads),
    commit = source_commit(), date = format(Sys.Date())
  )
  if (!is.null(file)) {
    dir.create(arguments$fits, recursive = TRUE, showWarnings = FALSE)
    saveRDS(kept, file)
  }
  cat(sprintf("%s: %.0f s\n", name, seconds))
  kept
}
