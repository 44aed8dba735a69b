# Are the default fit's probabilities right? Slope of a logistic regression of left-out outcomes on the fitted link,
# for fits to random subsets: 1 is right, below 1 predictions are too extreme.
#
#   Rscript calibration.R --rows=1000 --subsets=10
# Data: simulate_icu() and, from package survival, flchain (died within five years) and rotterdam (died). Aims: mean
# slope 0.9 to 1.1, and no subset's outside 0.85 to 1.2 by more than two of its standard errors.
library(protonam)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))
arguments <- read_arguments(rows = 1000, subsets = 10, threads = 2)

flchain <- survival::flchain
flchain$died <- factor(flchain$futime < 5 * 365.25 & flchain$death == 1)
flchain <- flchain[flchain$futime >= 5 * 365.25 | flchain$death == 1, ]
rotterdam <- transform(survival::rotterdam, death = factor(death), meno = factor(meno), hormon = factor(hormon))
sets <- list(
  simulate_icu = list(died ~ ., simulate_icu(20000, seed = 1)),
  flchain = list(died ~ age + sex + kappa + lambda + creatinine + mgus, flchain),
  rotterdam = list(death ~ age + meno + size + grade + nodes + pgr + er + hormon, rotterdam)
)

describe_machine(arguments$threads)
for (name in names(sets)) {
  formula <- sets[[name]][[1L]]
  data <- sets[[name]][[2L]]
  found <- vapply(seq_len(arguments$subsets), function(k) {
    set.seed(k)
    train <- sample(nrow(data), arguments$rows)
    fit <- protonam(formula, data[train, ], seed = 1, threads = arguments$threads, verbose = FALSE)
    link <- as.vector(predict(fit, data[-train, ], type = "link"))
    y <- data[-train, all.vars(formula)[1L]]
    event <- if (is.factor(y)) y == levels(y)[2L] else y == 1
    summary(stats::glm(event ~ link, family = stats::binomial()))$coefficients[2L, 1:2]
  }, numeric(2))
  outside <- found[1L, ] + 2 * found[2L, ] < 0.85 | found[1L, ] - 2 * found[2L, ] > 1.2
  cat(sprintf(
    "%s, %d rows: mean slope %.3f (%.2f to %.2f); subsets outside: %d of %d\n", name, arguments$rows,
    mean(found[1L, ]), min(found[1L, ]), max(found[1L, ]), sum(outside), arguments$subsets
  ))
}
