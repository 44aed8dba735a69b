# `bins` against exact values: a whole training of Housing, order 1, published settings.
#
#   Rscript speed_bins.R housing.csv.gz --bins=256 --seeds=0
# The published implementation needs 10,900 s for the 1000 epochs on two cores.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(path = "", bins = 256, seeds = 0, threads = 2, epochs = 1000)

housing <- read_housing(arguments$path)
part <- function(name) housing[housing$split == name, names(housing) != "split"]
test <- part("test")
run <- function(seed, bins) {
  fit <- protonam(
    MedHouseVal ~ ., part("train"),
    validation = part("val"), control = paper_control("housing"), bins = bins, epochs = arguments$epochs, seed = seed,
    threads = arguments$threads, verbose = FALSE
  )
  c(seconds = sum(fit$seconds), rmse = rmse(predict(fit, test), test$MedHouseVal))
}
describe_machine(arguments$threads)
for (seed in arguments$seeds) {
  binned <- run(seed, arguments$bins)
  exact <- run(seed, NULL)
  cat(sprintf(
    "seed %d: bins = %d %.1f s, RMSE %.4f; exact %.1f s, RMSE %.4f: %.1fx faster, %.0fx the published implementation\n",
    seed, arguments$bins, binned[["seconds"]], binned[["rmse"]], exact[["seconds"]], exact[["rmse"]],
    exact[["seconds"]] / binned[["seconds"]], 10.9 * arguments$epochs / binned[["seconds"]]
  ))
}
