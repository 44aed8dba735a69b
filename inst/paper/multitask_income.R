# Multitask, Income: gender as a task (its groups have weights of their own over shared features, and it is no feature)
# against gender as a feature: test AUC and fairness by group, over five folds.
#
#   Rscript multitask_income.R income.csv.gz
# --folds: which; --bins: 0 for exact values; --threshold: above it a row is selected. Writes multitask_income.csv (a
# row per model, fold and group; group "all" is everybody) and multitask_income_gaps.csv (largest differences between
# groups).
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R")) source(file.path(here, file))
arguments <- paper_arguments(folds = 1:5, bins = 0, threshold = 0.5)
check_whole(arguments, "bins", 0)
files <- c("multitask_income.csv", "multitask_income_gaps.csv")
if (!isTRUE(arguments$threshold > 0 && arguments$threshold < 1)) stop_script("--threshold must be between 0 and 1")
claim_files(arguments, files)
income <- income_data(arguments)

results <- lapply(arguments$folds, function(fold) {
  test <- income[income$fold == fold, names(income) != "fold"]
  kept <- lapply(c(feature = FALSE, task = TRUE), function(task) {
    do.call(income_model, c(list(arguments, 1, fold, task), bins_change(arguments)))
  })
  table <- fairness(lapply(kept, `[[`, "fit"), test, "Income", "Gender", threshold = arguments$threshold)
  rows <- table[seq_len(nrow(table)), ]
  rows$group <- as.character(rows$group)
  everybody <- data.frame(attr(table, "overall"), group = "all")
  rows <- rbind(everybody[names(rows)], rows)
  origin <- do.call(rbind, lapply(kept[rows$model], function(one) {
    data.frame(fold = fold, seed = one$fit$seed, settings = settings_line(one$fit), provenance(one))
  }))
  gaps <- summary(table)
  list(
    groups = data.frame(rows, origin, row.names = NULL),
    gaps = data.frame(gaps, origin[match(gaps$model, rows$model), ], row.names = NULL)
  )
})
groups <- do.call(rbind, lapply(results, `[[`, "groups"))
gaps <- do.call(rbind, lapply(results, `[[`, "gaps"))
write_table(groups, result_file(arguments, files[1L]))
write_table(gaps, result_file(arguments, files[2L]))

everybody <- groups[groups$group == "all", ]
print(stats::aggregate(auc ~ model, everybody, mean), row.names = FALSE)
cat("published for gender as a task:", published("multitask", "income")$value, "\n")
cat("written to", result_file(arguments, files[1L]), "\n")
