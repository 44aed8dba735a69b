# Calls in R/ run in one direction: a file calls files of its own prefix and of those before it.
# Prints the graph of the prefixes; fails on a call against the direction, on a file without a known prefix, on a file of
# more than 350 lines, on a test file that mirrors no file, and on a function of more than eight arguments that is neither
# exported nor a method.
#
#   Rscript .ci/layers.R
if (!requireNamespace("codetools", quietly = TRUE)) {
  cat("The package codetools is not installed: layers not checked\n")
  quit(status = 0L)
}
layers <- c("check", "run", "data", "model", "effects", "fit", "use", "plot", "many")
most_lines <- 350L
most_arguments <- 8L

files <- list.files("R", pattern = "[.]R$", full.names = TRUE)
room <- sub("[.]R$", "", basename(files))
known <- setdiff(room, "protonam-package")
prefix_of <- function(room) sub("-.*", "", room)
problems <- character()
fail <- function(...) problems <<- c(problems, sprintf(...))

home <- character()
values <- list()
for (k in seq_along(files)) {
  for (call in as.list(parse(files[k], keep.source = FALSE))) {
    if (!is.call(call) || !identical(call[[1L]], as.name("<-")) || !is.name(call[[2L]])) next
    name <- as.character(call[[2L]])
    home[name] <- room[k]
    values[[name]] <- call[[3L]]
  }
  lines <- length(readLines(files[k]))
  if (lines > most_lines) fail("%s has %d lines, more than %d", files[k], lines, most_lines)
}
for (one in known[!prefix_of(known) %in% layers]) fail("R/%s.R has no prefix of a layer", one)

is_function <- function(x) is.call(x) && identical(x[[1L]], as.name("function"))
used_by <- function(value) {
  code <- if (is_function(value)) eval(value, baseenv()) else as.function(list(value))
  intersect(unlist(codetools::findGlobals(code, merge = FALSE)), names(home))
}
calls <- lapply(values, used_by)
graph <- matrix(FALSE, length(layers), length(layers), dimnames = list(layers, layers))
for (name in names(calls)) {
  from <- prefix_of(home[[name]])
  for (other in calls[[name]]) {
    to <- prefix_of(home[[other]])
    graph[from, to] <- TRUE
    if (match(to, layers) > match(from, layers)) {
      fail("%s() in %s.R calls %s() of %s.R, against the direction", name, home[[name]], other, home[[other]])
    }
  }
}
for (from in rev(layers)) {
  to <- setdiff(layers[graph[from, ]], from)
  cat(sprintf("%-8s -> %s\n", from, if (length(to)) paste(to, collapse = ", ") else "(nothing)"))
}

namespace <- readLines("NAMESPACE")
exported <- sub("export\\((.*)\\)", "\\1", grep("^export\\(", namespace, value = TRUE))
method <- grepl("^(protonam|cv_protonam|tune_protonam|plot|autoplot|print|summary|predict|update)[.]", names(values))
wrappers <- "plot_options" # what all plot methods have in common
for (name in names(values)[!names(values) %in% c(exported, wrappers) & !method]) {
  if (is_function(values[[name]]) && length(values[[name]][[2L]]) > most_arguments) {
    fail("%s() in %s.R has %d arguments", name, home[[name]], length(values[[name]][[2L]]))
  }
}

tests <- sub("^test-(.*)[.]R$", "\\1", list.files("tests/testthat", pattern = "^test-.*[.]R$"))
for (test in tests[!startsWith(tests, "c-")]) {
  if (!any(test == room | startsWith(test, paste0(room, "-")))) fail("tests/testthat/test-%s.R mirrors no file of R/", test)
}

if (length(problems)) {
  cat(problems, sep = "\n")
  quit(status = 1L)
}
