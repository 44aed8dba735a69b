rows <- rbind(
  jumpy("age"), fake_levels("sex", c("f", "m"), c(0.2, -0.2)), fake_levels("ward", c("", "A"), c(0.1, -0.1))
)
facts <- list(age = numeric_facts(c(18, 95)), sex = level_facts(c("f", "m")), ward = level_facts(c("", "A")))
shapes <- fake_shapes(rows, facts)
figure_of <- function(...) shape_figure(shapes, plot_options(..., features = names(facts)))

test_that("labels, units and names of levels stand where they belong", {
  attr(shapes, "words") <- list(labels = c(age = "Age at admission", sex = "Sex"), units = c(age = "years"))
  titles <- function(figure) vapply(figure$panels, `[[`, "", "title")
  expect_identical(titles(shape_figure(shapes, plot_options())), c("Age at admission (years)", "Sex", "ward"))
  own <- plot_options(
    labels = c(age = "Age"), units = c(age = "a"), level_labels = list(sex = c(f = "women", m = "men"))
  )
  figure <- shape_figure(shapes, own)
  expect_identical(titles(figure), c("Age (a)", "Sex", "ward"))
  expect_identical(figure$panels[[2L]]$x$labels, c("women", "men"))
  # a label that has its unit already
  expect_identical(titles(figure_of(labels = c(age = "Age (y)"), units = c(age = "a")))[1L], "Age (y)")
  # a level that cannot be seen has a name
  expect_identical(figure$panels[[3L]]$x$labels, c("(empty)", "A"))
})

test_that("labels and units of columns are kept in the fit", {
  data <- data.frame(age = 1:60 %% 17, lab = sin(1:60), y = cos(1:60))
  attr(data$age, "label") <- "Age at admission"
  attr(data$age, "units") <- "years"
  fit <- tiny_fit(y ~ age + lab, data)
  words <- list(labels = c(age = "Age at admission"), units = c(age = "years"))
  expect_identical(attr(shapes(fit), "words"), words)
  expect_identical(attr(term_importance(fit), "words"), words)
  rows <- contributions(fit, data[3, ])
  labels <- waterfall_figure(rows, plot_options())$panels[[1L]]$y$labels
  expect_true("Age at admission = 3 years" %in% labels)
  bars <- importance_figure(term_importance(fit), plot_options())$panels[[1L]]$y$labels
  expect_setequal(bars, c("Age at admission", "lab"))
})

test_that("columns of Hmisc and labelled are understood", {
  skip_if_not_installed("Hmisc")
  data <- data.frame(age = 1:60 %% 17, y = cos(1:60))
  Hmisc::label(data$age) <- "Age at admission"
  attr(data$age, "units") <- "years"
  fit <- tiny_fit(y ~ age, data)
  expect_identical(attr(shapes(fit), "words"), list(labels = c(age = "Age at admission"), units = c(age = "years")))
})

test_that("limits of effects are those asked for, per term if asked so", {
  figure <- figure_of(ylim = c(-3, 3))
  expect_equal(vapply(figure$panels, function(panel) panel$y$limits, c(0, 0)), matrix(c(-3, 3), 2L, 3L))
  figure <- figure_of(ylim = list(age = c(-9, 9)))
  expect_equal(figure$panels[[1L]]$y$limits, c(-9, 9))
  expect_false(isTRUE(all.equal(figure$panels[[2L]]$y$limits, c(-9, 9))))
  ratio <- transform(shapes, effect = exp(effect))
  ratio <- fake_shapes(as.data.frame(ratio), facts, scale = "response")
  panel <- shape_figure(ratio, plot_options(ylim = c(0.1, 10)))$panels[[1L]]
  expect_equal(panel$y$limits, log(c(0.1, 10)))
})

test_that("colours, columns and pages are those asked for", {
  expect_identical(figure_of(col = "red")$series$colours, "#FF0000")
  expect_identical(figure_of(ncol = 1)$pages[[1L]]$columns, 1L)
  expect_length(figure_of(panels = 1)$pages, 3L)
  expect_length(figure_of(panels = 1, pages = 1)$pages, 1L)
  expect_length(figure_of(pages = 2)$pages, 2L)
  expect_identical(figure_of(cex = 1.5)$cex, 1.5)
})

test_that("bad options are named", {
  quietly(expect_snapshot(
    {
      plot(shapes, units = "years")
      plot(shapes, units = c(aeg = "years"))
      plot(shapes, level_labels = c(f = "women"))
      plot(shapes, level_labels = list(sxe = c(f = "women")))
      plot(shapes, xlim = 3)
      plot(shapes, xlim = c(5, 1))
      plot(shapes, xlim = list(aeg = c(1, 2)))
      plot(shapes, xlim = list(c(1, 2)))
      plot(shapes, ylim = list(agee = c(1, 2)))
      plot(shapes, log = TRUE)
      plot(shapes, log = "agee")
      plot(shapes, log = "sex")
      plot(shapes, log = "age", xlim = c(-1, 5))
      plot(shapes, cex = 0)
      plot(shapes, col = "no colour")
      plot(shapes, pages = 0)
      plot(shapes, ncol = 1.5)
    },
    error = TRUE
  ))
})
