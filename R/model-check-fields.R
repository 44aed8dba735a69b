# The fields of a fit are checked one by one, against each other; the first that is wrong is named in an error.
# R/model-object.R describes the fields.

#' Stop at the first field that is wrong
#' @noRd
check_fields <- function(object) {
  tryCatch(
    {
      check_config(object$config, "config")
      check_order(object)
      check_engine(object)
      check_columns(object)
      check_response_fields(object)
      check_members(object)
      check_rows(object)
      check_effects(object)
      if (!is.null(object$dropped)) check_dropped(object)
      if (!is.null(object$jumps)) check_jumps(object)
      if (!is.null(object$purified)) check_purified(object)
      check_printed(object)
    },
    error = function(e) {
      if (inherits(e, "protonam_error")) stop(e)
      # what the checks themselves could not read
      reason <- conditionMessage(e)
      pn_abort(c("This fit is damaged: {reason}", i = damaged_hint), class = "damaged_fit", arg = "fit")
    }
  )
}

check_config <- function(config, name) {
  need(is.list(config), config, name, "a list")
  field <- function(of) paste0(name, "$", of)
  least <- c(
    n_features = if (is.null(config$net)) 1 else 0, hidden = 1, n_prototypes = 0, n_layers = 1, predictor_layers = 1,
    n_outputs = 1, n_tasks = 1
  )
  for (of in names(least)) need(is_count(config[[of]], least[[of]]), config[[of]], field(of), "a count")
  choices <- list(
    norm = c("layer", "batch"), family = c("gaussian", "binomial", "multinomial", "poisson"),
    task_kind = c("none", "group", "response")
  )
  for (of in names(choices)) {
    need(is_one_of(config[[of]], choices[[of]]), config[[of]], field(of), paste("one of", toString(choices[[of]])))
  }
  for (of in c("use_prototypes", "hierarchical")) {
    need(is_one_flag(config[[of]]), config[[of]], field(of), "TRUE or FALSE")
  }
  for (of in c("output_penalty", "dropout", "dropout_output")) {
    need(is_numbers(config[[of]], 1L) && config[[of]] >= 0, config[[of]], field(of), "a number of at least 0")
  }
  for (of in c("variation", "variation_scale")) {
    need(is.null(config[[of]]) || is_numbers(config[[of]], 1L), config[[of]], field(of), "a number")
  }
  weight <- config$variation_weight
  need(is.null(weight) || is_numbers(weight, config$n_features), weight, field("variation_weight"), "NULL or numbers")
  components <- config$components
  need(
    is.integer(components) && is.matrix(components) && is_index(components, length(components), config$n_features),
    components, field("components"), "a matrix of feature numbers"
  )
}

check_order <- function(object) {
  config <- object$config
  rows <- if (identical(object$order, Inf)) config$n_features else object$order
  need(is_count(rows, 1) && is.null(config$net), object$order, "order", "a whole number of at least 1, or Inf")
  components <- config$components
  size <- c(nrow(components), ncol(components))
  need(
    size[1L] == rows && size[2L] >= 1L && (rows > 1 || identical(as.vector(components), seq_len(config$n_features))),
    components, "config$components", sprintf("a matrix of %d rows", as.integer(rows))
  )
}

#' The network: that of the configuration or, above a layer 0, a part of it
#' @noRd
check_engine <- function(object) {
  config <- object$config
  engine <- object$engine
  if (is.null(engine)) {
    return()
  }
  check_config(engine, "engine")
  same <- c("n_layers", "n_outputs", "n_tasks", "family", "task_kind")
  for (of in same) {
    need(engine[[of]] == config[[of]], engine[[of]], paste0("engine$", of), paste("that of config,", config[[of]]))
  }
  net <- engine$net
  if (is.null(net)) {
    need(
      is.null(object$base) && identical(engine$components, config$components), engine$components, "engine$components",
      "those of config"
    )
    return()
  }
  need(
    is.integer(net) && is_index(net, engine$n_features, config$n_features) && !anyDuplicated(net), net, "engine$net",
    "numbers of features"
  )
  need(isTRUE(engine$n_columns == config$n_features), engine$n_columns, "engine$n_columns", "the number of features")
  need(nrow(engine$components) == nrow(config$components), engine$components, "engine$components", "as those of config")
  need(!anyNA(network_columns(config, engine)), engine$components, "engine$components", "among those of config")
}

#' Places of the network's components among those of the model (R/effects-core.R)
#' @noRd
network_columns <- function(config, engine) {
  key <- function(x) apply(x, 2L, paste, collapse = " ")
  match(key(matrix(engine$net[engine$components], nrow(engine$components))), key(config$components))
}

check_columns <- function(object) {
  n <- object$config$n_features
  terms <- object$term_names
  need(is_text(terms, ncol(object$config$components)), terms, "term_names", "names of the terms")
  encoder <- object$encoder
  need(is.list(encoder) && length(encoder) == n, encoder, "encoder", sprintf("a list of %d encoders", n))
  for (i in seq_len(n)) check_encoder(encoder[[i]], sprintf("encoder[[%d]]", i))
  need(
    is.list(object$variables) && length(object$variables) == n && all(vapply(object$variables, is_code, NA)),
    object$variables, "variables", sprintf("a list of %d expressions", n)
  )
  need(is_text(object$data_names), object$data_names, "data_names", "names of columns")
}

#' What a feature can be computed from
#' @noRd
is_code <- function(x) is.language(x) || (is.atomic(x) && length(x) == 1L)

column_types <- c("numeric", "logical", "factor", "ordered", "character", "Date", "POSIXct", "difftime")

check_encoder <- function(encoder, name) {
  field <- function(of) paste0(name, "$", of)
  need(is.list(encoder), encoder, name, "a list")
  need(is_text(encoder$name, 1L), encoder$name, field("name"), "a name")
  need(is_one_of(encoder$type, column_types), encoder$type, field("type"), "a type of column")
  need(is_one_flag(encoder$has_missing), encoder$has_missing, field("has_missing"), "TRUE or FALSE")
  levels <- encoder$levels
  named <- is_categorical(encoder)
  need(
    if (named) is_text(levels) && !anyDuplicated(levels) else is.null(levels), levels, field("levels"),
    if (named) "distinct names" else "NULL"
  )
  shown <- encoder$shown
  ok <- is.null(shown) || (named && length(shown) == length(levels) && setequal(shown, levels))
  need(ok, shown, field("shown"), "NULL, or the levels in another order")
  unit <- encoder$unit
  timed <- encoder$type %in% c("POSIXct", "difftime")
  need(if (timed) is.character(unit) else is.null(unit), unit, field("unit"), if (timed) "a unit" else "NULL")
  need(is_scaling(encoder$scaling), encoder$scaling, field("scaling"), "a scaling")
  bins <- encoder$bins
  need(is.null(bins) || is_bins(bins), bins, field("bins"), "NULL, or ascending breaks and a value for each bin")
  support <- encoder$support
  need(is_support(support), support, field("support"), "values in ascending order and their counts")
  need(is_decodable(encoder, support$value), support$value, field("support$value"), "codes of levels")
  typical <- encoder$typical
  need(
    length(typical) >= 1L && (is_numbers(typical) || (is.double(typical) && !length(support$value))),
    typical, field("typical"), "finite numbers"
  )
  words <- encoder$words
  ok <- is.null(words) || (is.list(words) && all(vapply(words, is_text, NA, 1L)))
  need(ok, words, field("words"), "a label and units")
}

is_bins <- function(bins) {
  is.list(bins) && is_ascending(bins$breaks) && is_numbers(bins$value, length(bins$breaks) + 1) &&
    is_ascending(bins$value, FALSE)
}

is_support <- function(support) {
  is.list(support) && is_ascending(support$value) && is_numbers(support$count, length(support$value)) &&
    all(support$count >= 0) && is.numeric(support$missing) && length(support$missing) == 1L && support$missing >= 0
}

#' Numbers that stand for levels, or for the missing value after them; any numbers where there are no levels
#' @noRd
is_decodable <- function(encoder, number) {
  !is_categorical(encoder) || is_index(number + 1, length(number), length(encoder$levels) + encoder$has_missing)
}

is_scaling <- function(scaling) {
  is.list(scaling) && is_text(scaling$method, 1L) && switch(scaling$method,
    quantile = is_scale(scaling$value) && is_quantiles(scaling, length(scaling$value)),
    score = is_scale(scaling$value) && is_scale(scaling$score, length(scaling$value)),
    minmax = is_numbers(scaling$low, 1L) && is_numbers(scaling$high, 1L) && scaling$low < scaling$high,
    none = TRUE,
    constant = is.numeric(scaling$value) && length(scaling$value) == 1L,
    FALSE
  )
}

#' Two or more finite numbers in ascending order
#' @noRd
is_scale <- function(x, n = max(length(x), 2L)) is_numbers(x, n) && is_ascending(x)

is_quantiles <- function(scaling, n) {
  is_numbers(scaling$lower, n) && is_numbers(scaling$upper, n) &&
    is_ascending(c(rbind(scaling$lower, scaling$upper)), FALSE) && scaling$lower[1L] >= 0 && scaling$upper[n] <= 1
}

check_response_fields <- function(object) {
  config <- object$config
  response <- object$response
  several <- config$task_kind == "response"
  need(is.list(response), response, "response", "a list")
  need(is_text(response$name, 1L), response$name, "response$name", "a name")
  names <- response[["names"]]
  named <- if (several) is_text(names, config$n_tasks) else is.null(names)
  need(named, names, "response$names", if (several) "names of the responses" else "NULL")
  check_classes(response$levels, config, several)
  trials <- response[["trials"]]
  need(is.null(trials) || (isTRUE(trials) && !several), trials, "response$trials", "NULL or TRUE")
  columns <- if (several) config$n_tasks else 1L
  need(is_numbers(response$center, columns), response$center, "response$center", "one finite number per response")
  need(
    is_numbers(response$scale, columns) && all(response$scale > 0), response$scale, "response$scale",
    "one number above 0 per response"
  )
  task <- object$task
  grouped <- config$task_kind == "group"
  fits <- if (grouped) is_task(task, config$n_tasks) else is.null(task)
  need(fits, task, "task", if (grouped) "name and levels of the groups" else "NULL")
  offset <- object$offset
  need(is.null(offset) || is_source(offset), offset, "offset", "NULL, or where the offset comes from")
}

is_task <- function(task, n) {
  is.list(task) && is_text(task$name, 1L) && (is.null(task$expr) || is.language(task$expr)) &&
    is_text(task$levels, n) && !anyDuplicated(task$levels)
}

is_source <- function(offset) {
  is.list(offset) && is_one_flag(offset$vector) && (is.null(offset$terms) || is.list(offset$terms)) &&
    all(vapply(offset$terms, is_code, NA))
}

check_classes <- function(levels, config, several) {
  two <- function(x) is_text(x, 2L)
  ok <- switch(config$family,
    binomial = {
      levels <- if (several) levels else list(levels)
      is.list(levels) && length(levels) == (if (several) config$n_tasks else 1L) && all(vapply(levels, two, NA))
    },
    multinomial = is_text(levels, config$n_outputs),
    is.null(levels)
  )
  need(ok && (config$family == "multinomial" || config$n_outputs == 1L), levels, "response$levels", "the classes")
}

check_rows <- function(object) {
  n <- object$nobs
  config <- object$config
  for (of in c("nobs", "n_train", "n_validation")) need(is_count(object[[of]]), object[[of]], of, "a count")
  columns <- if (config$task_kind == "response") config$n_tasks else 1L
  need(is_sized(object$y, c(n, columns)), object$y, "y", sprintf("a matrix of %d x %d numbers", n, columns))
  visible <- n_visible(object)
  shape <- sprintf("a matrix of %d x %d numbers", n, visible)
  need(is_sized(object$fitted, c(n, visible)) && !any(is.infinite(object$fitted)), object$fitted, "fitted", shape)
  left_out <- object$out_of_fold
  need(is.null(left_out) || is_sized(left_out, c(n, visible)), left_out, "out_of_fold", shape)
  for (of in c("weights", "offset_values")) {
    need(is.null(object[[of]]) || is_numbers(object[[of]], n), object[[of]], of, "NULL, or a finite number per row")
  }
  need(!any(object$weights < 0), object$weights, "weights", "at least 0")
  need(is.null(object$rows) || is_index(object$rows, n, Inf), object$rows, "rows", "NULL or row numbers")
  names <- object$row_names
  need(is.null(names) || is_text(names, n), names, "row_names", "NULL or names of rows")
  omitted <- object$na.action
  need(is.null(omitted) || is_index(omitted, length(omitted), Inf), omitted, "na.action", "NULL or row numbers")
  need(is_index(object$train, object$n_train, n), object$train, "train", "numbers of the training rows")
  fold <- object$fold
  need(is.null(fold) || is_index(fold, object$n_train, Inf), fold, "fold", "the fold of every training row")
}
