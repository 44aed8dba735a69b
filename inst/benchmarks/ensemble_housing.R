# Ensembles on California Housing: test RMSE of the average and of its members, published settings and own defaults.
#
#   Rscript ensemble_housing.R housing.csv.gz --ensemble=8 --orders=1,2
# --settings: paper (published), own (the package's defaults), or both; --epochs: 0 for those of the settings; --bins: 0
# for exact values.
# Aims for 8 members: at most 0.552 (order 1) and 0.434 (order 2) with the published settings, 0.547 and 0.425 with own;
# the average better than its members' mean.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(
  path = "", ensemble = 8, orders = c(1, 2), settings = c("paper", "own"), seed = 0, epochs = 0, bins = 0, threads = 2
)

housing <- read_housing(arguments$path)
part <- function(name) housing[housing$split == name, names(housing) != "split"]
test <- part("test")

# Test RMSE of every member.
member_rmse <- function(fit) {
  vapply(seq_along(fit$members), function(m) {
    one <- fit
    for (name in c("members", "centering")) one[[name]] <- fit[[name]][m]
    rmse(predict(protonam:::seal_fit(one), test), test$MedHouseVal)
  }, 0)
}

describe_machine(arguments$threads)
for (order in arguments$orders) {
  for (settings in arguments$settings) {
    control <- if (settings == "paper") paper_control("housing", order) else protonam_control()
    changes <- c(
      if (arguments$epochs > 0) list(epochs = arguments$epochs), if (arguments$bins > 0) list(bins = arguments$bins)
    )
    seconds <- seconds_of(fit <- do.call(protonam, c(list(
      MedHouseVal ~ ., part("train"),
      validation = part("val"), order = order, ensemble = arguments$ensemble, control = control,
      seed = arguments$seed, threads = arguments$threads, verbose = FALSE
    ), changes)))
    members <- member_rmse(fit)
    cat(sprintf(
      "order %s, %s settings: test RMSE %.4f of %d members' average; members %.4f on average, %.4f to %.4f; %.0f s\n",
      order, settings, rmse(predict(fit, test), test$MedHouseVal), length(members), mean(members), min(members),
      max(members), seconds
    ))
  }
}
