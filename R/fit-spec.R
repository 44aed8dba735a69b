# A spec: what is to be fitted, apart from the data. Arguments of protonam() that can be checked without the data are
# checked here, and defaults that depend on the procedure are set here.

paper_validation <- 0.2 # share of the rows that choose the epoch in the paper's procedure
default_members <- 8L # folds, each left out by one member

# arguments that all methods of protonam() pass on as they are
spec_arguments <- c(
  "order", "family", "task", "pairs", "validation", "groups", "ensemble", "smoothness", "control", "seed", "threads",
  "verbose", "bootstrap", "checkpoint", "start"
)

#' A checked spec
#'
#' @param given List of arguments of protonam() by name: order, family, task, pairs, weights, offset, subset (the last
#'   three evaluated), na_action, validation, groups, ensemble, smoothness, control, seed, threads, verbose, bootstrap,
#'   checkpoint, start; of fits within a cross-validation or a search, store.
#' @return The same, checked; `paper`: is it the paper's procedure?
#' @noRd
fit_spec <- function(given) {
  spec <- given
  spec$order <- check_number(given$order %||% 1, "order", min = 1, whole = TRUE, infinite = TRUE)
  if (!is.null(given$ensemble)) {
    spec$ensemble <- check_number(given$ensemble, "ensemble", min = 1, max = 1e5, whole = TRUE)
  }
  spec$verbose <- check_flag(given$verbose, "verbose")
  spec$bootstrap <- check_flag(given$bootstrap %||% FALSE, "bootstrap")
  spec$paper <- given$control$procedure == "paper"
  spec$validation <- default_validation(given$validation, spec$paper)
  check_procedure(spec$control, spec$order, spec$bootstrap, spec$smoothness)
  tell_bootstrap(spec$bootstrap, spec$ensemble)
  spec
}

default_validation <- function(validation, paper) validation %||% if (paper) paper_validation else 0

#' Reject rows drawn with replacement for a single model, which have no purpose
#' @noRd
tell_bootstrap <- function(bootstrap, ensemble) {
  if (bootstrap && (ensemble %||% 1) == 1) {
    pn_warn(
      c(
        "{.code bootstrap = TRUE} without {.arg ensemble}: one model is fitted to rows drawn with replacement.",
        i = "For bands that include sampling variability, use {.code ensemble = 50}, say."
      ),
      class = "bootstrap", arg = "bootstrap"
    )
  }
}

#' Arguments that cannot be combined with the procedure
#' @noRd
check_procedure <- function(control, order, bootstrap, smoothness) {
  if (control$procedure == "crossfit" && bootstrap) {
    pn_abort(
      c(
        "{.code bootstrap = TRUE} requires {.code procedure = {.val paper}}.",
        i = "Each member of the default fit leaves out different rows, so the bands already cover sampling variability."
      ),
      class = "argument", arg = "bootstrap"
    )
  }
  if (!is.null(smoothness) && (control$procedure == "paper" || control$base == "none" || order > 1)) {
    pn_abort(
      "{.arg smoothness} acts on the smooth part of an {.code order = 1} fit, which this fit does not have.",
      class = "smoothness", arg = "smoothness"
    )
  }
  drops <- control$dropout + control$dropout_output > 0
  if (drops && control$procedure == "crossfit" && has_variation(control, order)) {
    pn_abort(
      c(
        "Dropout cannot be combined with the penalty on variation of the default fit.",
        i = "Use {.code variation = 0}, or {.code procedure = {.val paper}}."
      ),
      class = "variation", arg = "dropout"
    )
  }
}

#' Does a default fit have the penalty on variation?
#' @noRd
has_variation <- function(control, order) order == 1 && control$base != "none" && !identical(control$variation, 0)

#' One degree of smoothness per feature, or NULL
#' @noRd
smoothness_handle <- function(smoothness, names) {
  if (is.null(smoothness)) {
    return(NULL)
  }
  if (!is.numeric(smoothness) || !length(smoothness) || anyNA(smoothness) || any(smoothness < 0 | smoothness > 100) ||
    (is.null(names(smoothness)) && length(smoothness) != 1L)) {
    given <- describe(smoothness)
    pn_abort(
      c(
        "{.arg smoothness} must be a number from 0 to 100, or numbers named after features, not {given}.",
        i = "1 is what the data say, 2 about half the degrees of freedom, 0 free; {.code c(age = 3)} for one feature."
      ),
      class = "smoothness", arg = "smoothness"
    )
  }
  if (is.null(names(smoothness))) {
    return(rep(as.double(smoothness), length(names)))
  }
  check_features(names(smoothness), names, "smoothness", class = "smoothness")
  twice <- unique(names(smoothness)[duplicated(names(smoothness))])
  if (length(twice)) {
    pn_abort("{.arg smoothness} has {.val {twice}} twice.", class = "smoothness", arg = "smoothness")
  }
  handle <- rep(1, length(names))
  handle[match(names(smoothness), names)] <- as.double(smoothness)
  handle
}
