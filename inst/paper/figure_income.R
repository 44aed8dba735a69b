# All shape functions of Income: of the numeric features over the middle 99 % of the rows, of the categorical ones, and
# of the model with gender as a task, which has a curve for each.
#
#   Rscript figure_income.R income.csv.gz
# --parts: any of numbers, categories, task; --folds: the fold that is left out; --bins: 0 for exact values. Writes
# figure_income_numbers.png, figure_income_categories.png and figure_income_task.png.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "figures.R")) source(file.path(here, file))
known <- c("numbers", "categories", "task")
arguments <- paper_arguments(parts = known, folds = 1, bins = 0)
check_among(arguments, "parts", known)
check_whole(arguments, "folds", 0)
check_whole(arguments, "bins", 0)
names <- stats::setNames(paste0("figure_income_", known), known)
claim_files(arguments, figure_files(names[arguments$parts]))

income <- income_data(arguments)
train <- income[income$fold != arguments$folds, ]
features <- setdiff(names(income), c("Income", "fold"))
numeric <- vapply(income[features], is.numeric, NA)
model <- function(task) do.call(income_model, c(list(arguments, 1, arguments$folds, task), bins_change(arguments)))

if (any(c("numbers", "categories") %in% arguments$parts)) kept <- model(FALSE)
if ("numbers" %in% arguments$parts) {
  curves <- trim_shapes(shapes(kept$fit, features[numeric]), train)
  save_figure(arguments, names[["numbers"]], list(kept), 9.6, 5.2, plot(curves))
}
if ("categories" %in% arguments$parts) {
  # the longest list of levels, NativeCountry, would need a page of its own
  short <- vapply(income[features], nlevels, 0L) <= 20L
  save_figure(arguments, names[["categories"]], list(kept), 9.6, 9, plot(kept$fit, features[!numeric & short]))
}
if ("task" %in% arguments$parts) {
  kept <- model(TRUE)
  curves <- trim_shapes(shapes(kept$fit, features[numeric]), train)
  save_figure(arguments, names[["task"]], list(kept), 9.6, 5.6, plot(curves))
}
