# A model whose one layer passes on the nearest prototype's line, so that jumps are known.
stepped <- function(x, scaling, prototypes = 4, bins = NULL, ensemble = 1, weights = NULL) {
  data <- data.frame(x = x, y = x)
  protonam(y ~ x, data,
    control = protonam_control(
      prototypes = prototypes, layers = 1, hidden = 8, epochs = 3, scaling = scaling, bins = bins, lr = 0.05,
      procedure = "paper"
    ),
    seed = 1, verbose = FALSE, validation = 0, ensemble = ensemble, weights = weights
  )
}

test_that("jumps lie half way between prototypes, as two rows with the limits from either side", {
  for (scaling in c("minmax", "none")) {
    fit <- stepped(seq(0, 10, length.out = 400), scaling)
    s <- shapes(fit)
    centers <- prototypes(fit)$center
    borders <- (centers[-1] + centers[-length(centers)]) / 2
    borders <- borders[borders > 0 & borders < 10]
    jumps <- s$x[duplicated(s$x)]
    expect_gt(length(jumps), 0L)
    for (at in jumps) {
      expect_lt(min(abs(at - borders)), 1e-3)
      sides <- s$effect[s$x == at]
      near <- predict(fit, data.frame(x = at + c(-1e-3, 0, 1e-3)), type = "terms")[, 1]
      expect_equal(sides[1], near[[1]], tolerance = 0.05)
      expect_equal(sides[2], near[[2]], tolerance = 1e-12)
      expect_equal(sides[2], near[[3]], tolerance = 0.05)
    }
    expect_false(is.unsorted(s$x))
    # and nothing else jumps: away from the jumps, steps of a fine grid are small compared with the smallest jump
    size <- abs(diff(s$effect)[diff(s$x) == 0])
    fine <- seq(0, 10, length.out = 40001)
    step <- abs(diff(predict(fit, data.frame(x = fine), type = "terms")[, 1]))
    away <- vapply(fine[-1], function(x) min(abs(x - jumps)) > 1e-3, NA)
    expect_lt(max(step[away]), 0.5 * min(size))
    expect_gt(max(step[!away]), 0.5 * max(size))
  }
})

test_that("with quantile scaling, too, one side of a jump is the prediction there", {
  set.seed(2)
  for (x in list(rexp(500), round(rexp(500), 1), rpois(500, 4))) {
    fit <- stepped(x, "quantile")
    s <- shapes(fit)
    jumps <- unique(s$x[duplicated(s$x)])
    expect_gt(length(jumps), 0L)
    predicted <- predict(fit, data.frame(x = jumps), type = "terms")[, 1]
    gap <- vapply(seq_along(jumps), function(j) min(abs(s$effect[s$x == jumps[j]] - predicted[j])), 0)
    expect_lt(max(gap), 1e-9)
    # between values that occur, not on them
    if (length(unique(x)) < 100) expect_false(any(jumps %in% x))
  }
})

test_that("binned columns jump at the breaks of their bins", {
  set.seed(3)
  fit <- stepped(runif(500), "minmax", bins = 32)
  s <- shapes(fit)
  jumps <- unique(s$x[duplicated(s$x)])
  expect_gt(length(jumps), 0L)
  expect_true(all(jumps %in% fit$encoder[[1]]$bins$breaks))
  predicted <- predict(fit, data.frame(x = jumps), type = "terms")[, 1]
  expect_equal(unname(predicted), s$effect[s$x %in% jumps & !duplicated(s$x, fromLast = TRUE) & duplicated(s$x)])
})

test_that("there are no jumps without prototypes, with one prototype, or for levels", {
  data <- mixed_data()
  fit <- protonam(y ~ age + unit, data, control = tiny(use_prototypes = FALSE), seed = 1, verbose = FALSE)
  expect_false(anyDuplicated(na.omit(shapes(fit)$x)) > 0)
  fit <- stepped(runif(100), "minmax", prototypes = 1)
  expect_false(anyDuplicated(shapes(fit)$x) > 0)
})

test_that("borders that lie together are one, and ensembles bring all their members' borders", {
  fit <- stepped(seq(0, 1, length.out = 300), "minmax", ensemble = 3)
  borders <- cell_borders(fit, 1L, c(0, 1))
  expect_gt(nrow(borders), 3L)
  expect_true(all(diff(as.vector(t(borders))) > 0))
  expect_identical(nrow(cell_borders(fit, 1L, c(0, 0))), 0L)
})

test_that("jumps do not depend on the response's unit", {
  effect <- array(c(0, 1, 1, 1, 0, 1), c(6, 1, 1))
  expect_identical(jump_sizes(effect * 1e-20, 2), jump_sizes(effect, 2))
  expect_identical(jump_sizes(0 * effect, 2), c(0, 0))
})
