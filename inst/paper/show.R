# What vignettes need to show results that were made before. Sourced by them, from the installed package.

paper_folder <- system.file("paper", package = "protonam")
picture <- function(name) file.path(paper_folder, "results", name)

# A table of results.
result <- function(name) utils::read.csv(picture(name), stringsAsFactors = FALSE, na.strings = c("", "NA"))

number <- function(x, digits = 4) ifelse(is.na(x), "", formatC(x, digits = digits, format = "f"))
