# How much of the machine's arithmetic a whole training epoch reaches, against OpenBLAS in the same run.
#
#   Rscript speed_arithmetic.R housing.csv.gz --threads=2
# Order 1 on Housing, published settings, every row computed (no equal-value saving). Counted are the products alone:
# activation, norms, loss, optimiser and validation take their time but add no arithmetic here. The yardstick is
# OpenBLAS sgemm on (2048 x 64)(64 x 64), on as many threads, built by this script from Debian's libopenblas-dev.
library(protonam)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "common.R"))
arguments <- read_arguments(path = "", threads = 2, epochs = 10, repeats = 5)

# sgemm on every thread at once, each on matrices of its own; prints GFLOP/s of all threads together.
build_openblas <- function() {
  program <- file.path(tempdir(), "openblas")
  compiler <- strsplit(system2(file.path(R.home("bin"), "R"), c("CMD", "config", "CC"), stdout = TRUE), " ")[[1L]]
  failed <- system2(compiler[1L], c(
    compiler[-1L], "-O2 -fopenmp", shQuote(file.path(here, "openblas.c")), "-o", shQuote(program), "-lopenblas"
  ))
  if (failed) stop("could not build against OpenBLAS: apt-get install libopenblas-dev")
  program
}
openblas <- build_openblas()
openblas_rate <- function() as.numeric(system2(openblas, arguments$threads, stdout = TRUE))

housing <- read_housing(arguments$path)
train <- housing[housing$split == "train", names(housing) != "split"]
validation <- housing[housing$split == "val", names(housing) != "split"]
control <- paper_control("housing", 1)

# Floating-point operations of all products for one value of one feature, forward and backward.
product_operations <- function(h, layers) {
  encoder <- 2 * 2 * h + (layers - 1) * 2 * (h + 2) * h
  predictor <- layers * 2 * h * h
  forward <- encoder + predictor
  forward + encoder + (layers - 1) * 2 * h * h + 2 * predictor
}
operations <- product_operations(control$hidden, control$layers) * nrow(train) * 8

epoch_rate <- function() {
  options(protonam.equal_values = FALSE)
  fit <- protonam(
    MedHouseVal ~ ., train,
    validation = validation, control = control, epochs = arguments$epochs, seed = 1, threads = arguments$threads,
    verbose = FALSE
  )
  operations * arguments$epochs / sum(fit$seconds) / 1e9
}
describe_machine(arguments$threads)
rates <- vapply(seq_len(arguments$repeats), function(i) c(epoch_rate(), openblas_rate()), numeric(2))
cat(sprintf(
  "training epoch %.1f GFLOP/s, OpenBLAS %.1f GFLOP/s on %d threads: share %.0f %%\n",
  max(rates[1L, ]), max(rates[2L, ]), arguments$threads, 100 * max(rates[1L, ]) / max(rates[2L, ])
))
