fit_icu <- function(formula, n = 400L, ..., epochs = 2) {
  protonam(formula, simulate_icu(n, seed = 1), ..., epochs = epochs, procedure = "paper", seed = 1, verbose = FALSE)
}

fit <- fit_icu(died ~ age + lactate + admission_type)

test_that("plot() returns its data invisibly, and the next plot finds the device as it was", {
  quietly({
    graphics::par(mar = c(1, 2, 3, 4), las = 2, cex = 0.9)
    graphics::plot.new()
    before <- graphics::par(no.readonly = TRUE)
    result <- withVisible(plot(fit))
    graphics::plot.new()
    after <- graphics::par(no.readonly = TRUE)
  })
  expect_false(result$visible)
  expect_s3_class(result$value, "protonam_shapes")
  expect_identical(unique(result$value$term), c("age", "lactate", "admission_type"))
  same <- setdiff(names(before), c("fig", "fin", "pin", "plt", "usr", "new", "xaxp", "yaxp"))
  expect_equal(after[same], before[same])
  expect_equal(after$fig, c(0, 1, 0, 1))
})

test_that("every kind of figure draws and returns its data", {
  quietly({
    expect_s3_class(plot(fit, layers = TRUE), "protonam_shapes")
    history <- plot(fit, which = "history")
    expect_s3_class(plot(fit, which = "importance"), "protonam_importance")
    expect_s3_class(plot(shapes(fit), terms = 1), "protonam_shapes")
    expect_s3_class(plot(term_importance(fit)), "protonam_importance")
    rows <- contributions(fit, simulate_icu(6, seed = 2))
    shown <- plot(rows)
    plot(fit, scale = "response")
  })
  expect_identical(names(history), c("member", "epoch", "loss", "score", "lr", "temperature", "best"))
  expect_identical(sum(history$best), 1L)
  expect_identical(unique(shown$row), 1:4)
})

test_that("interactions are drawn with main effects and by themselves", {
  pairs <- fit_icu(died ~ age + lactate + admission_type + heart_rate, order = 2)
  quietly({
    both <- plot(pairs)
    alone <- plot(pairs, which = "interactions", style = "scatter")
    some <- plot(pairs, which = "interactions", terms = "age")
  })
  expect_identical(length(unique(both$term)), 8L)
  expect_identical(length(unique(alone$term)), 6L)
  expect_identical(sort(unique(some$term)), c("age:admission_type", "age:heart_rate", "age:lactate"))
})

test_that("groups, classes and ensembles draw", {
  icu <- simulate_icu(400, seed = 1)
  grouped <- protonam(died ~ age + lactate, icu, task = ~sex, epochs = 2, procedure = "paper", seed = 1)
  icu$admission_type <- factor(icu$admission_type, ordered = FALSE)
  classes <- protonam(admission_type ~ age + lactate, icu, epochs = 2, procedure = "paper", seed = 1)
  several <- fit_icu(died ~ age + lactate, ensemble = 2)
  quietly({
    expect_identical(unique(plot(grouped)$task), c("female", "male"))
    expect_identical(unique(plot(classes)$output), levels(icu$admission_type))
    expect_true(all(is.finite(plot(several)$lower)))
    expect_identical(unique(plot(several, which = "history")$member), 1:2)
    plot(contributions(classes, icu[1, ]))
  })
})

test_that("57 features take five pages, and fit on a small device as well", {
  rows <- do.call(rbind, lapply(1:57, function(k) jumpy(paste0("feature_", k), c(0, k), sin(k))))
  facts <- lapply(1:57, function(k) numeric_facts(c(0, k)))
  many <- fake_shapes(rows, stats::setNames(facts, paste0("feature_", 1:57)))
  file <- tempfile(fileext = ".pdf")
  count <- function(width, height) {
    grDevices::pdf(file, width, height, compress = FALSE)
    plot(many)
    grDevices::dev.off()
    sum(grepl("/Type /Page ", readLines(file, warn = FALSE), fixed = TRUE, useBytes = TRUE))
  }
  expect_identical(count(7, 7), 5L)
  expect_gt(count(2.5, 2), 20L)
  unlink(file)
})

test_that("long names and tiny devices draw without errors", {
  long <- strrep("a_name_of_", 6L)
  rows <- jumpy(long)
  one <- fake_shapes(rows, stats::setNames(list(numeric_facts(c(18, 95))), long))
  levels <- paste(strrep("level ", 10L), 1:42)
  factor <- fake_shapes(fake_levels(long, levels, sin(1:42)), stats::setNames(list(level_facts(levels)), long))
  for (size in c(1.5, 3, 7)) {
    quietly(
      {
        expect_error(plot(one), NA)
        expect_error(plot(factor), NA)
      },
      size, size
    )
  }
})

test_that("terms are picked by name and by importance", {
  quietly({
    expect_identical(unique(plot(fit, terms = c("lactate", "age"))$term), c("lactate", "age"))
    top <- plot(fit, terms = 2)
  })
  ranked <- term_importance(fit)$term
  expect_identical(unique(top$term), ranked[1:2])
})

test_that("bad arguments are named", {
  infinite <- fit_icu(died ~ age + lactate, order = Inf)
  importance <- term_importance(fit)
  rows <- contributions(fit, simulate_icu(2, seed = 2))
  quietly(expect_snapshot(
    {
      plot(fit, terms = "aeg")
      plot(fit, terms = "xyz")
      plot(fit, terms = 0)
      plot(fit, terms = TRUE)
      plot(fit, which = "shape")
      plot(fit, which = "interactions")
      plot(fit, layers = NA)
      plot(fit, labels = "Age")
      plot(fit, labels = c(ag = "Age"))
      plot(fit, stile = "heat")
      plot(fit, style = "map")
      plot(fit, level = 1.5)
      plot(fit, free_y = "no")
      plot(fit, ylab = 3)
      plot(fit, panels = 0)
      plot(infinite)
      plot(importance, terms = "lactat")
      plot(rows, rows = 7)
    },
    error = TRUE
  ))
})

test_that("labels stand at the axes and a given title too", {
  labels <- c(age = "Age (years)", lactate = "Lactate (mmol/l)")
  options <- plot_options(labels = labels, ylab = "effect", main = "Deaths", features = feature_names(fit))
  figure <- fit_figure(fit, NULL, FALSE, "shapes", NULL, "link", options)$figure
  expect_identical(vapply(figure$panels[1:2], `[[`, "", "title"), unname(labels))
  expect_identical(c(figure$ylab, figure$title), c("effect", "Deaths"))
})

# Pictures ------------------------------------------------------------------------------------------------------------

test_that("pictures in base graphics stay as they are", {
  skip_if_not_installed("vdiffr")
  for (name in names(example_shapes())) {
    vdiffr::expect_doppelganger(paste("base", name), function() plot(example_shapes()[[name]]))
  }
})

test_that("a pair that would have the name of a feature is drawn with its own features", {
  fit <- colliding_fit()
  data <- shapes(fit)
  titles <- vapply(shape_figure(data, plot_options())$panels, function(panel) panel$title, "")
  expect_identical(titles, c("x", "z", "x:z", "x : z", "x : x:z", "z : x:z"))
  expect_identical(unique(quietly(plot(fit, "x:z", which = "interactions"))$term), c("x:x:z", "z:x:z"))
  expect_identical(unique(quietly(plot(fit, "z:x", which = "interactions"))$term), "x:z.1")
  importance <- term_importance(fit)
  expect_identical(unique(quietly(plot(importance, terms = "z:x"))$term), "x:z.1")
  expect_identical(
    term_labels(c("x:z", "x:z.1"), attr(importance, "features"), c(x = "X")), c("x:z", "X : z")
  )
})

test_that("curves compared with a reference say so, and are drawn on the scale of ratios", {
  data <- jump_data(120)
  fit <- own_fit(dead ~ a + unit, data)
  shown <- quietly(plot(fit, reference = list(a = 0.5), scale = "odds ratio"))
  expect_identical(attr(shown, "reference"), c(a = "0.5"))
  figure <- shape_figure(shapes(fit, reference = list(a = 0.5), scale = "odds ratio"), plot_options())
  expect_match(figure$caption, "Compared with a = 0.5.", fixed = TRUE, all = FALSE)
  expect_identical(figure$ylab, "odds ratio")
  only <- shape_figure(pick_shapes(shapes(fit, reference = list(a = 0.5)), "unit"), plot_options())
  expect_false(any(grepl("Compared", only$caption)))
})
