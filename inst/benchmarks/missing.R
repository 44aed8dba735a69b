# Missing values as they are, against dropping rows and against imputing medians: simulate_icu, labs missing not at
# random, AUC on held-out rows.
#
#   Rscript missing.R --rows=20000 --seeds=1,2,3
# Complete cases: rows with a missing value are dropped for training; held-out rows keep theirs, and predict() gives a
# missing value its feature's average effect. Medians: of the training rows, most frequent level for categoricals.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(rows = 20000, seeds = 1:3, bins = 256, threads = 2, epochs = 0)

typical <- function(x) if (is.numeric(x)) stats::median(x, na.rm = TRUE) else names(which.max(table(x)))
impute <- function(data, from) {
  for (name in names(data)) {
    lost <- is.na(data[[name]])
    if (any(lost)) data[[name]][lost] <- typical(from[[name]])
  }
  data
}
score <- function(train, test, seed) {
  fit <- protonam(
    died ~ ., train,
    bins = arguments$bins, epochs = if (arguments$epochs > 0) arguments$epochs, seed = seed,
    threads = arguments$threads, verbose = FALSE
  )
  auc(suppressWarnings(predict(fit, test)), as.integer(as.factor(test$died)) == 2L)
}
describe_machine(arguments$threads)
results <- vapply(arguments$seeds, function(seed) {
  icu <- simulate_icu(2 * arguments$rows, seed = seed)
  train <- icu[seq_len(arguments$rows), ]
  test <- icu[-seq_len(arguments$rows), ]
  complete <- train[stats::complete.cases(train), ]
  scores <- c(
    native = score(train, test, seed), complete = score(complete, test, seed),
    median = score(impute(train, train), impute(test, train), seed)
  )
  cat(sprintf(
    "seed %d: native %.4f, complete cases %.4f (%d of %d rows), medians %.4f\n", seed, scores[["native"]],
    scores[["complete"]], nrow(complete), nrow(train), scores[["median"]]
  ))
  scores
}, numeric(3))
cat(sprintf(
  "mean AUC: native %.4f, complete cases %.4f, medians %.4f\n", mean(results[1L, ]), mean(results[2L, ]),
  mean(results[3L, ])
))
