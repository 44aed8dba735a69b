# Order 2 with 57 features: 1,596 pairs, one step on 2,048 rows, time and memory.
#
#   Rscript speed_pairs.R
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(features = 57, rows = 2048, steps = 3, threads = 2)

set.seed(1)
x <- matrix(stats::rnorm(arguments$rows * arguments$features), arguments$rows)
y <- x[, 1L] * x[, 2L] + stats::rnorm(arguments$rows)
config <- protonam:::model_config(
  protonam_control(output_penalty = 1e-3), protonam:::model_components(arguments$features, 2), arguments$features,
  "gaussian", n_outputs = 1, n_tasks = 1, task_kind = "none"
)
data <- protonam:::encoded_data(
  lapply(seq_len(arguments$features), function(i) .Call(protonam:::ffi_distinct, x[, i], NULL)), arguments$rows,
  y = matrix(y)
)
centers <- apply(x, 2L, stats::quantile, probs = seq_len(32) / 33)
train <- list(
  epochs = arguments$steps, batch_size = arguments$rows, lr = 1e-3, weight_decay = 1e-3, tau = 1, patience = Inf,
  seed = 1, shuffle = TRUE, join_remainder = TRUE, equal_values = TRUE, threads = arguments$threads
)
describe_machine(arguments$threads)
fit <- .Call(protonam:::ffi_fit, config, data, NULL, list(centers = centers, seed = 1), train, NULL)[[1L]]
peak <- if (file.exists("/proc/self/status")) {
  as.numeric(gsub("[^0-9]", "", grep("^VmHWM", readLines("/proc/self/status"), value = TRUE))) / 2^20
} else {
  NA
}
cat(sprintf(
  "%d features, %d pairs, %d rows: %.2f s a step, peak memory of the whole process %.2f GiB\n", arguments$features,
  ncol(config$components), arguments$rows, sum(fit$seconds) / arguments$steps, peak
))
