# Terms: what each component adds to the prediction, centred over the training rows, and the constant that remains.

#' One tensor of the parameter slab (src/r_engine.c, ffi_layout)
#' @noRd
slab_tensor <- function(params, layout, name) {
  index <- tensor_index(layout, name)
  array(params[index], dim(index))
}

#' Where in the slab a tensor's values are: an array of the tensor's shape
#' @noRd
tensor_index <- function(layout, name) {
  at <- match(name, layout$name)
  steps <- Map(function(size, by) (seq_len(size) - 1) * by, layout$dim[[at]], layout$stride[[at]])
  array(Reduce(function(a, b) outer(a, b, `+`), steps) + layout$offset[at] + 1, layout$dim[[at]])
}

#' Intercepts of all engine outputs in own units: biases and mean contributions, averaged over members
#' @return vector [task x output]
#' @noRd
model_constant <- function(object) {
  config <- object$config
  layout <- .Call(ffi_layout, config)
  so <- config$n_tasks * config$n_outputs
  each <- vapply(seq_along(object$members), function(m) {
    biases <- lapply(seq_len(config$n_layers) - 1L, function(l) {
      # [task, output] -> task x output with outputs fastest
      as.vector(t(slab_tensor(object$members[[m]]$params, layout, paste0("agg_b", l))))
    })
    Reduce(`+`, biases) + apply(object$centering[[m]], 2L, sum)
  }, numeric(so))
  mean <- rowMeans(matrix(each, so))
  rep_len(object$response$center, so) + rep_len(object$response$scale, so) * mean
}

#' Contributions of all components, own units, averaged over members
#' @return array [rows, component, task x output]
#' @noRd
engine_terms <- function(object, data, unknown, threads) {
  config <- object$config
  size <- c(data$n, ncol(config$components), config$n_tasks * config$n_outputs)
  out <- array(0, size)
  for (range in row_chunks(data$n, prod(size[-1L]))) {
    rows <- seq.int(range[1L], range[2L])
    part <- if (length(rows) == data$n) data else slice_range(data, range[1L], range[2L])
    here <- unknown_in(unknown, range)
    sum <- 0
    for (m in seq_along(object$members)) sum <- sum + member_contributions(object, m, part, here, threads)
    out[rows, , ] <- sum / length(object$members)
  }
  out * rep(rep_len(object$response$scale, size[3L]), each = prod(size[1:2]))
}

#' predict(type = "terms")
#' @param new From encode_newdata().
#' @noRd
predict_terms <- function(object, new, terms, threads) {
  check_readable(object, "type = \"terms\"")
  names <- shown_terms(object)
  keep <- match(select_terms(object, terms), names)
  value <- engine_terms(object, new$data, new$unknown, threads)
  if (object$order == 2) value <- pair_terms(object, value, new$data, new$unknown)
  constant <- model_constant(object)
  n <- new$n
  o <- object$config$n_outputs
  n_terms <- length(names)
  if (!is.null(object$task)) {
    # each row's own group
    own <- array(0, c(n, n_terms, o))
    for (k in seq_len(o)) {
      column <- (new$task - 1L) * o + k
      own[, , k] <- value[cbind(rep(seq_len(n), n_terms), rep(seq_len(n_terms), each = n), rep(column, n_terms))]
    }
    constant <- matrix(constant, o)[, new$task, drop = FALSE]
    constant <- if (o == 1L) as.vector(constant) else t(constant)
    value <- own
  }
  value <- value[, keep, , drop = FALSE]
  if (dim(value)[3L] == 1L) {
    value <- matrix(value, n, length(keep), dimnames = list(new$row_names, names[keep]))
  } else {
    dimnames(value) <- list(new$row_names, names[keep], visible_names(object))
    if (is.null(object$task)) names(constant) <- visible_names(object)
  }
  structure(value, constant = constant, offset = new$offset)
}
