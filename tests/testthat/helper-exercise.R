# Everything that a user may do with a fit, for .ci/fuzz: which calls give errors or warnings that are not the
# package's own, values that are not numbers, or too many warnings.

exercises <- function(problem, fit) {
  new <- problem$new
  list(
    print = function() utils::capture.output(print(fit)),
    summary = function() utils::capture.output(print(summary(fit))),
    response = function() predict(fit, new),
    class = function() if (!is.null(fit$response$levels)) predict(fit, new, type = "class"),
    layers = function() predict(fit, new, type = "layers"),
    se = function() if (length(fit$members) > 1L) predict(fit, new, se.fit = TRUE),
    none = function() predict(fit, new[0L, , drop = FALSE]),
    missing = function() {
      new[problem$features] <- lapply(new[problem$features], function(x) x[rep(NA_integer_, nrow(new))])
      predict(fit, new, type = "terms")
    },
    shapes = function() shapes(fit, points = 7),
    layered = function() shapes(fit, points = 5, layers = TRUE),
    importance = function() utils::capture.output(print(term_importance(fit))),
    contributions = function() utils::capture.output(print(contributions(fit, new[1:2, , drop = FALSE]))),
    prototypes = function() prototypes(fit),
    figure = function() plot(fit),
    history = function() plot(fit, which = "history"),
    bars = function() plot(fit, which = "importance"),
    effects = function() {
      table <- effect_table(fit)
      utils::capture.output(print(table))
      plot(table)
    },
    evidence = function() plot(term_evidence(fit)),
    jumps = function() plot(jumps(fit)),
    ggplot = function() if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit),
    coef = function() coef(fit),
    residuals = function() residuals(fit),
    likelihood = function() c(deviance(fit), stats::logLik(fit)),
    weights = function() stats::weights(fit)
  )
}

# Calls that train more models, one of which the seed takes.
long_exercises <- function(problem, fit) {
  other <- function(what, new) {
    args <- utils::modifyList(problem$args[setdiff(names(problem$args), "validation")], new)
    args <- c(args, list(seed = 1, threads = 1, verbose = FALSE))
    eval(as.call(c(list(as.name(what), problem$formula, quote(data)), args)), list(data = problem$data), globalenv())
  }
  list(
    cv = function() {
      cv <- other("cv_protonam", list(folds = 3, ensemble = 1))
      utils::capture.output(print(cv))
      plot(cv)
    },
    tune = function() {
      space <- protonam_space(hidden = c(4, 8), prototypes = 2:3, layers = 1, epochs = 2, batch_size = 32, lr = 1e-3)
      args <- c("epochs", "hidden", "prototypes", "layers", "batch_size")
      problem$args[args] <- NULL
      utils::capture.output(print(other("tune_protonam", list(n = 2, space = space, ensemble = 2))))
    },
    update = function() stats::update(fit, epochs = 1, data = problem$data),
    checkpoint = function() {
      file <- tempfile(fileext = ".rds")
      on.exit(unlink(file))
      differs(link_of(problem_fit(problem, args = list(checkpoint = file)), problem$new), problem$link, "checkpoint")
    },
    warm = function() problem_fit(problem, args = list(start = fit, validation = NULL)),
    fairness = function() if (!is.null(fit$task)) utils::capture.output(print(fairness(fit, problem$data, group = ~t))),
    table = function() {
      y <- problem$data[all.vars(problem$formula[[2L]])]
      x <- problem$data[problem$features]
      not_here <- c("weights", "offset", "groups", "task", "na.action", "pairs")
      roles <- problem$args[setdiff(names(problem$args), not_here)]
      y <- if (length(y) > 1L) as.matrix(y) else y[[1L]]
      do.call(protonam, c(list(x, y), roles, list(seed = 1, threads = 1, verbose = FALSE)))
    }
  )
}

# An argument that cannot be meant.
spoil <- function(args) {
  name <- pick(c(
    "order", "family", "task", "pairs", "weights", "offset", "subset", "na.action", "validation", "groups", "ensemble",
    "smoothness", "control", "seed", "threads", "checkpoint", "start", "prototypes", "layers", "hidden", "epochs",
    "batch_size", "lr", "weight_decay", "dropout", "norm", "base", "prototypes_for", "variation", "tau", "scaling",
    "bins", "patience", "hierarchical", "interaction_bins", "bootstrap", "verbose", "epoch"
  ))
  bad <- list(
    NA, NA_real_, "x", "", character(), numeric(), -1, 0, 0.5, Inf, NaN, list(), list(1, "a"), quote(mean), TRUE,
    c(1, 2), quote(~nothing), quote(~ age:lab), quote(nothing_here), quote(stop("mine")),
    quote(as.Date("2024-01-01")), 1i, raw(1), quote(data.frame()), quote(matrix(1:4, 2)), 1e300, -1e300
  )
  args[[name]] <- NULL
  c(args, stats::setNames(list(pick(bad)), name))
}

# All of it for one seed: faults as text, attribute "outcome".
exercise_problem <- function(seed) {
  problem <- random_problem(seed, wild = seed %% 3 != 0)
  withr::local_seed(seed)
  if (chance(0.15)) {
    problem$args <- spoil(problem$args)
    seen <- witness(problem_fit(problem, args = list()))
    # errors in what the user wrote are the user's
    mine <- !is.null(seen$error) && grepl("^mine$|nothing_here", conditionMessage(seen$error))
    found <- if (!mine) foreign_conditions(seen, "spoilt")
    return(structure(as.character(found), outcome = if (is.null(seen$error)) "spoilt" else class(seen$error)[1L]))
  }
  found <- check_properties(problem)
  outcome <- attr(found, "outcome")
  if (outcome != "fitted") {
    return(found)
  }
  fit <- attr(found, "fit")
  problem$link <- link_of(fit, problem$new)
  todo <- exercises(problem, fit)
  todo <- c(todo[stats::runif(length(todo)) < 0.6], long_exercises(problem, fit)[sample.int(7L, 1L)])
  for (name in names(todo)) {
    seen <- witness(todo[[name]]())
    found <- c(found, foreign_conditions(seen, name))
    if (name == "checkpoint" && is.character(seen$value)) found <- c(found, seen$value)
    bare <- if (name %in% c("shapes", "layered")) seen$value$effect else if (is.numeric(seen$value)) unclass(seen$value)
    if (name %in% c("response", "shapes", "layered", "missing", "layers") && !all(is.finite(bare))) {
      found <- c(found, paste(name, "has values that are not finite"))
    }
  }
  structure(as.character(found), outcome = outcome)
}
