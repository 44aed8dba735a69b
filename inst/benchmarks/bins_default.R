# Should bins be on by default? Test scores with exact values and with bins, own settings, four data sets.
#
#   Rscript bins_default.R --housing=housing.csv.gz --income=income.csv.gz --bins=256 --seeds=0,1,2
# Data sets: Housing (its own split), Income (fold = 1 + seed), flchain (package survival; death, a third held out) and
# simulate_icu. A binned fit predicts twice: values mapped to their bin's representative as in training, and exact
# values. Scores are RMSE or 1 - AUC, so less is better, and changes are given relative to RMSE or AUC.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(housing = "", income = "", bins = 256, seeds = c(0, 1, 2), rows = 20000, threads = 2)

# Each returns list(formula, train, test, validation).
data_sets <- list(
  Housing = if (nzchar(arguments$housing)) {
    function(seed) {
      housing <- read_housing(arguments$housing)
      part <- lapply(split(housing, housing$split), function(rows) rows[names(rows) != "split"])
      list(formula = MedHouseVal ~ ., train = part$train, test = part$test, validation = part$val)
    }
  },
  Income = if (nzchar(arguments$income)) {
    function(seed) {
      income <- read_income(arguments$income)
      test <- income$fold == 1 + seed
      income$fold <- NULL
      list(formula = Income ~ ., train = income[!test, ], test = income[test, ], validation = 0.2)
    }
  },
  flchain = function(seed) {
    data <- survival::flchain
    data <- data[setdiff(names(data), c("futime", "chapter"))]
    data$death <- factor(data$death)
    set.seed(seed)
    test <- seq_len(nrow(data)) %in% sample(nrow(data), nrow(data) / 3)
    list(formula = death ~ ., train = data[!test, ], test = data[test, ], validation = 0.2)
  },
  simulate_icu = function(seed) {
    data <- simulate_icu(2 * arguments$rows, seed = seed)
    train <- seq_len(arguments$rows)
    list(formula = died ~ ., train = data[train, ], test = data[-train, ], validation = 0.2)
  }
)

score <- function(fit, set) {
  y <- set$test[[all.vars(set$formula)[1L]]]
  prediction <- predict(fit, set$test)
  if (is.factor(y) || is.logical(y)) auc(prediction, as.integer(factor(y)) == 2L) else rmse(prediction, y)
}

describe_machine(arguments$threads)
results <- list()
for (name in names(Filter(Negate(is.null), data_sets))) {
  for (seed in arguments$seeds) {
    set <- data_sets[[name]](seed)
    fit_with <- function(bins) {
      protonam(
        set$formula, set$train,
        validation = set$validation, bins = bins, seed = seed, threads = arguments$threads, verbose = FALSE
      )
    }
    exact_seconds <- seconds_of(exact <- fit_with(NULL))
    bins_seconds <- seconds_of(binned <- fit_with(arguments$bins))
    unmapped <- binned
    unmapped$encoder <- lapply(binned$encoder, function(encoder) {
      encoder["bins"] <- list(NULL)
      encoder
    })
    row <- data.frame(
      data = name, seed = seed, exact = score(exact, set), bins = score(binned, set),
      bins_exact_prediction = score(unmapped, set), exact_seconds = exact_seconds, bins_seconds = bins_seconds
    )
    print(row, row.names = FALSE, digits = 5)
    results[[length(results) + 1L]] <- row
  }
}
results <- do.call(rbind, results)
mean_of <- function(column) tapply(results[[column]], results$data, mean)
worse <- function(column) {
  change <- mean_of(column) / mean_of("exact") - 1
  100 * ifelse(names(change) == "Housing", change, -change)
}
print(data.frame(
  exact = mean_of("exact"), bins = mean_of("bins"), worse_percent = worse("bins"),
  exact_prediction_worse_percent = worse("bins_exact_prediction"),
  times_faster = mean_of("exact_seconds") / mean_of("bins_seconds")
), digits = 3)
