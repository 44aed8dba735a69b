# How true are the shapes of the default fit? Data with known curves, against penalised splines (mgcv::bam, REML,
# select = TRUE, 30 basis functions per feature).
#
#   Rscript truth.R --rows=4000 --seeds=1,2,3,4,5,6,7,8 --families=binomial,gaussian --curves=first,second
#
# Nine correlated features: smooth ones, some with jumps, some that do nothing. Printed, means over the seeds:
#   MISE    sum over features of the mean squared error of the centred curve over the training rows
#   flat, jumps, smooth   the same per feature, by kind;  tails  over the outer 5 % of rows of the smooth features
#   excess  expected loss on 20,000 new rows above that of the true model
#   cover   share of (feature, row) pairs whose truth lies in the 95 % band;  outer  the same in the outer 5 % of rows
#   seconds of CPU per fit
library(protonam)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "common.R"))
source(file.path(folder, "curves.R"))
arguments <- read_arguments(
  rows = 4000, seeds = 1:8, families = c("binomial", "gaussian"), curves = c("first", "second"), threads = 2
)

centred <- function(x) sweep(x, 2L, colMeans(x))

fit_splines <- function(data, family, names) {
  formula <- stats::reformulate(sprintf("s(%s, bs = 'cr', k = 30)", names), "y")
  fit <- mgcv::bam(formula, family = family, data = data, select = TRUE, discrete = TRUE)
  terms <- stats::predict(fit, data, type = "terms", se.fit = TRUE)
  list(
    terms = unname(terms$fit), half = 1.96 * unname(terms$se.fit),
    link = function(new) as.vector(stats::predict(fit, new))
  )
}
fit_default <- function(data, family, names) {
  fit <- protonam(y ~ ., data, seed = 1, threads = arguments$threads, verbose = FALSE)
  table <- shapes(fit)
  half <- vapply(names, function(j) {
    rows <- table[table$term == j & !is.na(table$x), ]
    stats::approx(rows$x, (rows$upper - rows$lower) / 2, data[[j]], rule = 2, ties = mean)$y
  }, numeric(nrow(data)))
  list(
    terms = unname(unclass(predict(fit, data, type = "terms"))[, names]), half = half,
    link = function(new) as.vector(predict(fit, new, type = "link"))
  )
}
fits <- list(splines = fit_splines, protonam = fit_default)

excess_loss <- function(binomial, link, truth) {
  if (!binomial) {
    return(mean((link - truth)^2))
  }
  p <- stats::plogis(truth)
  gap <- function(sign) stats::plogis(sign * truth, log.p = TRUE) - stats::plogis(sign * link, log.p = TRUE)
  mean(p * gap(1) + (1 - p) * gap(-1))
}

judge <- function(set, data, truth, fit, fresh, fresh_eta, binomial) {
  n <- nrow(data)
  names <- names(set$shapes)
  smooth <- setdiff(names, c(set$flat, set$jumps))
  estimate <- centred(fit$terms)
  colnames(estimate) <- names
  error <- (estimate - centred(truth))^2
  outer <- vapply(names, function(j) {
    at <- rank(data[[j]], ties.method = "first") / n
    at <= 0.025 | at > 0.975
  }, logical(n))
  inside <- sqrt(error) <= fit$half
  each <- colMeans(error)
  c(
    MISE = sum(each), flat = mean(each[set$flat]), jumps = mean(each[set$jumps]), smooth = mean(each[smooth]),
    tails = mean(vapply(smooth, function(j) mean(error[outer[, j], j]), 0)),
    excess = excess_loss(binomial, fit$link(fresh), fresh_eta), cover = mean(inside), outer = mean(inside[outer])
  )
}

one_seed <- function(set, family, seed) {
  n <- arguments$rows
  binomial <- family == "binomial"
  data <- draw_features(set, n, seed)
  truth <- true_terms(set, data)
  level <- mean(rowSums(truth)) + if (binomial) 1 else 0
  eta <- rowSums(truth) - level
  data$y <- if (binomial) factor(stats::rbinom(n, 1, stats::plogis(eta))) else eta + stats::rnorm(n)
  fresh <- draw_features(set, 20000, 10000 + seed)
  fresh_eta <- rowSums(true_terms(set, fresh)) - level
  lapply(fits, function(fit) {
    started <- proc.time()
    model <- fit(data, if (binomial) stats::binomial() else stats::gaussian(), names(set$shapes))
    seconds <- sum((proc.time() - started)[c(1L, 2L, 4L, 5L)])
    c(judge(set, data, truth, model, fresh, fresh_eta, binomial), seconds = seconds)
  })
}

describe_machine(arguments$threads)
cat("rows", arguments$rows, "; seeds", arguments$seeds, "\n")
for (name in arguments$curves) {
  for (family in arguments$families) {
    results <- lapply(arguments$seeds, function(seed) one_seed(curve_sets[[name]], family, seed))
    table <- t(vapply(names(fits), function(fit) rowMeans(vapply(results, `[[`, numeric(9), fit)), numeric(9)))
    ratio <- format(table[2L, 1L] / table[1L, 1L], digits = 3L)
    cat("\n", name, " curves, ", family, "; ratio of MISE ", ratio, "\n", sep = "")
    print(round(table, 4L))
  }
}
