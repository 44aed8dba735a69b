# Data with known curves, shared by truth.R and jumps.R: nine correlated features, smooth ones, some with jumps
# (`steps`), some that do nothing. Sourced by the others; not a script of its own.

curve_sets <- list(
  first = list(
    shapes = list(
      sine = function(x) sin(1.5 * x), step = function(x) 1.2 * (x > 0.5), none1 = function(x) 0 * x,
      kink = function(x) pmin(abs(x), 1.5), line = function(x) 0.7 * x,
      bend = function(x) -log1p(exp(2 * log(x) - 1)) / 2, none2 = function(x) 0 * x,
      window = function(x) 0.8 * (x > -1) - 0.8 * (x > 0.2), bowl = function(x) 0.3 * x^2 / (1 + 0.2 * x^2)
    ),
    flat = c("none1", "none2"), jumps = c("step", "window"), rounded = "kink", exponential = "bend",
    clipped = "window", correlation = 0.6,
    steps = data.frame(
      term = c("step", "window", "window"), position = c(0.5, -1, 0.2), size = c(1.2, 0.8, -0.8)
    )
  ),
  second = list(
    shapes = list(
      hump = function(x) exp(-x^2 / 1.2), late = function(x) 0.9 * (x > 0.9), none1 = function(x) 0 * x,
      stair = function(x) 0.5 * (x > -0.7) + 0.5 * (x > 0.6), cubic = function(x) 0.05 * x^3 + 0.1 * x,
      log = function(x) 0.6 * log(x), none2 = function(x) 0 * x, none3 = function(x) 0 * x,
      square = function(x) 0.25 * pmin(x, 1.5)^2
    ),
    flat = c("none1", "none2", "none3"), jumps = c("late", "stair"), rounded = "cubic", exponential = "log",
    clipped = "hump", correlation = 0.4,
    steps = data.frame(term = c("late", "stair", "stair"), position = c(0.9, -0.7, 0.6), size = c(0.9, 0.5, 0.5))
  ),
  third = list(
    shapes = list(
      wave = function(x) 0.8 * cos(2 * x), up = function(x) 1.0 * (x > -0.4), none1 = function(x) 0 * x,
      drop = function(x) 0.4 * x - 0.9 * (x > 1.1), tanh = function(x) 1.2 * tanh(2 * x),
      root = function(x) 0.8 * sqrt(x), none2 = function(x) 0 * x, mixed = function(x) sin(x) + 0.8 * (x > 0),
      none3 = function(x) 0 * x
    ),
    flat = c("none1", "none2", "none3"), jumps = c("up", "drop", "mixed"), rounded = "tanh", exponential = "root",
    clipped = "wave", correlation = 0.5,
    steps = data.frame(term = c("up", "drop", "mixed"), position = c(-0.4, 1.1, 0), size = c(1, -0.9, 0.8))
  )
)

draw_features <- function(set, n, seed) {
  set.seed(seed)
  p <- length(set$shapes)
  z <- matrix(stats::rnorm(n * p), n) %*% chol(set$correlation^abs(outer(seq_len(p), seq_len(p), "-")))
  x <- stats::setNames(as.data.frame(z), names(set$shapes))
  x[[set$rounded]] <- round(x[[set$rounded]], 1)
  x[[set$exponential]] <- exp(x[[set$exponential]])
  x[[set$clipped]] <- pmin(pmax(x[[set$clipped]], -2.5), 2.5)
  x
}
true_terms <- function(set, x) vapply(names(set$shapes), function(j) set$shapes[[j]](x[[j]]), numeric(nrow(x)))

# Responses: a binary one, or one with a residual standard deviation of 1.
draw_response <- function(set, data, family) {
  truth <- true_terms(set, data)
  eta <- rowSums(truth) - mean(rowSums(truth))
  n <- nrow(data)
  data$y <- if (family == "binomial") factor(stats::rbinom(n, 1, stats::plogis(eta - 1))) else eta + stats::rnorm(n)
  data
}
