# Rscript fuzz.R FOLDER N [FIRST]: fuzzes the installed protonam with problems from the helpers in FOLDER. See .ci/fuzz.
#
# The problems are solved by a process of its own, which begins anew where one of them ended or hung it.

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1L]
patience <- 120 # seconds without a word

worker <- '
  library(protonam)
  arguments <- commandArgs(trailingOnly = TRUE)
  for (name in c("fits", "random", "properties", "exercise")) {
    source(file.path(arguments[1L], sprintf("helper-%s.R", name)))
  }
  grDevices::pdf(NULL)
  for (seed in as.integer(arguments[2L]):as.integer(arguments[3L])) {
    cat("begin", seed, "\n", file = arguments[4L], append = TRUE)
    found <- exercise_problem(seed)
    text <- gsub("[[:space:]]+", " ", found)
    cat(sprintf("found %d %s\n", seed, substr(text, 1L, 500L)), sep = "", file = arguments[4L], append = TRUE)
    cat("end", seed, attr(found, "outcome"), "\n", file = arguments[4L], append = TRUE)
  }
'
script <- tempfile(fileext = ".R")
writeLines(worker, script)
log <- tempfile(fileext = ".log")

begin <- function(first, last) {
  out <- paste0(log, ".out")
  preload <- Sys.getenv("PROTONAM_PRELOAD")
  environment <- if (nzchar(preload)) {
    paste0("LD_PRELOAD=", shQuote(preload), " ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 ")
  }
  pid <- tempfile()
  system(paste0(
    "(", environment, shQuote(file.path(R.home("bin"), "Rscript")), " --vanilla ",
    paste(shQuote(c(script, folder, first, last, log)), collapse = " "), " >", out, " 2>&1 & echo $! >", pid, ")"
  ))
  scan(pid, quiet = TRUE)
}
lives <- function(pid) tools::pskill(pid, 0L)

first <- if (length(arguments) > 2L) as.integer(arguments[3L]) else 1L
last <- first + as.integer(arguments[2L]) - 1L
bad <- 0L
outcomes <- character()
shown <- 0L
started <- Sys.time()
while (first <= last) {
  file.create(log)
  pid <- begin(first, last)
  at <- NA
  shown <- 0L
  heard <- Sys.time()
  repeat {
    Sys.sleep(0.2)
    alive <- lives(pid)
    lines <- readLines(log)
    new <- lines[seq_along(lines) > shown]
    if (length(new)) heard <- Sys.time()
    shown <- length(lines)
    words <- strsplit(new, " ")
    for (k in seq_along(new)) {
      if (words[[k]][1L] == "found") {
        bad <- bad + 1L
        cat(sub("^found", "seed", new[k]), "\n")
      }
      if (words[[k]][1L] == "end") outcomes <- c(outcomes, words[[k]][3L])
    }
    at <- max(c(first, as.integer(sub("begin ", "", grep("^begin", lines, value = TRUE)))))
    finished <- any(lines == paste("end", last) | startsWith(lines, paste0("end ", last, " ")))
    if (finished || !alive) break
    if (difftime(Sys.time(), heard, units = "secs") > patience) {
      tools::pskill(pid, tools::SIGKILL)
      break
    }
  }
  if (finished) break
  bad <- bad + 1L
  cat(sprintf("seed %d: %s\n", at, if (alive) "hung" else "ended the process"))
  if (!alive) cat(utils::tail(readLines(paste0(log, ".out")), 30L), sep = "\n")
  first <- at + 1L
}
print(sort(table(outcomes), decreasing = TRUE))
cat(sprintf(
  "%d problems, %d fitted, %d faults, %.0f s\n", as.integer(arguments[2L]), sum(outcomes == "fitted"), bad,
  as.double(difftime(Sys.time(), started, units = "secs"))
))
if (bad > 0L) quit(status = 1L)
