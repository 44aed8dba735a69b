# Every damage to fits of several kinds that tests/testthat/helper-tamper.R knows: what the installed protonam makes of
# it. Fails unless each is an error of the package's own or harmless.
#
#   Rscript .ci/tamper.R [NUMBER]    a random sample of that many per fit instead of all (some minutes)
library(protonam)
folder <- "tests/testthat"
for (file in c("helper-fits.R", "helper-tamper.R")) source(file.path(folder, file))
most <- as.numeric(c(commandArgs(trailingOnly = TRUE), Inf)[1L])

set.seed(1)
levels <- c("classed", "same", "foreign", "nan", "different")
fits <- tamper_fits()
old <- file.path(folder, "fixtures", "saved_0.1.0.rds")
for (kind in c("numbers", "pairs")) {
  one <- readRDS(old)[[kind]]
  fits[[paste(kind, "of 0.1")]] <- list(fit = one$fit, data = one$newdata)
}
bad <- 0
for (kind in names(fits)) {
  one <- fits[[kind]]
  before <- tamper_results(one$fit, one$data)
  damages <- tamper_list(one$fit)
  if (nrow(damages) > most) damages <- damages[sort(sample.int(nrow(damages), most)), ]
  outcome <- vapply(seq_len(nrow(damages)), function(k) tamper_one(one, before, damages[k, ]), "")
  counts <- sprintf("%s %d", levels, table(factor(outcome, levels)))
  cat(sprintf("%-15s %5d damages:", kind, nrow(damages)), counts, "\n")
  wrong <- !outcome %in% c("classed", "same")
  # fits of 0.1 have no checksums: other numbers cannot be noticed there
  if (grepl("0.1", kind, fixed = TRUE)) wrong <- wrong & outcome != "different"
  if (any(wrong)) cat(sprintf("  %s %s: %s\n", damages$name, damages$kind, outcome)[wrong], sep = "")
  bad <- bad + sum(wrong)
}
quit(status = as.integer(bad > 0))
