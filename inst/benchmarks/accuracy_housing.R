# Test RMSE on California Housing with the published settings and split.
#
#   Rscript accuracy_housing.R housing.csv.gz --order=1 --seeds=0,1,2
# --order: 1, 2 or Inf; --settings: paper (published) or own (the package's defaults); --bins: 0 for exact values.
# Published RMSE over ten seeds: 0.553 (order 1), 0.438 (order 2), 0.451 (order Inf).
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(path = "", order = 1, seeds = c(0, 1, 2), settings = "paper", bins = 0, threads = 2)

housing <- read_housing(arguments$path)
part <- function(name) housing[housing$split == name, names(housing) != "split"]
control <- if (arguments$settings == "paper") paper_control("housing", arguments$order) else protonam_control()
describe_machine(arguments$threads)
results <- lapply(arguments$seeds, function(seed) {
  seconds <- seconds_of(fit <- protonam(
    MedHouseVal ~ ., part("train"),
    validation = part("val"), order = arguments$order, control = control, seed = seed, threads = arguments$threads,
    bins = if (arguments$bins > 0) arguments$bins, verbose = FALSE
  ))
  test <- part("test")
  row <- data.frame(
    order = arguments$order, seed = seed, epochs = fit$control$epochs, best_epoch = fit$members[[1L]]$best_epoch,
    validation_rmse = sqrt(fit$members[[1L]]$score), test_rmse = rmse(predict(fit, test), test$MedHouseVal),
    seconds = seconds
  )
  print(row, row.names = FALSE, digits = 4)
  row
})
results <- do.call(rbind, results)
cat(sprintf(
  "order %s, %s settings: test RMSE %.4f (sd %.4f) over %d seeds, %.0f s each\n", arguments$order, arguments$settings,
  mean(results$test_rmse), stats::sd(results$test_rmse), nrow(results), mean(results$seconds)
))
