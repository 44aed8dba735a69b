# The ablation of components: test RMSE on Housing of the models of three orders, whole, without hierarchical modelling,
# and without prototypes.
#
#   Rscript ablation_components.R housing.csv.gz
# --orders, --without (none, hierarchical, prototypes): which; --ensemble: models of each, which differ in their seed;
# --bins: 0 for exact values (two to four times as long). Writes ablation_components.csv, with a row per case and model;
# cases can be run one after the other into the same file. Whole models are taken from the kept fits of table 1 where
# they are there with the same bins.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R")) source(file.path(here, file))
known <- c("none", "hierarchical", "prototypes")
arguments <- paper_arguments(orders = c(1, 2, Inf), without = known, ensemble = 3, bins = 256)
check_among(arguments, "orders", c(1, 2, Inf))
check_among(arguments, "without", known)
check_whole(arguments, "ensemble", 1)
check_whole(arguments, "bins", 0)

cases <- expand.grid(without = arguments$without, order = arguments$orders, stringsAsFactors = FALSE)
cases$case <- sprintf("order %s without %s", cases$order, cases$without)
numbers <- published("ablation_components")
parts <- housing_parts(arguments)
claim_rows(arguments, "ablation_components.csv", "case", cases$case)

for (i in seq_len(nrow(cases))) {
  kept <- component_models(arguments, cases$order[i], cases$without[i])
  paper <- numbers[numbers$order == cases$order[i] & numbers$without == cases$without[i], ]
  rows <- ensemble_rows(paper$model, kept, parts$test)
  add_rows(arguments, "ablation_components.csv", "case", data.frame(
    cases[rep(i, nrow(rows)), c("case", "order", "without")], rows,
    published = paper$value, row.names = NULL
  ))
}

table <- read_result(result_file(arguments, "ablation_components.csv"), "case")
table <- table[table$kind == "one model", ]
cat("mean test RMSE (rows: order, columns: without)\n")
print(round(tapply(table$value, list(order = table$order, without = factor(table$without, known)), mean), 4))
cat("published\n")
print(tapply(numbers$value, list(order = numbers$order, without = factor(numbers$without, known)), mean))
cat("written to", result_file(arguments, "ablation_components.csv"), "\n")
