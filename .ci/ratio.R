# Time of a change: fits, shapes() and predict(type = "terms") with two installed versions of the package, in turn and in
# one run, the best of several, as a ratio after / before.
#
#   Rscript .ci/ratio.R LIBRARY_BEFORE LIBRARY_AFTER [TIMES]
arguments <- commandArgs(TRUE)
if (length(arguments) < 2L) stop("Usage: Rscript .ci/ratio.R LIBRARY_BEFORE LIBRARY_AFTER [TIMES]", call. = FALSE)

measure <- function(library, file) {
  library("protonam", lib.loc = library, character.only = TRUE)
  options(protonam.threads = 1)
  icu <- simulate_icu(2000, seed = 1)
  model <- died ~ age + lactate + gcs + admission_type + creatinine + heart_rate
  here <- environment()
  best <- function(code, times = 3L) {
    min(vapply(seq_len(times), function(i) system.time(eval(code, here))[["elapsed"]], 0))
  }
  one <- pair <- NULL
  out <- c(
    "fit, order 1" = best(quote(one <- protonam(model, icu, prototypes_for = TRUE, epochs = 10, seed = 1))),
    "fit, order 2" = best(quote(pair <- protonam(model, icu, order = 2, ensemble = 4, epochs = 4, seed = 1)), 1L)
  )
  for (order in 1:2) {
    fit <- list(one, pair)[[order]]
    new <- icu[rep(seq_len(2000), 5), ]
    seconds <- c(
      best(quote(shapes(fit))), best(quote(predict(fit, new, type = "terms"))),
      best(quote(contributions(fit, icu[1:50, ])))
    )
    out <- c(out, stats::setNames(seconds, paste0(c("shapes()", "terms", "contributions()"), ", order ", order)))
  }
  saveRDS(out, file)
}

libraries <- normalizePath(arguments[1:2])
times <- if (length(arguments) > 2L) as.integer(arguments[3L]) else 3L
script <- tempfile(fileext = ".R")
dump("measure", script)
seconds <- list(NULL, NULL)
for (round in seq_len(times)) {
  for (k in 1:2) {
    file <- tempfile(fileext = ".rds")
    call <- sprintf("source('%s'); suppressMessages(measure('%s', '%s'))", script, libraries[k], file)
    system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(call)))
    seconds[[k]] <- rbind(seconds[[k]], readRDS(file))
  }
}
least <- vapply(seconds, function(x) apply(x, 2L, min), seconds[[1L]][1L, ])
print(data.frame(before = least[, 1L], after = least[, 2L], ratio = round(least[, 2L] / least[, 1L], 2L)))
