# Entries for tests and outside checks: the engine on a case shaped as the golden files, without any preprocessing.
# They are not exported, but outside checks call them by these names.

# Loss, outputs and gradients of one training pass over the case's rows as a single batch.
engine_gradient <- function(case, threads = 1L, equal_values = TRUE, kernels = NULL) {
  with_kernels(kernels, {
    config <- engine_config(case)
    pass <- engine_pass(case, threads, equal_values)
    result <- .Call(ffi_gradient, config, slab_pack(case$params, config), NULL, engine_data(case, config), pass)
  })
  list(
    loss = result$loss,
    component_outputs = split_layers(result$outputs),
    cumulative_predictions = split_predictions(result$predictions, config),
    grads = slab_unpack(result$grad, config)
  )
}

# `n` AdamW steps on the same batch, then outputs at T -> 0.
engine_steps <- function(case, n, threads = 1L, equal_values = TRUE, kernels = NULL) {
  with_kernels(kernels, {
    config <- engine_config(case)
    data <- engine_data(case, config)
    pass <- engine_pass(case, threads, equal_values)
    result <- .Call(ffi_steps, config, slab_pack(case$params, config), data, pass, as.integer(n))
    eval <- engine_eval(config, result$params, result$running, data, threads)
  })
  running <- matrix(result$running, nrow = 2L)
  list(
    losses = result$losses,
    params = slab_unpack(result$params, config),
    running_mean = running[1L, ],
    running_var = running[2L, ],
    eval = eval
  )
}

# The whole training of a case with `epochs`, `batch_size`, `tau` and `shuffle` in its config, without validation.
engine_trajectory <- function(case, threads = 1L, equal_values = TRUE, kernels = NULL) {
  with_kernels(kernels, {
    config <- engine_config(case)
    data <- engine_data(case, config)
    train <- list(
      epochs = case$config$epochs, batch_size = case$config$batch_size, lr = case$config$lr,
      weight_decay = case$config$weight_decay, tau = case$config$tau, patience = Inf, seed = 0,
      shuffle = isTRUE(case$config$shuffle), join_remainder = FALSE, equal_values = equal_values, threads = threads
    )
    result <- .Call(ffi_fit, config, data, NULL, list(params = slab_pack(case$params, config)), train, NULL)[[1L]]
    eval <- engine_eval(config, result$params, result$running, data, threads)
  })
  final <- eval$cumulative_predictions[[config$n_layers]]
  list(
    loss = result$loss, lr = result$lr, temperature = result$temperature,
    final_prediction = if (length(final) == nrow(final)) as.vector(final) else final,
    final_params = slab_unpack(result$params, config)
  )
}

engine_eval <- function(config, params, running, data, threads) {
  outputs <- .Call(ffi_outputs, config, params, running, data, threads)
  predictions <- .Call(ffi_predict, config, params, running, data, threads)
  list(
    component_outputs = split_layers(outputs),
    cumulative_predictions = split_predictions(predictions, config)
  )
}

engine_config <- function(case) {
  given <- case$config
  n_features <- given$n_features
  order <- if (given$order < 0) n_features else given$order
  n_tasks <- given$n_tasks %||% 1L
  family <- c(regression = "gaussian", binary = "binomial", multiclass = "multinomial", count = "poisson")
  list(
    n_features = n_features, hidden = given$hidden, n_prototypes = given$n_prototypes, n_layers = given$n_layers,
    predictor_layers = given$predictor_layers, n_outputs = given$n_outputs, n_tasks = n_tasks, norm = given$norm,
    family = family[[given$problem]],
    task_kind = if (!is.null(case$task)) "group" else if (n_tasks > 1) "response" else "none",
    use_prototypes = given$use_prototypes %||% TRUE, hierarchical = given$hierarchical %||% TRUE,
    output_penalty = given$output_penalty, dropout = given$dropout %||% 0, dropout_output = given$dropout_output %||% 0,
    components = matrix(utils::combn(n_features, order), nrow = order), variation = given$variation %||% 0,
    variation_scale = given$variation_scale %||% 1, variation_weight = given$variation_weight
  )
}

engine_pass <- function(case, threads, equal_values) {
  list(
    temperature = case$config$temperature, equal_values = equal_values, seed = 0, threads = threads,
    lr = case$config$lr, weight_decay = case$config$weight_decay
  )
}

engine_data <- function(case, config) {
  x <- case$x
  list(
    n = nrow(x),
    features = lapply(seq_len(ncol(x)), function(i) .Call(ffi_distinct, as.double(x[, i]), NULL)),
    y = matrix(as.double(case$y), nrow(x)),
    task = if (!is.null(case$task)) as.integer(case$task),
    weights = if (!is.null(case$weights)) as.double(case$weights),
    offset = if (!is.null(case$offset)) as.double(case$offset)
  )
}

# One [row, component, output] array per layer from [row, component, output, layer].
split_layers <- function(x) {
  size <- dim(x)
  lapply(seq_len(size[4L]), function(l) array(x[, , , l], size[1:3]))
}

# One [row, task, output] array per layer from [row, layer, (task, output)].
split_predictions <- function(x, config) {
  lapply(seq_len(dim(x)[2L]), function(l) {
    flat <- array(x[, l, ], c(dim(x)[1L], config$n_outputs, config$n_tasks))
    aperm(flat, c(1L, 3L, 2L))
  })
}
