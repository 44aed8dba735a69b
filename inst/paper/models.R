# The fitted models that the paper's tables and figures are made of, one function per data set. Sourced after common.R.

# Housing as the paper uses it: its own split; all models of an ensemble differ in their seed alone.
housing_parts <- function(arguments) {
  housing <- read_housing(arguments$path)
  if (is.null(housing$split)) stop("the published split is needed: a CSV file with a column `split`")
  lapply(split(housing, housing$split), function(part) part[names(part) != "split"])
}

# `models` models of one order with the published settings, except for what ... changes (arguments of
# protonam_control()); the changes also name the kept fit.
housing_models <- function(arguments, order, models = 10, ...) {
  changes <- list(...)
  name <- paste(c(
    "housing", paste0("order", order), if (models != 10) paste0("models", models),
    sprintf("%s%s", names(changes), vapply(changes, format, ""))
  ), collapse = "_")
  parts <- housing_parts(arguments)
  keep_fit(name, do.call(protonam, c(list(
    MedHouseVal ~ ., parts$train,
    validation = parts$val, order = order, ensemble = models, control = paper_control("housing", order), seed = 0,
    threads = arguments$threads, verbose = FALSE
  ), changes, if (arguments$epochs > 0) list(epochs = arguments$epochs))), arguments)
}

# Test RMSE of every model of an ensemble, in the order of its seeds.
member_rmse <- function(fit, test) {
  vapply(seq_along(fit$members), function(m) {
    one <- fit
    one$members <- fit$members[m]
    one$centering <- NULL
    rmse(predict(one, test), test$MedHouseVal)
  }, 0)
}

# Income, one fold: trained on the other four, a fifth of which is held out for the best epoch. `task = TRUE` takes
# gender out of the features and gives each its own weights.
income_model <- function(arguments, order, fold, task = FALSE, ...) {
  income <- read_income(arguments$path)
  if (is.null(income$fold)) stop("the published folds are needed: a CSV file with a column `fold`")
  changes <- list(...)
  name <- paste(c(
    "income", paste0("order", order), paste0("fold", fold), if (task) "task",
    sprintf("%s%s", names(changes), vapply(changes, format, ""))
  ), collapse = "_")
  keep_fit(name, do.call(protonam, c(list(
    Income ~ ., income[income$fold != fold, names(income) != "fold"],
    order = order, control = paper_control("income", order), seed = fold, threads = arguments$threads, verbose = FALSE
  ), if (task) list(task = ~Gender), changes, if (arguments$epochs > 0) list(epochs = arguments$epochs))), arguments)
}
