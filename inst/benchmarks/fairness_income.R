# Gender as a task against gender as a feature: test AUC and fairness on Adult Income, published settings, five folds.
#
#   Rscript fairness_income.R income.csv.gz --folds=1,2,3,4,5
# --epochs: 0 for those of the settings; --group: the sensitive column; --threshold: above it a row is selected.
# Aims: mean AUC of the task model at least 0.923 and within 0.002 of the model with gender as a feature (published:
# 0.927 for both).
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(
  path = "", folds = 1:5, seed = 0, group = "Gender", threshold = 0.5, epochs = 0, threads = 2
)

income <- utils::read.csv(arguments$path, stringsAsFactors = TRUE)
control <- paper_control("income", 1)
if (arguments$epochs > 0) control$epochs <- arguments$epochs
tasks <- list(feature = NULL, task = stats::reformulate(arguments$group))
describe_machine(arguments$threads)

tables <- lapply(arguments$folds, function(fold) {
  columns <- names(income) != "fold"
  train <- income[income$fold != fold, columns]
  test <- income[income$fold == fold, columns]
  fits <- lapply(tasks, function(task) {
    protonam(
      Income ~ ., train,
      task = task, control = control, seed = arguments$seed, threads = arguments$threads, verbose = FALSE
    )
  })
  table <- fairness(fits, test, "Income", arguments$group, threshold = arguments$threshold)
  overall <- attr(table, "overall")
  cat(sprintf("fold %s: test AUC %s\n", fold, paste(sprintf("%s %.4f", overall$model, overall$auc), collapse = ", ")))
  list(groups = as.data.frame(table), overall = overall, gaps = summary(table))
})

# Means over the folds of all numbers of a table, by its keys.
fold_means <- function(what, keys) {
  rows <- do.call(rbind, lapply(tables, `[[`, what))
  numbers <- setdiff(names(rows)[vapply(rows, is.numeric, NA)], "n")
  means <- stats::aggregate(rows[numbers], rows[rev(keys)], mean)
  means[c(keys, numbers)]
}

cat("\nMeans over", length(arguments$folds), "folds\n")
overall <- fold_means("overall", "model")
print(overall, digits = 4, row.names = FALSE)
cat("\n")
print(fold_means("groups", c("model", "group")), digits = 3, row.names = FALSE)
cat("\nGaps between groups\n")
print(fold_means("gaps", c("model", "measure")), digits = 3, row.names = FALSE)
difference <- diff(overall$auc[match(c("feature", "task"), overall$model)])
cat(sprintf(
  "\ntask model: AUC %.4f, %+.4f against %s as a feature\n", overall$auc[overall$model == "task"], difference,
  arguments$group
))
