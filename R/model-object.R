# The fitted model: components, engine config, constructor and validator.

max_components <- 1e6

#' Feature sets of the model
#'
#' @param order 1, 2, k or Inf.
#' @return integer matrix, one column per component, in lexicographic order
#' @noRd
model_components <- function(n_features, order) {
  size <- if (is.infinite(order)) n_features else order
  if (size > n_features) {
    pn_abort(
      c("{.arg order} is {order}, but there {cli::qty(n_features)}{?is/are} only {n_features} feature{?s}.",
        i = "{.code order = Inf} lets all features interact."
      ),
      class = "order", arg = "order"
    )
  }
  if (choose(n_features, size) > max_components) {
    number <- format(choose(n_features, size), big.mark = ",")
    pn_abort(
      c(
        "{.code order = {size}} of {n_features} features makes {number} components.",
        i = "Use fewer features, a lower {.arg order}, or pick {.arg pairs}."
      ),
      class = "order", arg = "order"
    )
  }
  if (size == n_features) {
    return(matrix(seq_len(n_features), ncol = 1L))
  }
  matrix(as.integer(utils::combn(n_features, size)), nrow = size)
}

#' What a component is called: its features joined by ":"
#'
#' Names are for people, components are identified by position. Where a set of features would have the name of a feature
#' or of another set, a number tells it apart, as in "x:z.1".
#' @noRd
component_names <- function(features, components, order) {
  if (is.infinite(order) && nrow(components) > 1L) {
    return("(all features)")
  }
  names <- apply(components, 2L, function(members) paste(unique(features[members]), collapse = ":"))
  several <- components[1L, ] != components[nrow(components), ]
  names[several] <- make.unique(c(features, names[several]))[-seq_along(features)]
  names
}

#' The engine's description of a model (src/r_parse.c)
#' @param outputs list(n_outputs, n_tasks, task_kind)
#' @noRd
model_config <- function(control, components, n_features, family, outputs) {
  list(
    n_features = as.integer(n_features), hidden = as.integer(control$hidden),
    n_prototypes = as.integer(control$prototypes), n_layers = as.integer(control$layers),
    predictor_layers = as.integer(control$predictor_layers), n_outputs = as.integer(outputs$n_outputs),
    n_tasks = as.integer(outputs$n_tasks), norm = control$norm, family = family, task_kind = outputs$task_kind,
    use_prototypes = control$use_prototypes, hierarchical = control$hierarchical,
    output_penalty = control$output_penalty, dropout = control$dropout, dropout_output = control$dropout_output,
    components = components, variation = 0, variation_scale = 1, variation_weight = NULL
  )
}

#' Constructor of the class "protonam": plain vectors and lists only, so that saveRDS() just works
#'
#' The fields ("response units" means the link scale in the units of the response):
#'   format      number of this layout of the object, see fit_format;  version  of the package that made it
#'   checksum    named doubles, one per field of sealed_fields (R/model-check.R)
#'   call, formula, order, family, seed, bootstrap, smoothness   as given, or as determined from the data
#'   control     the settings, resolved (R/fit-control.R)
#'   config      the engine's description of the model with all its terms, see model_config()
#'   engine      the same for the network that is trained; it differs from config above a layer 0 (R/effects-core.R)
#'   base        NULL, or the terms of layer 0 (R/fit-smooth.R)
#'   evidence    default fit: list(z, values, steps) from the screening (R/fit-evidence.R)
#'   strength    default fit: the penalty on variation, as a factor (set_strength())
#'   fold        default fit: fold of every training row; NULL for a single model
#'   found       NULL, or the degrees of freedom estimated from the data, where `smoothness` requests others
#'   variables, data_names, env   how features are computed from new data (R/data-frame.R)
#'   encoder     list of one encoder per feature (R/data-encode.R);  term_names  names of the components
#'   response    see R/data-response.R, `trials`: TRUE for counts of trials (R/data-trials.R)
#'   task        NULL or list(name, expr, levels)
#'   offset      NULL, or list(terms: expressions to evaluate in new data, vector: was an offset given that new data
#'               cannot provide?)
#'   members     per member list(params: the engine's slab (ffi_layout), running: mean and variance per feature of
#'               the network, history: data frame (epoch, loss, score, lr, temperature), best_epoch, score,
#'               score_name, seed, skip: the fold left out, base: NULL or the fitted layer 0)
#'   members[[m]]$base   list(value: coefficients [all terms, task x output], intercept [task x output], edf [feature],
#'               dispersion [task x output], penalties: list(feature, curvature, strength, relative), covariance: list
#'               by feature of arrays [coefficient, coefficient, task x output], information [task x output])
#'   centering   per member an array [component, task x output, layer]: mean contributions over the training rows, in
#'               the engine's units; NULL for higher orders if only predictions are needed
#'   y, weights, offset_values   of the rows used, training and validation
#'   groups      NULL, or the number of each row's group
#'   rows        row numbers (or NULL: all), row_names, na.action, train: which of the rows were trained on
#'   nobs, n_train, n_validation
#'   fitted      link of the rows used in response units, [rows, visible outputs]
#'   out_of_fold default fit with folds: the same from the member not trained on the row, NA for other rows
#'   calibration c(intercept, slope) if the fit was recalibrated (recalibrate()), else absent
#'   loss        only in default fits made for predictions (fit_model(effects = FALSE)): list(score, name, rows); these
#'               fits have none of the fields below
#'   judged      default fit: list(rows, scores) of validation rows or out of fold;  gain  over a model without
#'               features, out of fold, in standard errors
#'   task_scores, ensemble_score   scores by group or response, and (paper's procedure) of the ensemble's average
#'   effects     orders 1 and 2: data frame of each term's importance, range and missing effect in response units, with
#'               edf and evidence above a layer 0 in order 1
#'   purified    order 2: tables of main effects (R/effects-purify.R)
#'   dropped     default fit of order 1 or 2: the out-of-fold loss without each term, see dropped_terms()
#'   jumps       default fit of order 1: list(found, near), see fit_jumps()
#'   nearest     per member the training rows nearest to each prototype, see count_nearest()
#'   seconds, elapsed   time of the training by phase, summed over members, and of the whole fit
#' From judged to nearest, fields are NULL or absent if they could not be computed after training.
#'
#' A new field is added here and to sealed_fields, and is checked in R/model-check-fields.R or R/model-check-members.R.
#' @noRd
new_protonam <- function(fields) {
  object <- structure(fields, class = "protonam")
  seal_fit(check_sizes(object))
}

#' Stop at fields of a new fit that do not go together
#' @noRd
check_sizes <- function(object) {
  n_features <- object$config$n_features
  total <- .Call(ffi_layout, engine_of(object))$total
  stopifnot(
    length(object$encoder) == n_features,
    length(object$variables) == n_features,
    length(object$term_names) == ncol(object$config$components),
    length(object$members) >= 1L,
    length(object$centering) == length(object$members),
    all(vapply(object$members, function(member) length(member$params) == total, NA)),
    nrow(object$fitted) == object$nobs
  )
  object
}

engine_of <- function(object) object$engine %||% object$config
