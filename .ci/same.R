# The same numbers before and after a change that is not meant to change any: some twenty small fits of every kind, and
# what they predict, show and draw, kept in a file and compared with identical().
#
#   Rscript .ci/same.R save FILE       with the package installed before the change
#   Rscript .ci/same.R compare FILE    with the package installed after it; fails on a difference
#
# The installed package is the first one in R_LIBS. Files are comparable on one machine and one version of R only.
arguments <- commandArgs(TRUE)
if (length(arguments) != 2L || !arguments[1L] %in% c("save", "compare")) {
  stop("Usage: Rscript .ci/same.R save|compare FILE", call. = FALSE)
}
library(protonam)
options(protonam.threads = 1)

# Data ----------------------------------------------------------------------------------------------------------------

n <- 240L
icu <- simulate_icu(n, seed = 1)
icu$stay <- as.double(icu$age) / 10 + stats::ave(seq_len(n), icu$admission_type)^0.5
icu$visits <- round(abs(icu$age - 60) / 10)
icu$grade <- cut(icu$age, c(-Inf, 50, 65, Inf), c("low", "middle", "high"))
icu$weight <- 0.5 + seq_len(n) %% 3
icu$log_time <- log(1 + seq_len(n) %% 5)
icu$patient <- rep(seq_len(n / 2L), each = 2L)
cars <- transform(mtcars, cyl = factor(cyl), am = am == 1)
new <- icu[c(1:20, 200:220), ]
new$age[3L] <- NA # the training rows have no missing ages
new$admission_type <- as.character(new$admission_type)
new$admission_type[5L] <- "never seen"
short <- list(epochs = 4, layers = 2, prototypes = 6, hidden = 8, seed = 7, threads = 1, verbose = FALSE)
fit_with <- function(formula, data, ...) {
  given <- list(...)
  do.call(protonam, c(list(formula, data), given, short[setdiff(names(short), names(given))]))
}

features <- "age + lactate + gcs + admission_type"
model <- function(response, more = "") stats::as.formula(paste(response, "~", features, more))
fits <- list(
  binomial = function() fit_with(model("died"), icu),
  prototypes = function() fit_with(model("died"), icu, prototypes_for = TRUE, ensemble = 3),
  gaussian = function() fit_with(model("stay"), icu, smoothness = c(age = 2)),
  poisson = function() fit_with(model("visits", "+ offset(log_time)"), icu, family = stats::poisson()),
  multinomial = function() fit_with(model("grade"), icu, ensemble = 2),
  responses = function() fit_with(model("cbind(stay, visits)"), icu, ensemble = 2),
  task = function() fit_with(model("died"), icu, task = ~sex, ensemble = 2),
  multinomial_task = function() fit_with(model("grade"), icu, task = ~sex, ensemble = 2),
  weights = function() fit_with(model("died"), icu, weights = icu$weight, subset = icu$age > 30, ensemble = 2),
  groups = function() fit_with(model("died"), icu, groups = ~patient, ensemble = 4),
  one = function() fit_with(model("died"), icu, ensemble = 1),
  validation = function() fit_with(model("stay"), icu[1:180, ], validation = icu[181:240, ], ensemble = 2),
  bins = function() fit_with(model("died"), icu, bins = 8, scaling = "minmax", ensemble = 2),
  no_base = function() fit_with(model("stay"), icu, base = "none", ensemble = 2),
  linear = function() fit_with(model("stay"), icu, base = "linear", ensemble = 2),
  pairs = function() fit_with(model("died"), icu, order = 2, ensemble = 2),
  chosen_pairs = function() {
    fit_with(model("stay"), icu, order = 2, pairs = ~ age:lactate, ensemble = 4, weights = icu$weight)
  },
  strongest_pairs = function() fit_with(model("grade"), icu, order = 2, pairs = 2, ensemble = 2),
  task_pairs = function() fit_with(model("visits"), icu, order = 2, task = ~sex, ensemble = 2),
  all = function() fit_with(model("died"), icu, order = Inf, ensemble = 2),
  triples = function() fit_with(model("stay"), icu, order = 3, ensemble = 2),
  paper = function() {
    protonam(model("died"), icu, control = paper_control("mimic2"), epochs = 2, seed = 3, threads = 1, verbose = FALSE)
  },
  paper_ensemble = function() {
    protonam(
      model("died"), icu, control = paper_control("mimic2"), epochs = 2, ensemble = 2, seed = 3, threads = 1,
      verbose = FALSE
    )
  },
  paper_pairs = function() {
    protonam(model("died"), icu,
      order = 2, control = paper_control("mimic2", order = 2), epochs = 2, prototypes = 6, layers = 2, hidden = 8,
      ensemble = 2, seed = 3, threads = 1, verbose = FALSE
    )
  },
  matrix = function() {
    do.call(protonam, c(list(as.matrix(mtcars[, c("wt", "hp", "qsec")]), mtcars$mpg), short))
  },
  types = function() fit_with(mpg ~ log(wt) + hp + cyl + am, cars, ensemble = 3)
)

# What is compared ----------------------------------------------------------------------------------------------------

# values, warnings and errors alike
look <- function(code) {
  said <- character()
  value <- tryCatch(
    withCallingHandlers(code,
      warning = function(w) {
        said <<- c(said, conditionMessage(w))
        invokeRestart("muffleWarning")
      },
      message = function(m) {
        said <<- c(said, conditionMessage(m))
        invokeRestart("muffleMessage")
      }
    ),
    error = function(e) paste(class(e)[1L], conditionMessage(e))
  )
  list(value = value, said = said)
}
drawn <- function(fit, ...) {
  make <- getFromNamespace("fit_figure", "protonam")
  options <- getFromNamespace("plot_options", "protonam")(features = getFromNamespace("feature_names", "protonam")(fit))
  make(fit, NULL, options = options, level = NULL, scale = "link", ...)
}
seen <- function(fit, data) {
  types <- c("response", "link", "class", "prob", "terms", "layers")
  ask <- function(...) look(predict(fit, data, ...))
  list(
    members = lapply(fit$members, `[`, c("params", "base", "history", "best_epoch", "score")),
    effects = fit$effects, purified = fit$purified, scores = fit$scores, out_of_fold = fit$out_of_fold,
    fitted = fitted(fit), printed = gsub("[0-9.]+ s(econds)?\\b", "", utils::capture.output(print(fit), print(summary(fit)))),
    predict = lapply(stats::setNames(types, types), function(type) ask(type = type)),
    se = ask(type = "response", se.fit = TRUE), se_terms = ask(type = "terms", se.fit = TRUE),
    some_terms = ask(type = "terms", terms = 2),
    shapes = look(shapes(fit)), layers = look(shapes(fit, layers = TRUE)),
    ratios = look(shapes(fit, scale = "response", simultaneous = TRUE, points = 16)),
    importance = look(term_importance(fit)), contributions = look(contributions(fit, data[1:6, ])),
    prototypes = look(prototypes(fit)), coef = look(coef(fit)), residuals = look(residuals(fit)),
    figure = look(drawn(fit, layers = FALSE, which = "shapes")),
    layer_figure = look(drawn(fit, layers = TRUE, which = "shapes")),
    pair_figure = look(drawn(fit, layers = FALSE, which = "interactions")),
    history = look(drawn(fit, layers = FALSE, which = "history"))
  )
}
many <- list(
  cv = function() {
    out <- cv_protonam(model("died"), icu, folds = 2, epochs = 2, ensemble = 1, seed = 5, threads = 1, verbose = FALSE)
    out[setdiff(names(out), "call")]
  },
  tune = function() {
    out <- tune_protonam(model("stay"), icu, n = 2, epochs = 2, ensemble = 2, seed = 5, threads = 1, verbose = FALSE)
    out[c("trials", "best")]
  },
  fairness = function() fairness(fits$task(), icu, group = ~sex)
)

results <- list()
for (name in names(fits)) {
  fit <- suppressMessages(fits[[name]]())
  data <- if (name %in% c("matrix", "types")) cars[1:8, ] else new
  if (name == "matrix") data <- as.matrix(mtcars[1:8, c("wt", "hp", "qsec")])
  results[[name]] <- seen(fit, data)
}
for (name in names(many)) results[[name]] <- list(value = look(many[[name]]()))
# environments of formulas and functions differ between sessions
plain <- function(x) {
  if (is.function(x)) {
    return(deparse(x))
  }
  if (is.environment(x)) {
    return("environment")
  }
  attr(x, ".Environment") <- NULL
  if (is.list(x)) x[] <- lapply(x, plain)
  if (is.call(x)) deparse(x) else x
}
results <- lapply(results, function(one) lapply(one, plain))

# how far two results are apart: the largest difference of two numbers, relative to the largest of its vector
numbers_of <- function(x) {
  if (is.list(x)) {
    return(do.call(c, lapply(c(unclass(x), attributes(x)), numbers_of)))
  }
  c(if (is.numeric(x)) list(as.vector(x)), do.call(c, lapply(attributes(x), numbers_of)))
}
distance <- function(x, y) {
  x <- numbers_of(x)
  y <- numbers_of(y)
  if (!identical(lengths(x), lengths(y)) || !length(x)) {
    return("not comparable")
  }
  off <- Map(function(a, b) max(0, abs(a - b) / max(abs(a), 1e-300, na.rm = TRUE), na.rm = TRUE), x, y)
  format(max(unlist(off)), digits = 2)
}

if (arguments[1L] == "save") {
  saveRDS(results, arguments[2L])
  cat(length(results), "cases kept in", arguments[2L], "\n")
} else {
  before <- readRDS(arguments[2L])
  differs <- character()
  for (name in union(names(before), names(results))) {
    parts <- union(names(before[[name]]), names(results[[name]]))
    same <- vapply(parts, function(part) identical(before[[name]][[part]], results[[name]][[part]]), NA)
    apart <- vapply(parts[!same], function(part) distance(before[[name]][[part]], results[[name]][[part]]), "")
    cat(sprintf("%-17s %s\n", name, if (all(same)) "identical" else "DIFFERS"))
    if (!all(same)) cat(sprintf("    %-14s %s\n", parts[!same], apart), sep = "")
    differs <- c(differs, if (!all(same)) name)
  }
  cat(length(before) - length(differs), "of", length(before), "cases identical\n")
  if (length(differs)) quit(status = 1L)
}
