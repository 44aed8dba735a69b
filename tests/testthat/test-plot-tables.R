data <- mixed_data()
data$grade <- factor(as.character(data$grade), levels = c("low", "mid", "high"))
attr(data$age, "units") <- "years"
fit <- own_fit(dead ~ age + grade, data, epochs = 1, ensemble = 3)
table <- effect_table(fit, at = list(age = c(30, 50, 500), grade = c("low", "high")), list(age = 50), "odds ratio")
figure <- function(x, build = effect_figure, ...) build(x, plot_options(...))

test_that("a forest plot of effects has the table's numbers, on a logarithmic axis", {
  panel <- figure(table)$panels[[1L]]
  own <- !table$is_reference
  expect_equal(panel$marks$point$x, log(table$estimate[own]))
  known <- is.finite(table$lower)
  limits <- panel$x$limits
  expect_equal(panel$marks$interval$x, pmax(log(table$lower[known]), limits[1L]))
  expect_true(panel$x$ratio)
  expect_identical(nrow(panel$marks$end), sum(table$is_reference))
  expect_identical(panel$y$labels[1:3], c("age (years) = 30", "50", "500*"))
  expect_match(paste(figure(table)$caption, collapse = " "), outside_note, fixed = TRUE)
  # a reference that has no line is named
  apart <- effect_table(fit, at = list(age = c(30, 60)), reference = list(age = 50))
  expect_match(figure(apart)$caption[1L], "Compared with age = 50.", fixed = TRUE)
  named <- figure(table, labels = c(grade = "Grade"), level_labels = list(grade = c(low = "lowest")))
  expect_identical(named$panels[[1L]]$y$labels[4L], "Grade = lowest")
})

test_that("evidence, jumps and comparisons have their numbers", {
  evidence <- term_evidence(fit)
  panel <- figure(evidence, evidence_figure)$panels[[1L]]
  expect_equal(panel$marks$point$x, evidence$increase)
  expect_identical(panel$y$labels, evidence$term)

  both <- anova(own_fit(dead ~ age, data, epochs = 1, ensemble = 3), fit)
  expect_equal(figure(both, comparison_figure)$panels[[1L]]$marks$point$x, both$difference[2L])
  expect_match(figure(both[1L, ], comparison_figure)$panels[[1L]]$marks$label$label, "nothing to compare")

  found <- structure(
    data.frame(
      term = c("a", "a"), task = NA_character_, output = NA_character_, position = c(1, 2), size = c(0.5, 2),
      size_lower = c(0.2, 1), size_upper = c(1.1, 4), holds = c(FALSE, TRUE)
    ),
    class = c("protonam_jumps", "data.frame"), level = 0.95, scale = "response", scale_label = "odds ratio",
    family = "binomial", columns = list(a = list(name = "a", type = "numeric"))
  )
  marks <- figure(found, jump_figure)$panels[[1L]]$marks
  expect_equal(marks$missing$x, log(0.5))
  expect_equal(marks$point$x, log(2))
  expect_match(figure(found, jump_figure)$caption[2L], "not confirmed")
})

test_that("several responses have a panel each, several classes a colour each", {
  two <- own_fit(cbind(y, count) ~ age + lab, data, epochs = 1, ensemble = 2, family = gaussian())
  panels <- figure(term_evidence(two), evidence_figure)$panels
  expect_identical(vapply(panels, `[[`, "", "title"), c("y", "count"))
  classes <- own_fit(class ~ age, data, epochs = 1, ensemble = 2)
  drawn <- figure(effect_table(classes, scale = "odds ratio"))
  expect_identical(drawn$series$labels, c("a", "b", "c"))
})

test_that("no jumps are a sentence, and tables without their columns an error", {
  none <- jumps(fit)
  skip_if(nrow(none) > 0L)
  sentence <- figure(none, jump_figure)$panels[[1L]]$marks$label$label
  expect_match(gsub("\n", " ", sentence), no_jumps_sentence(attr(none, "prototypes")), fixed = TRUE)
  expect_error(plot(table[c("term", "value", "estimate")]), "lower", class = "protonam_error_argument")
  expect_error(plot(term_evidence(fit)[c("term", "p")]), "increase", class = "protonam_error_argument")
  expect_error(plot(table, mian = "x"), class = "protonam_error_argument")
})

test_that("both renderers draw all of them, small and large, and add to the panel", {
  skip_if_not_installed("ggplot2")
  things <- list(table, term_evidence(fit), jumps(fit), anova(own_fit(dead ~ age, data, epochs = 1, ensemble = 3), fit))
  for (x in things) {
    for (size in c(3.5, 7, 12)) {
      expect_no_error(on_device(plot(x, main = "Title"), size, size))
      built <- ggplot2::autoplot(x, size = c(size, size))
      expect_no_error(on_device(print(built)))
    }
  }
  # the axis of odds ratios is logarithmic for what is added
  ends <- on_device({
    plot(table)
    c(graphics::par("xlog"), graphics::par("usr")[1:2])
  })
  expect_equal(ends, c(1, figure(table)$panels[[1L]]$x$limits / log(10)), tolerance = 1e-6)
})

test_that("figures of tables look as they did", {
  skip_on_cran()
  skip_if_not_installed("vdiffr")
  skip_if_not_installed("ggplot2")
  fake <- table
  fake$estimate[] <- c(0.5, 1, 3, 1, 1.8)
  fake[c("lower", "upper")] <- list(c(0.3, NA, 1.5, NA, 0.9), c(0.9, NA, 6, NA, 3.2))
  vdiffr::expect_doppelganger("base effects", function() plot(fake, main = "Effects"))
  vdiffr::expect_doppelganger("ggplot effects", ggplot2::autoplot(fake, main = "Effects", size = c(7, 7)))
})
