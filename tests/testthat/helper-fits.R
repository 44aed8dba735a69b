# Small data and quick fits that many tests share.

# 120 rows of every column type, with missing values in `lab` and `unit`.
mixed_data <- function(n = 120) {
  i <- seq_len(n)
  data <- data.frame(
    age = 20 + (i * 37) %% 61,
    lab = round(sin(i) * 3 + 5, 2),
    unit = c("icu", "ward", "er")[i %% 3 + 1],
    grade = factor(c("low", "mid", "high")[(i * 7) %% 3 + 1], levels = c("low", "mid", "high"), ordered = TRUE),
    male = i %% 2 == 0,
    day = as.Date("2020-01-01") + (i * 11) %% 300,
    time = as.POSIXct("2020-01-01", tz = "UTC") + (i * 7919) %% 86400
  )
  data$y <- data$age / 10 + (data$unit == "icu") + cos(i)
  data$dead <- factor(ifelse(data$y + sin(3 * i) > 5.5, "yes", "no"))
  data$class <- factor(c("a", "b", "c")[(data$y > 4) + (data$y > 7) + 1])
  data$count <- floor(data$y)
  data$lab[i %% 10 == 0] <- NA
  data$unit[i %% 15 == 0] <- NA
  data
}

# Settings of a fit that takes a few milliseconds: one model, its best epoch chosen by validation rows.
tiny <- function(...) {
  protonam_control(prototypes = 4, layers = 2, hidden = 8, epochs = 4, procedure = "paper", ...)
}

tiny_fit <- function(..., seed = 1) protonam(..., control = tiny(), seed = seed, verbose = FALSE)

# constant + terms (+ offset) minus the link, at most
additivity_gap <- function(fit, data, ...) {
  terms_gap(predict(fit, data, type = "terms", ...), predict(fit, data, type = "link", ...))
}

terms_gap <- function(terms, link) {
  constant <- attr(terms, "constant")
  sums <- if (length(dim(terms)) == 3L) apply(terms, c(1, 3), sum) else rowSums(terms)
  if (is.matrix(sums) && !is.matrix(constant)) constant <- rep(constant, each = nrow(sums))
  offset <- attr(terms, "offset")
  if (is.null(offset)) offset <- 0
  max(abs(sums + constant + offset - link))
}

# An order 2 fit one of whose pairs would have the name of a feature: x, z and x:z, as model.matrix() names columns.
colliding_data <- function(n = 80) {
  i <- seq_len(n)
  data <- data.frame(x = sin(i), z = cos(3 * i), "x:z" = sin(5 * i), check.names = FALSE)
  data$y <- 2 * data$x + data[["x:z"]] + data$x * data$z
  data
}

colliding_fit <- function() {
  data <- colliding_data()
  tiny_fit(data[c("x", "z", "x:z")], data$y, order = 2)
}

# The package's own procedure in a fraction of a second: cross-fitted members over layer 0.
quick_own <- function(epochs = 12, ...) {
  protonam_control(prototypes = 4, layers = 2, hidden = 8, epochs = epochs, lr = 0.01, ...)
}

own_fit <- function(..., seed = 1, ensemble = 4) {
  dots <- list(...)
  known <- setdiff(names(formals(protonam_control)), names(formals(protonam.formula)))
  settings <- (names(dots) %||% rep("", length(dots))) %in% known
  control <- do.call(quick_own, dots[settings])
  do.call(protonam, c(dots[!settings], list(control = control, seed = seed, ensemble = ensemble, verbose = FALSE)))
}

# One member of a fit as a fit.
one_member <- function(fit, m) {
  fit$members <- fit$members[m]
  fit$centering <- fit$centering[m]
  seal_fit(fit)
}

# A jump that no spline follows, a curve, levels, and noise.
jump_data <- function(n = 240, seed = 1) {
  withr::local_seed(seed)
  data <- data.frame(
    a = stats::rnorm(n), b = stats::runif(n), unit = factor(sample(c("icu", "ward", "er"), n, replace = TRUE)),
    noise = stats::rnorm(n), group = sample(c("f", "m"), n, replace = TRUE)
  )
  eta <- 1.5 * (data$a > 0.3) + sin(4 * data$b) + (data$unit == "icu") / 2
  data$y <- eta + stats::rnorm(n) / 2
  data$y2 <- data$b - data$y / 2
  data$dead <- factor(ifelse(stats::runif(n) < stats::plogis(2 * eta - 2.5), "yes", "no"), levels = c("no", "yes"))
  data$class <- factor(c("u", "v", "w")[1 + (data$y > 0.8) + (data$y > 1.8)])
  data$count <- stats::rpois(n, exp(eta / 2))
  data
}
