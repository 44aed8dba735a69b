# Age and HoursPerWeek by gender in the model with gender as a task, and fairness() of that model beside the one with
# gender as a feature, both for one fold of Income. For the vignette "Fairness with tasks".
#
#   Rscript figure_fairness.R income.csv.gz
# --folds: the fold that is left out; --bins: 0 for exact values; --threshold: above it a row is selected. Writes
# fairness_income.png and fairness_income.csv (a row per model and group; group "all" is everybody).
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "figures.R")) source(file.path(here, file))
arguments <- paper_arguments(folds = 1, bins = 0, threshold = 0.5)
check_whole(arguments, "folds", 0)
check_whole(arguments, "bins", 0)
name <- "fairness_income"
claim_files(arguments, c(figure_files(name), paste0(name, ".csv")))

income <- income_data(arguments)
train <- income[income$fold != arguments$folds, ]
test <- income[income$fold == arguments$folds, names(income) != "fold"]
kept <- lapply(c(feature = FALSE, task = TRUE), function(task) {
  do.call(income_model, c(list(arguments, 1, arguments$folds, task), bins_change(arguments)))
})

curves <- trim_shapes(shapes(kept$task$fit, c("Age", "HoursPerWeek")), train)
save_figure(arguments, name, kept["task"], 8, 3.4, plot(curves))

table <- fairness(lapply(kept, `[[`, "fit"), test, "Income", "Gender", threshold = arguments$threshold)
rows <- table[seq_len(nrow(table)), ]
rows$group <- as.character(rows$group)
everybody <- data.frame(attr(table, "overall"), group = "all")
rows <- rbind(rows, everybody[names(rows)])
rows <- rows[order(match(rows$model, names(kept))), ]
origin <- do.call(rbind, lapply(kept[rows$model], provenance))
write_table(
  data.frame(rows, fold = arguments$folds, threshold = arguments$threshold, origin, row.names = NULL),
  result_file(arguments, paste0(name, ".csv"))
)
print(table)
