# Terms: what each component adds to the prediction, centred over the training rows, and the constant that remains.

#' One tensor of the parameter slab (src/r_engine.c, ffi_layout)
#' @noRd
slab_tensor <- function(params, layout, name) {
  index <- tensor_index(layout, name)
  array(params[index], dim(index))
}

#' Positions of a tensor's values in the slab: an array of the tensor's shape
#' @noRd
tensor_index <- function(layout, name) {
  at <- match(name, layout$name)
  steps <- Map(function(size, by) (seq_len(size) - 1) * by, layout$dim[[at]], layout$stride[[at]])
  array(Reduce(function(a, b) outer(a, b, `+`), steps) + layout$offset[at] + 1, layout$dim[[at]])
}

#' Intercepts of all engine outputs in units of the response: biases and mean contributions, averaged over members
#' @return vector [task x output]
#' @noRd
model_constant <- function(object) {
  config <- object$config
  layout <- .Call(ffi_layout, engine_of(object))
  so <- config$n_tasks * config$n_outputs
  each <- vapply(seq_along(object$members), function(m) {
    biases <- lapply(seq_len(config$n_layers) - 1L, function(l) {
      # [task, output] -> task x output with outputs fastest
      as.vector(t(slab_tensor(object$members[[m]]$params, layout, paste0("agg_b", l))))
    })
    below <- object$members[[m]]$base$intercept %||% 0
    Reduce(`+`, biases) + below + apply(object$centering[[m]], 2L, sum)
  }, numeric(so))
  mean <- rowMeans(matrix(each, so))
  rep_len(object$response$center, so) + rep_len(object$response$scale, so) * mean
}

#' Contributions of all components, units of the response, averaged over members
#' @param members Which members to average over.
#' @return array [rows, component, task x output]
#' @noRd
engine_terms <- function(object, data, unknown, threads, members = seq_along(object$members)) {
  config <- object$config
  size <- c(data$n, ncol(config$components), config$n_tasks * config$n_outputs)
  out <- array(0, size)
  for (range in row_chunks(data$n, prod(size[-1L]))) {
    rows <- seq.int(range[1L], range[2L])
    part <- if (length(rows) == data$n) data else slice_range(data, range[1L], range[2L])
    here <- unknown_in(unknown, range)
    sum <- 0
    for (m in members) sum <- sum + member_contributions(object, m, part, here, threads)
    out[rows, , ] <- sum / length(members)
  }
  out * rep(rep_len(object$response$scale, size[3L]), each = prod(size[1:2]))
}

#' predict(type = "terms")
#' @param new From encode_newdata().
#' @param se Also the standard errors (R/effects-bands.R)?
#' @noRd
predict_terms <- function(object, new, terms, threads, se = FALSE) {
  check_readable(object, "type = \"terms\"")
  keep <- select_terms(object, terms)
  value <- engine_terms(object, new$data, new$unknown, threads)
  if (object$order == 2) value <- pair_terms(object, value, new$data, new$unknown)
  fit <- visible_terms(object, value, new, keep)
  fit <- structure(fit, constant = visible_constant(object, new), offset = new$offset)
  if (!se) {
    return(fit)
  }
  error <- over_members(object, function(m) list(member_terms(object, m, new, threads)))$sd[[1L]]
  error <- floor_term_errors(object, error, new$data)
  list(fit = fit, se.fit = visible_terms(object, error, new, keep))
}

#' Terms of one member
#' @noRd
member_terms <- function(object, m, new, threads) {
  value <- engine_terms(object, new$data, new$unknown, threads, members = m)
  if (object$order != 2) {
    return(value)
  }
  parts <- member_parts(object, m, pair_components(object), layers = FALSE, threads = threads)
  pair_terms(object, value, new$data, new$unknown, as_tables(parts))
}

#' Terms that a row has: its group's, for group tasks
#' @param value [rows, term, task x output]
#' @param keep Which terms.
#' @return matrix [rows, term], or array [rows, term, visible output]
#' @noRd
visible_terms <- function(object, value, new, keep) {
  names <- shown_terms(object)
  n <- new$n
  if (!is.null(object$task)) {
    o <- object$config$n_outputs
    n_terms <- length(names)
    own <- array(0, c(n, n_terms, o))
    for (k in seq_len(o)) {
      column <- (new$task - 1L) * o + k
      own[, , k] <- value[cbind(rep(seq_len(n), n_terms), rep(seq_len(n_terms), each = n), rep(column, n_terms))]
    }
    value <- own
  }
  value <- value[, keep, , drop = FALSE]
  if (dim(value)[3L] == 1L) {
    return(matrix(value, n, length(keep), dimnames = list(new$row_names, names[keep])))
  }
  dimnames(value) <- list(new$row_names, names[keep], visible_names(object))
  value
}

#' The constant that goes with visible_terms(); one per row for group tasks
#' @noRd
visible_constant <- function(object, new) {
  constant <- model_constant(object)
  if (!is.null(object$task)) {
    o <- object$config$n_outputs
    constant <- matrix(constant, o)[, new$task, drop = FALSE]
    return(if (o == 1L) as.vector(constant) else t(constant))
  }
  if (length(constant) > 1L) names(constant) <- visible_names(object)
  constant
}
