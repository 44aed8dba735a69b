facts <- list(age = numeric_facts(c(18, 95)), rate = numeric_facts(c(35, 190)), dose = numeric_facts(c(0.5, 200)))
two <- fake_shapes(rbind(jumpy("age"), jumpy("rate", c(35, 190))), facts)
units <- c("elective", "emergency", "urgent", "other unit")
named <- fake_shapes(fake_levels("unit", units, c(-0.5, 0.3, 0.1, 0)), list(unit = level_facts(units)))

# where a value stands on the page, from the left or the bottom, in inches
inches_x <- function(x) graphics::grconvertX(x, "user", "inches")
inches_y <- function(y) graphics::grconvertY(y, "user", "inches")

# pixels of a picture by colour
pixels <- function(file) {
  picture <- png::readPNG(file)
  red <- picture[, , 1L] > 0.9 & picture[, , 2L] < 0.1 & picture[, , 3L] < 0.1
  list(red = red, blue = pmax(picture[, , 3L] - picture[, , 1L], 0))
}

test_that("abline(v = 65) lands at 65 in the panel drawn last", {
  skip_if_not_installed("png")
  skip_if_not(capabilities("png"))
  # a curve that jumps at 65: the picture itself shows where that is
  x <- c(18:65, 65:95)
  step <- fake_curve("age", x, rep(c(-1, 1), c(48, 31)))
  shapes <- fake_shapes(rbind(jumpy("rate", c(35, 190)), step), facts)
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  for (panels in list("age", c("rate", "age"))) {
    draw <- function(line) {
      grDevices::png(file, 700, 500)
      plot(shapes, terms = panels, density = FALSE, rug = FALSE)
      if (line) graphics::abline(v = 65, col = "red", lwd = 3)
      grDevices::dev.off()
      pixels(file)
    }
    blue <- colSums(draw(FALSE)$blue)
    if (length(panels) == 2L) blue[1:350] <- 0
    columns <- which(colSums(draw(TRUE)$red) > 100L)
    expect_gt(length(columns), 0L)
    expect_lt(abs(mean(columns) - mean(which(blue == max(blue)))), 1.5)
    quietly({
      plot(shapes, terms = panels)
      # axes leave 2 percent of the range at either end
      expect_equal(graphics::par("usr")[1:2], c(18, 95) + c(-1, 1) * 0.02 * 77)
      expect_equal(inches_x(95) - inches_x(18), diff(graphics::grconvertX(0:1, "npc", "inches")) / 1.04)
    })
  }
})

test_that("the curve is where points() puts its points", {
  skip_if_not_installed("png")
  skip_if_not(capabilities("png"))
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  picture <- function(add) {
    grDevices::png(file, 600, 600)
    plot(two, terms = "age", rug = FALSE, density = FALSE)
    if (add) with(two[two$term == "age", ], graphics::points(x, effect, pch = 16, cex = 0.3, col = "red"))
    grDevices::dev.off()
    png::readPNG(file)
  }
  without <- picture(FALSE)
  with <- picture(TRUE)
  changed <- which(without[, , 1L] != with[, , 1L])
  expect_gt(length(changed), 100L)
  # nearly every point covers some of the blue curve
  blue <- without[, , 3L] - without[, , 1L] > 0.3
  expect_gt(mean(blue[changed]), 0.5)
})

test_that("logarithmic axes and ratios are logarithmic for what is added", {
  dose <- fake_shapes(jumpy("dose", c(0.5, 200)), facts)
  ratio <- two
  ratio[c("effect")] <- exp(ratio$effect)
  attr(ratio, "scale") <- "response"
  quietly({
    plot(dose, log = "x")
    expect_true(graphics::par("xlog"))
    at <- inches_x(c(1, 10, 100))
    expect_equal(diff(at)[1L], diff(at)[2L])
    plot(ratio, terms = "age")
    expect_true(graphics::par("ylog"))
    expect_equal(inches_y(2) - inches_y(1), inches_y(1) - inches_y(0.5))
    graphics::plot.new()
    expect_false(graphics::par("xlog") || graphics::par("ylog"))
  })
})

test_that("parameters that the user sets after a figure stay, the others return", {
  quietly({
    graphics::par(mar = c(4, 4, 2, 1), las = 0)
    plot(two)
    expect_identical(graphics::par("las"), 1L)
    graphics::par(mgp = c(2, 1, 0))
    graphics::plot(1)
    expect_identical(graphics::par("las"), 0L)
    expect_equal(graphics::par("mar"), c(4, 4, 2, 1))
    expect_equal(graphics::par("mgp"), c(2, 1, 0))
    expect_equal(graphics::par("fig"), c(0, 1, 0, 1))
    plot(two)
    graphics::par(mfrow = c(1, 2))
    graphics::plot(1)
    expect_identical(graphics::par("mfrow"), c(1L, 2L))
    expect_equal(graphics::par("mar"), c(4, 4, 2, 1))
  })
  expect_length(Filter(function(hook) identical(hook, restore_device), getHook("before.plot.new")), 0L)
})

test_that("a device that was closed leaves nothing behind", {
  quietly(plot(two))
  quietly({
    graphics::par(las = 3)
    graphics::plot(1)
    expect_identical(graphics::par("las"), 3L)
    plot(two)
  })
  quietly(graphics::plot(1))
  expect_identical(setdiff(ls(left_devices), as.character(grDevices::dev.list())), character())
})

test_that("a layout of the user's is filled panel by panel", {
  quietly({
    graphics::par(mfrow = c(2, 2))
    expect_snapshot(plot(two))
    expect_identical(graphics::par("mfg")[1:2], c(1L, 2L))
    expect_equal(graphics::par("usr")[1:2], c(35, 190) + c(-1, 1) * 0.02 * 155)
    graphics::plot(1)
    expect_identical(graphics::par("mfg")[1:2], c(2L, 1L))
    expect_silent(plot(two, terms = "age"))
    expect_identical(graphics::par("mfg")[1:2], c(2L, 2L))
    graphics::layout(matrix(c(1, 1, 2), 1))
    expect_silent(plot(named))
    wide <- graphics::par("fin")[1L]
    expect_silent(plot(two, terms = "rate", main = "Rate"))
    expect_lt(graphics::par("fin")[1L], wide)
  })
})

test_that("a file that keeps one page says so", {
  skip_if_not(capabilities("png"))
  rows <- do.call(rbind, lapply(1:13, function(k) jumpy(paste0("x", k))))
  many <- fake_shapes(rows, stats::setNames(rep(list(numeric_facts(c(18, 95))), 13L), paste0("x", 1:13)))
  folder <- withr::local_tempdir()
  draw <- function(name, ...) {
    grDevices::png(file.path(folder, name), 700, 700)
    on.exit(grDevices::dev.off())
    plot(many, ...)
    invisible()
  }
  expect_snapshot(draw("shapes.png"))
  expect_silent(draw("shapes.png", pages = 1))
  expect_silent(draw("shapes%03d.png"))
  expect_setequal(list.files(folder), c("shapes.png", "shapes001.png", "shapes002.png"))
  expect_null(quietly(one_page_file()))
})

test_that("an error in the middle leaves the parameters of the user", {
  broken <- shape_figure(two, plot_options())
  broken$panels[[2L]]$x$limits <- c(NA, 1)
  quietly({
    graphics::par(mar = c(1, 2, 3, 4))
    expect_error(draw_figure(broken))
    expect_equal(graphics::par("mar"), c(1, 2, 3, 4))
    expect_equal(graphics::par("fig"), c(0, 1, 0, 1))
  })
})
