# Warnings of many pieces of work (folds, trials, samples): each kind is told once, with the pieces that gave it.
#
# Pieces run in other processes, are read back from a checkpoint, and are similar to each other. So a piece returns the
# warnings that it gave together with its value, and they are told when all pieces are done.

# given once by whatever runs, and not about the piece
told_at_once <- c("protonam_warning_checkpoint_failed", "protonam_warning_lost_worker")

#' A value with the package's own warnings, or the error that occurred instead
#' @return list(value) or list(error); told = list of warnings, absent without any
#' @noRd
attempt_quietly <- function(expr) {
  told <- list()
  one <- attempt(withCallingHandlers(expr, protonam_warning = function(w) {
    if (!inherits(w, told_at_once)) {
      w["parent"] <- NULL # an error, with calls that hold data
      told[[length(told) + 1L]] <<- w
      invokeRestart("muffleWarning")
    }
  }))
  if (length(told)) one$told <- told
  one
}

#' Warn once of what one or more pieces warned of
#' @param told Lists of warnings, one per piece.
#' @param labels Names of the pieces.
#' @noRd
tell_collected <- function(told, labels) {
  from <- rep(labels, lengths(told))
  told <- unlist(unname(told), recursive = FALSE)
  kind <- vapply(told, function(w) paste(c(class(w)[1L], w$arg), collapse = " "), "")
  for (one in unique(kind)) warning(merged_warning(told[kind == one], unique(from[kind == one])))
}

#' @param told Warnings of one kind; the text is that of the first.
#' @noRd
merged_warning <- function(told, labels) {
  merged <- told[[1L]]
  texts <- vapply(told, conditionMessage, "")
  more <- if (length(unique(texts)) > 1L) format_message(c(i = "Details are those of {labels[1L]}."), environment())
  merged$message <- paste(c(paste0("In ", some(labels, quote = ""), ": ", texts[1L]), more), collapse = "\n")
  for (field in setdiff(names(merged), c("message", "call", "arg"))) {
    merged[[field]] <- union_of(lapply(told, `[[`, field))
  }
  merged
}

#' All values of vectors; of lists, of each of their elements
#' @noRd
union_of <- function(parts) {
  if (!is.list(parts[[1L]])) {
    return(unique(unlist(parts)))
  }
  names <- unique(unlist(lapply(parts, names)))
  stats::setNames(lapply(names, function(name) union_of(lapply(parts, `[[`, name))), names)
}
