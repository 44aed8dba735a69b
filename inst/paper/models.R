# The fitted models that the paper's tables and figures are made of, one function per data set. Sourced after common.R.

# Housing -------------------------------------------------------------------------------------------------------------

# Housing as the paper uses it: its own split; all models of an ensemble differ in their seed alone.
housing_parts <- function(arguments) {
  housing <- read_housing(arguments$path)
  if (is.null(housing$split)) stop_script("the published split is needed: a CSV file with a column `split`")
  absent <- setdiff(c("train", "val", "test"), levels(housing$split))
  if (length(absent)) stop_script("column `split` needs the parts train, val and test; it has no ", toString(absent))
  lapply(split(housing, housing$split), function(part) part[names(part) != "split"])
}

# `models` models of one order with the published settings, except for what ... changes (arguments of
# protonam_control()); the changes also name the kept fit.
housing_models <- function(arguments, order, models = 10, ...) {
  changes <- list(...)
  parts <- housing_parts(arguments)
  keep_fit(housing_name(order, models, changes), do.call(protonam, c(list(
    MedHouseVal ~ ., parts$train,
    validation = parts$val, order = order, ensemble = models, control = paper_control("housing", order),
    seed = arguments$seed, threads = arguments$threads, verbose = FALSE
  ), changes, if (arguments$epochs > 0) list(epochs = arguments$epochs))), arguments)
}

housing_name <- function(order, models, changes = list()) {
  paste(c(
    "housing", paste0("order", order), if (models != 10) paste0("models", models),
    sprintf("%s%s", names(changes), vapply(changes, format, ""))
  ), collapse = "_")
}

# --bins as a change of settings: 0 is exact.
bins_change <- function(arguments) if (arguments$bins > 0) list(bins = arguments$bins)

# One cell of the ablation grid: `--ensemble` models of order 1.
grid_models <- function(arguments, layers, prototypes) {
  do.call(housing_models, c(
    list(arguments, 1, arguments$ensemble, layers = layers, prototypes = prototypes), bins_change(arguments)
  ))
}

# A model of one order, whole or without a component.
component_models <- function(arguments, order, component) {
  models <- arguments$ensemble
  changes <- switch(component,
    hierarchical = list(hierarchical = FALSE),
    prototypes = list(use_prototypes = FALSE)
  )
  if (component == "none") {
    # the first of the ten models of table 1 if kept; the whole model of order 1 is also a cell of the grid
    kept <- if (models < 10) read_kept(fit_file(housing_name(order, 10, bins_change(arguments)), arguments), arguments)
    if (!is.null(kept)) {
      share <- models / length(kept$fit$members)
      for (name in intersect(c("seconds", "cpu_seconds"), names(kept))) kept[[name]] <- kept[[name]] * share
      kept$fit <- some_members(kept$fit, seq_len(models))
      return(kept)
    }
    if (order == 1) {
      return(grid_models(arguments, 4, 32))
    }
  }
  do.call(housing_models, c(list(arguments, order, models), changes, bins_change(arguments)))
}

# Members --------------------------------------------------------------------------------------------------------------

# The fit with some of its members only. What is kept of the training rows stays that of all, so that the result is for
# predict(), shapes() and prototypes().
some_members <- function(fit, which) {
  for (name in c("members", "centering", "nearest")) fit[[name]] <- fit[[name]][which]
  protonam:::seal_fit(fit)
}

# Predictions of every model of an ensemble, one column each, in the order of its seeds.
member_predictions <- function(fit, test) {
  vapply(seq_along(fit$members), function(m) predict(some_members(fit, m), test), numeric(nrow(test)))
}

# Rows of a table of Housing: every model of an ensemble, the mean of the first eight where there are more, and of all.
ensemble_rows <- function(model, kept, test) {
  fit <- kept$fit
  prediction <- member_predictions(fit, test)
  models <- ncol(prediction)
  sizes <- unique(c(if (models > 8L) 8L, if (models > 1L) models))
  averages <- vapply(sizes, function(size) rmse(rowMeans(prediction[, seq_len(size)]), test$MedHouseVal), 0)
  data.frame(
    model = model, source = "measured",
    kind = c(rep("one model", models), sprintf("average of %d models", sizes)),
    member = c(seq_len(models), rep(NA, length(sizes))), seed = fit$seed, fold = NA, metric = "rmse",
    value = c(apply(prediction, 2L, rmse, test$MedHouseVal), averages), spread = NA,
    validation = c(vapply(fit$members, function(member) sqrt(member$score), 0), rep(NA, length(sizes))),
    best_epoch = c(vapply(fit$members, function(member) member$best_epoch, 0L), rep(NA, length(sizes))),
    settings = settings_line(fit),
    provenance(kept, c(rep(1, models), sizes) / models)
  )
}

# Income --------------------------------------------------------------------------------------------------------------

# Income with its column `fold`; --folds must be among them.
income_data <- function(arguments) {
  income <- read_income(arguments$path)
  if (is.null(income$fold)) stop_script("the published folds are needed: a CSV file with a column `fold`")
  known <- sort(unique(income$fold))
  unknown <- setdiff(arguments$folds, known)
  if (length(unknown)) stop_script("--folds must be among ", toString(known), ", not ", toString(unknown))
  income
}

# One fold: trained on the other four, a fifth of which is held out for the best epoch. `task = TRUE` takes gender out
# of the features and gives each its own weights.
income_model <- function(arguments, order, fold, task = FALSE, ...) {
  income <- income_data(arguments)
  changes <- list(...)
  name <- paste(c(
    "income", paste0("order", order), paste0("fold", fold), if (task) "task",
    sprintf("%s%s", names(changes), vapply(changes, format, ""))
  ), collapse = "_")
  keep_fit(name, do.call(protonam, c(list(
    Income ~ ., income[income$fold != fold, names(income) != "fold"],
    order = order, control = paper_control("income", order), seed = fold + arguments$seed, threads = arguments$threads,
    verbose = FALSE
  ), if (task) list(task = ~Gender), changes, if (arguments$epochs > 0) list(epochs = arguments$epochs))), arguments)
}

# The row of a table of Income for one fold.
fold_row <- function(model, kept, fold, test) {
  member <- kept$fit$members[[1L]]
  data.frame(
    model = model, source = "measured", kind = "one model", member = 1, seed = kept$fit$seed, fold = fold,
    metric = "auc", value = auc(predict(kept$fit, test), test$Income == ">50K"), spread = NA,
    validation = member$score, best_epoch = member$best_epoch, settings = settings_line(kept$fit), provenance(kept)
  )
}
