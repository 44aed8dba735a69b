# Rscript .ci/kill.R [MOMENTS [KIND ...]]: kills fits, ensembles, cross-validations and searches with SIGKILL at random
# moments (10 by default), lets the same call go on from its checkpoint, and compares the result, bit for bit, with that
# of a run that was not interrupted. Needs the installed package and a Unix-alike; fails when a result differs.

arguments <- commandArgs(trailingOnly = TRUE)
moments <- as.integer(c(arguments, 10L)[1L])
library(protonam)
folder <- tempfile("kill")
dir.create(folder)
set.seed(20260101)

setup <- '
  library(protonam)
  options(protonam.checkpoint_seconds = 0.2)
  arguments <- commandArgs(trailingOnly = TRUE)
  writeLines(as.character(Sys.getpid()), paste0(arguments[2L], ".pid"))
  checkpoint <- if (nzchar(arguments[1L])) arguments[1L]
  icu <- simulate_icu(2000, seed = 1)
  few <- died ~ age + lactate + systolic_bp + frailty + gcs
  value <- {
    %s
  }
  value <- unclass(value)[setdiff(names(value), c("seconds", "elapsed", "call"))]
  writeLines(protonam:::digest(value), arguments[2L])
'
work <- c(
  fit = 'protonam(few, icu, ensemble = 1, prototypes_for = TRUE, epochs = 150, seed = 1, verbose = FALSE,
    checkpoint = checkpoint)',
  paper = 'protonam(few, icu, procedure = "paper", dropout = 0.1, epochs = 10, seed = 1, verbose = FALSE,
    checkpoint = checkpoint)',
  ensemble = 'protonam(died ~ ., icu, seed = 1, epochs = 60, verbose = FALSE, checkpoint = checkpoint)',
  cv = 'cv_protonam(few, icu, folds = 4, ensemble = 4, epochs = 30, seed = 1, verbose = FALSE, checkpoint = checkpoint)',
  search = 'tune_protonam(few, icu, n = 4, eta = 2, ensemble = 2, seed = 1, verbose = FALSE, checkpoint = checkpoint,
    space = protonam_space(hidden = c(16, 32), prototypes = c(4, 16), layers = 1:2, epochs = c(20, 40),
      batch_size = 256, lr = search_range(1e-3, 3e-2)))'
)

# A process in the background; `result`.pid has its number when it is there, `result`.end its status when it has ended.
start <- function(script, checkpoint, result) {
  unlink(paste0(result, c(".pid", ".end")))
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = ":"))
  system(paste(
    "(", shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla", shQuote(script), shQuote(checkpoint),
    shQuote(result), ">", shQuote(paste0(result, ".log")), "2>&1; echo $? >", shQuote(paste0(result, ".end")),
    ") >/dev/null 2>&1 &"
  ))
}
ended <- function(result) file.exists(paste0(result, ".end"))
finish <- function(result) while (!ended(result)) Sys.sleep(0.02)
kill <- function(result) {
  here <- !ended(result) && file.exists(paste0(result, ".pid"))
  if (here) tools::pskill(as.integer(readLines(paste0(result, ".pid"))), tools::SIGKILL)
  finish(result)
  here
}
finish_in <- function(script, checkpoint, result) {
  began <- proc.time()[["elapsed"]]
  start(script, checkpoint, result)
  finish(result)
  proc.time()[["elapsed"]] - began
}

failed <- FALSE
for (kind in if (length(arguments) > 1L) arguments[-1L] else names(work)) {
  script <- file.path(folder, paste0(kind, ".R"))
  writeLines(sprintf(setup, work[[kind]]), script)
  whole <- file.path(folder, paste0(kind, "-whole"))
  seconds <- finish_in(script, "", whole)
  truth <- readLines(whole)
  same <- killed <- continued <- removed <- k <- 0L
  used <- numeric()
  while (killed < moments) {
    k <- k + 1L # some have ended before their moment comes
    checkpoint <- file.path(folder, sprintf("%s-%d.rds", kind, k))
    result <- file.path(folder, sprintf("%s-%d", kind, k))
    start(script, checkpoint, result)
    Sys.sleep(runif(1, 0.2, 0.95) * seconds)
    killed <- killed + kill(result)
    if (!file.exists(result)) used <- c(used, finish_in(script, checkpoint, result))
    log <- readLines(paste0(result, ".log"))
    continued <- continued + any(grepl("Continuing from", log))
    removed <- removed + !length(Sys.glob(paste0(checkpoint, "*")))
    here <- if (file.exists(result)) readLines(result) else paste(c("no result:", log), collapse = "\n")
    if (identical(here, truth)) same <- same + 1L else cat(kind, k, here, "\n")
  }
  cat(sprintf(
    "%-9s %d runs, %d killed, %d continued, %d identical, %d files removed; %.1f s whole, %.1f s rest\n",
    kind, k, killed, continued, same, removed, seconds, mean(used)
  ))
  failed <- failed || same < k
}
unlink(folder, recursive = TRUE)
if (failed) quit(status = 1L)
