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

#' Contributions of all components, not centred
#'
#' @param layers Of each layer, or summed over layers?
#' @param keep NULL for all, or numbers of components of several features.
#' @return array [rows, component, task x output, layer or 1] in the engine's units
#' @noRd
component_values <- function(object, m, data, layers = FALSE, threads = resolve_threads(), keep = NULL) {
  engine <- engine_of(object)
  member <- object$members[[m]]
  own <- if (!is.null(keep)) match(keep, network_places(object))
  value <- with_kernels(
    expr = .Call(ffi_contributions, engine, member$params, member$running, data, layers, own, threads)
  )
  depth <- if (layers) engine$n_layers else 1L
  so <- engine$n_tasks * engine$n_outputs
  value <- array(value, c(data$n, if (is.null(keep)) ncol(engine$components) else length(keep), so, depth))
  if (!has_base(object)) {
    return(value)
  }
  if (!is.null(keep)) {
    return(under_layers(object, value, layers))
  }
  out <- array(0, c(data$n, ncol(object$config$components), so, depth + layers))
  out[, network_places(object), , seq_len(depth) + layers] <- value
  smooth <- smooth_terms(object, m, data)
  place <- smooth_places(object)
  for (i in seq_along(place)) out[, place[i], , 1L] <- out[, place[i], , 1L] + smooth[, i, ]
  out
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

#' Layer 0 has no pairs: zeros precede their layers where layers are shown
#' @param value Array whose last dimension is layers.
#' @noRd
under_layers <- function(object, value, layers) {
  if (!layers || !has_base(object)) {
    return(value)
  }
  size <- dim(value)
  depth <- length(size)
  array(c(numeric(prod(size[-depth])), value), c(size[-depth], size[depth] + 1L))
}
