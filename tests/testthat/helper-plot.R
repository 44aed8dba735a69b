# Shape data frames, importance, contributions and histories made by hand, so that figures can be tested without a fit.

# draws on a device that leaves no file behind
quietly <- function(code, width = 7, height = 7) {
  grDevices::pdf(NULL, width, height)
  on.exit(grDevices::dev.off())
  code
}

fake_curve <- function(term, x, effect, task = NA, output = NA, layer = NA, lower = NA, upper = NA) {
  data.frame(
    term = term, task = as.character(task), output = as.character(output), layer = as.integer(layer), x = x,
    level = NA_character_, y = NA_real_, level2 = NA_character_, effect = effect, lower = as.double(lower),
    upper = as.double(upper), density = 1 / length(x)
  )
}

fake_levels <- function(term, level, effect, density = 1 / length(level), ...) {
  rows <- fake_curve(term, rep(NA_real_, length(level)), effect, ...)
  rows$level <- level
  rows$density <- density
  rows
}

fake_pair <- function(term, x, y, effect, task = NA, output = NA, layer = NA) {
  grid <- expand.grid(i = seq_along(x), j = seq_along(y))
  rows <- fake_curve(term, rep(NA_real_, nrow(grid)), 0, task, output, layer)
  put <- function(values, index) {
    named <- is.character(values)
    list(number = if (named) NA_real_ else values[index], level = if (named) values[index] else NA_character_)
  }
  first <- put(x, grid$i)
  second <- put(y, grid$j)
  rows$x <- first$number
  rows$level <- first$level
  rows$y <- second$number
  rows$level2 <- second$level
  rows$effect <- effect(grid$i, grid$j)
  rows$density <- 1 / nrow(grid)
  rows
}

numeric_facts <- function(range, type = "numeric", missing_share = 0, power = 1) {
  breaks <- seq(range[1L], range[2L], length.out = 21L)
  share <- dbeta((1:20 - 0.5) / 20, 2, 4 * power)
  list(
    type = type, levels = NULL, range = range, density = list(breaks = breaks, share = share / sum(share)),
    rug = range[1L] + diff(range) * qbeta(ppoints(100L), 2, 4 * power), missing_share = missing_share
  )
}

level_facts <- function(levels, missing_share = 0) {
  list(type = "categorical", levels = levels, range = NULL, density = NULL, rug = NULL, missing_share = missing_share)
}

fake_shapes <- function(rows, terms, scale = "link", scale_label = "log odds", members = 1L, band = NULL) {
  importance <- tapply(abs(rows$effect), rows$term, mean)
  attributes(rows) <- c(attributes(rows)[c("names", "row.names")], list(
    class = c("protonam_shapes", "data.frame"), terms = terms, intercept = 0, scale = scale, scale_label = scale_label,
    level = 0.95, members = members, band = band, response = "died", family = "binomial",
    importance = c(importance), order = 1
  ))
  rows
}

# a curve with two jumps, both limits of each given
jumpy <- function(term = "age", range = c(18, 95), height = 1, ...) {
  z <- seq(0, 1, length.out = 60L)
  z <- c(z[z < 0.35], 0.35, 0.35, z[z > 0.35 & z < 0.7], 0.7, 0.7, z[z > 0.7])
  steps <- cumsum(duplicated(z))
  fake_curve(term, range[1L] + diff(range) * z, height * (1.6 * z - 0.7 + c(0, 0.5, -0.4)[steps + 1L]), ...)
}

# one example of every kind of shapes figure
example_shapes <- function() {
  unit <- c("elective", "emergency", "urgent")
  facts <- list(
    age = numeric_facts(c(18, 95)), lactate = numeric_facts(c(0.4, 20), missing_share = 0.4), unit = level_facts(unit),
    rate = numeric_facts(c(35, 190))
  )
  banded <- function(rows, by = 0.15) transform(rows, lower = effect - by, upper = effect + by)
  level <- fake_levels("unit", unit, c(-0.5, 0.3, 0.1), c(0.2, 0.6, 0.2))
  missing <- rbind(jumpy("lactate", c(0.4, 20)), fake_levels("lactate", "(missing)", -1.1, 0.4))
  across <- seq(20, 90, 10)
  up <- seq(40, 180, 20)
  pair <- fake_pair("age:rate", across, up, function(i, j) tanh((across[i] - 60) / 20) * tanh((up[j] - 90) / 30))
  layered <- do.call(rbind, lapply(1:4, function(l) jumpy(layer = l, height = 1 / l)))
  grouped <- rbind(
    jumpy(task = "female"), jumpy(task = "male", height = 0.5), transform(missing, task = "female"),
    transform(missing, task = "male", effect = effect / 2)
  )
  list(
    continuous = fake_shapes(banded(jumpy()), facts, band = "What the band means.", members = 20L),
    categorical = fake_shapes(banded(level), facts, band = "What the band means.", members = 20L),
    missing = fake_shapes(missing, facts), pair = fake_shapes(pair, facts), layered = fake_shapes(layered, facts),
    grouped = fake_shapes(grouped, facts), mixed = fake_shapes(rbind(jumpy(), missing, level, pair), facts)
  )
}

# Outcomes of two classes without random numbers, well calibrated or (stretch) too extreme
fake_outcomes <- function(n = 400, stretch = 1) {
  link <- stats::qnorm(stats::ppoints(n)) - 1
  list(
    family = stats::binomial(), y = as.double((seq_len(n) * 0.618034) %% 1 < stats::plogis(link)),
    link = stretch * link, mean = stats::plogis(stretch * link), weights = NULL, group = NULL, event = "yes"
  )
}

# One object of every kind that validation draws
example_validation <- function() {
  rows <- fake_outcomes()
  parts <- list(rows, fake_outcomes(200, 1.4), fake_outcomes(100, 0.7))
  labels <- data.frame(group = c("(all)", "female", "male"))
  calibration <- function(parts, labels) {
    found <- lapply(parts, calibrate_part, "spline", 0.95)
    bind <- function(what) bind_parts(lapply(found, `[[`, what), labels)
    structure(class = "protonam_calibration", list(
      summary = bind("summary"), line = bind("line"), curve = bind("curve"), groups = bind("groups"),
      histogram = bind("histogram"), level = 0.95, smooth = "spline", family = "binomial", source = "out of fold",
      by = NULL, name = "died", event = "yes"
    ))
  }
  roc <- function(parts, labels) {
    bind <- function(f) bind_parts(lapply(parts, f), labels)
    structure(class = "protonam_discrimination", list(
      summary = bind(function(rows) auc_row(rows, 0.95)), curve = bind(function(rows) roc_curve(rows, 0.95)),
      thresholds = NULL, level = 0.95, source = "out of fold", name = "died", event = "yes"
    ))
  }
  decision <- function(parts, labels) {
    structure(bind_parts(lapply(parts, net_benefits, 1:60 / 100, 0.95), labels),
      class = c("protonam_decision", "data.frame"), level = 0.95, source = "out of fold", name = "died", event = "yes",
      n = 400, events = 120
    )
  }
  models <- vapply(1:6, function(k) stats::plogis(rows$link + sin(k * seq_along(rows$y)) / 4), rows$mean)
  table <- measure_table(rows)
  scores <- validation_table(cbind(n = 400, table), table$value + 0.02, table$value, table$error, table$value, 0.95)
  groups <- cbind(group = rep(labels$group, each = nrow(scores)), scores[rep(seq_len(nrow(scores)), 3), ])
  none <- data.frame(matrix(nrow = 3, ncol = 0))
  list(
    calibration = calibration(parts[1], none[1, ]), "calibration by group" = calibration(parts, labels),
    roc = roc(parts[1], none[1, ]), "roc by group" = roc(parts, labels),
    decision = decision(parts[1], none[1, ]), "decision by group" = decision(parts, labels),
    stability = new_stability(list(
      prediction = rows$mean, predictions = models, y = rows$y, family = "binomial", name = "died",
      source = "6 bootstrap samples"
    ), 0.3, 0.95),
    validation = new_validation(list(
      scores = scores, method = "out-of-fold", level = 0.95, family = stats::binomial()
    )),
    "validation by group" = new_validation(list(
      scores = groups, method = "bootstrap", repeats = 20L, level = 0.95, family = stats::binomial()
    ))
  )
}

# The value of code that draws on a device of so many inches
on_device <- function(code, width = 7, height = width) {
  grDevices::pdf(NULL, width, height)
  on.exit(grDevices::dev.off())
  code
}
