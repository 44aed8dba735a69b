# Prediction: per row and feature against a training row, and a million rows of simulate_icu.
#
#   Rscript speed_predict.R housing.csv.gz --rows=1000000
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(path = "", threads = 2, rows = 1e6, repeats = 3)
describe_machine(arguments$threads)

housing <- read_housing(arguments$path)
housing <- housing[names(housing) != "split"]
epochs <- 10
fit <- protonam(
  MedHouseVal ~ ., housing,
  control = paper_control("housing"), epochs = epochs, seed = 1, threads = arguments$threads, verbose = FALSE
)
training_row <- sum(fit$seconds) / epochs / fit$n_train
prediction <- best_of(arguments$repeats, function() {
  seconds_of(predict(fit, housing, threads = arguments$threads))
}) / nrow(housing)
cat(sprintf(
  "Housing, order 1: predict %.2f us a row and feature, a training row %.1f us: 1/%.0f (a whole row: 1/%.1f)\n",
  1e6 * prediction / 8, 1e6 * training_row, training_row / (prediction / 8), training_row / prediction
))

icu <- simulate_icu(arguments$rows, seed = 1)
fit <- protonam(died ~ ., icu[1:20000, ], epochs = 5, seed = 1, threads = arguments$threads, verbose = FALSE)
seconds <- best_of(arguments$repeats, function() seconds_of(predict(fit, icu, threads = arguments$threads)))
cat(sprintf(
  "simulate_icu, order 1: %.0f rows x %d features in %.2f s\n", arguments$rows, length(fit$encoder), seconds
))
