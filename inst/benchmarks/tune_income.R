# Random search on Adult Income: settings found on all folds but one, judged on that one.
#
#   Rscript tune_income.R income.csv.gz --trials=16 --fold=1
# --workers: trials side by side, each on its share of the threads (with the future package; 1: one after the other on
# all threads); --epochs: 0 for those of the space, anything else as the only choice; --bins: 0 for exact values. The
# time is that of the search and of the final fit with the settings found, once with the search's validation rows held
# out and once on all rows.
# Aim: AUC at least 0.920 on fold 1, in less than 10 minutes on two cores.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(
  path = "", trials = 16, fold = 1, seed = 1, eta = 4, workers = 2, epochs = 0, bins = 256, threads = 2
)

income <- read_income(arguments$path)
columns <- names(income) != "fold"
train <- income[income$fold != arguments$fold, columns]
test <- income[income$fold == arguments$fold, columns]
space <- if (arguments$epochs > 0) protonam_space(epochs = arguments$epochs) else protonam_space()
control <- protonam_control(
  epochs = if (arguments$epochs > 0) arguments$epochs, bins = if (arguments$bins > 0) arguments$bins
)
describe_machine(arguments$threads)
if (arguments$workers > 1) future::plan("multisession", workers = arguments$workers)

search_seconds <- seconds_of(found <- tune_protonam(
  Income ~ ., train,
  n = arguments$trials, space = space, control = control, eta = arguments$eta, seed = arguments$seed,
  threads = arguments$threads, verbose = TRUE
))
print(found)
if (arguments$workers > 1) future::plan("sequential")

# Rows of successive halving: how many trials each rung had, and what it cost.
for (rung in sort(unique(found$trials$rung))) {
  cat(sprintf("rung %d: reached by %d trials\n", rung, sum(found$trials$rung >= rung)))
}
cat(sprintf("best of %d trials: validation AUC %.4f\n", nrow(found$trials), found$best_score))
for (held_out in c(0.2, 0)) {
  fit_seconds <- seconds_of(fit <- protonam(
    Income ~ ., train,
    validation = held_out, control = found$best, seed = arguments$seed, threads = arguments$threads, verbose = FALSE
  ))
  cat(sprintf(
    "fit with %.0f %% of the rows held out: test AUC %.4f on fold %s; search %.0f s, fit %.0f s, together %.1f min\n",
    100 * held_out, auc(predict(fit, test), test$Income == ">50K"), arguments$fold, search_seconds, fit_seconds,
    (search_seconds + fit_seconds) / 60
  ))
}
