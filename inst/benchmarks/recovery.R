# How well shapes() recovers known shape functions: simulate_icu(), order 1.
#
#   Rscript recovery.R --rows=20000 --seeds=1,2,3,4
# One default call per seed. Aims: mean over the continuous features of the correlation between fitted and true shape
# function, weighted by density, of at least 0.99; both planted jumps, taken to be the largest jump of the fitted curve,
# within 2 % of the feature's range. Cover: share of the rows, mean over these features, whose true effect lies in the
# 95 % band; outer: the same over the outer 5 % of rows.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(rows = 20000, seeds = 1:4, threads = 2)

weighted_correlation <- function(x, y, weights) {
  stats::cov.wt(cbind(x, y), weights / sum(weights), cor = TRUE)$cor[1L, 2L]
}

# Correlation of a term's fitted curve with its true shape, at the values that the training rows have.
recovered <- function(curve, shape) {
  curve <- curve[!is.na(curve$x) & curve$density > 0, ]
  weighted_correlation(curve$effect, shape(curve$x), curve$density)
}

# The steepest place: the largest change within 1 % of the feature's range, as members may jump at neighbouring values.
largest_jump <- function(curve) {
  curve <- curve[!is.na(curve$x), ]
  range <- diff(range(curve$x))
  right <- findInterval(curve$x + range / 100, curve$x)
  size <- curve$effect[right] - curve$effect
  at <- which.max(abs(size))
  data.frame(found = (curve$x[at] + curve$x[right[at]]) / 2, size = size[at], range = range)
}

# Share of the rows whose centred true effect lies in the band, and of the outer 5 % of rows.
covered <- function(curve, shape) {
  curve <- curve[!is.na(curve$x) & curve$density > 0, ]
  truth <- shape(curve$x)
  truth <- truth - stats::weighted.mean(truth, curve$density)
  truth <- truth + stats::weighted.mean(curve$effect, curve$density)
  inside <- curve$lower <= truth & truth <= curve$upper
  rank <- cumsum(curve$density) / sum(curve$density)
  outer <- rank <= 0.025 | rank > 0.975
  c(stats::weighted.mean(inside, curve$density), stats::weighted.mean(inside[outer], curve$density[outer]))
}

describe_machine(arguments$threads)
results <- lapply(arguments$seeds, function(seed) {
  icu <- simulate_icu(arguments$rows, seed = seed)
  truth <- attr(icu, "truth")
  seconds <- seconds_of({
    fit <- protonam(died ~ ., icu, seed = seed, threads = arguments$threads, verbose = FALSE)
  })
  curves <- shapes(fit)
  correlation <- vapply(truth$continuous, function(term) {
    recovered(curves[curves$term == term, ], truth$shapes[[term]])
  }, 0)
  cover <- vapply(truth$continuous, function(term) {
    covered(curves[curves$term == term, ], truth$shapes[[term]])
  }, numeric(2))
  jumps <- lapply(truth$jumps$term, function(term) largest_jump(curves[curves$term == term, ]))
  jumps <- cbind(truth$jumps[c("term", "position")], do.call(rbind, jumps))
  jumps$percent_off <- 100 * abs(jumps$found - jumps$position) / jumps$range
  cat(sprintf(
    "\nseed %g: mean correlation %.4f, cover %.3f (outer %.3f), %.0f s; prototypes: %s\n", seed, mean(correlation),
    mean(cover[1L, ]), mean(cover[2L, ]), seconds, toString(vapply(fit$encoder[fit$engine$net], `[[`, "", "name"))
  ))
  print(round(rbind(correlation, cover = cover[1L, ]), 3))
  print(jumps, row.names = FALSE, digits = 3)
  data.frame(
    correlation = mean(correlation), worst_jump_percent = max(jumps$percent_off), cover = mean(cover[1L, ]),
    outer = mean(cover[2L, ])
  )
})
results <- do.call(rbind, results)
cat(sprintf(
  "\n%g rows: mean correlation %.4f (lowest seed %.4f), jumps off by at most %.2f %%, cover %.3f (outer %.3f)\n",
  arguments$rows, mean(results$correlation), min(results$correlation), max(results$worst_jump_percent),
  mean(results$cover), mean(results$outer)
))
