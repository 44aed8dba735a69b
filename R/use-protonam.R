# protonam(): generic and methods turn what the user has into a frame (R/data-frame.R) and a spec (R/fit-spec.R);
# fit_model() (R/fit-recipe.R) makes a fit of the two.

#' Fit a prototypical neural additive model
#'
#' Fits ProtoNAM and its higher orders to a data frame: regression, two or more classes, counts, several responses, or
#' groups with weights of their own. Columns may be numeric, integer, logical, factor, ordered, character, `Date` or
#' `POSIXct`, with missing values. By default the fit is cross-fitted: every shape function has a band, and every row a
#' prediction by a model that did not see it.
#'
#' @section The default fit:
#' With `order = 1` the linear predictor is an intercept plus, for each feature, a smooth function and a sum of
#' prototype layers, which can jump. The fit proceeds in this order.
#'
#' 1. *The smooth layer.* A numeric feature has a penalised cubic regression spline of its normal scores, constant
#'    beyond its ends; the levels of an unordered factor have random effects, which do not depend on the order or the
#'    names of the levels; a missing value has an effect of its own, shrunk as well. All strengths are found by
#'    restricted maximum likelihood (REML). Fitted alone, this layer tells how much of the variation can be explained,
#'    and with it the number of rows decides how large the network is and how long it trains (see [protonam_control()]).
#' 2. *Screening.* The model with prototypes for all numeric and ordered features is fitted to halves of the rows. A
#'    feature's evidence is by how much the loss of the other halves grows when its curve is replaced by a spline
#'    through it, in standard errors (z): what a smooth curve can say as well does not count. Features that look
#'    promising are screened again on halves that cut across the first. Those with little evidence remain smooth; the
#'    more features there are, the more evidence is asked for. This is a screening measure and not a test: it has no
#'    error rate, and the rows that it was computed from are used again. Where the noise is low, two strengths of the
#'    penalty on variation are tried here, too, and the one with the smaller loss is kept. Columns of few values that
#'    many rows share may ask for more than steps: where single values stand out (`CapitalGain` in census data), each
#'    of them gets an effect of its own beside the curve, shrunk towards it by REML, and the feature has no prototypes.
#'    That takes three standard errors of out-of-fold loss, and a gain beyond that of prototypes; a value that the
#'    training rows do not have lies on the curve.
#' 3. *Members.* The rows are divided into eight folds, classes alike and groups whole. Each of eight members leaves one
#'    fold out. All have the same seed and share their batches but for the rows left out, so that they differ by their
#'    rows alone.
#' 4. *Training.* Within a member, both parts are trained together. The prototypes pay for variation: many small steps,
#'    that is a slope, cost in full, while a jump is cheap, so that slopes are left to the smooth layer. Between epochs
#'    the smooth layer is fitted again to what the prototypes leave, and once more at the end. The last epoch is the
#'    model; no epoch is selected.
#' 5. *The fit* is the mean of the members on the link scale. The delete-a-group jackknife over the folds gives standard
#'    errors and bands, see [shapes()].
#' 6. *Scores.* Each row is predicted by the member that did not see it. `print()` reports scores of these out-of-fold
#'    predictions with intervals; `predict(fit, out_of_fold = TRUE)` returns them. If their calibration slope is not 1,
#'    the linear predictor is stretched or shrunk as a whole, by less the larger the slope's standard error is, and the
#'    summary says so; intercept and terms still add up.
#'
#' The AUC is reported and never optimised. The screening and the sizes in step 1 have seen all rows, so the scores in
#' step 6 are slightly optimistic; [cv_protonam()] repeats every step within each fold. Higher orders have no smooth
#' layer and no screening; their members, bands and scores are made in the same way.
#'
#' `control = paper_control()`, or `procedure = "paper"`, fits as the paper does: one model, without the smooth layer,
#' whose best epoch is chosen by the score of 20 % validation rows.
#'
#' @param x A formula `response ~ features`, or a data frame or matrix of features.
#' @param formula `response ~ features`. `.` means all other columns of `data`, `log(x)` or `I(x^2)` transform, `- x`
#'   leaves out, `offset(log(time))` adds an offset. Interactions are not written here, see `order`. A response
#'   `cbind(y1, y2)` stands for several responses; they may have missing values.
#' @param data A data frame (also tibble or data.table).
#' @param y The response: a vector, factor, or matrix (one response per column).
#' @param order How many features interact: 1 for a model with one effect per feature (ProtoNAM), 2 for all pairs
#'   (ProtoNA2M), `k` for all sets of `k`, `Inf` for one set of all features (ProtoNAnM).
#' @param family [gaussian()], [binomial()], [poisson()] or `"multinomial"`. `NULL` goes by the response: a number is
#'   gaussian; logical, two-level factor and two-valued text are binomial (the event is the last level); more levels are
#'   multinomial.
#' @param task `~ variable`: each of the variable's groups gets weights of its own over shared encoders, and the
#'   variable is no feature.
#' @param pairs For `order = 2`: `NULL` for all pairs, a formula `~ a:b + c:d` to pick some, or a number of pairs, the
#'   strongest by a screening of the data. Features in no pair keep an effect of their own.
#' @param weights Case weights, not negative. A whole number k counts as k copies of the row. With a formula: evaluated
#'   in `data`.
#' @param offset Known part of the linear predictor (link scale). With a formula: evaluated in `data`.
#' @param subset Rows to use, evaluated in `data` (formula): a logical vector, or row numbers in any order. Copies of a
#'   row, as in a bootstrap, are never divided between training and validation, nor between folds.
#' @param na.action What to do about missing values. The default [na.pass()] keeps them: they get effects of their own.
#'   [na.omit()], [na.exclude()] and [na.fail()] work as in [lm()]. Rows without a response are always dropped, with a
#'   message.
#' @param validation Rows to set aside: a fraction (classes alike), row numbers or a logical vector (rows of `data`), or
#'   a data frame. The default fit needs none. If given, these rows are never trained on and choose nothing; the scores
#'   that `print()` reports are then theirs instead of the out-of-fold scores. With `procedure = "paper"` they choose
#'   the best epoch; the default is then 0.2, and 0 keeps the last epoch. Validation rows have no influence on scaling,
#'   levels or prototypes.
#' @param groups `~ id` (or a vector): rows of one group stay together in every fold and when validation rows are drawn.
#'   Standard errors of scores and of the evidence count groups, not rows.
#' @param ensemble Number of folds, and of members that each leave one of them out; `NULL` means 8. It falls, with a
#'   message, to the number of groups or of rows in the rarest class. `ensemble = 1` fits one model to all rows, after
#'   the same screening, without bands or out-of-fold predictions. With `procedure = "paper"`: number of models that
#'   differ in their seed, by default 1. Predictions are averaged on the link scale. Members train side by side, or on
#'   the workers of a `future::plan()` if there is one.
#' @param smoothness How smooth the shapes are: `NULL` or 1 for what the data say, 2 for about half the effective
#'   degrees of freedom, larger numbers for less, 0 for no penalty but a numerical ridge. A named vector such as `c(age
#'   = 3)` concerns these features only. It acts on the splines and on the penalty on variation of the prototypes;
#'   `summary()` shows the degrees of freedom as found and as used. For `order = 1` fits with a smooth layer.
#' @param bootstrap For `procedure = "paper"`: let each member of an ensemble learn from training rows drawn with
#'   replacement? With `groups`, whole groups are drawn. The members of the default fit leave folds out instead, and it
#'   is an error to ask for both.
#' @param control Settings from [protonam_control()] or [paper_control()].
#' @param seed A whole number. `NULL` draws one from R's generator, so that [set.seed()] governs. The same seed gives
#'   the same result for any number of threads.
#' @param threads Threads to use. `NULL`: environment variable `PROTONAM_THREADS`, `options(protonam.threads = )`, or 2.
#' @param verbose Show a progress bar?
#' @param ... Settings of [protonam_control()] by name, such as `epochs = 100`.
#'
#' @return An object of class `protonam`, a list of plain vectors that can be saved with [saveRDS()]. See
#'   [predict.protonam()], [summary.protonam()]. If effects, scores or counts cannot be computed after training, the fit
#'   is returned without them, with a warning of class `protonam_warning_incomplete`.
#' @references Xiong, Sinha and Zhang (2024), ProtoNAM: Prototypical Neural Additive Models for Interpretable Deep
#'   Tabular Learning, \doi{10.48550/arXiv.2410.04723}.
#' @examples
#' fit <- protonam(mpg ~ wt + hp + factor(cyl), mtcars, epochs = 30, seed = 1)
#' fit
#' predict(fit, data.frame(wt = 3, hp = c(100, 200), cyl = 6))
#' @export
protonam <- function(x, ...) {
  if (missing(x) && "formula" %in% names(substitute(list(...)))) {
    # protonam(data = d, formula = y ~ x): dispatch would see `data` first
    call <- sys.call()
    call[[1L]] <- protonam.formula
    return(eval(call, parent.frame()))
  }
  UseMethod("protonam")
}

#' @rdname protonam
#' @export
protonam.formula <- function(formula, data, order = 1, family = NULL, task = NULL, pairs = NULL, weights = NULL,
                             offset = NULL, subset = NULL, na.action = stats::na.pass, # nolint: object_name_linter.
                             validation = NULL, groups = NULL, ensemble = NULL, smoothness = NULL,
                             control = protonam_control(), seed = NULL, threads = NULL, verbose = interactive(),
                             bootstrap = FALSE, ...) {
  call <- match.call()
  call[[1L]] <- quote(protonam)
  control <- merge_control(control, list(...), names(formals(protonam.formula)))
  env <- environment(formula)
  caller <- parent.frame()
  if (missing(data)) data <- env
  columns <- as_columns(data, "data")
  given <- list(weights = substitute(weights), offset = substitute(offset), subset = substitute(subset))
  roles <- c(role_names(task), role_names(groups), vapply(Filter(is.symbol, given[1:2]), as.character, ""))
  frame <- formula_frame(formula, columns, roles)
  tell_left_out(setdiff(frame$left_out, role_names(task)))
  frame$given <- given
  value <- evaluate_arguments(given, columns, env, caller)
  spec <- fit_spec(c(value, mget(spec_arguments), list(na_action = na.action)))
  fit_model(frame, columns, spec, call, explicit = all.vars(formula[[3L]]))
}

#' @rdname protonam
#' @export
protonam.data.frame <- function(x, y, order = 1, family = NULL, task = NULL, pairs = NULL, weights = NULL,
                                offset = NULL, subset = NULL, na.action = stats::na.pass, # nolint: object_name_linter.
                                validation = NULL, groups = NULL, ensemble = NULL, smoothness = NULL,
                                control = protonam_control(), seed = NULL, threads = NULL, verbose = interactive(),
                             bootstrap = FALSE, ...) {
  call <- match.call()
  call[[1L]] <- quote(protonam)
  if (missing(y)) {
    pn_abort("{.arg y}, the response, is missing.", class = "argument", arg = "y")
  }
  if (inherits(y, "formula")) {
    # the data came first, as from a pipe
    swapped <- match.call()
    names(swapped)[match(c("x", "y"), names(swapped))] <- c("data", "formula")
    swapped[[1L]] <- protonam.formula
    fit <- eval(swapped, parent.frame())
    fit$call[[1L]] <- quote(protonam)
    return(fit)
  }
  control <- merge_control(control, list(...), names(formals(protonam.data.frame)))
  name <- if (is.symbol(call$y) && !grepl("^[.][.]", call$y)) as.character(call$y) else "y"
  columns <- as_columns(x, "x")
  features <- columns[setdiff(names(columns), c(role_names(task), role_names(groups)))]
  frame <- table_frame(structure(features, info = attr(columns, "info")), y, name)
  value <- lapply(list(weights = weights, offset = offset, subset = subset), plain_numbers)
  spec <- fit_spec(c(value, mget(spec_arguments), list(na_action = na.action)))
  fit_model(frame, columns, spec, call)
}

#' @rdname protonam
#' @export
protonam.matrix <- function(x, y, ...) {
  fit <- protonam.data.frame(x, y, ...)
  fit$call <- match.call()
  fit$call[[1L]] <- quote(protonam)
  fit
}

#' @rdname protonam
#' @export
protonam.default <- function(x, ...) {
  if (missing(x)) {
    pn_abort(
      "{.fn protonam} needs a formula and data, or features {.arg x} and a response {.arg y}.",
      class = "argument", arg = "x"
    )
  }
  pn_abort(
    "{.fn protonam} takes a formula, a data frame or a matrix first, not {describe(x)}.",
    class = "argument", arg = "x"
  )
}

#' Columns that a role names, when it is a plain column
#' @noRd
role_names <- function(role) {
  if (inherits(role, "formula")) all.vars(role) else if (is.character(role) && length(role) == 1L) role else character()
}

tell_left_out <- function(names) {
  if (length(names)) {
    pn_inform(
      "{.and {.field {names}}} {?has/have} another role and {?is/are} not among the features meant by {.code .}.",
      class = "left_out"
    )
  }
}
