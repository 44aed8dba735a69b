# The prototypes of Longitude: centres and lines, layer by layer, in processed and in original units.
#
#   Rscript table_prototypes.R housing.csv.gz
# --ensemble: models of the kept fit; --member: which of them; --term: of another feature. Writes table_prototypes.csv
# (the slope is the same in both units), and table_prototypes.txt, which says where it comes from.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R")) source(file.path(here, file))
arguments <- paper_arguments(ensemble = 10, member = 1, term = "Longitude")
check_whole(arguments, "ensemble", 1)
check_whole(arguments, "member", 1, arguments$ensemble)
check_among(arguments, "term", setdiff(names(housing_parts(arguments)$train), "MedHouseVal"))
claim_files(arguments, c("table_prototypes.csv", "table_prototypes.txt"))

kept <- housing_models(arguments, 1, arguments$ensemble)
original <- prototypes(kept$fit, arguments$term, member = arguments$member)
processed <- prototypes(kept$fit, arguments$term, member = arguments$member, units = "processed")
table <- data.frame(
  original[c("term", "layer", "prototype")], signif(original[c("center", "slope", "intercept")], 7),
  center_processed = signif(processed$center, 7), intercept_processed = signif(processed$intercept, 7),
  count = original$count
)
print(utils::head(table, 8), row.names = FALSE, digits = 4)
write_table(table, result_file(arguments, "table_prototypes.csv"))
write_origin(arguments, "table_prototypes", list(kept), sprintf("member: %d", arguments$member))
cat("written to", result_file(arguments, "table_prototypes.csv"), "\n")
