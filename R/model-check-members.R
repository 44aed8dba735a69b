# The same for the fitted numbers: members, layer 0, effects and what is printed.

check_members <- function(object) {
  config <- object$config
  engine <- engine_of(object)
  members <- object$members
  need(is.list(members) && length(members) >= 1L, members, "members", "a list of fitted networks")
  if (!is.null(object$base)) check_base(object$base, config)
  total <- .Call(ffi_layout, engine)$total
  for (m in seq_along(members)) {
    member <- members[[m]]
    field <- function(of) sprintf("members[[%d]]$%s", m, of)
    need(is.list(member), member, sprintf("members[[%d]]", m), "a list")
    need(is_numbers(member$params, total), member$params, field("params"), sprintf("%.0f finite numbers", total))
    running <- member$running
    variances <- 2 * seq_len(engine$n_features)
    statistics <- is.null(running) || (is_numbers(running, 2 * engine$n_features) && all(running[variances] >= 0))
    need(statistics, running, field("running"), "two finite numbers per feature with prototypes")
    check_history(member, field)
    if (!is.null(object$base)) check_member_base(member$base, object, field)
  }
  outputs <- config$n_tasks * config$n_outputs
  centering <- object$centering
  need(is.list(centering) && length(centering) == length(members), centering, "centering", "one array per member")
  size <- c(ncol(config$components), outputs, config$n_layers + !is.null(object$base))
  for (m in seq_along(centering)) {
    # fits made only for predictions have none beyond order 1
    spared <- is.null(centering[[m]]) && object$order > 1 && is.null(object$effects)
    need(
      spared || (is_sized(centering[[m]], size) && all(is.finite(centering[[m]]))), centering[[m]],
      sprintf("centering[[%d]]", m), sprintf("an array of %s finite numbers", paste(size, collapse = " x "))
    )
  }
}

check_history <- function(member, field) {
  history <- member$history
  columns <- c("epoch", "loss", "score", "lr", "temperature")
  need(
    is_frame(history, columns) && all(vapply(history, is.numeric, NA)), history, field("history"),
    "a data frame of the epochs"
  )
  epoch <- member$best_epoch
  need(is.integer(epoch) && length(epoch) == 1L, epoch, field("best_epoch"), "an epoch")
  score <- member$score
  need(is.double(score) && length(score) == 1L && !is.infinite(score), score, field("score"), "a number or NA")
  known <- c("mse", "auc", "logloss", "deviance")
  need(is_one_of(member$score_name, known), member$score_name, field("score_name"), paste("one of", toString(known)))
  need(is_numbers(member$seed, 1L), member$seed, field("seed"), "a number")
  skip <- member$skip
  need(is.null(skip) || (is.numeric(skip) && length(skip) == 1L), skip, field("skip"), "NULL or the fold left out")
}

check_base <- function(base, config) {
  need(is.list(base) && is.list(base$terms) && length(base$terms) == config$n_features, base, "base", "a list of terms")
  least <- c(none = 0, levels = 1, spline = 2)
  for (i in seq_along(base$terms)) {
    term <- base$terms[[i]]
    name <- sprintf("base$terms[[%d]]", i)
    need(is.list(term) && is_one_of(term$kind, names(least)), term, name, "a spline, levels, or none")
    need(
      is_ascending(term$knots) && all(is.finite(term$knots)) && length(term$knots) >= least[[term$kind]] &&
        (term$kind != "none" || !length(term$knots)), term$knots, paste0(name, "$knots"),
      "finite numbers in ascending order"
    )
    need(is_one_flag(term$missing), term$missing, paste0(name, "$missing"), "TRUE or FALSE")
    values <- term$values
    need(
      is.null(values) || (is_ascending(values) && is_numbers(values) && length(values) >= 1L), values,
      paste0(name, "$values"), "NULL, or finite numbers in ascending order"
    )
  }
}

#' Number of coefficients of each feature in layer 0
#' @noRd
base_sizes <- function(base) {
  vapply(base$terms, function(term) length(term$knots) + term$missing + length(term$values), 0)
}

check_member_base <- function(base, object, field) {
  config <- object$config
  outputs <- config$n_tasks * config$n_outputs
  size <- base_sizes(object$base)
  need(is.list(base), base, field("base"), "a list")
  need(
    is_sized(base$value, c(sum(size), outputs)) && all(is.finite(base$value)), base$value, field("base$value"),
    sprintf("a matrix of %d x %d finite numbers", as.integer(sum(size)), outputs)
  )
  need(is_numbers(base$intercept, outputs), base$intercept, field("base$intercept"), "one finite number per output")
  need(is_numbers(base$edf, length(size)), base$edf, field("base$edf"), "one finite number per feature")
  covariance <- base$covariance
  sized <- is.list(covariance) && length(covariance) == length(size) &&
    all(vapply(seq_along(size), function(i) is_sized(covariance[[i]], c(size[i], size[i], outputs)), NA))
  known <- sized && all(is.finite(unlist(covariance)))
  need(known, covariance, field("base$covariance"), "one finite array per feature")
}

check_effects <- function(object) {
  effects <- object$effects
  if (is.null(effects)) {
    return()
  }
  config <- object$config
  outputs <- config$n_tasks * config$n_outputs
  components <- config$components
  pairs <- sum(components[1L, ] != components[nrow(components), ])
  rows <- (config$n_features + if (nrow(components) == 1L) 0 else pairs) * outputs
  numbers <- c("importance", "low", "high", "missing")
  ok <- is_frame(effects, c("term", "output", numbers), rows) && is_text(effects$term) && is_text(effects$output) &&
    all(vapply(effects[numbers], is.numeric, NA)) && all(is.finite(effects$importance) & effects$importance >= 0)
  need(ok, effects, "effects", sprintf("a data frame of %d rows with what each term does", as.integer(rows)))
  need(is.null(effects$error) || is.double(effects$error), effects$error, "effects$error", "NULL or numbers")
  need(object$order != 2 || is.list(object$purified), object$purified, "purified", "the tables of main effects")
}

#' Losses without a term (R/fit-left-out.R)
#' @noRd
check_dropped <- function(object) {
  dropped <- object$dropped
  numbers <- c("increase", "error", "loss")
  ok <- is_frame(dropped, c("term", "response", numbers)) && is_text(dropped$term) &&
    all(vapply(dropped[numbers], is_numbers, NA)) && is_index(dropped$response, nrow(dropped), ncol(object$y))
  need(ok, dropped, "dropped", "a data frame of losses without a term")
  groups <- object$groups
  need(is.null(groups) || is_index(groups, object$nobs, object$nobs), groups, "groups", "NULL, or numbers of groups")
}

#' Jumps, and the borders near them (R/fit-jumps.R)
#' @noRd
check_jumps <- function(object) {
  found <- object$jumps$found
  near <- object$jumps$near
  numbers <- c("position", "rank", "z", "size", "se", "check")
  outputs <- object$config$n_tasks * object$config$n_outputs
  ok <- is_frame(found, c("feature", "output", "members", numbers)) && all(vapply(found[numbers], is_numbers, NA)) &&
    is_index(found$feature, nrow(found), object$config$n_features) && is_index(found$output, nrow(found), outputs) &&
    is_index(found$members + 1, nrow(found), length(object$members) + 1)
  need(ok, found, "jumps$found", "a data frame of jumps")
  numbers <- c("lower", "upper", "drop")
  ok <- is_frame(near, c("jump", numbers)) && all(vapply(near[numbers], is_numbers, NA)) &&
    is_index(near$jump, nrow(near), nrow(found)) && all(seq_len(nrow(found)) %in% near$jump)
  need(ok, near, "jumps$near", "a data frame of borders near each jump")
}

#' The tables of main effects of a model of pairs (R/effects-purify.R)
#' @noRd
check_purified <- function(object) {
  tables <- object$purified
  config <- object$config
  pairs <- config$components[, config$components[1L, ] != config$components[2L, ], drop = FALSE]
  need(is.list(tables), tables, "purified", "a list")
  axes <- tables$axes
  need(is.list(axes) && length(axes) == config$n_features, axes, "purified$axes", "one axis per feature")
  for (i in seq_along(axes)) {
    ok <- is_axis(axes[[i]]) && is_decodable(object$encoder[[i]], axes[[i]]$number)
    need(ok, axes[[i]], sprintf("purified$axes[[%d]]", i), "bins and nodes")
  }
  for (of in c("joint", "parts")) {
    part <- tables[[of]]
    need(is.list(part) && length(part) == ncol(pairs), part, paste0("purified$", of), "one table per pair")
  }
  outputs <- config$n_tasks * config$n_outputs
  for (p in seq_len(ncol(pairs))) {
    pair <- axes[pairs[, p]]
    joint <- tables$joint[[p]]
    size <- vapply(pair, function(axis) length(axis$bins), 1L)
    ok <- is.numeric(joint) && identical(dim(joint), size) && all(is.finite(joint) & joint >= 0) && sum(joint) > 0
    need(ok, joint, sprintf("purified$joint[[%d]]", p), "the weights of the bins")
    part <- tables$parts[[p]]
    is_part <- function(x, axis) is_sized(x, c(length(axis$nodes), outputs)) && all(is.finite(x))
    need(
      is.list(part) && is_part(part$first, pair[[1L]]) && is_part(part$second, pair[[2L]]), part,
      sprintf("purified$parts[[%d]]", p), "a finite number per node and output"
    )
  }
}

is_axis <- function(axis) {
  # the missing value comes last
  is_table <- function(x) is.double(x) && length(x) >= 1L && is_ascending(x[!is.nan(x)]) && !anyNA(x[-length(x)])
  is.list(axis) && is_table(axis$bins) && is_table(axis$nodes) &&
    is_linked(axis, length(axis$bins), length(axis$nodes))
}

#' Do the n bins and m nodes of an axis point at each other?
#' @noRd
is_linked <- function(axis, n, m) {
  is.double(axis$number) && length(axis$number) == n && is_index(axis$at, n, m) && is_index(axis$left, m, n) &&
    is_numbers(axis$share, m) && all(axis$share >= 0 & axis$share <= 1) && is_numbers(axis$weight, m)
}

#' What print() and summary() show beyond that
#' @noRd
check_printed <- function(object) {
  control <- object$control
  need(is.list(control), control, "control", "a list of settings")
  for (of in c("prototypes", "layers", "hidden", "epochs", "batch_size")) {
    need(is_count(control[[of]]), control[[of]], paste0("control$", of), "a count")
  }
  need(is_numbers(control$lr, 1L), control$lr, "control$lr", "a number")
  procedure <- control$procedure
  need(
    is.null(procedure) || is_one_of(procedure, c("crossfit", "paper")), procedure, "control$procedure",
    "\"crossfit\" or \"paper\""
  )
  nearest <- object$nearest
  engine <- engine_of(object)
  size <- c(engine$n_prototypes, engine$n_layers, engine$n_features)
  counted <- is.null(nearest) || (is.list(nearest) && length(nearest) == length(object$members) &&
    all(vapply(nearest, function(x) is.null(x) || is_sized(x, size), NA)))
  need(counted, nearest, "nearest", "NULL, or one array per member")
  scores <- object$judged$scores
  named <- c("score", "value", "lower", "upper")
  need(is.null(scores) || is_frame(scores, named), scores, "judged$scores", "NULL or a data frame")
  by_task <- object$task_scores
  named <- c("task", "rows", "n")
  need(is.null(by_task) || is_frame(by_task, named), by_task, "task_scores", "NULL or a data frame")
  for (of in c("gain", "ensemble_score")) {
    need(is.null(object[[of]]) || (is.double(object[[of]]) && length(object[[of]]) == 1L), object[[of]], of, "a number")
  }
  line <- object$calibration
  need(is.null(line) || identical(names(line), c("intercept", "slope")), line, "calibration", "NULL, or two numbers")
}
