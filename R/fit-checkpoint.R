# What a checkpoint (R/run-checkpoint.R) keeps of a fit: every trained member, including those of the screening, and the
# state of members still in training.

#' Digests that identify a fit
#' @return list(data, settings)
#' @noRd
fit_digests <- function(spec, sample, encoded) {
  settings <- spec[c("order", "pairs", "ensemble", "smoothness", "bootstrap", "seed")]
  list(
    data = digest(list(
      encoded$data, encoded$held_out$data, sample$rows$index, sample$split$train, sample$groups,
      encoded$response[c("center", "scale")], encoded$encoders
    )),
    settings = digest(c(settings, list(
      spec$start$members, sample$response$family$family, names(sample$frame$columns), unclass(spec$control),
      attr(spec$control, "given")
    )))
  )
}

#' Open a fit's checkpoint, and settle the seed
#' @return The spec with its seed and, as `store`, NULL or the checkpoint
#' @noRd
open_fit <- function(spec) {
  if (is.null(spec$store)) spec$store <- open_checkpoint(spec$checkpoint, "fit")
  spec$seed <- settle_seed(spec$seed, spec$store)
  spec
}

#' The seed of a run: the user's or, if none was given, that of the checkpoint
#' @noRd
settle_seed <- function(seed, store) {
  drawn <- resolve_seed(seed)
  if (is.null(seed)) store$core$found$seed %||% drawn else drawn
}

#' Keys of members in a checkpoint: everything that their training depends on, apart from the data
#' @noRd
member_keys <- function(training, seeds, skip) {
  common <- digest(list(
    training[c("config", "centers", "base", "params", "validation")], training$data$fold,
    train_settings(training$control, 0, 0L)
  ))
  vapply(seq_along(seeds), function(k) digest(list(common, as.double(seeds[k]), as.integer(skip[k]))), "")
}

#' Members as the engine returns them: taken from the checkpoint where it has them, trained otherwise
#'
#' @param train Function(at, states, save): trains members `at`; `states` has, for each, NULL or the state from which to
#'   resume; the engine calls save(number, value, state) from time to time with a member's number among them and its
#'   state or, with state FALSE, its result.
#' @noRd
train_with_checkpoint <- function(store, keys, train) {
  if (is.null(store)) {
    return(train(seq_along(keys), NULL, NULL))
  }
  fits <- lapply(keys, function(key) unit_get(store, key))
  left <- which(vapply(fits, is.null, NA))
  if (length(left)) {
    states <- lapply(keys[left], function(key) unit_get(store, paste0(key, "~")))
    fits[left] <- train(left, states, function(number, value, state) {
      unit_put(store, paste0(keys[left[number]], if (state) "~"), value)
    })
    for (k in left) unit_put(store, keys[k], fits[[k]])
  }
  fits
}
