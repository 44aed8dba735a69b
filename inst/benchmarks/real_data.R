# The default fit against penalised splines (mgcv::bam, select = TRUE) on data that comes with R: packages survival and
# MASS. Test log-loss or RMSE, mean over splits; ours and the splines' on the same rows.
#
#   Rscript real_data.R --splits=10
# Splines see numeric columns with as many basis functions as their values allow, at most 30, and factors as they are;
# rows with missing values, which they cannot use, are left out for both. Beyond 2,000 rows, bam() discretises.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(splits = 10, threads = 2, only = "")

flchain <- survival::flchain
flchain$died <- factor(flchain$futime < 5 * 365.25 & flchain$death == 1)
flchain <- flchain[flchain$futime >= 5 * 365.25 | flchain$death == 1, ]
sets <- list(
  flchain = list(died ~ age + sex + kappa + lambda + creatinine + mgus + flc.grp, flchain),
  Boston = list(medv ~ ., MASS::Boston),
  Pima = list(type ~ ., rbind(MASS::Pima.tr, MASS::Pima.te)),
  melanoma = list(time ~ sex + age + year + thickness + ulcer, MASS::Melanoma),
  colon = list(died ~ rx + sex + age + obstruct + adhere + nodes + differ + extent, transform(
    survival::colon[survival::colon$etype == 2, ],
    died = factor(status), rx = factor(rx)
  )),
  nwtco = list(rel ~ instit + histol + stage + age, transform(survival::nwtco,
    rel = factor(rel), instit = factor(instit), histol = factor(histol)
  )),
  quakes = list(mag ~ lat + long + depth + stations, datasets::quakes),
  mgus2 = list(mspike ~ age + sex + hgb + creat, survival::mgus2),
  rotterdam = list(death ~ age + meno + size + grade + nodes + pgr + er + hormon + chemo, transform(
    survival::rotterdam,
    death = factor(death), meno = factor(meno), hormon = factor(hormon), chemo = factor(chemo)
  )),
  gbsg = list(status ~ age + meno + size + grade + nodes + pgr + er + hormon, transform(survival::gbsg,
    status = factor(status), meno = factor(meno), hormon = factor(hormon)
  )),
  nlschools = list(lang ~ IQ + GS + SES + COMB, MASS::nlschools),
  diabetic = list(status ~ laser + age + eye + trt + risk + time, transform(survival::diabetic,
    status = factor(status), trt = factor(trt)
  ))
)

spline_formula <- function(formula, data) {
  terms <- vapply(attr(stats::terms(formula, data = data), "term.labels"), function(name) {
    x <- data[[name]]
    k <- min(30, length(unique(x)) - 1)
    if (is.numeric(x) && k >= 3) sprintf("s(%s, bs = 'cr', k = %d)", name, k) else name
  }, "")
  stats::reformulate(terms, formula[[2L]])
}

loss <- function(y, prediction) {
  if (is.numeric(y)) {
    return(sqrt(mean((y - prediction)^2)))
  }
  p <- pmin(pmax(prediction, 1e-15), 1 - 1e-15)
  -mean(ifelse(y == levels(y)[2L], log(p), log(1 - p)))
}

one_split <- function(set, split) {
  formula <- set[[1L]]
  data <- stats::na.omit(set[[2L]][all.vars(stats::terms(formula, data = set[[2L]]))])
  data <- droplevels(data)
  set.seed(split)
  test <- sample(nrow(data), round(nrow(data) / 4))
  y <- data[[all.vars(formula)[1L]]]
  family <- if (is.numeric(y)) stats::gaussian() else stats::binomial()
  train <- data[-test, ]
  splines <- mgcv::bam(spline_formula(formula, train), family, train, select = TRUE, discrete = nrow(train) > 2000)
  ours <- protonam(formula, train, seed = 1, threads = arguments$threads, verbose = FALSE)
  c(
    rows = nrow(data), splines = loss(y[test], as.vector(stats::predict(splines, data[test, ], type = "response"))),
    protonam = loss(y[test], as.vector(predict(ours, data[test, ])))
  )
}

describe_machine(arguments$threads)
chosen <- if (nzchar(arguments$only[1L])) arguments$only else names(sets)
for (name in chosen) {
  each <- suppressWarnings(suppressMessages(vapply(seq_len(arguments$splits), function(s) {
    failed <- c(rows = NA_real_, splines = NA_real_, protonam = NA_real_)
    tryCatch(one_split(sets[[name]], s), error = function(e) failed)
  }, numeric(3))))
  means <- rowMeans(each, na.rm = TRUE)
  gap <- each[3L, ] - each[2L, ]
  cat(sprintf(
    "%-9s %5.0f rows: splines %.4f, protonam %.4f, ratio %.4f (standard error %.4f); splits that failed: %d\n", name,
    means[["rows"]], means[["splines"]], means[["protonam"]], means[["protonam"]] / means[["splines"]],
    stats::sd(gap, na.rm = TRUE) / sqrt(sum(!is.na(gap))) / means[["splines"]], sum(is.na(each[2L, ]))
  ))
}
