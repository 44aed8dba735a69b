# The default fit, one call each: test scores on published data, and its time with bands on simulated data.
#
#   Rscript default_fit.R --housing=housing.csv.gz --income=income.csv.gz --seeds=1,2,3,4 --rows=5000,20000
# Housing: training and validation rows of the published split are the data. Income: each of the five folds is the test
# set once. Time: simulate_icu(), 20 features. What is not asked for is left out.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(housing = "", income = "", seeds = 1, rows = numeric(), order = 1, threads = 2)

fit_default <- function(formula, data, seed) {
  seconds <- seconds_of({
    fit <- protonam(formula, data, order = arguments$order, seed = seed, threads = arguments$threads, verbose = FALSE)
  })
  with_prototypes <- vapply(fit$encoder[fit$engine$net], `[[`, "", "name")
  list(fit = fit, text = sprintf("%.1f s; prototypes: %s", seconds, toString(with_prototypes)))
}

describe_machine(arguments$threads)
if (nzchar(arguments$housing)) {
  data <- utils::read.csv(arguments$housing)
  test <- data$split == "test"
  data$split <- NULL
  for (seed in arguments$seeds) {
    one <- fit_default(MedHouseVal ~ ., data[!test, ], seed)
    score <- rmse(predict(one$fit, data[test, ]), data$MedHouseVal[test])
    cat(sprintf("Housing, seed %d: test RMSE %.4f; %s\n", seed, score, one$text))
  }
}
if (nzchar(arguments$income)) {
  data <- utils::read.csv(arguments$income, stringsAsFactors = TRUE)
  fold <- data$fold
  data$fold <- NULL
  for (k in sort(unique(fold))) {
    one <- fit_default(Income ~ ., data[fold != k, ], arguments$seeds[1L])
    score <- auc(predict(one$fit, data[fold == k, ]), data$Income[fold == k] == levels(data$Income)[2L])
    cat(sprintf("Income, fold %d: test AUC %.4f; %s\n", k, score, one$text))
  }
}
for (n in arguments$rows) {
  one <- fit_default(died ~ ., simulate_icu(n, seed = 1), arguments$seeds[1L])
  base <- one$fit$seconds[["base"]] / sum(one$fit$seconds)
  cat(sprintf("simulate_icu(%d): %s; layer 0 %.0f %% of the members' time\n", n, one$text, 100 * base))
}
