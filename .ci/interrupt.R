# Rscript .ci/interrupt.R [MOMENTS [KIND ...]]: interrupts calls at random moments (5 by default), and reports how long they
# take to end, in seconds of the processor, which a busy machine does not change. Needs the installed package and Linux;
# fails where one takes half a second or longer, or where the next fit is not healthy.

library(protonam)
arguments <- commandArgs(trailingOnly = TRUE)
moments <- as.integer(c(arguments, 5L)[1L])
allowed <- 0.5
longest <- 15 # of a call that is looked at
set.seed(20260101)
options(protonam.threads = 2)

icu <- simulate_icu(1500, seed = 1)
few <- died ~ age + lactate + systolic_bp + frailty + gcs
text <- function(n) paste0("unit ", sample.int(500, n, replace = TRUE))
many <- function(n = 1e6) {
  x <- data.frame(a = rnorm(n), b = round(rnorm(n), 1), unit = text(n), day = as.Date("2024-01-01") + sample.int(900, n, TRUE))
  x$y <- sin(x$a) + x$b / 4 + rnorm(n)
  x
}
quiet <- function(...) suppressMessages(protonam(..., verbose = FALSE, seed = 1))
# name = list(setup: what is not interrupted, run: function of it)
kinds <- list(
  training = list(NULL, function(x) quiet(few, icu, procedure = "paper", epochs = 60)),
  ensemble = list(NULL, function(x) quiet(few, icu, prototypes_for = TRUE, epochs = 20)),
  smooth = list(NULL, function(x) quiet(died ~ ., icu, prototypes_for = FALSE)),
  screening = list(NULL, function(x) quiet(died ~ ., icu, ensemble = 2, epochs = 10)),
  pairs = list(NULL, function(x) quiet(died ~ ., icu, order = 2, procedure = "paper", epochs = 1)),
  shapes = list(
    function() quiet(died ~ ., icu, order = 2, ensemble = 2, procedure = "paper", epochs = 1),
    function(x) repeat shapes(x, points = 200, layers = TRUE)
  ),
  predict = list(
    function() quiet(few, icu, order = 2, procedure = "paper", epochs = 1),
    function(x) predict(x, icu[rep(seq_len(1500), 60), ], type = "terms")
  ),
  cv = list(NULL, function(x) cv_protonam(few, icu, folds = 3, ensemble = 2, epochs = 5, seed = 1, verbose = FALSE)),
  search = list(NULL, function(x) tune_protonam(few, icu, n = 3, ensemble = 2, epochs = 5, seed = 1, verbose = FALSE)),
  million = list(many, function(x) quiet(y ~ ., x, ensemble = 2, epochs = 2)),
  "million, paper" = list(many, function(x) quiet(y ~ ., x, procedure = "paper", epochs = 2))
)

processor <- function() sum(proc.time()[1:2])

# Sends SIGINT when this process has used so many more seconds; the time that it then has used goes to `file`. Gives up
# when there is a file named `file`.stop; when `file`.gone is there, no signal will follow.
interrupt_after <- function(seconds, file) {
  ticks <- as.integer(system2("getconf", "CLK_TCK", stdout = TRUE))
  until <- round((processor() + seconds) * ticks)
  code <- sprintf(
    paste(
      "while [ ! -e %s.stop ]; do set -- $(sed 's/.*) //' /proc/%d/stat | cut -d ' ' -f 12,13);",
      "if [ $(($1 + $2)) -ge %d ]; then echo $(($1 + $2)) > %s; kill -INT %d; break; fi; sleep 0.01; done; : > %s.gone"
    ),
    shQuote(file), Sys.getpid(), until, shQuote(file), Sys.getpid(), shQuote(file)
  )
  system(paste("(", code, ") >/dev/null 2>&1 &"))
  ticks
}

failed <- FALSE
for (name in if (length(arguments) > 1L) arguments[-1L] else names(kinds)) {
  kind <- kinds[[name]]
  x <- if (!is.null(kind[[1L]])) kind[[1L]]()
  # how long the call takes decides where the moments are
  before <- processor()
  setTimeLimit(cpu = longest, transient = TRUE)
  try(suppressWarnings(kind[[2L]](x)), silent = TRUE)
  setTimeLimit()
  seconds <- min(processor() - before, longest)
  late <- numeric()
  missed <- 0L
  while (length(late) < moments && missed < 20L) {
    file <- tempfile()
    ticks <- interrupt_after(stats::runif(1L, 0.01, 0.95) * seconds, file)
    done <- FALSE
    tryCatch(
      {
        kind[[2L]](x)
        done <- TRUE # not caught on its way; a signal that is sent now must not come later, elsewhere
        file.create(paste0(file, ".stop"))
        while (!file.exists(paste0(file, ".gone"))) Sys.sleep(0.01)
      },
      interrupt = function(c) NULL
    )
    if (!done) {
      late <- c(late, processor() - scan(file, quiet = TRUE) / ticks)
    } else {
      missed <- missed + 1L
    }
  }
  healthy <- tryCatch(
    all(is.finite(fitted(quiet(y ~ x, data.frame(x = sin(1:40), y = cos(1:40)), epochs = 1)))), error = function(e) FALSE
  )
  cat(sprintf(
    "%-15s %4.1f s, %d interrupted, slowest %.2f s, mean %.2f s%s\n", name, seconds, length(late), max(late, 0), mean(late),
    if (healthy) "" else ", not healthy afterwards"
  ))
  failed <- failed || !length(late) || max(late) >= allowed || !healthy
}
if (failed) quit(status = 1L)
