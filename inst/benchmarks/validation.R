# Do validate_protonam()'s values and intervals hold? Data sets from simulate_icu(), a fit to each, and its AUC,
# calibration slope and other measures as validated, against those on many new rows, which stand for the truth.
#
#   Rscript validation.R --method=out-of-fold --sets=100
#   Rscript validation.R --method=bootstrap --sets=20 --repeats=20
# Aims: mean difference of the AUC below 0.005, of the slope below 0.05; 95 % intervals that cover the truth in 90 to 98
# % of the data sets (with 20 sets the coverage itself has a standard error of 0.05).
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(
  method = "out-of-fold", sets = 20, rows = 1000, repeats = 20, new = 1e5, threads = 1, first = 1, features = "all"
)

describe_machine(arguments$threads)
new <- simulate_icu(arguments$new, seed = 99991)
formula <- if (identical(arguments$features, "all")) {
  died ~ .
} else {
  stats::reformulate(arguments$features, "died")
}
one_set <- function(k) {
  data <- simulate_icu(arguments$rows, seed = k)
  fit <- protonam(formula, data, seed = k, threads = arguments$threads, verbose = FALSE)
  found <- validate_protonam(
    fit, arguments$method,
    repeats = arguments$repeats, seed = k, threads = arguments$threads, verbose = FALSE
  )$scores
  truth <- validate_protonam(fit, newdata = new, threads = arguments$threads)$scores
  found$truth <- truth$corrected
  found$set <- k
  found
}
found <- do.call(rbind, lapply(arguments$first - 1 + seq_len(arguments$sets), function(k) {
  one <- one_set(k)
  show <- one[one$measure %in% c("auc", "slope"), ]
  message(sprintf("set %d: %s", k, paste(sprintf(
    "%s %.4f (%.4f to %.4f), truth %.4f", show$measure, show$corrected, show$lower, show$upper, show$truth
  ), collapse = "; ")))
  one
}))
cat(sprintf(
  "%s, %d data sets of %d rows%s\n", arguments$method, arguments$sets, arguments$rows,
  if (arguments$method == "bootstrap") sprintf(", %d samples each", arguments$repeats) else ""
))
for (measure in unique(found$measure)) {
  rows <- found[found$measure == measure, ]
  error <- rows$corrected - rows$truth
  cat(sprintf(
    "%-10s truth %.4f, apparent %.4f, corrected %.4f, difference %+.4f (s.e. %.4f), coverage %.3f\n", measure,
    mean(rows$truth), mean(rows$apparent), mean(rows$corrected), mean(error), stats::sd(error) / sqrt(nrow(rows)),
    mean(rows$lower <= rows$truth & rows$truth <= rows$upper)
  ))
}
