# Predictions: new data through the encoders and the engine, averaged over members, in the units of the response.
#
# Shapes: the engine's outputs are [.., task x output]. The user sees the visible outputs: one column without tasks, one
# per response, one per class, and for group tasks that of the row's group (times classes).

#' Predict from a protonam fit
#'
#' @param object A fit.
#' @param newdata A data frame or matrix with the features by name; other columns are ignored, and no row is dropped. If
#'   it is omitted, the fitted values of the training data are returned or, with `out_of_fold = TRUE`, the predictions
#'   from the members that were not trained on the row.
#' @param type
#'   * `"response"`: mean (gaussian), probability of the last level (binomial), matrix of probabilities (multinomial),
#'     expected count (poisson);
#'   * `"link"`: linear predictor;
#'   * `"class"`: a factor with the training levels;
#'   * `"prob"`: matrix with one named column per level;
#'   * `"terms"`: matrix with one column per term; its attribute `"constant"` is the intercept, and the constant plus
#'     the row sums (plus the attribute `"offset"`, if the model has one) is the linear predictor. For group tasks the
#'     constant has one value per row;
#'   * `"layers"`: array rows x layers x outputs of the cumulative predictions on the link scale, starting with the
#'     layer called `"smooth"` if there is one.
#' @param se.fit Also return standard errors? If so, the result is a list with elements `fit` and `se.fit`. For the
#'   default fit these are jackknife standard errors, as in the bands of [shapes()]; for ensembles of the paper's
#'   procedure, the standard deviation of the members. They refer to the prediction (a mean, a probability), not to a
#'   new observation.
#' @param terms For `type = "terms"`: names of the terms to return; see [shapes()].
#' @param threads See [protonam()].
#' @param offset Offset of the new rows (link scale), used instead of the one evaluated in `newdata`.
#' @param task_default For models with a task: the group to use for rows whose group is missing or new. Without it, such
#'   rows are an error.
#' @param out_of_fold Return out-of-fold predictions for the rows to which the model was fitted? Each row is predicted
#'   by the one member that was not trained on it, so that the predictions can be compared with the response, for
#'   instance in a calibration plot, a decision curve or a score of your choice. They are `NA` for validation rows.
#'   Available for types `"response"`, `"link"`, `"class"` and `"prob"`, without `newdata`.
#' @param ... Not used; a misspelt argument is an error.
#'
#' @section Missing values and new levels: A missing value has the effect learned for it if the training data had
#' missing values in that column. Otherwise, and for levels that the training data did not have, the feature contributes
#' its average effect, and a single warning names the columns and levels.
#'
#' @return See `type`. Vectors and rows of matrices are named after the rows of `newdata`. With several responses there
#'   is one column for each.
#' @examples
#' fit <- protonam(am == 1 ~ wt + hp, mtcars, epochs = 30, seed = 1)
#' predict(fit, data.frame(wt = c(2, 3), hp = 110))
#' predict(fit, data.frame(wt = c(2, 3), hp = 110), type = "terms")
#' head(predict(fit, out_of_fold = TRUE))
#' @export
predict.protonam <- function(object, newdata, type = c("response", "link", "class", "prob", "terms", "layers"),
                             se.fit = FALSE, terms = NULL, threads = NULL, # nolint: object_name_linter.
                             offset = NULL, task_default = NULL, out_of_fold = FALSE, ...) {
  check_dots_empty(list(...), names(formals(predict.protonam)))
  object <- check_fit(object)
  type <- check_choice(type, c("response", "link", "class", "prob", "terms", "layers"), "type")
  se <- check_flag(se.fit, "se.fit")
  threads <- resolve_threads(threads)
  check_type(object, type, se)
  without <- missing(newdata) || is.null(newdata)
  if (check_flag(out_of_fold, "out_of_fold")) {
    check_out_of_fold(object, type, se, without)
    object <- observations(object)
    return(napredict_rows(object, from_link(object, object$out_of_fold, type), fitted_row_names(object)))
  }
  if (without) {
    if (se || type %in% c("terms", "layers")) {
      pn_abort("{.arg newdata} is needed here: the fit keeps fitted values only, not the training data.",
        class = "argument", arg = "newdata"
      )
    }
    object <- observations(object)
    return(napredict_rows(object, from_link(object, object$fitted, type), fitted_row_names(object)))
  }
  new <- encode_newdata(object, newdata, offset, task_default)
  if (type == "terms") {
    return(predict_terms(object, new, terms, threads, se))
  }
  if (type == "layers") {
    return(predict_layers(object, new, threads))
  }
  link <- visible_link(object, engine_link(object, new$data, new$unknown, threads), new$task, new$offset)
  fit <- name_rows(from_link(object, link, type), new$row_names)
  if (!se) {
    return(fit)
  }
  error <- over_members(object, function(m) {
    one <- engine_link(object, new$data, new$unknown, threads, members = m)
    list(as.double(from_link(object, visible_link(object, one, new$task, new$offset), type)))
  })$sd[[1L]]
  list(fit = fit, se.fit = structure(error, names = names(fit), dim = dim(fit), dimnames = dimnames(fit)))
}

check_type <- function(object, type, se) {
  family <- object$family$family
  if (type %in% c("class", "prob") && !family %in% c("binomial", "multinomial")) {
    pn_abort("{.code type = {.val {type}}} needs classes; this is a {family} fit.", class = "argument", arg = "type")
  }
  if (se && type %in% c("class", "layers")) {
    pn_abort("{.code se.fit = TRUE} requires type response, link, prob or terms.", class = "argument", arg = "se.fit")
  }
  if (se && length(object$members) < 2L) {
    pn_abort(
      c("{.code se.fit = TRUE} needs several members, and this fit is one model.", i = "The default fit has eight."),
      class = "no_ensemble", arg = "se.fit"
    )
  }
}

#' Stop if a fit has no out-of-fold predictions
#' @noRd
need_out_of_fold <- function(
  fit, arg, what = "This fit has no out-of-fold predictions: no member left rows out.",
  hint = "The default fit has them; {.code ensemble = 1} and {.fn paper_control} do not. See also {.fn cv_protonam}."
) {
  if (is.null(fit$out_of_fold)) pn_abort(c(what, i = hint), class = "no_out_of_fold", arg = arg)
}

#' Stop at arguments that are not among those passed on to predict()
#' @noRd
check_predict_dots <- function(dots) {
  known <- c("threads", "offset", "task_default")
  check_dots_empty(dots[!names(dots) %in% known], known)
}

#' Stop unless the fit has what `out_of_fold = TRUE` requires
#' @noRd
check_out_of_fold <- function(object, type, se, without) {
  if (!without) {
    pn_abort(
      c(
        "{.code out_of_fold = TRUE} refers to the rows used for the fit, so {.arg newdata} must be omitted.",
        i = "New rows are predicted by all members."
      ),
      class = "argument", arg = "newdata"
    )
  }
  need_out_of_fold(object, "out_of_fold")
  if (se || type %in% c("terms", "layers")) {
    pn_abort(
      "{.code out_of_fold = TRUE} requires type response, link, class or prob, without {.arg se.fit}.",
      class = "argument", arg = "out_of_fold"
    )
  }
}

#' New data for the engine
#' @return list(data, n, unknown = per feature the rows to average over, task, offset, row_names)
#' @noRd
encode_newdata <- function(object, newdata, offset = NULL, task_default = NULL) {
  n_features <- length(object$encoder)
  if (is.matrix(newdata) && is.null(colnames(newdata)) && ncol(newdata) == n_features) {
    colnames(newdata) <- feature_names(object)
  }
  columns <- newdata_columns(newdata)
  n <- data_rows(columns)
  features <- columns_from(object$variables, object$data_names, object$env, columns)
  encoded <- encode_columns(object$encoder, features, n)
  warn_unknown(encoded, object$encoder)
  tell_outside(encoded$outside, encoded$infinite)
  list(
    data = encoded_data(encoded$features, n), n = n, unknown = encoded$unknown,
    task = if (!is.null(object$task)) task_groups(object$task, columns, object$env, n, task_default),
    offset = new_offset(object, columns, offset, seq_len(n), "newdata"),
    row_names = data_row_names(columns) %||% as.character(seq_len(n))
  )
}

#' One message on columns that exceed the range of the training data
#' @param outside Named numbers of rows.
#' @param infinite Names of columns with values that a warning was about.
#' @noRd
tell_outside <- function(outside, infinite = character()) {
  outside <- outside[outside > 0 & !names(outside) %in% infinite]
  if (length(outside)) {
    listed <- paste0(names(outside), " (", vapply(outside, count, "", what = "row"), ")")
    pn_inform(
      c(
        "{.arg newdata} goes beyond the range of the training data in {some(listed, quote = '')}.",
        i = "Predictions there are extrapolations."
      ),
      class = "extrapolation", columns = names(outside), rows = unname(outside)
    )
  }
}

#' A single warning about values that do not occur in the training data
#' @noRd
warn_unknown <- function(encoded, encoders) {
  gone <- encoded$new_missing
  infinite <- encoded$infinite
  levels <- encoded$new_levels
  learned <- encoder_names(encoders)[vapply(encoders, `[[`, NA, "has_missing")]
  described <- paste0(names(levels), " ", vapply(levels, some, ""))
  listed <- function(which) paste(described[which], collapse = "; ")
  as_missing <- names(levels) %in% learned
  bullets <- c(
    if (length(gone)) "Missing values in {.and {.field {gone}}}: the average effect is used.",
    if (any(!as_missing)) "New levels of {listed(!as_missing)}: the average effect is used.",
    if (any(as_missing)) "New levels of {listed(as_missing)}: treated as missing.",
    if (length(infinite)) {
      "Infinite or huge values in {.and {.field {infinite}}}: the end of the training range is used."
    }
  )
  if (length(bullets)) {
    names(bullets) <- rep("*", length(bullets))
    pn_warn(
      c("{.arg newdata} has values that do not occur in the training data.", bullets),
      class = "unknown_values", columns = unique(c(gone, names(levels), infinite)), levels = levels
    )
  }
}

name_rows <- function(x, names) {
  if (is.data.frame(x)) {
    attr(x, "row.names") <- names # nolint: object_name_linter.
  } else if (is.null(dim(x))) {
    names(x) <- names
  } else {
    rownames(x) <- names
  }
  x
}

fitted_row_names <- function(object) {
  names <- fitted_row_labels(object)
  # copies of a row in `subset`, numbered as lm() does
  if (is.null(copies(object$rows))) names else make.unique(names)
}

#' Name the rows and, after na.exclude, put missing values back
#' @noRd
napredict_rows <- function(object, x, names) {
  stats::napredict(object$na.action, name_rows(x, names))
}

predict_layers <- function(object, new, threads) {
  link <- engine_link(object, new$data, new$unknown, threads, layers = TRUE)
  d <- dim(link)[2L]
  out <- vapply(seq_len(d), function(l) {
    visible_link(object, array(link[, l, ], dim(link)[c(1L, 3L)]), new$task, new$offset)
  }, matrix(0, new$n, n_visible(object)))
  out <- aperm(array(out, c(new$n, n_visible(object), d)), c(1L, 3L, 2L))
  dimnames(out) <- list(new$row_names, layer_names(object), visible_names(object) %||% object$response$name)
  out
}
