# The linear predictor of encoded rows.

#' Linear predictor in units of the response, without offset, averaged over members
#'
#' @param unknown NULL, or per feature the rows for which to average over the feature.
#' @param layers Cumulative predictions of all layers, or of the last one?
#' @return [rows, task x output], or [rows, layer, task x output] with layers
#' @noRd
engine_link <- function(object, data, unknown, threads, layers = FALSE, members = seq_along(object$members)) {
  config <- object$config
  d <- n_shown_layers(object)
  so <- config$n_tasks * config$n_outputs
  out <- array(0, c(data$n, if (layers) d, so))
  for (range in row_chunks(data$n, d * so)) {
    rows <- seq.int(range[1L], range[2L])
    part <- if (length(rows) == data$n) data else slice_range(data, range[1L], range[2L])
    here <- unknown_in(unknown, range)
    each <- function(m) list(member_predictions(object, m, part, here, threads))
    mean <- over_members(object, each, spread = FALSE, members = members)$mean[[1L]]
    if (layers) out[rows, , ] <- mean else out[rows, ] <- mean[, d, ]
  }
  scale <- rep_len(object$response$scale, so)
  center <- rep_len(object$response$center, so)
  out * rep(scale, each = length(out) / so) + rep(center, each = length(out) / so)
}

#' Fitted values of all rows used: matrix [rows, visible outputs], link scale in units of the response
#' @param parts List of list(at, data, unknown).
#' @noRd
fitted_link <- function(fields, parts, task, threads) {
  fitted <- matrix(NA_real_, fields$nobs, n_visible(fields), dimnames = list(NULL, visible_names(fields)))
  for (part in parts) {
    if (length(part$at)) {
      link <- engine_link(fields, part$data, part$unknown, threads)
      fitted[part$at, ] <- visible_link(fields, link, task[part$at], fields$offset_values[part$at])
    }
  }
  fitted
}

#' Predictions for a validation data frame, in the form required by task_scores()
#' @param outside,encoded Its part, and the same encoded.
#' @noRd
outside_part <- function(fields, outside, encoded, threads) {
  link <- engine_link(fields, encoded$data, encoded$unknown, threads)
  c(list(link = visible_link(fields, link, outside$task, outside$offset)), outside[c("y", "task", "weights")])
}
