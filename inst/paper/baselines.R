# The other models of the paper's table 1 as R users have them. Sourced after common.R.
#
# A baseline is list(package, fit), where fit(rows, validation, test, response, seed) returns list(prediction,
# settings): predictions for `test` (means, or probabilities of the second class) and what was chosen. `rows` and
# `validation` are data frames. Models that need no held-out rows learn from both. A baseline whose package is missing
# is left out.

# Formula with all columns but the response.
all_columns <- function(rows, response) {
  stats::as.formula(paste(response, "~", paste(setdiff(names(rows), response), collapse = " + ")))
}

is_binary <- function(rows, response) is.factor(rows[[response]])

# Features as numbers: factors become one column per level, numbers are standardised by the training rows.
design_matrices <- function(rows, others, response) {
  features <- setdiff(names(rows), response)
  columns <- function(data) {
    do.call(cbind, lapply(features, function(name) {
      if (is.factor(data[[name]])) {
        vapply(levels(data[[name]]), function(level) as.numeric(data[[name]] == level), numeric(nrow(data)))
      } else {
        matrix((data[[name]] - mean(rows[[name]])) / stats::sd(rows[[name]]))
      }
    }))
  }
  lapply(c(list(train = rows), others), columns)
}

# The response as numbers, 1 for the second class.
as_number <- function(y) if (is.factor(y)) as.numeric(y) - 1 else y

# Levels that no training row has, as the most frequent one, for models that know no other way.
replace_unseen <- function(test, rows) {
  for (name in names(rows)[vapply(rows, is.factor, NA)]) {
    count <- table(rows[[name]])
    test[[name]][count[as.character(test[[name]])] == 0L] <- names(count)[which.max(count)]
  }
  test
}

fit_linear <- function(rows, validation, test, response, seed) {
  rows <- rbind(rows, validation)
  test <- replace_unseen(test, rows)
  family <- if (is_binary(rows, response)) stats::binomial() else stats::gaussian()
  # separated levels of Income give fitted probabilities of 0, which glm() warns of
  suppressWarnings({
    fit <- stats::glm(all_columns(rows, response), family, rows)
    prediction <- unname(stats::predict(fit, test, type = "response"))
  })
  list(prediction = prediction, settings = "learns from validation rows too")
}

fit_spline <- function(rows, validation, test, response, seed) {
  rows <- rbind(rows, validation)
  features <- setdiff(names(rows), response)
  basis <- 40
  binary <- is_binary(rows, response)
  # levels are shrunk like random effects, so that those seen once or never do no harm
  terms <- vapply(features, function(name) {
    distinct <- length(unique(rows[[name]]))
    if (is.factor(rows[[name]])) {
      sprintf("s(%s, bs = \"re\")", name)
    } else {
      sprintf("s(%s, bs = \"cr\", k = %d)", name, min(basis, distinct))
    }
  }, "")
  # quicker with values on a grid, which is too coarse for the longest tails of Housing
  fit <- mgcv::bam(
    stats::as.formula(paste(response, "~", paste(terms, collapse = " + "))),
    family = if (binary) stats::binomial() else stats::gaussian(), data = rows, method = "fREML", discrete = binary,
    drop.unused.levels = FALSE
  )
  list(
    prediction = as.numeric(stats::predict(fit, test, type = "response")),
    settings = sprintf("bam s(k=%d bs=cr) method=fREML discrete=%s; learns from validation rows too", basis, binary)
  )
}

fit_ebm <- function(rows, validation, test, response, seed) {
  if (!is_binary(rows, response)) stop("the interpret package on CRAN does two classes only")
  rows <- rbind(rows, validation)
  features <- setdiff(names(rows), response)
  # categorical features as numbers of their levels; bins are as fine as the levels
  numbers <- function(data) as.data.frame(lapply(data[features], as.numeric))
  # interpret 0.1.35 keeps the last of its outer bags only, divided by their number: one bag is the same and quicker
  fit <- interpret::ebm_classify(numbers(rows), as_number(rows[[response]]), outer_bags = 1, random_state = seed)
  list(
    prediction = as.numeric(interpret::ebm_predict_proba(fit, numbers(test))),
    settings = "ebm_classify outer_bags=1; learns from validation rows too"
  )
}

fit_xgboost <- function(rows, validation, test, response, seed) {
  binary <- is_binary(rows, response)
  matrices <- design_matrices(rows, list(validation = validation, test = test), response)
  sets <- Map(function(matrix, data) {
    xgboost::xgb.DMatrix(data = matrix, label = as_number(data[[response]]), nthread = 1)
  }, matrices, list(rows, validation, test))
  parameters <- list(
    objective = if (binary) "binary:logistic" else "reg:squarederror", eval_metric = if (binary) "logloss" else "rmse",
    eta = 0.03, max_depth = 6, min_child_weight = 5, subsample = 0.7, colsample_bytree = 0.7, nthread = 1
  )
  train <- function(rounds, watched = NULL, patience = NULL) {
    set.seed(seed)
    call <- list(parameters, sets$train, nrounds = rounds, verbose = 0)
    if (!is.null(watched)) {
      # called `watchlist` before version 3
      name <- if ("evals" %in% names(formals(xgboost::xgb.train))) "evals" else "watchlist"
      call <- c(call, stats::setNames(list(list(held = watched)), name), list(early_stopping_rounds = patience))
    }
    do.call(xgboost::xgb.train, call)
  }
  watched <- train(4000, sets$validation, 100)
  log <- attr(watched, "evaluation_log")
  if (is.null(log)) log <- watched$evaluation_log
  rounds <- which.min(log[[ncol(log)]])
  # the number of rounds is found, then trees are grown anew: how predict() picks the best round differs by version
  list(
    prediction = as.numeric(stats::predict(train(rounds), sets$test)),
    settings = sprintf(
      "eta=%g max_depth=%d min_child_weight=%d subsample=%g colsample=%g rounds=%d by validation", parameters$eta,
      parameters$max_depth, parameters$min_child_weight, parameters$subsample, parameters$colsample_bytree, rounds
    )
  )
}

fit_mlp <- function(rows, validation, test, response, seed) {
  binary <- is_binary(rows, response)
  matrices <- design_matrices(rows, list(validation = validation, test = test), response)
  y <- as_number(rows[[response]])
  held_out <- as_number(validation[[response]])
  tries <- expand.grid(size = if (binary) c(4, 8) else c(16, 32), decay = if (binary) c(1, 5) else c(0.1, 1))
  fits <- Map(function(size, decay) {
    set.seed(seed)
    fit <- nnet::nnet(
      matrices$train, y,
      size = size, decay = decay, linout = !binary, entropy = binary, maxit = if (binary) 150 else 500, MaxNWts = 1e5,
      trace = FALSE
    )
    score <- stats::predict(fit, matrices$validation)
    list(fit = fit, loss = if (binary) -auc(score, held_out == 1) else rmse(score, held_out))
  }, tries$size, tries$decay)
  best <- which.min(vapply(fits, `[[`, 0, "loss"))
  list(
    prediction = as.numeric(stats::predict(fits[[best]]$fit, matrices$test)),
    settings = sprintf("one hidden layer size=%g decay=%g by validation", tries$size[best], tries$decay[best])
  )
}

baselines <- list(
  linear = list(model = "Linear", package = "stats", fit = fit_linear),
  spline = list(model = "Spline", package = "mgcv", fit = fit_spline),
  ebm = list(model = "EBM", package = "interpret", fit = fit_ebm),
  xgboost = list(model = "XGBoost", package = "xgboost", fit = fit_xgboost),
  mlp = list(model = "MLP", package = "nnet", fit = fit_mlp)
)

# Whether the package of a baseline is there; says so where not.
baseline_there <- function(name) {
  package <- baselines[[name]]$package
  there <- requireNamespace(package, quietly = TRUE)
  if (!there) message(baselines[[name]]$model, " is left out: package ", package, " is not installed")
  there
}

# Baselines run on one thread and are kept like fits; `name` tells data, fold and seed apart.
baseline_kept <- function(name, arguments, which, parts, response, seed) {
  arguments$threads <- 1
  baseline <- baselines[[which]]
  keep_fit(paste(name, which, sep = "_"), {
    result <- baseline$fit(parts$train, parts$val, parts$test, response, seed)
    result$settings <- sprintf("%s %s; %s", baseline$package, utils::packageVersion(baseline$package), result$settings)
    result
  }, arguments)
}

baseline_row <- function(which, kept, parts, response, seed, fold = NA) {
  y <- parts$test[[response]]
  binary <- is.factor(y)
  value <- if (binary) auc(kept$fit$prediction, as_number(y) == 1) else rmse(kept$fit$prediction, y)
  data.frame(
    model = baselines[[which]]$model, source = "measured", kind = "one model", member = 1, seed = seed, fold = fold,
    metric = if (binary) "auc" else "rmse", value = value, spread = NA, validation = NA, best_epoch = NA,
    settings = kept$fit$settings, provenance(kept)
  )
}
