# validate_protonam(): how well a fit does on rows that it has not seen.

#' Validate a fit
#'
#' Measures discrimination, calibration and overall accuracy of a fit for rows that it has not seen, with confidence
#' intervals, beside the (too good) values on the rows that it was trained on.
#'
#' @section Methods:
#' * `"out-of-fold"` needs no refitting: each row is predicted by the member of the fit that was not trained on it. The
#'   fit, the mean of the members, is better than any of them, which have fewer rows and stand alone. The values are
#'   corrected for this by the difference between fit and members on the training rows (Burman, 1989), if the data of
#'   the fit are found; otherwise there is a message. The screening of features and the choice of sizes have used all
#'   rows, which is not corrected for.
#' * `"bootstrap"` is Harrell's optimism-corrected validation. The whole procedure, with screening, sizes and members,
#'   is repeated in `repeats` samples of rows drawn with replacement (of whole groups, if the fit has `groups`). The
#'   optimism is the mean difference (of slopes: the ratio) between the value in the sample and the value on the
#'   original rows, and is subtracted from the apparent value. Samples run on the workers of a `future::plan()` if one
#'   is set; the result is the same. It takes about `repeats` times as long as the fit.
#' * `"newdata"` compares predictions with the responses in `newdata`: external validation, or a test set.
#'
#' @section Intervals: They describe the performance of this fit in new rows from the same population. Standard errors
#'   come from influence functions, with the rows of a group taken together: for the AUC this is the method of DeLong,
#'   DeLong and Clarke-Pearson, for calibration intercept and slope the sandwich estimator. Intervals are symmetric on
#'   the logit scale for the AUC and the accuracy, on the log scale for losses and errors. For the bootstrap the
#'   interval of the apparent value is moved by the optimism, and widened by the Monte Carlo error of the latter.
#'   Predictions are taken as given, although the fit depends on the same rows: in simulations with about 90 events, 95
#'   % intervals of AUC and slope covered the values on new rows in about nine of ten data sets
#'   (`inst/benchmarks/README.md`).
#'
#' @param fit A fit, see [protonam()].
#' @param method See section Methods. `"newdata"` if `newdata` is given.
#' @param newdata A data frame with features and response.
#' @param data The data to which the model was fitted. A fit does not keep them; they are looked for where its call
#'   says, and are needed for the bootstrap, for `by`, and for groups.
#' @param by `~ variable`, the name of a column, or a vector: measures also within its groups.
#' @param repeats Number of bootstrap samples.
#' @param level Level of the confidence intervals.
#' @param seed A whole number; `NULL` draws one from R's generator.
#' @param threads,verbose See [protonam()].
#' @param checkpoint `NULL`, or the name of a file in which finished bootstrap samples are kept; see section Checkpoints
#'   of [protonam()].
#' @param ... With `newdata`: `offset` or `task_default`, see [predict.protonam()]. `print()` and `plot()` do not use
#'   it.
#'
#' @return A list of class `protonam_validation`:
#' * `scores`: a data frame with one row per measure (and response, and group): `measure`, `n`, `apparent` (training
#'   rows), `optimism` (`apparent` minus `corrected`), `corrected`, and its interval, `lower` and `upper`. The measures
#'   are `auc`, `brier`, `logloss`, `intercept`, `slope` for two classes, `auc` (mean over classes, each against the
#'   rest), `brier` (sum over classes), `logloss`, `accuracy` for several, `rmse`, `mae`, `r2`, `intercept`, `slope` for
#'   numbers, and `deviance` (mean), `rmse`, `intercept`, `slope` for counts. `intercept` is the
#'   calibration-in-the-large: the intercept of a regression of the response on the linear predictor as an offset, 0 if
#'   the mean prediction is right; `slope` is the coefficient of the linear predictor, below 1 if predictions are too
#'   extreme;
#' * `method`, `level`, `family`, `repeats`, `seed`, `call`;
#' * `out_of_fold`: `NULL`, or the values of the out-of-fold predictions as they are, before the correction; `moved`:
#'   was there one?
#' * `bootstrap`: `NULL`, or a list of `apparent` and `test` (one row per sample, one column per row of `scores`),
#'   and what [stability()] needs.
#' @references Harrell (2015), *Regression Modeling Strategies*, 2nd edition, Springer, chapter 5.
#'
#'   Burman (1989), A comparative study of ordinary cross-validation, v-fold cross-validation and the repeated
#'   learning-testing methods, *Biometrika* 76.
#'
#'   DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver operating
#'   characteristic curves, *Biometrics* 44.
#'
#'   Collins and others (2024), TRIPOD+AI statement, *BMJ* 385, \doi{10.1136/bmj-2023-078378}.
#' @seealso [calibration()], [discrimination()], [decision_curve()], [stability()]; [cv_protonam()] for a
#'   cross-validation of the whole procedure.
#' @examples
#' icu <- simulate_icu(300, seed = 1)
#' fit <- protonam(died ~ age + lactate + sex, icu, epochs = 2, ensemble = 4, seed = 1)
#' validate_protonam(fit)
#' validate_protonam(fit, newdata = simulate_icu(500, seed = 2), by = ~ sex)
#' v <- validate_protonam(fit, "bootstrap", repeats = 2, seed = 1)
#' v
#' plot(v)
#' @export
validate_protonam <- function(fit, method = c("out-of-fold", "bootstrap", "newdata"), newdata = NULL, data = NULL,
                              by = NULL, repeats = 200, level = 0.95, seed = NULL, threads = NULL,
                              verbose = interactive(), checkpoint = NULL, ...) {
  call <- match.call()
  fit <- need_fit(fit)
  methods <- c("out-of-fold", "bootstrap", "newdata")
  if (missing(method) && !is.null(newdata)) method <- "newdata"
  method <- check_choice(method, methods, "method")
  level <- check_number(level, "level", above = 0, below = 1)
  check_method_data(method, newdata)
  caller <- parent.frame()
  way <- list(repeats = repeats, seed = seed, threads = threads, verbose = verbose, checkpoint = checkpoint)
  fields <- if (method == "bootstrap") {
    check_dots_empty(list(...), names(formals(validate_protonam)))
    validate_bootstrap(fit, data, by, caller, level, way)
  } else {
    validate_rows(fit, newdata, data, by, caller, level, list(...))
  }
  new_validation(c(list(
    call = call, method = method, level = level, family = fit$family, name = fit$response$name
  ), fields))
}

check_method_data <- function(method, newdata) {
  if (method == "newdata" && is.null(newdata)) {
    pn_abort("{.code method = \"newdata\"} needs {.arg newdata}.", class = "argument", arg = "newdata")
  }
  if (method != "newdata" && !is.null(newdata)) {
    pn_abort(
      c(
        "{.arg newdata} is not used by {.code method = {.val {method}}}.",
        i = if (method == "bootstrap") "The data of the fit are given as {.arg data}."
      ),
      class = "argument", arg = "newdata"
    )
  }
}

#' Measures of rows that are at hand: out of fold, or new
#' @noRd
validate_rows <- function(fit, newdata, data, by, caller, level, dots) {
  outcomes <- outcomes_of(fit, newdata, data, by, caller, dots)
  table <- measure_parts(split_outcomes(fit, outcomes))
  # the training rows have the groups of `by` only where these are known for them
  own_by <- if (is.null(newdata)) outcomes$by[match(fit$train, which(!is.na(fit$out_of_fold[, 1L])))]
  of_link <- function(link) {
    sets <- outcome_sets(fit, link, fit$y, fit$weights, NULL, fit$train)
    own <- measure_parts(split_outcomes(fit, list(sets = sets, by = own_by)))
    own$value[match(table_key(table), table_key(own))]
  }
  apparent <- of_link(fit$fitted)
  if (!is.null(newdata)) {
    scores <- validation_table(table, apparent, table$value, table$error, table$value, level)
    return(list(scores = scores, unit = outcomes$unit))
  }
  members <- members_alone(fit, data, caller, of_link)
  corrected <- table$value + members_gain(table$measure, apparent, members, table$value)
  list(
    scores = validation_table(table, apparent, corrected, table$error, table$value, level),
    out_of_fold = table$value, moved = !is.null(members), unit = outcomes$unit
  )
}

#' Measures of single members on all training rows, on average; NULL if the data of the fit cannot be found
#' @param of_link Function of the linear predictors of all rows of the fit.
#' @noRd
members_alone <- function(fit, data, caller, of_link) {
  own <- tryCatch(fit_data(fit, data, caller), protonam_error = function(e) {
    if (!is.null(data)) stop(e)
    pn_inform(
      c(
        "The data of the fit are not at hand, so the values are those of single members, which are slightly worse.",
        i = "{.arg data}, the data of the fit, allow to correct for it."
      ),
      class = "members_alone"
    )
  })
  if (!is.list(own)) {
    return(NULL)
  }
  links <- member_links(fit, own)
  Reduce(`+`, lapply(links, of_link)) / length(links)
}

#' What the fit gains over one of its members, which have one fold fewer and are not averaged (Burman's correction)
#'
#' A slope is a factor, and is compared by its ratio.
#' @noRd
members_gain <- function(measure, apparent, members, value) {
  if (is.null(members)) {
    return(0)
  }
  ratio <- measure == "slope" & !is.na(value) & !is.na(members) & members > 0 & apparent > 0
  ifelse(ratio, value * (apparent / members - 1), apparent - members)
}

#' Columns that identify the rows of tables of measures
#' @noRd
table_key <- function(table) {
  field <- function(name, default) as.character(table[[name]] %||% rep(default, nrow(table)))
  paste(field("response", ""), field("group", all_rows), table$measure, sep = "\r")
}
