# Equal values computed once, on against off: Income, order 1, published settings.
#
#   Rscript speed_equal_values.R income.csv.gz
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(path = "", threads = 2, epochs = 5, repeats = 3)

income <- utils::read.csv(arguments$path, stringsAsFactors = TRUE)
train <- income[income$fold != 1, names(income) != "fold"]
run <- function(equal_values) {
  options(protonam.equal_values = equal_values)
  fits <- lapply(seq_len(arguments$repeats), function(i) {
    protonam(
      Income ~ ., train,
      control = paper_control("income"), epochs = arguments$epochs, seed = 1, threads = arguments$threads,
      verbose = FALSE
    )
  })
  list(
    seconds = min(vapply(fits, function(fit) sum(fit$seconds), 0)) / arguments$epochs,
    loss = fits[[1L]]$members[[1L]]$history$loss
  )
}
describe_machine(arguments$threads)
once <- run(TRUE)
apart <- run(FALSE)
cat(sprintf(
  "equal values once: %.0f ms an epoch, apart: %.0f ms, %.1fx; largest relative difference in loss %.1e\n",
  1e3 * once$seconds, 1e3 * apart$seconds, apart$seconds / once$seconds, max(abs(once$loss / apart$loss - 1))
))
