# The parameter slab of a member: a flat vector of all tensors, laid out by the engine (src/r_engine.c, ffi_layout); and
# which kernels compute with it.

#' Positions of a tensor's values in the slab: an array of the tensor's shape
#' @noRd
tensor_index <- function(layout, name) {
  at <- match(name, layout$name)
  steps <- Map(function(size, by) (seq_len(size) - 1) * by, layout$dim[[at]], layout$stride[[at]])
  array(Reduce(function(a, b) outer(a, b, `+`), steps) + layout$offset[at] + 1, layout$dim[[at]])
}

#' One tensor of the slab
#' @noRd
slab_tensor <- function(params, layout, name) {
  index <- tensor_index(layout, name)
  array(params[index], dim(index))
}

#' Positions of all tensors
#' @noRd
slab_index <- function(config) {
  layout <- .Call(ffi_layout, config)
  index <- lapply(stats::setNames(nm = layout$name), tensor_index, layout = layout)
  # the golden files lay the features' blocks of a predictor side by side
  blocks <- startsWith(layout$name, "pred_w1_")
  index[blocks] <- lapply(index[blocks], function(x) matrix(x, nrow = dim(x)[1L]))
  structure(index, total = layout$total)
}

#' Named tensors from the slab, and back; tensors that are not given stay zero
#' @noRd
slab_unpack <- function(slab, config) {
  lapply(slab_index(config), function(index) array(slab[index], dim(index)))
}

slab_pack <- function(tensors, config) {
  index <- slab_index(config)
  slab <- numeric(attr(index, "total"))
  for (name in intersect(names(tensors), names(index))) slab[index[[name]]] <- tensors[[name]]
  slab
}

#' Evaluate `expr` with the kernels of one instruction set ("scalar", "avx2", "avx512"); NULL: the best available
#' @noRd
with_kernels <- function(level = getOption("protonam.kernels"), expr) {
  if (is.null(level)) {
    return(expr)
  }
  before <- .Call(ffi_kernel_level, NULL)
  on.exit(.Call(ffi_kernel_level, before))
  .Call(ffi_kernel_level, level)
  expr
}

#' Called from C (src/r_parse.c) to raise a classed condition
#' @noRd
engine_abort <- function(message, class) {
  pn_abort("{message}", class = class)
}
