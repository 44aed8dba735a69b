# Rscript .ci/lint-files.R FILE...: lintr with .lintr on the given files, for pre-commit. Status 1 if anything is found.
found <- lapply(commandArgs(trailingOnly = TRUE), lintr::lint)
for (file in found) print(file)
if (sum(lengths(found)) > 0L) quit(status = 1L)
