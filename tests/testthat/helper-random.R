# Random data and settings for properties that hold for every fit (helper-properties.R) and for .ci/fuzz.
#
# A problem is list(data, formula, args = further arguments of protonam(), new = rows to predict). The same seed gives
# the same problem. `wild` problems have columns, names and values that nobody plans for.

pick <- function(x, ...) x[[sample.int(length(x), 1L, ...)]]
chance <- function(p) stats::runif(1L) < p

random_problem <- function(seed, wild = FALSE) {
  withr::local_seed(seed)
  n <- if (wild && chance(0.1)) sample(1:6, 1L) else sample(30:90, 1L)
  k <- sample(if (wild) 1:6 else 2:4, 1L)
  columns <- lapply(seq_len(k), function(i) random_column(n, wild))
  names(columns) <- random_names(k, wild)
  data <- structure(columns, class = "data.frame", row.names = seq_len(n))
  eta <- random_signal(columns, n)
  response <- random_response(eta, n, wild)
  for (name in names(response$columns)) data[[name]] <- response$columns[[name]]
  if (chance(0.2)) row.names(data) <- paste0("row", sample.int(n))
  right <- Reduce(function(a, b) call("+", a, b), lapply(names(columns), as.name))
  formula <- eval(call("~", response$left, right))
  environment(formula) <- globalenv()
  roles <- random_roles(data, n, response, wild)
  data <- roles$data
  settings <- random_settings(k, response$kind, roles$args, wild)
  list(
    seed = seed, data = data, formula = formula, features = names(columns), kind = response$kind,
    args = c(response$args, roles$args, settings), new = random_rows(data, names(columns))
  )
}

random_column <- function(n, wild) {
  usual <- list(
    normal = function() stats::rnorm(n),
    uniform = function() round(stats::runif(n, 20, 80), 1),
    skewed = function() exp(2 * stats::rnorm(n)),
    whole = function() sample(1:9, n, replace = TRUE),
    binary = function() sample(0:1, n, replace = TRUE),
    tied = function() ifelse(stats::runif(n) < 0.6, 0, stats::rexp(n)),
    logical = function() stats::runif(n) < 0.4,
    levels = function() factor(sample(c("icu", "ward", "er", "other"), n, replace = TRUE)),
    text = function() sample(c("b", "a", "d", "c", "e"), n, replace = TRUE),
    ordered = function() factor(sample(c("low", "mid", "high"), n, TRUE), c("low", "mid", "high"), ordered = TRUE),
    date = function() as.Date("2024-02-28") + sample.int(400, n, replace = TRUE),
    time = function() as.POSIXct("2024-02-28 23:00", tz = "UTC") + stats::runif(n, 0, 1e5)
  )
  odd <- list(
    constant = function() rep(3, n),
    nothing = function() rep(NA_real_, n),
    nearly = function() c(rep(1, n - 1L), 2),
    sparse = function() ifelse(stats::runif(n) < 0.9, NA, stats::rnorm(n)),
    huge = function() stats::rnorm(n) * 1e300,
    tiny = function() stats::rnorm(n) * 1e-300,
    shifted = function() 1e9 + stats::rnorm(n),
    infinite = function() ifelse(stats::runif(n) < 0.1, -Inf, ifelse(stats::runif(n) < 0.1, Inf, stats::rnorm(n))),
    unused = function() factor(sample(c("a", "b"), n, TRUE), levels = c("z", "b", "a", "y")),
    one_level = function() factor(rep("only", n)),
    each = function() paste0("id", seq_len(n)),
    strings = function() sample(c("", " ", "NA", "\u00e9t\u00e9", "a\nb", "{x}", "%d", "`q`"), n, replace = TRUE),
    matrix = function() matrix(stats::rnorm(n), n),
    difference = function() as.difftime(stats::runif(n), units = "hours"),
    lt = function() as.POSIXct(as.POSIXlt("2024-03-31 01:30", tz = "Europe/Berlin") + 600 * seq_len(n)),
    outlier = function() c(1e15, stats::rnorm(n - 1L)),
    no_logical = function() rep(NA, n)
  )
  column <- pick(if (wild && chance(0.4)) odd else usual)()
  if (chance(if (wild) 0.4 else 0.25)) column[sample.int(n, max(1L, n %/% 8L))] <- NA
  if (wild && chance(0.05) && is.double(column) && !is.object(column)) column[sample.int(n, 1L)] <- NaN
  column
}

random_names <- function(k, wild) {
  if (!wild || chance(0.6)) {
    return(sample(c("age", "lab", "dose", "score", "unit", "zone", "x1", "x2"), k))
  }
  sample(
    c("a b", "x:z", "x", "z", "if", "TRUE", "(Intercept)", "\u00e9", "1st", "a{b}", "a%b", "T", "offset", "weights"),
    k
  )
}

# Something to learn, from columns of any type.
random_signal <- function(columns, n) {
  each <- lapply(columns, function(x) {
    z <- if (is.factor(x) || is.character(x)) match(as.character(x), sort(unique(as.character(x)))) else as.double(x)
    z[!is.finite(z)] <- stats::median(c(z[is.finite(z)], 0))
    z <- rank(z) / n
    pick(list(function(z) 2 * z, function(z) 2 * (z > 0.5), function(z) sin(5 * z), function(z) 0 * z))(z)
  })
  Reduce(`+`, each, numeric(n)) + stats::rnorm(n) / 3
}

random_response <- function(eta, n, wild) {
  two <- function(p = 0.5) as.integer(rank(eta + stats::rnorm(n) / 2) / n > p)
  kind <- pick(c("number", "number", "classes", "classes", "count", "several", "numbers", "binaries"))
  columns <- switch(kind,
    number = list(y = eta * if (wild) pick(c(1, 1, 1e-200, 1e30, 0)) else pick(c(1, 100))),
    classes = list(y = pick(list(
      function() factor(c("no", "yes")[two() + 1L]), function() two() == 1L, function() c("alive", "dead")[two() + 1L],
      function() factor(c("no", "yes")[two(if (wild) 0.95 else 0.7) + 1L], levels = c("yes", "no"))
    ))()),
    count = list(y = stats::rpois(n, exp(pmin(eta, if (wild) 12 else 3) / 2))),
    several = list(y = factor(c("u", "v", "w")[1L + two(0.3) + two(0.6)])),
    numbers = list(y1 = eta, y2 = stats::rnorm(n) - eta),
    binaries = list(y1 = two() == 1L, y2 = two(0.3) == 1L)
  )
  if (length(columns) == 1L && chance(if (wild) 0.3 else 0.15)) columns$y[sample.int(n, max(1L, n %/% 15L))] <- NA
  if (kind %in% c("numbers", "binaries") && chance(0.5)) columns$y2[sample.int(n, n %/% 5L)] <- NA
  left <- if (length(columns) == 1L) quote(y) else quote(cbind(y1, y2))
  list(
    kind = kind, columns = columns, left = left,
    args = if (kind == "count") list(family = stats::poisson())
  )
}

# Weights, offset, groups, task, validation: list(data, args); everything that has a value per row is a column.
random_roles <- function(data, n, response, wild) {
  args <- list()
  if (chance(0.3)) {
    data$w <- pick(list(
      function() sample(1:3, n, replace = TRUE), function() stats::runif(n, 0.1, 2), function() sample(0:2, n, TRUE),
      function() if (wild) 10^stats::runif(n, -12, 12) else rep(2, n)
    ))()
    args$weights <- quote(w)
  }
  if (chance(0.15)) {
    data$o <- stats::rnorm(n) / 4
    args$offset <- quote(o)
  }
  if (chance(0.2)) {
    data$g <- sample.int(max(2L, n %/% 4L), n, replace = TRUE)
    args$groups <- quote(~g)
  }
  if (chance(0.12) && !response$kind %in% c("numbers", "binaries")) {
    data$t <- sample(c("f", "m"), n, replace = TRUE)
    args$task <- quote(~t)
  }
  if (chance(0.15)) args$validation <- pick(c(0.2, 0.3))
  if (chance(0.1)) args$na.action <- quote(stats::na.omit)
  list(data = data, args = args)
}

random_settings <- function(k, kind, roles, wild) {
  paper <- chance(0.35)
  order <- pick(c(1, 1, 1, 1, 1, 2, 2, Inf, if (k > 2) 3))
  settings <- list(
    order = order, epochs = sample(1:4, 1L), hidden = pick(c(4, 8)), prototypes = sample(1:5, 1L),
    layers = sample(1:2, 1L)
  )
  add <- function(p, ...) if (chance(p)) settings <<- utils::modifyList(settings, list(...))
  if (paper) settings$procedure <- "paper"
  add(0.6, ensemble = pick(1:3))
  add(0.2, batch_size = pick(c(4, 16, 64)))
  add(0.2, norm = "batch")
  add(0.1, predictor_layers = 1)
  add(0.2, scaling = pick(c("minmax", "none")))
  add(0.2, bins = pick(c(2, 5, 16)))
  add(0.1, hierarchical = FALSE)
  add(0.1, use_prototypes = FALSE)
  add(0.1, output_penalty = pick(c(0, 0.1)))
  add(0.1, interaction_bins = pick(c(2, 8)))
  if (paper) {
    add(0.15, dropout = 0.2, dropout_output = 0.1)
    add(0.1, bootstrap = TRUE, ensemble = 2)
    add(0.1, patience = 1)
  } else {
    add(0.3, base = pick(c("linear", "none", "smooth")))
    add(0.4, prototypes_for = pick(list(TRUE, FALSE)))
    add(0.1, variation = pick(c(0, 1)))
    if (order == 1 && !identical(settings$base, "none")) add(0.15, smoothness = pick(c(0, 0.5, 3)))
  }
  if (order == 2) add(0.3, pairs = 1)
  settings
}

# Rows to predict: known ones, missing values, levels and values never seen.
random_rows <- function(data, features) {
  new <- data[sample.int(nrow(data), min(nrow(data), 12L)), , drop = FALSE]
  row.names(new) <- NULL
  for (name in features) {
    if (chance(0.1)) new[[name]][sample.int(nrow(new), 1L)] <- NA
    if (chance(0.1) && is.character(new[[name]])) new[[name]][1L] <- "never seen"
    if (chance(0.2) && is.double(new[[name]]) && !is.object(new[[name]])) new[[name]][1L] <- new[[name]][1L] * 3
  }
  new
}

# The fit of a problem, with other data, formula or arguments (NULL takes one away). Arguments that mention columns are
# calls, evaluated as those of a user are.
problem_fit <- function(problem, data = problem$data, formula = problem$formula, args = list()) {
  usual <- list(seed = 1, threads = 1, verbose = FALSE)
  args <- utils::modifyList(c(usual[setdiff(names(usual), names(problem$args))], problem$args), args)
  call <- as.call(c(list(quote(protonam), formula, quote(data)), args))
  eval(call, list(data = data, protonam = protonam), globalenv())
}
