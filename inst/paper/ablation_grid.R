# The ablation of layers and prototypes: test RMSE on Housing of ProtoNAM with 1 to 4 layers and 8, 32 or 128
# prototypes.
#
#   Rscript ablation_grid.R housing.csv.gz
# --layers, --prototypes: which cells; --ensemble: models of each, which differ in their seed; --bins: 0 for exact
# values (about four times as long). Writes ablation_grid.csv, with a row per cell and model; cells can be run one after
# the other into the same file.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R")) source(file.path(here, file))
arguments <- paper_arguments(layers = 1:4, prototypes = c(8, 32, 128), ensemble = 3, bins = 256)
check_whole(arguments, "layers", 1, several = TRUE)
check_whole(arguments, "prototypes", 1, several = TRUE)
check_whole(arguments, "ensemble", 1)
check_whole(arguments, "bins", 0)

cells <- expand.grid(prototypes = arguments$prototypes, layers = arguments$layers)
cells$cell <- sprintf("%d x %d", cells$layers, cells$prototypes)
numbers <- published("ablation_grid")
parts <- housing_parts(arguments)
claim_rows(arguments, "ablation_grid.csv", "cell", cells$cell)

for (i in seq_len(nrow(cells))) {
  kept <- grid_models(arguments, cells$layers[i], cells$prototypes[i])
  paper <- numbers$value[numbers$layers == cells$layers[i] & numbers$prototypes == cells$prototypes[i]]
  rows <- ensemble_rows("ProtoNAM", kept, parts$test)
  add_rows(arguments, "ablation_grid.csv", "cell", data.frame(
    cells[rep(i, nrow(rows)), c("cell", "layers", "prototypes")], rows,
    published = if (length(paper)) paper else NA, row.names = NULL
  ))
}

table <- read_result(result_file(arguments, "ablation_grid.csv"), "cell")
table <- table[table$kind == "one model", ]
cat("mean test RMSE (rows: layers, columns: prototypes)\n")
print(round(tapply(table$value, table[c("layers", "prototypes")], mean), 4))
cat("published\n")
print(tapply(numbers$value, numbers[c("layers", "prototypes")], mean))
cat("written to", result_file(arguments, "ablation_grid.csv"), "\n")
