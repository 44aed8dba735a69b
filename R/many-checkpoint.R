# What identifies a cross-validation or a search, for checkpoints (R/run-checkpoint.R) and for `resume`.

#' Digests of a job's data, and of what is done with them
#' @param more Settings that the job does not have.
#' @return list(data, settings)
#' @noRd
job_digests <- function(job, more) {
  list(
    data = digest(list(
      job$columns[sort(intersect(names(job$columns), needed_columns(job)))], job$rows, as.double(job$weights),
      as.double(job$total_offset), job$groups, job$response$y
    )),
    settings = digest(list(
      deparse1(job$formula), deparse1(job$task), job$response$family$family, job$response$levels,
      plain_settings(job$dots), plain_settings(more)
    ))
  )
}

#' Settings together with what a digest would miss
#' @noRd
plain_settings <- function(x) {
  lapply(x, function(value) {
    if (inherits(value, "formula")) deparse1(value) else list(value, attr(value, "given"))
  })
}

#' What identifies a data set: values, columns and what is modelled
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
