# What of a fit goes into a checkpoint (R/run-checkpoint.R): every trained member, those of the screening included, and
# the state of those in training.

#' Digests that tell one fit from another
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

#' Open a fit's checkpoint, and settle the seed: without one of the user's, that of the checkpoint
#' @return The spec with its seed and, as `store`, NULL or the checkpoint
#' @noRd
open_fit <- function(spec) {
  if (is.null(spec$store)) spec$store <- open_checkpoint(spec$checkpoint, "fit")
  drawn <- resolve_seed(spec$seed)
  spec$seed <- if (is.null(spec$seed)) checkpoint_seed(spec$store) %||% drawn else drawn
  spec
}

#' Keys of members in a checkpoint: all that their training depends on, beside the data
#' @noRd
member_keys <- function(training, seeds, skip) {
  common <- digest(list(
    training[c("config", "centers", "base", "params", "validation")], training$data$fold,
    train_settings(training$control, 0, 0L)
  ))
  vapply(seq_along(seeds), function(k) digest(list(common, as.double(seeds[k]), as.integer(skip[k]))), "")
}

#' Members as the engine returns them: those that the checkpoint has, and the others trained
#'
#' @param train Function(at, states, save): trains members `at`; `states` has NULL or the state to go on from for each,
#'   save(number, value, state) is called from the engine now and then with a member's number among them and its state,
#'   or (state FALSE) its result.
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
