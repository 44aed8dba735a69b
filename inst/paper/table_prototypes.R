# The prototypes of Longitude: centres and lines, layer by layer, in processed and in original units.
#
#   Rscript table_prototypes.R housing.csv.gz
# --ensemble: models of the kept fit; --member: which of them; --term: of another feature. Writes table_prototypes.csv.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R")) source(file.path(here, file))
arguments <- paper_arguments(ensemble = 10, member = 1, term = "Longitude")
check_whole(arguments, "ensemble", 1)
check_whole(arguments, "member", 1)
claim_files(arguments, "table_prototypes.csv")

kept <- housing_models(arguments, 1, arguments$ensemble)
original <- prototypes(kept$fit, arguments$term, member = arguments$member)
processed <- prototypes(kept$fit, arguments$term, member = arguments$member, units = "processed")
table <- data.frame(
  original[c("term", "layer", "prototype", "center", "slope", "intercept", "count")],
  stats::setNames(processed[c("center", "slope", "intercept")], c("center_processed", "slope_processed", "intercept_processed")),
  member = arguments$member, seed = kept$fit$seed, settings = settings_line(kept$fit), provenance(kept)
)
print(utils::head(table[1:10], 8), row.names = FALSE, digits = 4)
write_table(table, result_file(arguments, "table_prototypes.csv"))
cat("written to", result_file(arguments, "table_prototypes.csv"), "\n")
