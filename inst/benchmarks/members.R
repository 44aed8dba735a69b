# Many members on California Housing with bins: time, memory and size of 100 against 1, order 1.
#
#   Rscript members.R housing.csv.gz --members=1,100 --epochs=100
# --epochs: a tenth of the published 1000. Each number of members runs in a process of its own, so that its peak memory
# can be read (Linux).
library(protonam)
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "common.R"))
arguments <- read_arguments(path = "", members = c(1, 100), epochs = 100, bins = 256, seed = 0, threads = 2, child = 0)

peak_bytes <- function() {
  status <- readLines("/proc/self/status")
  1024 * as.numeric(gsub("[^0-9]", "", grep("^VmHWM", status, value = TRUE)))
}

if (arguments$child == 1) {
  housing <- read_housing(arguments$path)
  part <- function(name) housing[housing$split == name, names(housing) != "split"]
  before <- peak_bytes()
  seconds <- seconds_of(fit <- protonam(
    MedHouseVal ~ ., part("train"),
    validation = part("val"), ensemble = arguments$members, control = paper_control("housing", 1),
    bins = arguments$bins, epochs = arguments$epochs, seed = arguments$seed, threads = arguments$threads,
    verbose = FALSE
  ))
  test <- part("test")
  error <- rmse(predict(fit, test), test$MedHouseVal)
  cat(seconds, before, peak_bytes(), length(fit$members[[1L]]$params), as.numeric(object.size(fit)), error)
} else {
  describe_machine(arguments$threads)
  passed_on <- c("epochs", "bins", "seed", "threads")
  rows <- lapply(arguments$members, function(members) {
    out <- system2(file.path(R.home("bin"), "Rscript"), c(
      shQuote(script), shQuote(arguments$path), sprintf("--members=%d", members),
      sprintf("--%s=%d", passed_on, unlist(arguments[passed_on])),
      "--child=1"
    ), stdout = TRUE)
    x <- scan(text = out, quiet = TRUE)
    cat(sprintf(
      "%d members: %.1f s, peak %.0f MiB (%.0f MiB above the data's), fit of %.1f MiB, test RMSE %.4f\n", members,
      x[1L], x[3L] / 2^20, (x[3L] - x[2L]) / 2^20, x[5L] / 2^20, x[6L]
    ))
    data.frame(members = members, seconds = x[1L], peak = x[3L], parameters = x[4L], size = x[5L])
  })
  rows <- do.call(rbind, rows)
  if (nrow(rows) > 1L) {
    few <- rows[which.min(rows$members), ]
    many <- rows[which.max(rows$members), ]
    more <- many$members - few$members
    # as doubles in R; while training a member also has them in single precision, with two moments
    own <- 8 * many$parameters
    cat(sprintf(
      "each further member: %.2f s, %.2f MiB at the peak, %.2f MiB in the fit; its %.0f parameters take %.2f MiB\n",
      (many$seconds - few$seconds) / more, (many$peak - few$peak) / more / 2^20, (many$size - few$size) / more / 2^20,
      many$parameters, own / 2^20
    ))
  }
}
