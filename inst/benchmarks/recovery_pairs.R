# How well an order 2 fit, taken apart, recovers main effects and one pure interaction.
#
#   Rscript recovery_pairs.R --rows=5000 --seeds=1,2 --correlation=0,0.3
# Aims: every main effect within 0.1 sd of the truth (root mean square difference over the rows, in units of the
# effect's own sd), and the true pair ranked first among the interactions. With correlated features the truth, too, is
# purified: what is additive in the interaction term under the joint distribution belongs to the main effects.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(rows = 5000, seeds = c(1, 2), correlation = c(0, 0.3), epochs = 60, threads = 2)

effects <- list(
  x1 = function(x) sin(2 * pi * x), x2 = function(x) 2 * (x > 0.6), x3 = function(x) 12 * (x - 0.5)^2,
  x4 = function(x) x, group = function(x) c(a = 0, b = 0.5, c = -0.5)[as.character(x)]
)
interaction_term <- function(a, b) 3 * (a - 0.5) * (b - 0.5)

simulate_pairs <- function(rows, correlation, seed) {
  set.seed(seed)
  common <- stats::rnorm(rows)
  draw <- function() stats::pnorm(sqrt(correlation) * common + sqrt(1 - correlation) * stats::rnorm(rows))
  data <- data.frame(x1 = draw(), x2 = draw(), x3 = draw(), x4 = draw(), x5 = draw())
  data$group <- factor(sample(c("a", "b", "c"), rows, replace = TRUE))
  parts <- lapply(names(effects), function(name) effects[[name]](data[[name]]))
  data$y <- Reduce(`+`, parts) + interaction_term(data$x1, data$x3) + stats::rnorm(rows, sd = 0.3)
  data
}

# The true main effects at the rows: the interaction's additive part by least squares on 50 bins per axis.
true_effects <- function(data) {
  bins <- lapply(data[c("x1", "x3")], cut, seq(0, 1, by = 0.02), include.lowest = TRUE)
  joint <- stats::lm(interaction_term(data$x1, data$x3) ~ bins$x1 + bins$x3)
  additive <- stats::predict(joint, type = "terms")
  truth <- vapply(names(effects), function(name) effects[[name]](data[[name]]), numeric(nrow(data)))
  truth[, "x1"] <- truth[, "x1"] + additive[, 1L]
  truth[, "x3"] <- truth[, "x3"] + additive[, 2L]
  scale(truth, scale = FALSE)
}

describe_machine(arguments$threads)
worst <- 0
for (correlation in arguments$correlation) {
  for (seed in arguments$seeds) {
    data <- simulate_pairs(arguments$rows, correlation, seed)
    seconds <- seconds_of(fit <- protonam(
      y ~ ., data,
      order = 2, epochs = arguments$epochs, lr = 0.003, seed = seed, threads = arguments$threads, verbose = FALSE
    ))
    truth <- true_effects(data)
    fitted <- scale(predict(fit, data, type = "terms")[, colnames(truth)], scale = FALSE)
    off <- sqrt(colMeans((fitted - truth)^2)) / apply(truth, 2L, stats::sd)
    strength <- term_importance(fit)
    pairs <- strength[grepl(":", strength$term), ]
    cat(sprintf("\ncorrelation %g, seed %g: %.0f s; main effects off by (sd)\n", correlation, seed, seconds))
    print(round(off, 3))
    cat(sprintf(
      "strongest pairs: %s (%.3f), %s (%.3f); the true one is x1:x3\n",
      pairs$term[1L], pairs$importance[1L], pairs$term[2L], pairs$importance[2L]
    ))
    worst <- max(worst, off)
    stopifnot(pairs$term[1L] == "x1:x3")
  }
}
cat(sprintf("\nlargest difference of a main effect: %.3f sd\n", worst))
