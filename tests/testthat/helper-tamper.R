# Fits damaged in every way that comes to mind, and what then becomes of predictions, shapes and tables. The test takes
# a sample, .ci/tamper.R all of them.

# Fits of different kinds, with the rows that they predict.
tamper_fits <- function() {
  data <- jump_data(60)
  data$lab <- ifelse(seq_len(60) %% 7 == 0, NA, data$b)
  one <- function(...) {
    control <- protonam_control(prototypes = 3, layers = 2, hidden = 8, epochs = 2, interaction_bins = 8)
    list(fit = suppressMessages(protonam(..., data = data, control = control, seed = 1)), data = data[1:9, ])
  }
  list(
    default = one(y ~ a + lab + unit, ensemble = 2, prototypes_for = c("a", "lab")),
    network = one(dead ~ a + lab + unit, ensemble = 2, base = "none"),
    pairs = one(dead ~ a + lab + unit, ensemble = 2, order = 2),
    classes = one(class ~ a + lab + unit, ensemble = 2),
    groups = one(y ~ a + lab, task = ~group, procedure = "paper"),
    responses = one(cbind(y, y2) ~ a + unit, ensemble = 2, weights = b + 1)
  )
}

# Places in a fit: vectors of positions, down to `depth`.
tamper_places <- function(x, depth = 6L, at = integer()) {
  inside <- if (is.list(x) && depth > 0L && !inherits(x, "family")) {
    unlist(lapply(seq_along(x), function(i) tamper_places(x[[i]], depth - 1L, c(at, i))), recursive = FALSE)
  }
  c(if (length(at)) list(at), inside)
}

# What a value could become: list of lists, so that NULL is among them.
tamper_values <- function(x) {
  out <- list(remove = NULL, missing = NA, type = if (is.character(x)) 1.5 else "wrong", list = list())
  if (is.list(x)) {
    return(c(out, if (length(x)) list(turned = rev(x), longer = c(x, x[1L]), shorter = x[-length(x)])))
  }
  if (!is.atomic(x) || !length(x)) {
    return(out)
  }
  turned <- replace(x, seq_along(x), rev(x))
  out <- c(out, list(empty = x[0L], longer = c(x, x[1L]), shorter = x[-length(x)], turned = turned))
  first <- function(value) replace(x, 1L, value)
  if (is.numeric(x)) {
    last <- length(x)
    out <- c(out, list(
      nan = first(NaN), infinite = replace(x, last, Inf), negative = first(-abs(x[1L]) - 1),
      huge = replace(x, last, 1e30), other = replace(x, last, x[last] + 1), bare = as.vector(x), whole = round(x)
    ))
  } else if (is.character(x)) {
    out <- c(out, list(same = rep(x[1L], length(x)), renamed = first("other"), unknown = first(NA)))
  } else if (is.logical(x)) {
    out <- c(out, list(opposite = !x))
  }
  out
}

# All damages of a fit: data frame (place = name, kind) with the column `at`.
tamper_list <- function(fit) {
  places <- tamper_places(unclass(fit))
  parts <- lapply(places, function(at) {
    value <- tamper_get(fit, at)
    new <- tamper_values(value)
    new <- new[!vapply(new, identical, NA, value)]
    list(at = rep(list(at), length(new)), kind = names(new), name = rep(tamper_name(fit, at), length(new)))
  })
  out <- data.frame(name = unlist(lapply(parts, `[[`, "name")), kind = unlist(lapply(parts, `[[`, "kind")))
  out$at <- unlist(lapply(parts, `[[`, "at"), recursive = FALSE)
  out
}

tamper_get <- function(x, at) {
  for (i in at) x <- unclass(x)[[i]]
  x
}

tamper_name <- function(x, at) {
  out <- ""
  for (i in at) {
    name <- names(x)[i]
    out <- paste0(out, if (is.null(name) || !nzchar(name)) sprintf("[[%d]]", i) else paste0("$", name))
    x <- unclass(x)[[i]]
  }
  substring(out, 2L)
}

# x with another value at a place; removing is what `$<-` NULL does.
tamper_set <- function(x, at, value) {
  if (!length(at)) {
    return(value)
  }
  kept <- oldClass(x)
  x <- unclass(x)
  if (length(at) == 1L && is.null(value)) {
    x[[at]] <- NULL
  } else {
    x[[at[1L]]] <- tamper_set(x[[at[1L]]], at[-1L], value)
  }
  class(x) <- kept
  x
}

# Results of everything that reads a fit: a list, or the conditions raised.
tamper_results <- function(fit, data) {
  calls <- list(
    link = function() predict(fit, data, type = "link"), response = function() predict(fit, data),
    terms = function() predict(fit, data, type = "terms"), shapes = function() shapes(fit, points = 5),
    importance = function() term_importance(fit), print = function() utils::capture.output(print(fit)),
    summary = function() utils::capture.output(print(summary(fit)))
  )
  run <- function(call) suppressMessages(suppressWarnings(tryCatch(call(), error = identity)))
  first <- run(calls$link)
  if (inherits(first, c("protonam_error_damaged_fit", "protonam_error_newer_format"))) {
    # all of them begin with the same check, as another test shows
    return(lapply(calls, function(call) first))
  }
  c(list(link = first), lapply(calls[-1L], run))
}

# What became of each result: "same", "classed" (an error of ours), "foreign" (R's or another package's error), "nan",
# "different".
tamper_outcome <- function(before, after) {
  outcome <- function(old, new) {
    if (inherits(new, "protonam_error")) {
      "classed"
    } else if (inherits(new, "error")) {
      "foreign"
    } else if (isTRUE(tryCatch(all.equal(old, new, tolerance = 1e-12), error = function(e) FALSE))) {
      "same"
    } else if (is.numeric(new) && anyNA(new) || is.data.frame(new) && anyNA(new$effect)) {
      "nan"
    } else {
      "different"
    }
  }
  mapply(outcome, before, after)
}

# Fields that users may change: numbers stay the same, and what is printed shows the change.
tamper_free <- c("call", "formula", "elapsed")

tamper_worst <- c("nan", "foreign", "different", "classed", "same")

# The worst outcome of one damage.
tamper_one <- function(one, before, damage) {
  value <- tamper_values(tamper_get(one$fit, damage$at[[1L]]))[[damage$kind]]
  results <- tamper_results(tamper_set(one$fit, damage$at[[1L]], value), one$data)
  outcome <- tamper_outcome(before, results)
  free <- sub("[[$].*", "", damage$name) %in% tamper_free & names(outcome) %in% c("print", "summary")
  outcome[free & outcome == "different"] <- "same"
  tamper_worst[min(match(outcome, tamper_worst))]
}
