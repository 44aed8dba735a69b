# All shape functions of Income: of gender and the numeric features over the middle 99 % of the rows, of categorical
# ones with few and with many levels, of the countries, and of the numeric features in the model with gender as a task,
# which has a curve for each.
#
#   Rscript figure_income.R income.csv.gz
# --parts: any of numbers, categories, lists, countries, task; --folds: the fold that is left out; --bins: 0 for exact
# values. Writes a figure_income_<part>.png for each.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "figures.R")) source(file.path(here, file))
known <- c("numbers", "categories", "lists", "countries", "task")
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

kinds <- list(
  categories = list(c("WorkClass", "MaritalStatus", "Relationship", "Race"), width = 9.6, height = 6),
  lists = list(c("Education", "Occupation"), width = 9.6, height = 5.2),
  countries = list("NativeCountry", width = 8, height = 8)
)
if (any(arguments$parts != "task")) kept <- model(FALSE)
for (part in setdiff(arguments$parts, "task")) {
  if (part == "numbers") {
    curves <- trim_shapes(shapes(kept$fit, c(features[numeric], "Gender")), train)
    save_figure(arguments, names[[part]], list(kept), 9.6, 6.4, plot(curves))
  } else {
    kind <- kinds[[part]]
    save_figure(arguments, names[[part]], list(kept), kind$width, kind$height, plot(kept$fit, kind[[1L]]))
  }
}
if ("task" %in% arguments$parts) {
  kept <- model(TRUE)
  curves <- trim_shapes(shapes(kept$fit, features[numeric]), train)
  save_figure(arguments, names[["task"]], list(kept), 9.6, 5.6, plot(curves))
}
