# Where the time of a fit goes: seconds and share per phase.
#
#   Rscript phases.R housing.csv.gz --order=1 --epochs=20 --bins=0
# Work on several threads counts as their mean; encoder and predictor are mostly products.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(path = "", order = 1, epochs = 20, bins = 0, threads = 2)

housing <- read_housing(arguments$path)
train <- housing[housing$split == "train", names(housing) != "split"]
validation <- housing[housing$split == "val", names(housing) != "split"]
describe_machine(arguments$threads)
fit <- protonam(
  MedHouseVal ~ ., train,
  validation = validation, order = arguments$order, control = paper_control("housing", arguments$order),
  bins = if (arguments$bins > 0) arguments$bins, epochs = arguments$epochs, seed = 1, threads = arguments$threads,
  verbose = FALSE
)
print(data.frame(
  ms_per_epoch = round(1e3 * fit$seconds / arguments$epochs, 1),
  share = sprintf("%.0f %%", 100 * fit$seconds / sum(fit$seconds))
))
