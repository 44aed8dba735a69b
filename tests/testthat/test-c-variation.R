# The penalty on variation: value and gradient against plain R and finite differences, the same bits for any number of
# threads, a value that does not depend on how many values a curve is seen at, and nothing at all when it is off.

penalty_rho <- function(step, e, delta) delta * log1p((sqrt(step^2 + e^2) - e) / delta)

# lambda sum rho of a curve seen at ascending values.
curve_penalty <- function(curve, scale = 1) sum(penalty_rho(diff(curve), 1.5 * scale / length(curve), 0.05 * scale))

# The penalty of a case from its component outputs.
plain_variation <- function(case) {
  config <- engine_config(case)
  outputs <- engine_gradient(case)$component_outputs
  weight <- config$variation_weight %||% rep(1, config$n_features)
  total <- 0
  for (i in seq_len(config$n_features)) {
    x <- case$x[, i]
    rows <- which(!is.na(x) & !duplicated(x))
    rows <- rows[order(x[rows])]
    if (length(rows) < 2) next
    for (u in seq_len(config$n_tasks)) {
      for (k in seq_len(config$n_outputs)) {
        curve <- 0
        for (l in seq_len(config$n_layers)) {
          task_weight <- case$params[[paste0("agg_w", l - 1)]][u, i]
          curve <- curve + task_weight * outputs[[l]][rows, i, k] / config$n_features
          counts <- config$hierarchical || l == config$n_layers
          if (counts) total <- total + weight[i] * curve_penalty(curve, config$variation_scale)
        }
      }
    }
  }
  config$variation * total
}

engine_variation <- function(case, ...) {
  without <- case
  without$config$variation <- 0
  engine_gradient(case, ...)$loss - engine_gradient(without, ...)$loss
}

# A random case of order 1 with the penalty, settings as given.
variation_case <- function(seed, ..., problem = "regression", tasks = "none", missing = TRUE) {
  withr::local_seed(seed)
  n <- 60L
  k <- 4L
  s <- if (tasks == "none") 1L else 3L
  o <- if (problem == "multiclass") 3L else 1L
  config <- utils::modifyList(list(
    n_features = k, hidden = 8L, n_prototypes = 5L, n_layers = 3L, predictor_layers = 2L, n_outputs = o, order = 1L,
    norm = "layer", n_tasks = s, problem = problem, temperature = 0.3, output_penalty = 0.05, lr = 1e-3,
    weight_decay = 1e-3, variation = 0.7
  ), list(...))
  x <- matrix(stats::rnorm(n * k), n)
  x[, 2L] <- round(x[, 2L], 1L)
  x[, 3L] <- x[, 3L] > 0
  if (missing) x[sample.int(n, n %/% 5L), c(1L, 3L)] <- NA
  columns <- if (tasks == "response") s else 1L
  y <- switch(problem,
    regression = stats::rnorm(n * columns),
    binary = stats::rbinom(n * columns, 1L, 0.4),
    multiclass = sample(0:2, n, replace = TRUE)
  )
  if (tasks == "response") y[sample.int(n * columns, n %/% 4L)] <- NA
  case <- list(
    config = config, x = x, y = matrix(as.double(y), n), weights = sample(1:3, n, replace = TRUE) / 2,
    task = if (tasks == "group") sample.int(s, n, replace = TRUE)
  )
  index <- slab_index(engine_config(case))
  case$params <- lapply(index, function(at) array(stats::rnorm(length(at), sd = 0.4), dim(at)))
  case$params$norm_g <- case$params$norm_g + 1
  if (!is.null(case$params$lnorm_g)) case$params$lnorm_g <- case$params$lnorm_g + 1
  case
}

cases <- list(
  "one output" = variation_case(1),
  "one layer" = variation_case(2, n_layers = 1L),
  "three classes" = variation_case(3, problem = "multiclass"),
  "groups" = variation_case(4, tasks = "group", problem = "binary"),
  "groups and classes" = variation_case(5, tasks = "group", problem = "multiclass"),
  "responses" = variation_case(6, tasks = "response"),
  "one-layer predictors" = variation_case(7, predictor_layers = 1L, problem = "multiclass"),
  "last prediction alone" = variation_case(8, hierarchical = FALSE, tasks = "group"),
  "no missing value" = variation_case(9, missing = FALSE),
  "batch norm" = variation_case(10, norm = "batch"),
  "values as they are" = variation_case(11, use_prototypes = FALSE),
  "weights per feature" = variation_case(12, variation_weight = c(2, 0, 0.5, 1), tasks = "response"),
  "another scale" = variation_case(13, variation_scale = 0.2, variation = 3)
)

for (label in names(cases)) {
  case <- cases[[label]]
  test_that(paste("the value is that of plain R,", label), {
    expect_equal(engine_variation(case), plain_variation(case), tolerance = 1e-5)
  })

  test_that(paste("the gradient agrees with finite differences,", label), {
    # The penalty's gradient alone, then with the loss's: both must be right whatever their relative size.
    without <- case
    without$config$variation <- 0
    grads <- engine_gradient(case)$grads
    own <- Map(`-`, grads, engine_gradient(without)$grads)
    along <- function(grads, loss, seed) {
      withr::local_seed(seed)
      size <- sqrt(sum(vapply(grads, function(g) sum(g^2), 0)))
      direction <- lapply(grads, function(g) g / size + array(stats::rnorm(length(g)), dim(g)) / sqrt(length(g)) / 4)
      shifted <- function(by) {
        case$params <- Map(function(p, d) p + by * d, case$params, direction)
        loss(case)
      }
      by <- 2e-4
      c(sum(mapply(function(g, d) sum(g * d), grads, direction)), (shifted(by) - shifted(-by)) / (2 * by))
    }
    for (seed in 1:3) {
      slopes <- along(own, engine_variation, seed)
      expect_equal(slopes[1L], slopes[2L], tolerance = 0.005)
      slopes <- along(grads, function(case) engine_gradient(case)$loss, seed)
      expect_equal(slopes[1L], slopes[2L], tolerance = 0.005)
    }
  })

  test_that(paste("threads and kernels give the same bits,", label), {
    one <- engine_gradient(case)
    for (threads in 2:3) expect_identical(engine_gradient(case, threads = threads), one)
    for (level in kernel_levels()) expect_identical(engine_gradient(case, kernels = level), one)
  })

  test_that(paste("equal values computed once or apart cost the same,", label), {
    once <- engine_gradient(case)
    apart <- engine_gradient(case, equal_values = FALSE)
    expect_equal(apart$loss, once$loss, tolerance = 1e-6)
    expect_equal(apart$grads, once$grads, tolerance = 1e-4)
  })
}

test_that("the order of rows and copies of them do not matter to the penalty", {
  case <- variation_case(1)
  rows <- rev(c(seq_len(nrow(case$x)), 1:20))
  other <- case
  other$x <- case$x[rows, ]
  other$y <- case$y[rows, , drop = FALSE]
  other$weights <- NULL
  expect_equal(engine_variation(other), engine_variation(case), tolerance = 1e-6)
})

test_that("the strength multiplies value and gradient", {
  at <- function(strength) engine_gradient(variation_case(6, tasks = "response", variation = strength))
  expect_equal(at(2)$loss - at(0)$loss, 2 * (at(1)$loss - at(0)$loss), tolerance = 1e-6)
  own <- function(strength) unlist(Map(`-`, at(strength)$grads, at(0)$grads))
  expect_equal(own(2), 2 * own(1), tolerance = 1e-4)
})

test_that("tables of values that are not in order, or repeat one, count distinct values in order", {
  case <- variation_case(9, missing = FALSE)
  config <- engine_config(case)
  pass <- engine_pass(case, 1L, TRUE)
  gradient <- function(data) .Call(ffi_gradient, config, slab_pack(case$params, config), NULL, data, pass)
  data <- shuffled <- engine_data(case, config)
  withr::local_seed(1)
  shuffled$features <- lapply(data$features, function(feature) {
    # Every value twice, in any order; rows take either copy.
    codes <- readBin(feature$codes, "integer", nrow(case$x), size = feature$width, signed = FALSE)
    place <- sample.int(2L * length(feature$values))
    values <- rep(feature$values, 2L)
    values[place] <- values
    codes <- place[codes + 1L + length(feature$values) * sample(0:1, length(codes), replace = TRUE)] - 1L
    list(values = values, codes = as.raw(codes), width = 1L)
  })
  expect_gt(length(unique(shuffled$features[[1L]]$codes)), 1L)
  expect_equal(gradient(shuffled)$loss, gradient(data)$loss, tolerance = 1e-6)
  expect_equal(gradient(shuffled)$grad, gradient(data)$grad, tolerance = 1e-4)
})

# A model of one feature with two prototypes, seen at n values, whose curve rises or falls by 1 in all.
seen_at <- function(case, n) {
  case$x <- matrix(seq(0, 1, length.out = n))
  case$y <- matrix(0, n)
  case
}

fixed_curve <- function(temperature, slope) {
  case <- seen_at(variation_case(1), 101)
  case$config <- utils::modifyList(case$config, list(
    n_features = 1L, n_layers = 1L, n_prototypes = 2L, predictor_layers = 1L, variation = 1, temperature = temperature
  ))
  case[c("weights", "params")] <- NULL
  withr::local_seed(1)
  index <- slab_index(engine_config(case))
  case$params <- lapply(index, function(at) array(stats::rnorm(length(at)), dim(at)))
  case$params[c("center", "coeff", "bias", "norm_g")] <- list(c(0.25, 0.75), slope, c(-0.1, 0.1), 1)
  case$params$enc_w0 <- case$params$enc_w0 / 20 # so that the layer norm bends the curve little
  curve <- engine_gradient(case)$component_outputs[[1L]][, 1L, 1L] * drop(case$params$agg_w0)
  case$params$agg_w0 <- case$params$agg_w0 / diff(range(curve))
  case
}

test_that("a curve costs the same at however many values it is seen", {
  sizes <- c(64, 256, 1024, 4096)
  costs <- function(case) vapply(sizes, function(n) engine_variation(seen_at(case, n)), 0)
  smooth <- costs(fixed_curve(1, slope = 1))
  step <- costs(fixed_curve(1e-7, slope = 0))
  expect_lt(max(smooth) / min(smooth), 1.1)
  expect_lt(max(step) / min(step), 1.1)
  # A jump is the cheaper way to rise.
  expect_lt(max(step), min(smooth))
  reference <- function(curve) vapply(sizes, function(n) curve_penalty(curve(seq(0, 1, length.out = n))), 0)
  expect_equal(step, reference(function(x) as.double(x > 0.5)), tolerance = 1e-5)
  line <- reference(identity)
  expect_lt(max(line) / min(line), 1.1)
})

test_that("without the penalty nothing changes, and configurations that do not know it have none", {
  for (case in cases) {
    case$config$variation <- 0
    zero <- engine_gradient(case)
    case$config[c("variation", "variation_scale", "variation_weight")] <- NULL
    expect_identical(engine_gradient(case), zero)
    config <- engine_config(case)
    old <- config[setdiff(names(config), c("variation", "variation_scale", "variation_weight"))]
    run <- function(config) {
      slab <- slab_pack(case$params, config)
      .Call(ffi_gradient, config, slab, NULL, engine_data(case, config), engine_pass(case, 1L, TRUE))
    }
    expect_identical(run(old), run(config))
  }
})

test_that("one distinct value, or none, costs nothing", {
  case <- variation_case(1)
  case$x[] <- NA
  expect_identical(engine_variation(case), 0)
  case$x[] <- 0.5
  expect_identical(engine_variation(case), 0)
})

test_that("training pays it: curves vary less, and any number of threads gives the same bits", {
  case <- variation_case(1, epochs = 40, batch_size = 25, tau = 4, shuffle = TRUE, lr = 5e-3)
  free <- case
  free$config$variation <- 0
  paid <- engine_trajectory(case)
  expect_identical(engine_trajectory(case, threads = 2L), paid)
  after <- function(trajectory) {
    case$params <- trajectory$final_params
    engine_variation(case)
  }
  expect_lt(after(paid), after(engine_trajectory(free)) / 2)
})

test_that("the penalty is for order 1 without dropout, and its settings are checked", {
  case <- variation_case(1)
  fails <- function(...) {
    case$config <- utils::modifyList(case$config, list(...))
    expect_error(engine_gradient(case), class = "protonam_error_variation")
  }
  fails(dropout = 0.1)
  fails(dropout_output = 0.1)
  fails(order = 2L)
  fails(variation = -1)
  fails(variation = NaN)
  fails(variation_scale = 0)
  fails(variation_weight = c(1, 1, -1, 1))
  expect_snapshot(error = TRUE, {
    engine_gradient(utils::modifyList(case, list(config = list(dropout = 0.1))))
    engine_gradient(utils::modifyList(case, list(config = list(order = 2L))))
  })
  # Dropout and order 2 without the penalty are as they were.
  case$config[c("variation", "dropout")] <- list(0, 0.1)
  expect_true(is.finite(engine_gradient(case, equal_values = FALSE)$loss))
})
