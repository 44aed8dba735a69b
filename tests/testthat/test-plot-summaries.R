options <- plot_options()

fake_history <- function(members = 1L, best = 20L, score = 0.5 + 0.3 * (1 - exp(-(1:30) / 8))) {
  do.call(rbind, lapply(seq_len(members), function(m) {
    data.frame(
      member = m, epoch = 1:30, loss = exp(-(1:30) / 10) + m / 50, score = score, lr = 1e-3,
      temperature = 16^(-(1:30) / 10), best = 1:30 == best
    )
  }))
}

test_that("the history shows loss, score and temperature, and the epoch that is kept", {
  figure <- history_figure(fake_history(), "auc", options)
  expect_identical(vapply(figure$panels, `[[`, "", "title"), c("training loss", "validation AUC", "temperature"))
  expect_identical(vapply(figure$panels, function(panel) panel$marks$best$x, 1L), rep(20L, 3L))
  expect_match(figure$caption, "(20)", fixed = TRUE)
})

test_that("members of an ensemble are thin lines; without validation there is no score", {
  figure <- history_figure(fake_history(3L), "mse", options)
  expect_identical(length(unique(figure$panels[[1L]]$marks$thin$piece)), 3L)
  expect_null(figure$panels[[1L]]$marks$curve)
  figure <- history_figure(fake_history(score = NA_real_), "mse", options)
  expect_length(figure$panels, 2L)
  expect_match(figure$caption, "No validation rows")
})

fake_importance <- function(n, ...) {
  structure(
    data.frame(term = paste0("f", seq_len(n)), task = NA_character_, output = NA_character_, importance = n:1 / n, ...),
    class = c("protonam_importance", "data.frame"), scale_label = "log odds"
  )
}

test_that("importance bars are sorted with the largest on top, as many as have room, at most 40", {
  small <- importance_figure(fake_importance(57L), plot_options(limits = new_room(c(3.5, 3))))
  expect_identical(small$caption, "The 19 strongest of 57 terms.")
  figure <- importance_figure(fake_importance(57L), plot_options(limits = new_room(c(7, 7))))
  panel <- figure$panels[[1L]]
  expect_identical(nrow(panel$marks$bar), 40L)
  expect_identical(rev(panel$y$labels)[1:2], c("f1", "f2"))
  expect_identical(which.max(panel$marks$bar$ymax), which.max(panel$marks$bar$xmax))
  expect_identical(figure$caption, "The 40 strongest of 57 terms.")
  expect_identical(panel$x$title, "mean |log odds|")
})

test_that("importance by group has a bar per group", {
  table <- fake_importance(3L)
  table <- rbind(transform(as.data.frame(table), task = "female"), transform(as.data.frame(table), task = "male"))
  class(table) <- c("protonam_importance", "data.frame")
  figure <- importance_figure(table, options)
  bar <- figure$panels[[1L]]$marks$bar
  expect_identical(nrow(bar), 6L)
  expect_identical(figure$series$labels, c("female", "male"))
  # bars do not overlap
  order <- order(bar$ymin)
  expect_true(all(utils::tail(bar$ymin[order], -1L) >= utils::head(bar$ymax[order], -1L) - 1e-12))
})

fake_contributions <- function(n, row = 1L) {
  value <- rep_len(c(1, -0.6), n) / seq_len(n)
  structure(
    data.frame(
      row = row, task = NA_character_, output = NA_character_, term = paste0("f", seq_len(n)), value = "3",
      contribution = value, cumulative = -2 + cumsum(value)
    ),
    class = c("protonam_contributions", "data.frame"), response = "died", scale_label = "log odds", family = "binomial"
  )
}

test_that("a waterfall runs from the intercept to the prediction without gaps", {
  figure <- waterfall_figure(fake_contributions(5L), options)
  panel <- figure$panels[[1L]]
  bar <- panel$marks$bar
  expect_identical(panel$y$labels, c("intercept", paste0("f", 1:5, " = 3"), "prediction"))
  expect_equal(panel$marks$end$x, c(-2, -2 + sum(rep_len(c(1, -0.6), 5L) / 1:5)))
  start <- ifelse(bar$series == 1L, bar$xmin, bar$xmax)
  end <- ifelse(bar$series == 1L, bar$xmax, bar$xmin)
  expect_equal(c(start, panel$marks$end$x[2L])[-1L], end)
  expect_identical(figure$xlab, "log odds of died")
})

test_that("small contributions are put together", {
  figure <- waterfall_figure(fake_contributions(57L), options)
  panel <- figure$panels[[1L]]
  expect_identical(nrow(panel$marks$bar), 13L)
  expect_true("45 other terms" %in% panel$y$labels)
  all_terms <- fake_contributions(57L)
  expect_equal(panel$marks$end$x[2L], all_terms$cumulative[57L])
})

test_that("numbers that have no room beside a bar stand within it", {
  bars <- list(from = -2, to = -1, at = 2, ends = data.frame(lower = NA_real_, upper = NA_real_))
  labels <- waterfall_labels(bars, -2, -1, c(-2.1, -0.9))
  expect_identical(labels$inside$label, "+1.00")
  expect_equal(labels$inside$x, -1.5)
  expect_identical(labels$label$label, c("-2.00", "-1.00"))
  # the axis of a figure leaves room at the right
  panel <- waterfall_figure(fake_contributions(1L), options)$panels[[1L]]
  expect_identical(panel$marks$label$label, c("+1.00", "-2.00", "-1.00"))
  expect_true(all(panel$marks$label$adjust == 0))
  panel <- waterfall_figure(fake_contributions(5L), options)$panels[[1L]]
  inside <- panel$marks$label$x > panel$x$limits[1L] & panel$marks$label$x < panel$x$limits[2L]
  expect_true(all(inside))
})

test_that("a waterfall of two classes says which probability its end means", {
  expect_identical(waterfall_figure(fake_contributions(1L), options)$panels[[1L]]$title, "row 1: probability 0.27")
  rows <- fake_contributions(1L)
  attr(rows, "family") <- "poisson"
  expect_identical(waterfall_figure(rows, options)$panels[[1L]]$title, "row 1")
})

test_that("waterfalls of several responses have a scale each, those of rows share it", {
  first <- transform(as.data.frame(fake_contributions(3L)), task = "weight")
  second <- transform(first, task = "length", contribution = 100 * contribution, cumulative = 100 * cumulative)
  several <- rbind(first, second, transform(second, row = 2L, cumulative = cumulative + 50))
  class(several) <- c("protonam_contributions", "data.frame")
  attributes(several) <- c(attributes(several), list(
    family = "gaussian", response = "cbind(weight, length)", scale_label = "effect on the response",
    prediction = matrix(0, 2L, 2L)
  ))
  figure <- waterfall_figure(several, options)
  limits <- vapply(figure$panels, function(panel) panel$x$limits, numeric(2L))
  expect_equal(limits[, 2L], limits[, 3L])
  expect_lt(diff(limits[, 1L]), diff(limits[, 2L]) / 10)
  expect_identical(figure$xlab, "prediction")
})

test_that("one bar of importance does not fill the page", {
  panel <- importance_figure(fake_importance(1L), options)$panels[[1L]]
  expect_lt(diff(unlist(panel$marks$bar[c("ymin", "ymax")])), 0.2 * diff(panel$y$limits))
})
