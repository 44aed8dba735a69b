# Many rows: time per epoch and memory, simulate_icu with bins, order 1.
#
#   Rscript scale_rows.R --rows=100000,1000000 --epochs=5
# Each size runs in a process of its own, so that its peak memory can be read (Linux). Memory is what the process needs
# beyond the data frame, per row and feature.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(rows = c(1e5, 1e6), epochs = 5, bins = 256, threads = 2, child = 0)

peak_bytes <- function() {
  status <- readLines("/proc/self/status")
  1024 * as.numeric(gsub("[^0-9]", "", grep("^VmHWM", status, value = TRUE)))
}

if (arguments$child == 1) {
  icu <- simulate_icu(arguments$rows, seed = 1)
  invisible(gc())
  before <- peak_bytes()
  fit <- protonam(
    died ~ ., icu,
    bins = arguments$bins, epochs = arguments$epochs, seed = 1, threads = arguments$threads, verbose = FALSE
  )
  cat(arguments$rows, length(fit$encoders), sum(fit$seconds) / arguments$epochs, fit$elapsed, before, peak_bytes())
} else {
  describe_machine(arguments$threads)
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  results <- vapply(arguments$rows, function(rows) {
    out <- system2(file.path(R.home("bin"), "Rscript"), c(
      shQuote(script), sprintf("--rows=%.0f", rows), sprintf("--epochs=%d", arguments$epochs),
      sprintf("--bins=%d", arguments$bins), sprintf("--threads=%d", arguments$threads), "--child=1"
    ), stdout = TRUE)
    x <- scan(text = out, quiet = TRUE)
    # what making the data needed at its peak is free again when the fit begins, and counts for both
    cat(sprintf(
      "%.0f rows x %.0f features: %.2f s an epoch, %.1f s in all; peak %.2f GiB, %.0f bytes per row and feature above the data's own peak\n",
      x[1], x[2], x[3], x[4], x[6] / 2^30, (x[6] - x[5]) / (x[1] * x[2])
    ))
    x[3]
  }, 0)
  if (length(results) > 1L) {
    cat(sprintf(
      "rows %.0fx: epoch time %.1fx\n", max(arguments$rows) / min(arguments$rows), max(results) / min(results)
    ))
  }
}
