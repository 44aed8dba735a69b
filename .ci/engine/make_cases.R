# Golden cases for the engine tests as plain text, from the fixtures of the R tests.
# Usage: Rscript .ci/engine/make_cases.R, from the package's folder, with protonam installed.
#
# A file is a sequence of `name count value value ...`, separated by white space. Parameters and gradients stand in the
# order of the engine's slab: run this again when the layout changes. `tensor` numbers the tensor of each element of the
# slab, 0 for none that the case knows.
suppressMessages(library(protonam))
engine <- asNamespace("protonam")

write_case <- function(path, entries) {
  text <- vapply(names(entries), function(name) {
    value <- as.double(unlist(entries[[name]]))
    digits <- if (name %in% c("params", "x", "y")) 9L else 7L
    number <- ifelse(is.na(value), "nan", formatC(value, digits = digits, format = "g", width = 1L))
    paste(strwrap(paste(c(name, length(value), number), collapse = " "), 120L), collapse = "\n")
  }, "")
  writeLines(text, path)
}

settings <- function(case, config) {
  place <- function(x, choices) match(x, choices) - 1L
  with(config, list(
    features = n_features, prototypes = n_prototypes, layers = n_layers, hidden = hidden, tasks = n_tasks,
    outputs = n_outputs, order = if (case$config$order < 0) 0 else case$config$order,
    predictor_layers = predictor_layers, norm = place(norm, c("layer", "batch")),
    family = place(family, c("gaussian", "binomial", "multinomial", "poisson")),
    task_kind = place(task_kind, c("none", "group", "response")), output_penalty = output_penalty,
    lr = case$config$lr, weight_decay = case$config$weight_decay, n = nrow(case$x), x = case$x, y = case$y,
    task = case$task
  ))
}

tensor_numbers <- function(tensors, config) {
  numbers <- Map(function(x, i) array(i, dim(x)), engine$slab_index(config), seq_along(engine$slab_index(config)))
  engine$slab_pack(numbers[intersect(names(numbers), names(tensors))], config)
}

# Outputs as [layer][component][row][output], predictions as [row][layer][task][output], the last running fastest.
flat_outputs <- function(x) unlist(lapply(x, function(layer) aperm(layer, c(3L, 1L, 2L))))
flat_predictions <- function(x) {
  size <- dim(x[[1L]])
  layers <- array(unlist(x), c(size, length(x)))
  aperm(layers, c(3L, 2L, 4L, 1L))
}

steps_case <- function(case) {
  config <- engine$engine_config(case)
  pack <- function(tensors) engine$slab_pack(tensors, config)
  after <- case$after_3_steps
  c(settings(case, config), list(
    temperature = case$config$temperature, params = pack(case$params), tensor = tensor_numbers(case$params, config),
    loss = case$train$loss, component_outputs = flat_outputs(case$train$component_outputs),
    predictions = flat_predictions(case$train$cumulative_predictions), grad = pack(case$grads),
    step_losses = after$losses, step_params = pack(after$params),
    step_running = rbind(after$running_mean, after$running_var),
    step_predictions = flat_predictions(case$eval_after_3_steps$cumulative_predictions)
  ))
}

trajectory_case <- function(case) {
  config <- engine$engine_config(case)
  want <- case$trajectory
  c(settings(case, config), list(
    epochs = case$config$epochs, batch_size = case$config$batch_size, tau = case$config$tau,
    params = engine$slab_pack(case$params, config), losses = want$loss, rates = want$lr,
    temperatures = want$temperature, final = want$final_prediction
  ))
}

fixtures <- list.files("tests/testthat/fixtures", "^(order|trajectory).*[.]rds$", full.names = TRUE)
for (path in fixtures) {
  name <- sub("[.]rds$", "", basename(path))
  if (name == "order1_binary") next # as large as all others together, and nothing that they do not have
  case <- readRDS(path)
  entries <- if (startsWith(name, "trajectory")) trajectory_case(case) else steps_case(case)
  write_case(file.path(".ci/engine/cases", paste0(name, ".txt")), entries)
}
