# Rscript .ci/spelling.R [--update]: spelling of help pages, vignettes, README, NEWS and DESCRIPTION, in the language of
# DESCRIPTION, and of the other pages in markdown. Words in inst/WORDLIST are known. Status 1 if others are found.
# --update writes all words that the dictionary lacks to inst/WORDLIST: look at git diff afterwards.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
root <- normalizePath(file.path(dirname(file), ".."))
if (!requireNamespace("spelling", quietly = TRUE)) {
  message("The package spelling is needed: install.packages(\"spelling\")")
  quit(status = 2L)
}
pages <- file.path(root, c("CONTRIBUTING.md", "inst/architecture.md", ".github/PULL_REQUEST_TEMPLATE.md"))
words <- file.path(root, "inst", "WORDLIST")
check <- function(known) {
  list(
    spelling::spell_check_package(root, use_wordlist = length(known) > 0L),
    spelling::spell_check_files(pages, ignore = known, lang = "en_GB")
  )
}
if ("--update" %in% commandArgs(trailingOnly = TRUE)) {
  lacking <- unlist(lapply(check(character()), `[[`, "word"))
  lacking <- sort(unique(enc2utf8(lacking)), method = "radix")
  writeLines(lacking, words, useBytes = TRUE)
}
found <- check(readLines(words, encoding = "UTF-8"))
for (part in found) print(part)
if (sum(vapply(found, nrow, 1L)) > 0L) quit(status = 1L)
cat("No unknown words\n")
