# ICU-like data whose true shape functions are known.
#
# Every measured column lives on a grid (heart rate in whole beats, potassium in tenths), so a column is drawn as an
# integer code into its grid and its effect is looked up in a table of the shape function over that grid. That keeps 1e7
# rows to a few vector operations per column, and makes the linear predictor equal to the sum of the shapes to the last
# bit.

#' ICU-like data with known shape functions
#'
#' Simulates admissions to an intensive care unit: vital signs, laboratory values and patient characteristics on
#' clinical scales and with clinical rounding, and whether the patient died. The data follow a logistic additive model
#' with one interaction. The true functions are returned with the data, so that a fitted model can be compared with
#' them.
#'
#' @param n Number of rows, a whole number of at least 1. Ten million rows take well under a minute.
#' @param seed A whole number for data that are the same on every call; the caller's random numbers (`.Random.seed`,
#'   [RNGkind()]) are then left as they were. With `NULL`, the default, R's own generator is used, so that [set.seed()]
#'   applies.
#'
#' @return A data frame with `n` rows, 20 features and the logical response `died`, `TRUE` for about 10 % of the rows.
#' The attribute `"truth"` is a list:
#' \describe{
#'   \item{`shapes`}{a named list with one function per feature. It takes values of that column (of the type
#'     of the column, `NA` where the column can be missing) and gives the effect on the log-odds.}
#'   \item{`interaction`}{a list of `terms`, the names of the two interacting features, and `shape`, a function of
#'     both.}
#'   \item{`intercept`}{the constant of the linear predictor, -11.75.}
#'   \item{`jumps`}{a data frame of the planted jumps: `term`, `position`, and `size`, the change of the log-odds when
#'     the feature rises through `position`.}
#'   \item{`continuous`}{the names of the 14 continuous features.}
#'   \item{`link`}{a function of a data frame with these columns that gives the true log-odds of its rows: the
#'     intercept, the 20 shapes and the interaction added up.}
#' }
#' Like any attribute of a data frame, the truth is lost when rows are selected with `[`: extract it from the complete
#' data.
#'
#' @section Columns and true effects:
#' Effects are on the log-odds scale; `s(u) = 1/(1 + exp(-u))`, and `[...]` is 1 where the condition holds and 0
#' elsewhere.
#'
#' | column | type, rounding, range | effect |
#' |---|---|---|
#' | `age` | integer, years, 18 to 95 | `2.2 s((x - 66)/8)` |
#' | `sex` | factor: female, male | none |
#' | `admission_type` | factor: elective, emergency, urgent | -0.5, 0.3, 0.1 |
#' | `frailty` | ordered: fit < managing < mild < moderate < severe | -0.3, -0.1, 0.1, 0.4, 0.8 |
#' | `gcs` | integer, Glasgow coma scale, 3 to 15 | `0.1 (15 - x)` |
#' | `ventilated` | logical | 0.5 when `TRUE` |
#' | `metastatic_cancer` | logical | 0.9 when `TRUE` |
#' | `heart_rate` | integer, per minute, 35 to 190 | `1.9 s((x - 105)/8) + s((55 - x)/4)` |
#' | `systolic_bp` | integer, mmHg, 50 to 220 | `2.4 s((108 - x)/12) - 1.2 [x < 90]` |
#' | `resp_rate` | integer, per minute, 6 to 50 | `1.8 s((x - 24)/2.5)` |
#' | `temperature` | 0.1 degrees Celsius, 32 to 41.5 | `2.2 (1 - exp(-(x - 37)^2 / 1.5))` |
#' | `spo2` | integer, %, 70 to 100 | `2 s((93.5 - x)/1.5)` |
#' | `urine_output` | ml in 24 h, in tens, 0 to 6000 | `3.2 exp(-x/800)` |
#' | `glucose` | integer, mg/dl, 40 to 500 | `2.4 s((x - 150)/16) - 1.2 [x >= 180]` |
#' | `potassium` | 0.1 mmol/l, 2.2 to 7.5 | `2.2 (1 - exp(-(x - 4.2)^2))` |
#' | `creatinine` | 0.1 mg/dl, 0.3 to 12 | `log(x)`; missing: -0.3 |
#' | `lactate` | 0.1 mmol/l, 0.4 to 20 | `1.1 log(x/1.8)`; missing: -1.1 |
#' | `bilirubin` | 0.1 mg/dl, 0.1 to 30 | `2.1 s((x - 2)/0.5)`; missing: 1 |
#' | `pf_ratio` | PaO2/FiO2, in fives, 50 to 600 | `1.9 s((220 - x)/35)`; missing: -0.4 |
#' | `albumin` | 0.1 g/dl, 1.2 to 5.2 | `-0.8 (x - 3.2)`; missing: 1.1 |
#'
#' The interaction is `0.6 tanh((a - 62)/16) tanh((h - 88)/18)` of age `a` and heart rate `h`: a high heart rate is more
#' harmful in older patients. Age and heart rate are independent and both factors have mean zero, so the interaction
#' adds nothing to the main effects.
#'
#' @section Treatment thresholds: The effects of two continuous features jump where a treatment starts. The risk
#' increases as the blood pressure falls, but below 90 mmHg vasopressors are given and the log-odds drop by 1.2. It
#' increases with glucose, but from 180 mg/dl on insulin is given and the log-odds drop by 1.2. A smooth model would
#' show both as bumps.
#'
#' @section Missing values: Five laboratory values are missing not at random: the probability that a value is missing
#' depends on the value itself, which is then not in the data. Lactate (about 40 % missing), the PaO2/FiO2 ratio (40 %)
#' and creatinine (6 %) are missing mostly where they would have been harmless, because there was no reason to measure
#' them; bilirubin (30 %) and albumin (30 %) mostly where they would have been abnormal. A missing value has a separate
#' effect, given above.
#'
#' @seealso [read_mimic2()] and [read_mimic3()] for real data of this kind.
#' @examples
#' icu <- simulate_icu(2000, seed = 1)
#' str(icu, give.attr = FALSE)
#' mean(icu$died)
#'
#' truth <- attr(icu, "truth")
#' truth$jumps
#' x <- 60:140
#' plot(x, truth$shapes$systolic_bp(x), type = "s", xlab = "systolic pressure", ylab = "log-odds")
#' @export
simulate_icu <- function(n, seed = NULL) {
  n <- as.integer(check_number(n, "n", min = 1, max = .Machine$integer.max, whole = TRUE))
  if (!is.null(seed)) {
    seed <- check_number(seed, "seed", min = -.Machine$integer.max, max = .Machine$integer.max, whole = TRUE)
  }
  with_own_rng(seed, draw_icu(n))
}

# Truth -------------------------------------------------------------------------------------------------------------

sigmoid <- function(u) stats::plogis(u)

# `effect` of x with the effect of being missing put in where x is missing
with_missing <- function(effect, x, missing) {
  effect[is.na(x)] <- missing
  effect
}

by_level <- function(effects) function(x) unname(effects[as.character(x)])

icu_shapes <- list(
  age = function(x) 2.2 * sigmoid((x - 66) / 8),
  sex = by_level(c(female = 0, male = 0)),
  admission_type = by_level(c(elective = -0.5, emergency = 0.3, urgent = 0.1)),
  frailty = by_level(c(fit = -0.3, managing = -0.1, mild = 0.1, moderate = 0.4, severe = 0.8)),
  gcs = function(x) 0.1 * (15 - x),
  ventilated = function(x) 0.5 * x,
  metastatic_cancer = function(x) 0.9 * x,
  heart_rate = function(x) 1.9 * sigmoid((x - 105) / 8) + sigmoid((55 - x) / 4),
  systolic_bp = function(x) 2.4 * sigmoid((108 - x) / 12) - 1.2 * (x < 90),
  resp_rate = function(x) 1.8 * sigmoid((x - 24) / 2.5),
  temperature = function(x) 2.2 * (1 - exp(-(x - 37)^2 / 1.5)),
  spo2 = function(x) 2 * sigmoid((93.5 - x) / 1.5),
  urine_output = function(x) 3.2 * exp(-x / 800),
  glucose = function(x) 2.4 * sigmoid((x - 150) / 16) - 1.2 * (x >= 180),
  potassium = function(x) 2.2 * (1 - exp(-(x - 4.2)^2)),
  creatinine = function(x) with_missing(log(x), x, -0.3),
  lactate = function(x) with_missing(1.1 * log(x / 1.8), x, -1.1),
  bilirubin = function(x) with_missing(2.1 * sigmoid((x - 2) / 0.5), x, 1),
  pf_ratio = function(x) with_missing(1.9 * sigmoid((220 - x) / 35), x, -0.4),
  albumin = function(x) with_missing(-0.8 * (x - 3.2), x, 1.1)
)

# Either factor has mean zero over its column.
icu_interaction <- function(age, heart_rate) 0.6 * tanh((age - 62) / 16) * tanh((heart_rate - 88) / 18)

icu_link <- function(data) {
  eta <- rep(icu_intercept, nrow(data))
  for (term in names(icu_shapes)) eta <- eta + icu_shapes[[term]](data[[term]])
  eta + icu_interaction(data$age, data$heart_rate)
}

icu_truth <- function() {
  list(
    shapes = icu_shapes,
    interaction = list(terms = c("age", "heart_rate"), shape = icu_interaction),
    intercept = icu_intercept,
    jumps = data.frame(term = c("systolic_bp", "glucose"), position = c(90, 180), size = c(1.2, -1.2)),
    continuous = c("age", names(icu_measurements)),
    link = icu_link
  )
}

# Drawing -----------------------------------------------------------------------------------------------------------

# Solved once, over two million rows, for a mortality of 10 %.
icu_intercept <- -11.75

# The measured columns, in order. A value is center + sd * z, or center * exp(sd * z) when `log`, with z standard normal
# and correlated with the patient's latent severity; `below` subtracts it from 100. It is rounded to a multiple of
# `step` and clamped to [lo, hi]. `missing` = c(a, b): the value is missing with probability sigmoid(a + b * z).
icu_measurements <- list(
  heart_rate = list(step = 1, lo = 35, hi = 190, center = 88, sd = 18, severity = 0.25),
  systolic_bp = list(step = 1, lo = 50, hi = 220, center = 113, sd = 23, severity = -0.3),
  resp_rate = list(step = 1, lo = 6, hi = 50, center = 20, sd = 0.27, log = TRUE, severity = 0.25),
  temperature = list(step = 0.1, lo = 32, hi = 41.5, center = 37, sd = 0.8, severity = 0),
  spo2 = list(step = 1, lo = 70, hi = 100, center = 4, sd = 0.6, log = TRUE, below = TRUE, severity = 0.25),
  urine_output = list(step = 10, lo = 0, hi = 6000, center = 1600, sd = 0.6, log = TRUE, severity = -0.3),
  glucose = list(step = 1, lo = 40, hi = 500, center = 145, sd = 0.33, log = TRUE, severity = 0.15),
  potassium = list(step = 0.1, lo = 2.2, hi = 7.5, center = 4.2, sd = 0.65, severity = 0.1),
  creatinine = list(step = 0.1, lo = 0.3, hi = 12, center = 1.1, sd = 0.55, log = TRUE, severity = 0.3,
                    missing = c(-3.2, -1)),
  lactate = list(step = 0.1, lo = 0.4, hi = 20, center = 1.8, sd = 0.55, log = TRUE, severity = 0.4,
                 missing = c(-0.5, -1.2)),
  bilirubin = list(step = 0.1, lo = 0.1, hi = 30, center = 1, sd = 0.8, log = TRUE, severity = 0.2,
                   missing = c(-1, 0.8)),
  pf_ratio = list(step = 5, lo = 50, hi = 600, center = 290, sd = 95, severity = -0.3, missing = c(-0.5, 1.2)),
  albumin = list(step = 0.1, lo = 1.2, hi = 5.2, center = 3.2, sd = 0.65, severity = -0.25, missing = c(-1, -0.8))
)

# The categorical columns: their values, of the type of the column, in the order of their codes.
icu_categories <- list(
  sex = factor(c("female", "male")),
  admission_type = factor(c("elective", "emergency", "urgent")),
  frailty = factor(c("fit", "managing", "mild", "moderate", "severe"), ordered = TRUE)
)

# Rows are drawn in blocks of a fixed size, so that the work stays in cache and memory beyond the result is small.
draw_icu <- function(n, block = 65536L) {
  columns <- NULL
  for (first in seq(1L, n, by = block)) {
    rows <- first:min(n, first + block - 1L)
    drawn <- draw_icu_block(length(rows))
    if (is.null(columns)) columns <- lapply(drawn, function(x) vector(typeof(x), n))
    for (name in names(drawn)) columns[[name]][rows] <- drawn[[name]]
  }
  for (name in names(icu_categories)) attributes(columns[[name]]) <- attributes(icu_categories[[name]])
  structure(columns, class = "data.frame", row.names = .set_row_names(n), truth = icu_truth())
}

# A list of plain vectors of length n, factors as their codes. The effects are added to the linear predictor as the
# columns are drawn, in the order in which `link` of the truth adds them.
draw_icu_block <- function(n) {
  severity <- stats::rnorm(n)
  eta <- rep(icu_intercept, n)
  columns <- list()
  add <- function(name, values, code) {
    columns[[name]] <<- if (is.factor(values)) code else values[code]
    eta <<- eta + icu_shapes[[name]](values)[code]
  }
  add_category <- function(name, code) add(name, icu_categories[[name]], code)

  z_age <- stats::rnorm(n)
  add("age", 18:95, grid_code(62 + 16 * z_age, 1, 18, 95))
  add_category("sex", cut_uniform(n, 0.44))
  add_category("admission_type", cut_uniform(n, c(0.25, 0.80)))
  # frailty grows with age; the cut points leave 25, 30, 20, 15 and 10 %
  z_frailty <- 0.5 * z_age + sqrt(0.75) * stats::rnorm(n)
  add_category("frailty", findInterval(z_frailty, stats::qnorm(c(0.25, 0.55, 0.75, 0.9))) + 1L)
  gcs_percent <- c(6, 1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 16, 48)
  add("gcs", 3:15, cut_uniform(n, cumsum(gcs_percent)[-13] / 100))
  add("ventilated", c(FALSE, TRUE), (stats::runif(n) < sigmoid(0.8 * severity - 0.5)) + 1L)
  add("metastatic_cancer", c(FALSE, TRUE), (stats::runif(n) < 0.06) + 1L)
  for (name in names(icu_measurements)) {
    drawn <- draw_measurement(icu_measurements[[name]], severity)
    add(name, drawn$values, drawn$code)
  }
  eta <- eta + icu_interaction(columns$age, columns$heart_rate)

  columns$died <- stats::runif(n) < sigmoid(eta)
  columns
}

# One measured column: list(values = its grid, with NA last when it can be missing; code = 1-based index into it).
draw_measurement <- function(spec, severity) {
  n <- length(severity)
  z <- spec$severity * severity + sqrt(1 - spec$severity^2) * stats::rnorm(n)
  value <- if (isTRUE(spec$log)) spec$center * exp(spec$sd * z) else spec$center + spec$sd * z
  if (isTRUE(spec$below)) value <- 100 - value
  code <- grid_code(value, spec$step, spec$lo, spec$hi)
  values <- grid_values(spec$step, spec$lo, spec$hi)
  if (!is.null(spec$missing)) {
    values <- c(values, NA)
    code[stats::runif(n) < sigmoid(spec$missing[1] + spec$missing[2] * z)] <- length(values)
  }
  list(values = values, code = code)
}

# The multiples of `step` from lo to hi: integers, or doubles that print as written (k / 10, not k * 0.1).
grid_values <- function(step, lo, hi) {
  if (step >= 1) as.integer(seq(lo, hi, by = step)) else round(lo / step):round(hi / step) / round(1 / step)
}

# 1-based index of the grid value nearest to each `value`.
grid_code <- function(value, step, lo, hi) {
  last <- as.integer(round((hi - lo) / step)) + 1L
  code <- as.integer((value - lo) / step + 1.5)
  code[code < 1L] <- 1L
  code[code > last] <- last
  code
}

# Codes 1, 2, ... with the cumulative shares `cuts`.
cut_uniform <- function(n, cuts) findInterval(stats::runif(n), cuts) + 1L

# Random numbers -----------------------------------------------------------------------------------------------------

# Evaluates `expr` under `seed` with R's default generators, then puts the caller's generator back as it was. With
# seed = NULL, `expr` simply draws from the caller's generator.
with_own_rng <- function(seed, expr) {
  if (is.null(seed)) {
    return(expr)
  }
  global <- globalenv()
  old_seed <- get0(".Random.seed", envir = global, inherits = FALSE)
  old_kind <- RNGkind()
  on.exit(
    if (is.null(old_seed)) {
      # a warning about the "Rounding" sampler would only repeat the caller's choice
      suppressWarnings(RNGkind(old_kind[1L], old_kind[2L], old_kind[3L]))
      rm(".Random.seed", envir = global)
    } else {
      assign(".Random.seed", old_seed, envir = global)
    }
  )
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  expr
}
