# The effects core: what each component of a member contributes, layer by layer. The only caller of the engine's
# contributions and predictions of whole models.
#
# A fit has two descriptions of its network. `config` names all terms; `engine` is what the engine is given: in order 1
# its prototype layers have only the features in engine$net. `base` describes layer 0 (R/fit-smooth.R), which has all
# features; each member has separate coefficients for it. Above a layer 0, a model of pairs has a component (i, i) for
# each feature in addition to those of its network; it holds the effect of layer 0.

has_base <- function(object) !is.null(object$base)

#' Layers that a user sees: layer 0, called smooth, and the prototype layers
#' @noRd
layer_names <- function(object) {
  c(if (has_base(object)) "smooth", paste0("layer", seq_len(object$config$n_layers)))
}

n_shown_layers <- function(object) object$config$n_layers + has_base(object)

#' Contributions of components, mean over members: what every effect is made of
#'
#' @param members Which members.
#' @param unknown NULL, or per feature the rows in which it is unknown (R/effects-unknown.R).
#' @param layers Of each layer, or summed over layers?
#' @param keep NULL for all, or numbers of components.
#' @return array [rows, component, task x output, layers or 1], centred over the training rows, in units of the response
#' @noRd
component_values <- function(object, members, data, unknown = NULL, layers = FALSE, threads = resolve_threads(),
                             keep = NULL) {
  size <- component_size(object, data, layers, keep)
  out <- array(0, size)
  if (!length(out)) {
    return(out)
  }
  for (range in row_chunks(data$n, prod(size[-1L]))) {
    part <- if (range[2L] - range[1L] + 1 == data$n) data else slice_range(data, range[1L], range[2L])
    here <- unknown_in(unknown, range)
    mean <- over_members(object, function(m) {
      list(centred_components(object, m, part, here, layers, threads, keep))
    }, spread = FALSE, members = members)$mean[[1L]]
    out[seq.int(range[1L], range[2L]), , , ] <- mean
  }
  out * rep(rep_len(object$response$scale, size[3L]), each = prod(size[1:2]))
}

component_size <- function(object, data, layers, keep) {
  config <- object$config
  c(
    data$n, if (is.null(keep)) ncol(config$components) else length(keep), config$n_tasks * config$n_outputs,
    if (layers) n_shown_layers(object) else 1L
  )
}

#' Contributions of one member as the engine and layer 0 give them: not centred, in the engine's units
#' @inheritParams component_values
#' @noRd
raw_components <- function(object, m, data, layers = FALSE, threads = resolve_threads(), keep = NULL) {
  engine <- engine_of(object)
  member <- object$members[[m]]
  size <- component_size(object, data, layers, keep)
  place <- if (has_base(object)) smooth_places(object)
  # the engine evaluates a selection of components only if layer 0 adds nothing to them
  some <- if (!is.null(keep) && !any(keep %in% place)) match(keep, network_places(object))
  value <- with_kernels(
    expr = .Call(ffi_contributions, engine, member$params, member$running, data, layers, some, threads)
  )
  if (!has_base(object)) {
    return(array(value, size))
  }
  above <- layers + seq_len(size[4L] - layers)
  if (!is.null(some)) {
    out <- array(0, size)
    out[, , , above] <- value
    return(out)
  }
  out <- array(0, component_size(object, data, layers, NULL))
  out[, network_places(object), , above] <- value
  smooth <- smooth_terms(object, m, data)
  for (i in seq_along(place)) out[, place[i], , 1L] <- out[, place[i], , 1L] + smooth[, i, ]
  if (is.null(keep)) out else out[, keep, , , drop = FALSE]
}

#' Which of a model's components belong to its network
#' @noRd
network_places <- function(object) {
  engine <- engine_of(object)
  if (!has_base(object)) {
    return(seq_len(ncol(engine$components)))
  }
  network_columns(object$config, engine)
}

#' The component to which layer 0's effect of each feature belongs: that of the feature, or that of all features
#' @noRd
smooth_places <- function(object) {
  components <- object$config$components
  features <- seq_len(object$config$n_features)
  alone <- which(components[1L, ] == components[nrow(components), ])
  if (length(alone)) alone[match(features, components[1L, alone])] else rep(1L, length(features))
}

#' A network with several features per component above a layer 0 of all features
#' @noRd
over_base <- function(config) {
  config$net <- seq_len(config$n_features)
  config$n_columns <- config$n_features
  config
}

#' Its components with those of single features
#' @noRd
with_own_components <- function(config) {
  components <- config$components
  if (nrow(components) != 2L) {
    return(config)
  }
  alone <- setdiff(seq_len(config$n_features), components[1L, components[1L, ] == components[2L, ]])
  components <- cbind(components, rbind(alone, alone, deparse.level = 0L))
  config$components <- components[, order(components[1L, ], components[2L, ]), drop = FALSE]
  config
}

#' Effects of layer 0: array [rows, feature, task x output] in the engine's units
#' @noRd
smooth_terms <- function(object, m, data) {
  .Call(ffi_smooth_terms, object$base, object$members[[m]]$base, encoded_data(data$features, data$n))
}

#' Cumulative predictions of one member, offset not added
#' @return array [rows, layer, task x output] in the engine's units
#' @noRd
layer_predictions <- function(object, m, data, threads) {
  engine <- engine_of(object)
  member <- object$members[[m]]
  value <- with_kernels(expr = .Call(ffi_predict, engine, member$params, member$running, data, threads))
  if (!has_base(object)) {
    return(value)
  }
  smooth <- smooth_terms(object, m, data)
  so <- dim(value)[3L]
  eta <- vapply(seq_len(so), function(u) {
    rowSums(matrix(smooth[, , u], data$n)) + member$base$intercept[u]
  }, numeric(data$n))
  out <- array(eta, c(data$n, so, dim(value)[2L] + 1L)) # the same under every layer
  out <- aperm(out, c(1L, 3L, 2L))
  out[, -1L, ] <- out[, -1L, , drop = FALSE] + value
  out
}

#' Position of a feature among those with prototype layers; NA if it has none
#' @noRd
net_position <- function(object, i) {
  net <- engine_of(object)$net
  if (is.null(net)) i else match(i, net)
}
