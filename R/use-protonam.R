# protonam(): the generic and its methods turn the input into a frame (R/data-frame.R) and a spec (R/fit-spec.R);
# fit_model() (R/fit-recipe.R) fits the model to these.

#' Fit a prototypical neural additive model
#'
#' Fits ProtoNAM and its higher orders to a data frame: regression, two or more classes, counts, several responses, or
#' groups with separate weights. Columns may be numeric, integer, logical, factor, ordered, character, `Date` or
#' `POSIXct`, with missing values. By default the fit is cross-fitted: every shape function comes with a band, and every
#' row with a prediction from a model that was not trained on it.
#'
#' @section The default fit: With `order = 1` the linear predictor is an intercept plus, for each feature, a smooth
#' function and a sum of prototype layers, which can jump. The fit proceeds in the following steps.
#'
#' 1. *The smooth layer.* A numeric feature enters through a penalised cubic regression spline of its scaled values,
#'    which is constant beyond its boundary knots; the levels of an unordered factor have random effects, which do not
#'    depend on the order or the names of the levels; a missing value has a separate effect, which is also shrunk. All
#'    penalties are estimated by restricted maximum likelihood (REML). Fitted alone, this layer shows how much of the
#'    variation can be explained; together with the number of rows, this determines the size of the network and the
#'    length of its training (see [protonam_control()]).
#' 2. *Screening.* Two measures of evidence show which numeric and ordered features need prototypes. For the first, the
#'    model with prototypes for all of them is fitted to halves of the rows, or to three quarters where rows or events
#'    are few: z is the increase in the loss of the rows left out when a feature's curve is replaced by a spline fitted
#'    to it, in standard errors, so that what a smooth curve can represent equally well does not count. Promising
#'    features are screened again on a division that cuts across the first. For the second, all borders between values
#'    are scanned for a step next to the spline; the largest likelihood ratio, as a z, is the evidence for steps. A
#'    feature receives prototypes if its step, plus a third of z, exceeds 3.8 (more if there are more than ten
#'    features). These are screening measures, not tests: they have no guaranteed
#'    error rate, and the rows from which they are computed are used again. Where the noise is low, two strengths of the
#'    penalty on variation are also compared at this stage, and the one with the smaller loss is kept. Columns with few
#'    values, each shared by many rows, may need more than steps: where single values stand out (`CapitalGain` in census
#'    data), each of them gets a separate effect in addition to the curve, shrunk towards it by REML, and the feature
#'    has no prototypes. This requires an improvement in out-of-fold loss of three standard errors, and a larger one
#'    than prototypes achieve; a value that does not occur in the training rows lies on the curve.
#' 3. *Members.* The rows are divided into eight folds, stratified by class and with groups kept together. Each of eight
#'    members leaves out one fold. All have the same seed and the same batches except for the rows left out, so that
#'    they differ only in their rows.
#' 4. *Training.* Within a member, the smooth layer and the prototype layers are trained jointly. The prototypes are
#'    penalised for variation: many small steps, that is, a slope, incur the full penalty, whereas a jump is penalised
#'    little, so that slopes are left to the smooth layer. Between epochs, and once more at the end, the smooth layer is
#'    refitted to what the prototypes do not explain. The model is that of the last epoch; no epoch is selected.
#' 5. *The fit* is the mean of the members on the link scale. The delete-a-group jackknife over the folds provides
#'    standard errors and bands; see [shapes()].
#' 6. *Scores.* Each row is predicted by the member that was not trained on it. `print()` reports scores of these
#'    out-of-fold predictions with intervals; `predict(fit, out_of_fold = TRUE)` returns them. If their calibration
#'    slope is not 1, the whole linear predictor is stretched or shrunk, the less so the larger the standard error of
#'    the slope, and the summary reports this; intercept and terms still add up to the prediction.
#'
#' The AUC is reported but never optimised. The screening and the choice of sizes in step 1 use all rows, so the scores
#' in step 6 are slightly optimistic; [cv_protonam()] repeats every step within each fold. With `order = 2` and
#' `order = Inf`, the network is placed on top of the smooth layer if members trained with it predict the rows that they
#' leave out better than members trained without it; `protonam_control(base = )` overrides this choice. Single values
#' are screened for this layer as in order 1. Other orders have no smooth layer and no screening. Members, bands and
#' scores are obtained in the same way for all orders, except that members of higher orders have four different seeds:
#' which interactions a network finds depends on where its training begins, and the mean over seeds predicts better.
#'
#' `control = paper_control()`, or `procedure = "paper"`, fits the model as in the paper: a single model without a
#' smooth layer, whose best epoch is chosen by its score on validation rows, 20 % of the data.
#'
#' @param x A formula `response ~ features`, or a data frame or matrix of features.
#' @param formula `response ~ features`. `.` means all other columns of `data`, `log(x)` and `I(x^2)` transform a
#'   column, `- x` removes it, and `offset(log(time))` adds an offset. Interactions are not specified here; see `order`.
#'   A response `cbind(y1, y2)` stands for several responses; they may have missing values. With `family = binomial()`,
#'   `cbind(successes, failures)` counts trials, as in [glm()]: an observation becomes an event and a non-event,
#'   weighted by their counts and kept together in folds. Where predictions are judged, as by [validate_protonam()],
#'   each trial is an observation; in bands of shapes, [term_evidence()] and `anova()`, the trials of a row are one group.
#'   (Two columns that contain only 0 and 1 are two responses.)
#' @param data A data frame (including a tibble or a data.table).
#' @param y The response: a vector, factor, or matrix (one response per column).
#' @param order How many features interact: 1 for a model with one effect per feature (ProtoNAM), 2 for all pairs
#'   (ProtoNA2M), `k` for all sets of `k`, `Inf` for one set of all features (ProtoNAnM).
#' @param family [gaussian()], [binomial()], [poisson()] or `"multinomial"`. With `NULL` the response determines the
#'   family: gaussian for numbers; binomial for logical values, two-level factors and text with two values (the event is
#'   the last level); multinomial for more levels.
#' @param task `~ variable`: each group of the variable has separate weights on shared encoders, and the variable is not
#'   a feature.
#' @param pairs For `order = 2`: `NULL` for all pairs, a formula `~ a:b + c:d` to select some, or a number: that many
#'   pairs, the strongest in a screening of the data. Features that belong to no pair keep a main effect.
#' @param weights Non-negative case weights. If all are whole numbers, a weight of k stands for k copies of the row, as
#'   in `subset = rep(1:n, k)`, and 0 leaves it out; other weights are relative, and their scale has no effect. In the
#'   formula method they are evaluated in `data`. See section What a fit depends on.
#' @param offset Known component of the linear predictor (link scale). In the formula method it is evaluated in `data`.
#' @param subset Rows to use, evaluated in `data` (formula method): a logical vector, or row numbers in any order.
#'   Copies of a row, as in a bootstrap, are never divided between training and validation, nor between folds.
#' @param na.action How to treat missing values. The default [na.pass()] keeps them and estimates separate effects for
#'   them. [na.omit()], [na.exclude()] and [na.fail()] work as in [lm()]. Rows without a response are always dropped,
#'   with a message.
#' @param validation Rows to set aside: a fraction (stratified by class), row numbers or a logical vector (rows of
#'   `data`), or a data frame. The default fit needs none. If given, these rows are used neither for training nor for
#'   any choice; `print()` then reports their scores instead of the out-of-fold scores. With `procedure = "paper"` they
#'   determine the best epoch; the default is then 0.2, and 0 keeps the last epoch. Validation rows do not influence
#'   scaling, levels or prototypes.
#' @param groups `~ id` (or a vector): rows of one group are kept together in every fold and when validation rows are
#'   drawn. Standard errors of scores and of the evidence are then based on groups, not on rows.
#' @param ensemble Number of folds, and of members, each of which leaves one fold out; `NULL` means 8. It is reduced,
#'   with a message, to the number of groups or to the number of rows in the rarest class. `ensemble = 1` fits one model
#'   to all rows, after the same screening, without bands or out-of-fold predictions. With `procedure = "paper"`: the
#'   number of models, which differ in their seed; 1 by default. Predictions are averaged on the link scale. Members are
#'   trained in parallel, on the workers of a `future::plan()` if one is set.
#' @param smoothness How smooth the shapes are: `NULL` or 1 for the smoothness estimated from the data, 2 for about half
#'   the effective degrees of freedom, larger numbers for fewer, 0 for no penalty except a numerical ridge. A named
#'   vector such as `c(age = 3)` applies to the named features only. It affects both the splines and the penalty on the
#'   variation of the prototypes; `summary()` shows the degrees of freedom as estimated and as used. Available for
#'   `order = 1` fits with a smooth layer.
#' @param bootstrap For `procedure = "paper"`: train each member of an ensemble on training rows drawn with replacement?
#'   With `groups`, whole groups are drawn. The members of the default fit leave out folds instead, and requesting both
#'   is an error.
#' @param control Settings from [protonam_control()] or [paper_control()].
#' @param seed A whole number. `NULL` draws one from R's generator, so that [set.seed()] applies. The same seed gives
#'   the same result, to the last bit, with any number of threads and with each of the kernels, of which the processor
#'   determines one (portable, AVX2, AVX-512). Between machines the last digits may still differ where the compiler, the
#'   mathematical functions (`exp()`, `log()`; glibc's differ on processors without FMA) or R's linear algebra do, and
#'   training can magnify this.
#' @param threads Number of threads. `NULL`: environment variable `PROTONAM_THREADS`, `options(protonam.threads = )`, or
#'   2.
#' @param verbose Show a progress bar?
#' @param checkpoint `NULL`, or the name of a file in which trained members, and the state of those in training, are
#'   kept. If R is killed, the same call with the same file goes on from there; see section Checkpoints.
#' @param start `NULL`, or an earlier fit to some of the rows from whose parameters the members begin; see section Warm
#'   starts.
#' @param ... Settings of [protonam_control()] by name, such as `epochs = 100`.
#'
#' @section Saved fits: A fit can be saved with [saveRDS()]: later versions of the package read it and give the same
#'   predictions, terms and shapes, to within 1e-6; this holds for fits of version 0.1 as well, and a fit of a newer
#'   version is an error of class `protonam_error_newer_format`. Every function that takes a fit checks it first, and a
#'   fit that was damaged or changed is an error of class `protonam_error_damaged_fit`; only `call`, and fields that you
#'   add, may be changed.
#'
#' @section Checkpoints:
#' With `checkpoint = "fit.rds"`, members that have been trained, including those of the screening, are written to the
#' file as they are finished, and the state of those in training every ten seconds, at the end of an epoch
#' (`options(protonam.checkpoint_seconds = )`). After a crash, a power cut or `kill -9`, the same call continues from
#' there. The result is the same, bit for bit, as that of a fit that was never interrupted; the number of threads may
#' differ. With `seed = NULL` the seed of the interrupted fit is used. Under a `future::plan()` with workers, members
#' are kept when they come back from their worker.
#'
#' The file is replaced as a whole, so that it is never half written, and removed when the fit is returned. It serves
#' one run at a time. A path that cannot be written is an error before the training begins
#' (`protonam_error_checkpoint_path`), as is a file that is not a checkpoint (`protonam_error_checkpoint_file`), or one
#' of other data, other settings, or another version of this package
#' (`protonam_error_checkpoint_differs`); none of these change the file. If the file cannot be written later on, as on a
#' full disk, there is one warning (`protonam_warning_checkpoint_failed`), and the training goes on without it.
#'
#' @section Warm starts:
#' When rows have been added, `update(fit, data = all_rows, start = fit)` begins from the parameters of `fit` instead of
#' from random ones. What was decided from the data of `fit` is kept: scaling, levels, bins and knots, so that the
#' parameters keep their meaning; which features have prototypes (there is no new screening); and sizes. Parameters,
#' smooth layer and smoothing parameters are learned from all rows of `data`, in the last third of the epochs, at low
#' temperature and learning rate; `epochs` is the length of the complete schedule.
#'
#' `data` must contain the rows of `fit`, under the same row names and with the same response, in addition to the new
#' ones: they keep their folds, so that each member leaves out rows that neither it nor the member from which it began
#' has seen, and out-of-fold predictions stay honest. Features, order, family, classes, tasks, number of members, sizes
#' and `smoothness` must be the same, and there must be no new levels, nor missing values in columns that had none;
#' `epochs`, `batch_size`, `lr` and `weight_decay` may change. Otherwise there is an error (`protonam_error_start`).
#' Choices that were made when there were few rows stay as they were, so that data that have doubled deserve a new fit.
#' Warm starts are for the default procedure.
#'
#' @section What a fit depends on:
#' Leaving rows out by `subset`, by a weight of zero or by hand gives the same fit, bit for bit; so do other names of
#' columns and, in the default fit, other names of the levels of unordered factors. A weight of k and k copies of a row
#' give the same smooth layer, folds and choices, to within the accuracy of the computation; the prototype layers are
#' trained in batches of rows, which copies divide differently, and agree only approximately. (Copies that are rows of
#' `data` are assigned to folds like any other rows, unless `groups` identifies them.) A fit also depends on the order
#' of rows, because the seed assigns positions to folds and batches, and prototype layers depend on the order of
#' columns, because their initial values are drawn in that order; a smooth layer fitted to all rows (`ensemble = 1,
#' prototypes_for = FALSE`) depends on neither. Predictions never depend on the order of rows or columns.
#'
#' @return An object of class `protonam`, a list of plain vectors. See [predict.protonam()] and [summary.protonam()]. If
#'   effects, scores or counts cannot be computed after training, the fit is returned without them, with a warning of
#'   class `protonam_warning_incomplete`.
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
                             bootstrap = FALSE, checkpoint = NULL, start = NULL, ...) {
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
protonam.data.frame <- function(x, y, ...) {
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
# the other arguments and their defaults are those of the formula method
formals(protonam.data.frame) <- c(formals(function(x, y) NULL), formals(protonam.formula)[-(1:2)])

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
    "The first argument of {.fn protonam} must be a formula, a data frame or a matrix, not {describe(x)}.",
    class = "argument", arg = "x"
  )
}

#' Columns that a role refers to if it is a plain column
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
