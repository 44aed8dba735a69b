# What tells one cross-validation or search from another: for checkpoints (R/run-checkpoint.R) and for `resume`.

#' Seed of a cross-validation or a search: without one of the user's, that of the checkpoint
#' @noRd
many_seed <- function(seed, store) {
  drawn <- resolve_seed(seed)
  if (is.null(seed)) checkpoint_seed(store) %||% drawn else drawn
}

#' Digests of a job's data, and of what is done with them
#' @param more Settings that the job does not have.
#' @return list(data, settings)
#' @noRd
job_digests <- function(job, more) {
  needed <- c(all.vars(job$formula), role_names(job$task), unlist(lapply(job$given, all.vars)))
  list(
    data = digest(list(
      job$columns[sort(intersect(names(job$columns), needed))], job$rows, as.double(job$weights),
      as.double(job$total_offset), job$groups, job$response$y
    )),
    settings = digest(list(
      deparse1(job$formula), deparse1(job$task), job$response$family$family, job$response$levels,
      plain_settings(job$dots), plain_settings(more)
    ))
  )
}

#' Settings with what a digest would not see of them
#' @noRd
plain_settings <- function(x) {
  lapply(x, function(value) {
    if (inherits(value, "formula")) deparse1(value) else list(value, attr(value, "given"))
  })
}

#' What tells one set of data from another: values, columns and what is modelled
#' @noRd
fingerprint_job <- function(job, procedure) {
  plain <- function(x) if (is.factor(x)) list(levels(x), as.integer(x)) else if (is.atomic(x)) as.vector(x) else x
  needed <- intersect(names(job$columns), c(all.vars(job$formula), role_names(job$task)))
  digest(list(
    deparse1(job$formula), lapply(job$columns[needed], plain), job$response$y, job$rows, as.double(job$weights),
    as.double(job$total_offset), job$response$family$family, job$dots$order %||% 1, deparse1(job$task),
    plain_settings(lapply(job$dots[c("validation", "pairs", "ensemble", "bootstrap", "smoothness")], plain)),
    plain(job$groups), procedure
  ))
}
