# Where the initial prototypes of columns with few distinct values go: quantiles (what the package does) against
# placements that give every distinct value a prototype. Income, test AUC per fold.
#
#   Rscript placement.R income.csv.gz --folds=1,2,3,4,5
# The alternatives live in this script only: they replace the centers that the encoder proposes.
#   distinct  one prototype per distinct value, the remaining ones at quantiles; more values than prototypes: quantiles
#             of the distinct values, each counted once
#   spread    all prototypes shared evenly among the distinct values
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(path = "", folds = 1:5, seed = 0, bins = 256, threads = 2, epochs = 0)

propose <- protonam:::fit_encoder
place <- function(kind) {
  function(...) {
    fitted <- propose(...)
    values <- sort(unique(fitted$feature$values))
    t <- length(fitted$centers)
    if (kind == "quantiles" || length(values) > 4 * t) {
      return(fitted)
    }
    rest <- t - length(values)
    if (rest < 0 || kind == "spread") {
      fitted$centers <- unname(stats::quantile(values, (seq_len(t) - 0.5) / t, type = if (rest < 0) 7 else 1))
    } else {
      at <- round(seq(1, t, length.out = rest + 2L))[-c(1L, rest + 2L)]
      fitted$centers <- sort(c(values, fitted$centers[at]))
    }
    fitted
  }
}

income <- utils::read.csv(arguments$path, stringsAsFactors = TRUE)
describe_machine(arguments$threads)
kinds <- c("quantiles", "distinct", "spread")
results <- vapply(arguments$folds, function(fold) {
  columns <- names(income) != "fold"
  test <- income[income$fold == fold, columns]
  scores <- vapply(kinds, function(kind) {
    utils::assignInNamespace("fit_encoder", place(kind), "protonam")
    fit <- protonam(
      Income ~ ., income[income$fold != fold, columns],
      bins = arguments$bins, epochs = if (arguments$epochs > 0) arguments$epochs, seed = arguments$seed,
      threads = arguments$threads, verbose = FALSE
    )
    auc(predict(fit, test), test$Income == levels(income$Income)[2L])
  }, 0)
  cat(sprintf("fold %d: %s\n", fold, paste(sprintf("%s %.4f", kinds, scores), collapse = ", ")))
  scores
}, numeric(3))
cat(sprintf("%-9s mean %.4f, sd over folds %.4f\n", kinds, rowMeans(results), apply(results, 1L, stats::sd)), sep = "")
gain <- results[-1L, , drop = FALSE] - rep(results[1L, ], each = 2L)
cat(sprintf(
  "%-9s against quantiles: %+.4f (sd of the difference %.4f)\n", kinds[-1L], rowMeans(gain),
  apply(gain, 1L, stats::sd)
), sep = "")
