# Table 1, Housing: test RMSE of ProtoNAM of three orders and of other models, beside the published numbers.
#
#   Rscript table1_housing.R housing.csv.gz
# --models: any of protonam, nam, linear, spline, xgboost, mlp; --orders: of protonam; --ensemble: models of each, which
# differ in their seed; --seeds: of xgboost and mlp; --bins: 0 for exact values. Writes table1_housing.csv, with a row
# per model and seed; parts can be run one after the other into the same file.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "baselines.R", "table1.R")) source(file.path(here, file))
known <- c("protonam", "nam", "linear", "spline", "xgboost", "mlp")
arguments <- paper_arguments(models = known, orders = c(1, 2, Inf), ensemble = 10, seeds = 0:2, bins = 0)
check_among(arguments, "models", known)
check_among(arguments, "orders", c(1, 2, Inf))
check_whole(arguments, "ensemble", 1)
check_whole(arguments, "bins", 0)

parts <- housing_parts(arguments)
wanted <- wanted_models(arguments)
claim_rows(arguments, "table1_housing.csv", "model", wanted$model)

for (i in seq_len(nrow(wanted))) {
  which <- wanted$which[i]
  rows <- if (which %in% names(baselines)) {
    # models without chance are fitted once
    seeds <- if (which %in% c("linear", "spline")) arguments$seeds[1L] else arguments$seeds
    do.call(rbind, lapply(seeds, function(seed) {
      kept <- baseline_kept(paste0("housing_seed", seed), arguments, which, parts, "MedHouseVal", seed)
      baseline_row(which, kept, parts, "MedHouseVal", seed)
    }))
  } else {
    changes <- if (which == "nam") list(use_prototypes = FALSE, hierarchical = FALSE)
    kept <- do.call(
      housing_models, c(list(arguments, wanted$order[i], arguments$ensemble), changes, bins_change(arguments))
    )
    ensemble_rows(wanted$model[i], kept, parts$test)
  }
  add_rows(arguments, "table1_housing.csv", "model", rows)
}
finish_table1(arguments, "table1_housing.csv", "housing")
