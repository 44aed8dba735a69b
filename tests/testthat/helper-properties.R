# What holds for every fit, whatever the data and settings. Each property is a function of a problem (helper-random.R)
# and its fit that returns the violations it finds, as text.

# The value of `code` with what it signalled: list(value, error, warnings, messages).
witness <- function(code) {
  warnings <- list()
  out <- tryCatch(
    withCallingHandlers(
      list(value = code),
      warning = function(w) {
        warnings <<- c(warnings, list(w))
        invokeRestart("muffleWarning")
      },
      message = function(m) invokeRestart("muffleMessage")
    ),
    error = function(e) list(error = e)
  )
  out$warnings <- warnings
  out
}

# Errors and warnings that are not the package's own, and more than a few warnings.
foreign_conditions <- function(seen, what) {
  own <- function(condition) any(startsWith(class(condition), "protonam_"))
  shown <- function(condition) {
    call <- deparse(conditionCall(condition))[1L]
    paste0(what, ": ", class(condition)[1L], " ", conditionMessage(condition), " [", call, "]")
  }
  foreign <- Filter(Negate(own), c(if (!is.null(seen$error)) list(seen$error), seen$warnings))
  c(
    vapply(foreign, shown, ""),
    if (length(seen$warnings) > 3L) sprintf("%s: %d warnings", what, length(seen$warnings))
  )
}

silently <- function(code) suppressWarnings(suppressMessages(code))

link_of <- function(fit, new, ...) silently(predict(fit, new, type = "link", ...))

# Largest difference between two sets of predictions, relative to their spread.
far <- function(a, b) max(abs(unname(a) - unname(b))) / max(1e-300, stats::sd(c(a, b)), abs(mean(a)) * 1e-8)

differs <- function(a, b, what, tolerance = 0) {
  if (anyNA(a) || anyNA(b)) {
    return(paste(what, "missing values"))
  }
  if (tolerance == 0 && !identical(unname(a), unname(b))) {
    return(sprintf("%s: not identical, off by %.3g", what, far(a, b)))
  }
  if (tolerance > 0 && far(a, b) > tolerance) sprintf("%s: off by %.3g", what, far(a, b))
}

# Intercept and terms add up to the link, and everything is finite.
property_additive <- function(problem, fit) {
  if (!all(is.finite(problem$link)) || !all(is.finite(fit$fitted))) {
    return("predictions are not finite")
  }
  if (fit$order > 2) {
    return("skipped") # no terms
  }
  terms <- silently(predict(fit, problem$new, type = "terms"))
  gap <- terms_gap(terms, problem$link) / max(1, abs(problem$link), abs(attr(terms, "constant")))
  if (!isTRUE(gap < 1e-6)) sprintf("terms and link differ by %.3g", gap)
}

# Predictions of a row do not depend on the other rows, nor on the order of rows and columns, nor on threads.
property_predict <- function(problem, fit) {
  new <- problem$new
  link <- as.matrix(problem$link)
  turned <- rev(seq_len(nrow(new)))
  backwards <- as.matrix(link_of(fit, new[turned, rev(names(new)), drop = FALSE]))
  c(
    differs(backwards, link[turned, , drop = FALSE], "turned"),
    differs(as.matrix(link_of(fit, new[1L, , drop = FALSE], threads = 2)), link[1L, , drop = FALSE], "one row")
  )
}

# A fit from a file is the fit.
property_saved <- function(problem, fit) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file, compress = FALSE)
  differs(link_of(readRDS(file), problem$new), problem$link, "saved and loaded")
}

# Most of the rows; classes, groups and levels may go with the others. NULL if there are few.
keep_rows <- function(problem) {
  keep <- stats::runif(nrow(problem$data)) < 0.8
  if (sum(keep) > 9L) keep
}

weight_of <- function(data) if ("w" %in% names(data)) data[["w"]] else rep(1, nrow(data))

# `subset` is subsetting by hand.
property_subset <- function(problem, fit) {
  keep <- keep_rows(problem)
  if (is.null(keep)) {
    return("skipped")
  }
  same_fits(
    function() problem_fit(problem, args = list(subset = keep)),
    function() problem_fit(problem, data = problem$data[keep, , drop = FALSE]), problem, "subset"
  )
}

# A weight of zero leaves a row out.
property_zero <- function(problem, fit) {
  keep <- keep_rows(problem)
  if (is.null(keep)) {
    return("skipped")
  }
  data <- problem$data
  data[["w"]] <- weight_of(data) * keep
  args <- list(weights = quote(w))
  same_fits(
    function() problem_fit(problem, data, args = args),
    function() problem_fit(problem, data[keep, , drop = FALSE], args = args), problem, "weight zero"
  )
}

# Settings whose results depend on the rows, and not on batches or folds that are drawn from them: the smooth layer
# alone, or prototype layers trained in one batch.
without_draws <- list(
  order = 1, procedure = NULL, prototypes_for = FALSE, base = NULL, bootstrap = NULL, dropout = NULL, scaling = NULL,
  dropout_output = NULL, validation = NULL, pairs = NULL, smoothness = NULL
)
one_batch <- list(
  procedure = "paper", validation = 0, batch_size = 1e6, epochs = 2, bootstrap = NULL, dropout = NULL, base = NULL,
  dropout_output = NULL, prototypes_for = NULL, variation = NULL, smoothness = NULL, patience = NULL
)

# Several classes are left out: their smoothing parameters were seen to cycle, so that the last bits of sums decided
# where they stopped. Seen before weighted fits were judged by the Laplace criterion; whether it is still so was not
# tried.
is_steady <- function(problem, paper) paper || problem$kind != "several"

# A whole weight stands for copies of the row.
property_copies <- function(problem, fit) {
  data <- problem$data
  data[["w"]] <- sample(1:3, nrow(data), replace = TRUE)
  copies <- rep(seq_len(nrow(data)), data[["w"]])
  paper <- identical(problem$args$procedure, "paper")
  if (!is_steady(problem, paper)) {
    return("skipped")
  }
  args <- if (paper) one_batch else without_draws
  if (paper && any(c(problem$args$ensemble, 1) > 1)) args$ensemble <- 1
  same_fits(
    function() problem_fit(problem, data, args = c(args, list(weights = quote(w)))),
    function() problem_fit(problem, data, args = c(args, list(weights = NULL, subset = copies))), problem,
    "copies", if (paper) 1e-3 else 2e-3
  )
}

# The order of rows, and of columns, does not matter to the smooth layer.
property_order <- function(problem, fit) {
  if (!is_steady(problem, FALSE)) {
    return("skipped")
  }
  args <- c(without_draws, ensemble = 1)
  data <- problem$data[sample.int(nrow(problem$data)), , drop = FALSE]
  right <- Reduce(function(a, b) call("+", a, b), lapply(rev(problem$features), as.name))
  turned <- problem$formula
  turned[[3L]] <- right
  one <- function() problem_fit(problem, args = args)
  two <- function() problem_fit(problem, data, turned, args)
  same_fits(one, two, problem, "order of rows and columns", 2e-3)
}

# Names of columns mean nothing.
property_names <- function(problem, fit) {
  rename <- function(data) {
    names(data)[match(problem$features, names(data))] <- other
    data
  }
  other <- rev(paste0("v", seq_along(problem$features)))
  formula <- problem$formula
  formula[[3L]] <- Reduce(function(a, b) call("+", a, b), lapply(other, as.name))
  again <- problem_result(function() problem_fit(problem, rename(problem$data), formula))
  if (is.null(again)) {
    return("columns renamed: an error")
  }
  differs(link_of(again, rename(problem$new)), problem$link, "columns renamed")
}

# Names of levels mean nothing; to the paper's procedure their order does.
property_levels <- function(problem, fit) {
  paper <- identical(problem$args$procedure, "paper")
  rename <- function(data) {
    for (name in problem$features) {
      x <- data[[name]]
      turned <- function(level) paste0(if (paper) "" else chartr("abcdeiow", "wzyxvqpa", level), level)
      new <- function(level) ifelse(is.na(level), NA, turned(level))
      if (is.character(x)) data[[name]] <- new(x)
      if (is.factor(x)) levels(data[[name]]) <- new(levels(x))
    }
    data
  }
  again <- problem_result(function() problem_fit(problem, rename(problem$data)))
  if (is.null(again)) {
    return("levels renamed: an error")
  }
  differs(link_of(again, rename(problem$new)), problem$link, "levels renamed")
}

# The fit, NULL for one of the package's own errors; other errors go on.
problem_result <- function(fit) tryCatch(silently(fit()), protonam_error = function(e) NULL)

# Two ways to the same fit: the same predictions, or errors both times.
same_fits <- function(one, two, problem, what, tolerance = 0) {
  fits <- list(problem_result(one), problem_result(two))
  failed <- vapply(fits, is.null, NA)
  if (any(failed)) {
    return(if (all(failed)) "skipped" else sprintf("%s: an error in one of two", what))
  }
  differs(link_of(fits[[1L]], problem$new), link_of(fits[[2L]], problem$new), what, tolerance)
}

always <- list(additive = property_additive, predict = property_predict, saved = property_saved)
refits <- list(
  subset = property_subset, zero = property_zero, copies = property_copies, order = property_order,
  names = property_names, levels = property_levels
)

# Everything about one problem: violations as text, attributes "outcome" ("fitted" or the class of the error), "tried"
# (names of properties) and "fit".
# `which`: names of the properties that take another fit; by default the seed takes one of them.
check_properties <- function(problem, which = names(refits)[problem$seed %% length(refits) + 1L]) {
  withr::local_seed(problem$seed)
  seen <- witness(problem_fit(problem))
  found <- foreign_conditions(seen, "fit")
  if (!is.null(seen$error)) {
    return(structure(as.character(found), outcome = class(seen$error)[1L], tried = character()))
  }
  problem$link <- link_of(seen$value, problem$new)
  tried <- character()
  for (name in c(names(always), which)) {
    checked <- witness(c(always, refits)[[name]](problem, seen$value))
    if (identical(checked$value, "skipped")) next
    tried <- c(tried, name)
    refused <- if (inherits(checked$error, "protonam_error")) paste(name, conditionMessage(checked$error))
    found <- c(found, checked$value, refused, foreign_conditions(checked, name))
  }
  structure(as.character(found), outcome = "fitted", tried = tried, fit = seen$value)
}
