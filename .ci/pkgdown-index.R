# Rscript .ci/pkgdown-index.R: _pkgdown.yml against NAMESPACE, man/ and vignettes/. Status 1 if they differ.
#
# Every export stands in the reference exactly once, every help page that is not internal has an entry, every entry is
# a help page, names that share a page stand in one section, and every vignette stands in the articles exactly once.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
root <- normalizePath(file.path(dirname(file), ".."))
if (!requireNamespace("yaml", quietly = TRUE)) {
  message("The package yaml is needed: install.packages(\"yaml\")")
  quit(status = 2L)
}
index <- yaml::read_yaml(file.path(root, "_pkgdown.yml"))
section_of <- rep(seq_along(index$reference), lengths(lapply(index$reference, `[[`, "contents")))
listed <- unlist(lapply(index$reference, `[[`, "contents"))

exports <- parseNamespaceFile(basename(root), dirname(root))$exports
pages <- lapply(list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE), function(path) {
  page <- tools::parse_Rd(path)
  tag <- vapply(page, function(part) attr(part, "Rd_tag"), "")
  text <- function(name) vapply(page[tag == name], function(part) trimws(paste(unlist(part), collapse = "")), "")
  list(
    name = text("\\name"), alias = unique(c(text("\\name"), text("\\alias"))),
    internal = "internal" %in% text("\\keyword")
  )
})
page_of <- function(entry) which(vapply(pages, function(page) entry %in% page$alias, NA))[1L]
at <- vapply(listed, page_of, 1L)

problems <- character()
tell <- function(what, names) {
  if (length(names)) problems <<- c(problems, sprintf("%s: %s", what, paste(names, collapse = ", ")))
}
tell("Exported and not in the reference", setdiff(exports, listed))
tell("More than once in the reference", unique(listed[duplicated(listed)]))
tell("In the reference and no help page", listed[is.na(at)])
visible <- which(!vapply(pages, `[[`, NA, "internal"))
tell("Help pages without an entry", vapply(pages[setdiff(visible, at)], `[[`, "", "name"))
spread <- tapply(section_of, at, function(section) length(unique(section)) > 1L)
tell("Help pages in several sections", vapply(pages[as.integer(names(which(spread)))], `[[`, "", "name"))

articles <- unlist(lapply(index$articles, `[[`, "contents"))
vignettes <- sub("[.]Rmd$", "", list.files(file.path(root, "vignettes"), "[.]Rmd$"))
tell("Vignettes not in the articles", setdiff(vignettes, articles))
tell("Articles that are no vignettes, or twice", c(setdiff(articles, vignettes), articles[duplicated(articles)]))

if (length(problems)) {
  writeLines(problems)
  quit(status = 1L)
}
cat(sprintf("_pkgdown.yml: %d exports, %d help pages, %d vignettes, each listed once\n",
  length(exports), length(visible), length(vignettes)
))
