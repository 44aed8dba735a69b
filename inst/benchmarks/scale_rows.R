# Many rows: time per epoch and memory, simulate_icu with bins, order 1.
#
#   Rscript scale_rows.R --rows=100000,1000000 --epochs=5 --csv=results/scale_rows.csv
# With --csv the figures are also written there, for the vignette "Bigger than one machine".
# Each size runs in a process of its own, so that its peak memory can be read (Linux). Memory is what the process needs
# beyond the data frame, per row and feature.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(rows = c(1e5, 1e6), epochs = 5, bins = 256, threads = 2, child = 0, csv = "")

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
  cat(arguments$rows, length(fit$encoder), sum(fit$seconds) / arguments$epochs, fit$elapsed, before, peak_bytes())
} else {
  describe_machine(arguments$threads)
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  results <- do.call(rbind, lapply(arguments$rows, function(rows) {
    out <- system2(file.path(R.home("bin"), "Rscript"), c(
      shQuote(script), sprintf("--rows=%.0f", rows), sprintf("--epochs=%d", arguments$epochs),
      sprintf("--bins=%d", arguments$bins), sprintf("--threads=%d", arguments$threads), "--child=1"
    ), stdout = TRUE)
    x <- scan(text = out, quiet = TRUE)
    # what making the data needed at its peak is free again when the fit begins, and counts for both
    row <- data.frame(
      rows = x[1L], features = x[2L], bins = arguments$bins, threads = arguments$threads, epochs = arguments$epochs,
      seconds_per_epoch = x[3L], seconds = x[4L], peak_gib = x[6L] / 2^30,
      bytes_per_row_feature = (x[6L] - x[5L]) / (x[1L] * x[2L]), machine = machine_line(arguments$threads),
      date = format(Sys.Date())
    )
    cat(sprintf(
      "%.0f rows x %.0f features: %.2f s an epoch, %.1f s in all; peak %.2f GiB, %s\n", row$rows, row$features,
      row$seconds_per_epoch, row$seconds, row$peak_gib,
      sprintf("%.0f bytes per row and feature above the data's own peak", row$bytes_per_row_feature)
    ))
    row
  }))
  if (nrow(results) > 1L) {
    cat(sprintf(
      "rows %.0fx: epoch time %.1fx\n", max(results$rows) / min(results$rows),
      max(results$seconds_per_epoch) / min(results$seconds_per_epoch)
    ))
  }
  if (nzchar(arguments$csv)) {
    dir.create(dirname(arguments$csv), recursive = TRUE, showWarnings = FALSE)
    utils::write.csv(results, arguments$csv, row.names = FALSE)
  }
}
