skip_if_not_installed("ggplot2", "3.4.0")

drawn <- function(plot) quietly(ggplot2::ggplot_build(plot))
autoplot <- ggplot2::autoplot

fit_icu <- function(formula, n = 400L, ...) {
  protonam(formula, simulate_icu(n, seed = 1), ..., epochs = 2, procedure = "paper", seed = 1, verbose = FALSE)
}
fit <- fit_icu(died ~ age + lactate + admission_type)

test_that("autoplot() gives one ggplot for every kind of figure, and it can be drawn", {
  pairs <- fit_icu(died ~ age + lactate + admission_type, order = 2)
  plots <- list(
    autoplot(fit), autoplot(fit, layers = TRUE), autoplot(fit, which = "history"), autoplot(fit, which = "importance"),
    autoplot(fit, terms = "age"), autoplot(fit, scale = "response"), autoplot(pairs),
    autoplot(pairs, which = "interactions"), autoplot(pairs, which = "interactions", style = "scatter"),
    autoplot(shapes(fit)), autoplot(term_importance(fit)), autoplot(contributions(fit, simulate_icu(2, seed = 2)))
  )
  for (plot in plots) {
    expect_s3_class(plot, "ggplot")
    expect_warning(quietly(ggplot2::ggplotGrob(plot + ggplot2::labs(title = "A title"))), NA)
  }
})

test_that("the panels are those of plot()", {
  shape <- example_shapes()$mixed
  figure <- shape_figure(shape, plot_options())
  layout <- drawn(autoplot(shape))$layout$layout
  expect_identical(nrow(layout), length(figure$panels))
  # pair by pair, row by row
  page <- figure$pages[[1L]]
  expect_identical(max(layout$COL), as.integer(page$columns))
})

test_that("a plain numeric panel keeps the values as coordinates, with its jumps", {
  shape <- example_shapes()$continuous
  plot <- autoplot(shape)
  paths <- Filter(function(layer) inherits(layer$geom, "GeomPath") && !inherits(layer$geom, "GeomSegment"), plot$layers)
  expect_equal(paths[[1L]]$data$x, shape$x)
  expect_equal(paths[[1L]]$data$y, shape$effect)
  expect_identical(length(unique(paths[[1L]]$data$piece)), 3L)
})

test_that("panels of different kinds have their own ticks", {
  scales <- drawn(autoplot(example_shapes()$mixed))$layout$panel_params
  labels <- function(k, side) {
    view <- scales[[k]][[side]]
    label <- view$get_labels()
    label[!is.na(label)]
  }
  expect_true(all(c("20", "40") %in% labels(1L, "x")))
  expect_identical(utils::tail(labels(2L, "x"), 1L), "missing")
  names <- c(labels(3L, "x"), labels(3L, "y"))
  expect_true(all(c("elective", "emergency", "urgent") %in% names))
})

test_that("57 features come page by page", {
  rows <- do.call(rbind, lapply(1:57, function(k) jumpy(paste0("feature_", k), c(0, k), sin(k))))
  facts <- lapply(1:57, function(k) numeric_facts(c(0, k)))
  many <- fake_shapes(rows, stats::setNames(facts, paste0("feature_", 1:57)))
  expect_message(first <- autoplot(many), class = "protonam_message_pages")
  expect_s3_class(first, "ggplot")
  pages <- autoplot(many, page = "all")
  expect_length(pages, 5L)
  expect_message(last <- autoplot(many, page = 5), NA)
  expect_identical(nrow(drawn(last)$layout$layout), 9L)
})

test_that("a legend keeps the sign that no bar has", {
  data <- simulate_icu(2, seed = 2)
  rows <- contributions(fit_icu(died ~ lactate), data[1, ])
  scale <- drawn(autoplot(rows))$plot$scales$get_scales("fill")
  expect_equal(scale$get_labels(), c("raises the prediction", "lowers the prediction"), ignore_attr = TRUE)
})

test_that("bad arguments are named", {
  expect_snapshot(
    {
      autoplot(fit, terms = "lactat")
      autoplot(fit, page = 2)
      autoplot(fit, pags = 2)
    },
    error = TRUE
  )
})

test_that("pictures in ggplot2 stay as they are", {
  skip_if_not_installed("vdiffr")
  version <- utils::packageVersion("ggplot2")
  skip_if(version < "3.4.0" || version >= "3.5.0", "pictures were taken with ggplot2 3.4")
  for (name in names(example_shapes())) {
    vdiffr::expect_doppelganger(paste("ggplot", name), autoplot(example_shapes()[[name]]))
  }
})
