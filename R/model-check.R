# Every function that takes a fit passes it through check_fit() first: a fit may come from a file that another version
# wrote, or may have been changed since. What check_fit() returns has the fields of the present format.
#
# A fit carries checksums of its fields (src/r_checksum.c). If they agree, the fit is as it was when it was made. If
# not, and for fits of version 0.1, which had none, R/model-check-fields.R examines the fields one by one.

#' Version of the fitted object's layout
#'
#' 1: versions 0.1.x, and 0.2.0 before its release, without `format`, `version` and `checksum`
#' 2: version 0.2.0
#' A change of a field's meaning increases this number, and upgrade_fit() must then convert older fits; a new field that
#' older fits can do without needs no new number.
#' @noRd
fit_format <- 2L

# Fields that users may change or that are recreated, and the checksums themselves
unsealed_fields <- c("call", "formula", "family", "env", "seconds", "elapsed", "version", "checksum")

# All others (R/model-object.R)
sealed_fields <- c(
  "format", "order", "control", "config", "engine", "base", "evidence", "strength", "fold", "found", "smoothness",
  "seed", "bootstrap", "variables", "data_names", "encoder", "term_names", "response", "task", "offset", "members",
  "centering", "y", "weights", "offset_values", "rows", "row_names", "na.action", "train", "nobs", "n_train",
  "n_validation", "fitted", "out_of_fold", "calibration", "loss", "judged", "gain", "task_scores", "ensemble_score",
  "effects", "purified", "groups", "dropped", "jumps", "nearest"
)

#' A fit that is safe to use
#'
#' @param object Of class "protonam".
#' @return The fit in the present format, with all of its fields (NULL where there is nothing).
#' @noRd
check_fit <- function(object) {
  if (!is.list(object) || is.null(names(object))) {
    abort_damaged("the fit", object, "a list with names")
  }
  first <- is.null(object[["format"]])
  object <- upgrade_fit(object)
  # so that `$` does not match another field partially
  object[setdiff(c(sealed_fields, unsealed_fields), names(object))] <- list(NULL)
  if (first) {
    check_fields(object)
    object$checksum <- fit_checksums(object, sealed_fields)
  }
  wrong <- wrong_checksums(object)
  if (length(wrong)) abort_changed(object, wrong)
  check_unsealed(object)
  object$family <- as_family(object$config$family)
  object
}

damaged_hint <- "Read it from its file again, or fit the model again. Only {.field call} and new fields may be changed."

#' @param field Where in the fit, as code.
#' @param need What should be there.
#' @noRd
abort_damaged <- function(field, x, need) {
  odd <- if (is.numeric(x) && length(x) > 1L) sum(!is.finite(x)) else 0
  given <- paste0(describe(x), if (odd) sprintf(" of which %d are not finite", odd))
  pn_abort(
    c("This fit is damaged: {.field {field}} must be {need}, not {given}.", i = damaged_hint),
    class = "damaged_fit", arg = field
  )
}

#' Stop because of fields whose checksums do not match, naming what is wrong in them where possible
#' @noRd
abort_changed <- function(object, wrong) {
  tryCatch(check_fields(object), protonam_error_damaged_fit = function(e) {
    # a field that disagrees with a changed one is not to blame
    if (sub("[[$].*", "", e$arg) %in% wrong) stop(e)
  })
  pn_abort(
    c(
      "This fit is damaged: {.and {.field {wrong}}} {?is/are} not as {?it was/they were} when the fit was made.",
      i = damaged_hint
    ),
    class = "damaged_fit", arg = wrong
  )
}

#' A fit of an older version in the present format; an error for one of a newer version
#' @noRd
upgrade_fit <- function(object) {
  format <- object[["format"]]
  if (is.null(format)) {
    if (!is.null(object[["checksum"]])) abort_damaged("format", NULL, "the number of its format")
    return(upgrade_first(object))
  }
  if (!is_count(format, 2)) {
    abort_damaged("format", format, "the number of its format, 2 or more")
  }
  if (format > fit_format) {
    made_by <- object[["version"]]
    made_by <- if (is_text(made_by, 1L)) paste("protonam", made_by) else "a newer version of protonam"
    own <- own_version()
    pn_abort(
      c(
        "This fit was made by {made_by}: it has format {format}, and protonam {own} reads formats 1 to {fit_format}.",
        i = "Install a newer version of protonam, or fit the model again."
      ),
      class = "newer_format", arg = "format"
    )
  }
  if (!is.double(object[["checksum"]])) abort_damaged("checksum", object[["checksum"]], "a vector of checksums")
  object
}

#' From format 1, which had no checksums and, in versions 0.1, nothing of the default procedure: without that, the
#' procedure is the paper's
#' @noRd
upgrade_first <- function(object) {
  object$format <- fit_format
  object$version <- "0.1"
  object
}

#' Checksums of a fit's fields
#' @return named doubles
#' @noRd
fit_checksums <- function(object, fields) {
  stats::setNames(.Call(ffi_checksum, lapply(fields, function(field) object[[field]]), FALSE), fields)
}

#' The fit with format, version and checksums: the last step of its construction
#' @noRd
seal_fit <- function(object) {
  object$format <- fit_format
  object$version <- own_version()
  object$checksum <- fit_checksums(object, sealed_fields)
  object
}

#' Fields whose checksums do not match; a field without a checksum must be absent
#' @noRd
wrong_checksums <- function(object) {
  kept <- object$checksum
  absent <- setdiff(sealed_fields, names(kept))
  known <- intersect(sealed_fields, names(kept))
  differs <- fit_checksums(object, known) != kept[known]
  c(known[is.na(differs) | differs], absent[!vapply(unclass(object)[absent], is.null, NA)])
}

#' Fields that have no checksum but are used
#' @noRd
check_unsealed <- function(object) {
  need(is.null(object$formula) || inherits(object$formula, "formula"), object$formula, "formula", "a formula or NULL")
  need(is.environment(object$env), object$env, "env", "an environment")
  need(
    is.null(object$elapsed) || (is_numbers(object$elapsed, 1L) && object$elapsed >= 0 && object$elapsed < 1e9),
    object$elapsed, "elapsed", "a number of seconds or NULL"
  )
}

# Short tests --------------------------------------------------------------------------------------------------------

need <- function(ok, x, field, what) if (!isTRUE(ok)) abort_damaged(field, x, what)

is_count <- function(x, least = 0) {
  is.numeric(x) && length(x) == 1L && !is.na(x) && x >= least && x <= .Machine$integer.max && x == floor(x)
}

is_one_flag <- function(x) is.logical(x) && length(x) == 1L && !is.na(x)

is_numbers <- function(x, n = length(x)) is.double(x) && length(x) == n && all(is.finite(x))

is_text <- function(x, n = length(x)) is.character(x) && length(x) == n && !anyNA(x)

is_one_of <- function(x, choices) is_text(x, 1L) && x %in% choices

is_index <- function(x, n, most) is.numeric(x) && length(x) == n && !anyNA(x) && all(x >= 1 & x <= most & x == floor(x))

is_ascending <- function(x, strictly = TRUE) is.double(x) && !anyNA(x) && !is.unsorted(x, strictly = strictly)

is_frame <- function(x, names, rows = .row_names_info(x, 2L)) {
  is.data.frame(x) && all(names %in% names(x)) && all(vapply(x, is.atomic, NA)) && all(lengths(x) == rows)
}

is_sized <- function(x, size) is.double(x) && identical(as.double(dim(x)), as.double(size))
