# Test AUC on Adult Income with the published settings, on given folds.
#
#   Rscript accuracy_income.R income.csv.gz --folds=1
# --order: 1, 2 or Inf; --settings: paper or own; --task: a column whose groups become tasks
# --bins: 0 for exact values.
# 20 % of the training part are held out for validation, as in the paper. Published: 0.927 (order 1), 0.928 (order 2).
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(
  path = "", order = 1, folds = 1, seeds = 0, settings = "paper", task = "", bins = 0, threads = 2
)

income <- utils::read.csv(arguments$path, stringsAsFactors = TRUE)
control <- if (arguments$settings == "paper") paper_control("income", arguments$order) else protonam_control()
task <- if (nzchar(arguments$task)) stats::reformulate(arguments$task)
runs <- expand.grid(seed = arguments$seeds, fold = arguments$folds)
describe_machine(arguments$threads)
results <- Map(function(fold, seed) {
  columns <- names(income) != "fold"
  train <- income[income$fold != fold, columns]
  test <- income[income$fold == fold, columns]
  seconds <- seconds_of(fit <- protonam(
    Income ~ ., train,
    order = arguments$order, task = task, control = control, seed = seed, threads = arguments$threads,
    bins = if (arguments$bins > 0) arguments$bins, verbose = FALSE
  ))
  row <- data.frame(
    order = arguments$order, fold = fold, seed = seed, epochs = fit$control$epochs,
    best_epoch = fit$members[[1L]]$best_epoch, validation_auc = fit$members[[1L]]$score,
    test_auc = auc(predict(fit, test), test$Income == levels(income$Income)[2L]), seconds = seconds
  )
  print(row, row.names = FALSE, digits = 4)
  row
}, runs$fold, runs$seed)
results <- do.call(rbind, results)
cat(sprintf(
  "order %s, %s settings: test AUC %.4f (sd %.4f) over %d runs, %.0f s each\n", arguments$order, arguments$settings,
  mean(results$test_auc), stats::sd(results$test_auc), nrow(results), mean(results$seconds)
))
