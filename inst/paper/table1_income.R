# Table 1, Income: test AUC over five folds of ProtoNAM of three orders and of other models, beside the published
# numbers.
#
#   Rscript table1_income.R income.csv.gz
# --models: any of protonam, nam, linear, spline, ebm, xgboost, mlp; --orders: of protonam; --folds: which; --bins: 0
# for exact values. Writes table1_income.csv, with a row per model and fold; models can be run one after the other into
# the same file.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "baselines.R", "table1.R")) source(file.path(here, file))
known <- c("protonam", "nam", "linear", "spline", "ebm", "xgboost", "mlp")
arguments <- paper_arguments(models = known, orders = c(1, 2, Inf), folds = 1:5, bins = 0)
check_among(arguments, "models", known)
check_among(arguments, "orders", c(1, 2, Inf))
check_whole(arguments, "bins", 0)

income <- income_data(arguments)
wanted <- wanted_models(arguments)
claim_rows(arguments, "table1_income.csv", "model", wanted$model)

# Parts of a fold for the baselines: a fifth of the training rows is held out, as protonam() does.
fold_parts <- function(fold) {
  data <- income[names(income) != "fold"]
  rows <- which(income$fold != fold)
  set.seed(fold)
  held_out <- sample(rows, round(0.2 * length(rows)))
  list(train = data[setdiff(rows, held_out), ], val = data[held_out, ], test = data[income$fold == fold, ])
}

for (i in seq_len(nrow(wanted))) {
  which <- wanted$which[i]
  rows <- do.call(rbind, lapply(arguments$folds, function(fold) {
    parts <- fold_parts(fold)
    if (which %in% names(baselines)) {
      kept <- baseline_kept(paste0("income_fold", fold), arguments, which, parts, "Income", fold)
      return(baseline_row(which, kept, parts, "Income", fold, fold))
    }
    changes <- if (which == "nam") list(use_prototypes = FALSE, hierarchical = FALSE)
    kept <- do.call(
      income_model, c(list(arguments, wanted$order[i], fold), changes, bins_change(arguments))
    )
    fold_row(wanted$model[i], kept, fold, parts$test)
  }))
  add_rows(arguments, "table1_income.csv", "model", rows)
}
finish_table1(arguments, "table1_income.csv", "income")
