# One epoch of Housing, published settings, against the published implementation; and two threads against one.
#
#   Rscript speed_epoch.R housing.csv.gz
# The published implementation (PyTorch, two cores) takes 10.9 s (order 1) and 16.8 s (order 2) per epoch.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(path = "", orders = c(1, 2), threads = 2, epochs = 10, repeats = 3)

published <- c(`1` = 10.9, `2` = 16.8)
housing <- read_housing(arguments$path)
train <- housing[housing$split == "train", names(housing) != "split"]
validation <- housing[housing$split == "val", names(housing) != "split"]
epoch_seconds <- function(order, threads) {
  best_of(arguments$repeats, function() {
    fit <- protonam(
      MedHouseVal ~ ., train,
      validation = validation, order = order, control = paper_control("housing", order), epochs = arguments$epochs,
      seed = 1, threads = threads, verbose = FALSE
    )
    sum(fit$seconds) / arguments$epochs
  })
}
describe_machine(arguments$threads)
for (order in arguments$orders) {
  one <- epoch_seconds(order, 1)
  many <- epoch_seconds(order, arguments$threads)
  cat(sprintf(
    "order %d: %.0f ms an epoch on %d threads, %.0fx the published implementation; %.2fx one thread (%.0f ms)\n",
    order, 1e3 * many, arguments$threads, published[[as.character(order)]] / many, one / many, 1e3 * one
  ))
}
