# Cases for the engine, shaped as the golden files.

# The kernels that this machine has.
kernel_levels <- function() {
  available <- function(level) tryCatch(with_kernels(level, TRUE), protonam_error_kernels = function(e) FALSE)
  Filter(available, c("scalar", "avx2", "avx512"))
}

# A random case, with weights, an offset and missing values on top.
random_case <- function(seed) {
  withr::local_seed(seed)
  pick <- function(x) x[sample.int(length(x), 1L)]
  k <- sample(3:5, 1L)
  problem <- pick(c("regression", "binary", "multiclass", "count"))
  tasks <- pick(c("none", "group", "response"))
  if (problem == "multiclass" && tasks == "response") tasks <- "none"
  n <- sample(20:70, 1L)
  s <- if (tasks == "none") 1L else sample(2:3, 1L)
  o <- if (problem == "multiclass") 3L else 1L
  config <- list(
    n_features = k, hidden = pick(c(4L, 7L, 8L, 20L)), n_prototypes = sample(1:9, 1L), n_layers = sample(1:4, 1L),
    predictor_layers = sample(1:2, 1L), n_outputs = o, order = pick(c(1L, 2L, 3L, -1L)),
    norm = pick(c("layer", "batch")), n_tasks = s, problem = problem, temperature = 0.3, output_penalty = 0.05,
    lr = 1e-3, weight_decay = 1e-3, hierarchical = stats::runif(1) < 0.7, use_prototypes = stats::runif(1) < 0.8
  )
  x <- matrix(stats::runif(n * k), n)
  x[, k] <- round(x[, k], 1L)
  x[sample.int(n, n %/% 5L), 1L] <- NA
  columns <- if (tasks == "response") s else 1L
  y <- switch(problem,
    regression = stats::rnorm(n * columns),
    binary = stats::rbinom(n * columns, 1L, 0.4),
    multiclass = sample(0:2, n, replace = TRUE),
    count = stats::rpois(n * columns, 2)
  )
  if (tasks == "response") y[sample.int(n * columns, n %/% 4L)] <- NA
  case <- list(
    config = config, x = x, y = matrix(as.double(y), n), weights = sample(1:3, n, replace = TRUE) / 2,
    offset = stats::rnorm(n) / 4, task = if (tasks == "group") sample.int(s, n, replace = TRUE)
  )
  index <- slab_index(engine_config(case))
  case$params <- lapply(index, function(at) array(stats::rnorm(length(at), sd = 0.4), dim(at)))
  case$params$norm_g <- case$params$norm_g + 1
  if (!is.null(case$params$lnorm_g)) case$params$lnorm_g <- case$params$lnorm_g + 1
  case
}
