# How well shapes() recovers known shape functions: simulate_icu(), order 1.
#
#   Rscript recovery.R --rows=20000 --seeds=1,2,3 --ensemble=5
# --settings: own (the package's defaults, 20 % validation rows) or short (50 epochs at learning rate 0.003 on all
# rows). Aims: mean over the continuous features of the correlation between fitted and true shape function, weighted
# by density, of at least 0.98; both planted jumps, taken to be the largest jump of the fitted curve, within 2 % of
# the feature's range.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(rows = 20000, seeds = c(1, 2, 3), ensemble = 5, settings = "short", threads = 2)

weighted_correlation <- function(x, y, weights) {
  stats::cov.wt(cbind(x, y), weights / sum(weights), cor = TRUE)$cor[1L, 2L]
}

# Correlation of a term's fitted curve with its true shape, at the values that the training rows have.
recovered <- function(curve, shape) {
  curve <- curve[!is.na(curve$x) & curve$density > 0, ]
  weighted_correlation(curve$effect, shape(curve$x), curve$density)
}

# A jump is two rows with the same x.
largest_jump <- function(curve) {
  curve <- curve[!is.na(curve$x), ]
  left <- which(diff(curve$x) == 0)
  size <- diff(curve$effect)[left]
  at <- which.max(abs(size))
  data.frame(found = curve$x[left][at], size = size[at], range = diff(range(curve$x)))
}

fit_icu <- function(icu, seed) {
  settings <- if (arguments$settings == "short") list(epochs = 50, lr = 0.003, validation = 0)
  do.call(protonam, c(
    list(died ~ ., icu, ensemble = arguments$ensemble, seed = seed, threads = arguments$threads, verbose = FALSE),
    settings
  ))
}

describe_machine(arguments$threads)
results <- lapply(arguments$seeds, function(seed) {
  icu <- simulate_icu(arguments$rows, seed = seed)
  truth <- attr(icu, "truth")
  seconds <- seconds_of(fit <- fit_icu(icu, seed))
  curves <- shapes(fit)
  correlation <- vapply(truth$continuous, function(term) {
    recovered(curves[curves$term == term, ], truth$shapes[[term]])
  }, 0)
  jumps <- lapply(truth$jumps$term, function(term) largest_jump(curves[curves$term == term, ]))
  jumps <- cbind(truth$jumps[c("term", "position")], do.call(rbind, jumps))
  jumps$percent_off <- 100 * abs(jumps$found - jumps$position) / jumps$range
  cat(sprintf("\nseed %g: mean correlation %.4f, %.0f s\n", seed, mean(correlation), seconds))
  print(round(sort(correlation), 3))
  print(jumps, row.names = FALSE, digits = 3)
  data.frame(seed = seed, correlation = mean(correlation), worst_jump_percent = max(jumps$percent_off))
})
results <- do.call(rbind, results)
cat(sprintf(
  "\n%g rows, %g members, settings %s: mean correlation %.4f (lowest seed %.4f), jumps off by at most %.2f %%\n",
  arguments$rows, arguments$ensemble, arguments$settings, mean(results$correlation), min(results$correlation),
  max(results$worst_jump_percent)
))
