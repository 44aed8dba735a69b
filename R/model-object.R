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
#' @noRd
model_config <- function(control, components, n_features, family, n_outputs, n_tasks, task_kind) {
  list(
    n_features = as.integer(n_features), hidden = as.integer(control$hidden),
    n_prototypes = as.integer(control$prototypes), n_layers = as.integer(control$layers),
    predictor_layers = as.integer(control$predictor_layers), n_outputs = as.integer(n_outputs),
    n_tasks = as.integer(n_tasks), norm = control$norm, family = family, task_kind = task_kind,
    use_prototypes = control$use_prototypes, hierarchical = control$hierarchical,
    output_penalty = control$output_penalty, dropout = control$dropout, dropout_output = control$dropout_output,
    components = components, variation = 0, variation_scale = 1, variation_weight = NULL
  )
}

#' Constructor of the class "protonam": plain vectors and lists only, so that saveRDS() just works
#'
#' The fields (units: "own" means the link scale in the response's own units):
#'   call, formula, order, control (resolved), config, seed, threads-independent results below
#'   variables, data_names, env   how features come from new data (R/frame.R)
#'   encoder     list of one encoder per feature (R/encode.R);  term_names  names of the components
#'   response    see R/response.R;  task  NULL or list(name, expr, levels)
#'   offset      list of expressions; offset_given: was there an offset vector that cannot be evaluated in new data?
#'   members     list(params, running, history, best_epoch, score, score_name, seed) per ensemble member
#'   centering   per member an array [component, task x output, layer]: mean contributions over the training rows, in
#'               the engine's units
#'   effects     orders 1 and 2: data frame of each term's importance, range and missing effect, own units; this and
#'               purified (R/purify.R), nearest, task_scores, ensemble_score are NULL if they could not be computed
#'   fitted      own link of the rows, [rows, visible outputs];  y, weights, offset_values  of the same rows
#'   rows        row numbers (or NULL: all), row_names, na.action, train: which of the rows were trained on
#'   nobs, n_train, n_validation
#'   elapsed, seconds   time of the whole fit, and of the training by phase, summed over members
#' @noRd
new_protonam <- function(fields) {
  object <- structure(fields, class = "protonam")
  validate_protonam(object)
}

validate_protonam <- function(object) {
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
