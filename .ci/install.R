# Rscript install.R ROOT WHAT: installs the packages that are missing for WHAT and prints the library to use for them.
#
#   run    what protonam imports, and survival for the demonstration
#   test   that, testthat and withr, and the suggested packages that the tests mention
#   check  that and all other suggested packages
#
# Packages that a job can't do without must install; the others may fail, and their tests are skipped.
# Debian's own binaries are taken where they fit (R from Debian, root), because they install in seconds; otherwise
# the packages come from the configured CRAN mirror, into the first library that can be written.

arguments <- commandArgs(trailingOnly = TRUE)
root <- arguments[1L]
what <- match.arg(arguments[2L], c("run", "test", "check"))

description <- read.dcf(file.path(root, "DESCRIPTION"), fields = c("Imports", "Suggests"))
package_names <- function(field) {
  names <- gsub("\\(.*\\)|[[:space:]]", "", strsplit(description[, field], ",")[[1L]])
  setdiff(names[nzchar(names)], rownames(installed.packages(priority = "base")))
}
mentioned <- function(package) {
  files <- list.files(file.path(root, "tests"), "[.]R$", recursive = TRUE, full.names = TRUE)
  pattern <- sprintf("(\"%s\"|\\b%s::|library\\(%s\\))", package, package, package)
  any(vapply(files, function(file) any(grepl(pattern, readLines(file, warn = FALSE))), NA))
}
imports <- package_names("Imports")
suggests <- package_names("Suggests")
required <- c(imports, if (what == "run") "survival" else c("testthat", "withr"))
optional <- switch(what, run = character(), test = Filter(mentioned, suggests), check = suggests)

# A version requirement counts: an old testthat is as good as none.
missing_of <- function(packages) {
  needs <- c(testthat = "3.0.0")
  Filter(function(package) {
    version <- tryCatch(packageVersion(package), error = function(e) NULL)
    is.null(version) || (package %in% names(needs) && version < needs[[package]])
  }, unique(packages))
}

library_to_write <- function() {
  writable <- Filter(function(path) file.access(path, 2L) == 0L, .libPaths())
  # R's own library is left to R
  writable <- setdiff(writable, .Library)
  if (length(writable)) {
    return(writable[1L])
  }
  path <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1L]][1L]
  path <- path.expand(if (path %in% c(NA, "", "NULL")) "~/R/library" else path)
  dir.create(path, recursive = TRUE, showWarnings = FALSE)
  .libPaths(c(path, .libPaths()))
  path
}
target <- library_to_write()

apt_fits <- function() {
  identical(normalizePath(R.home()), "/usr/lib/R") && nzchar(Sys.which("apt-get")) &&
    identical(Sys.info()[["effective_user"]], "root") && !nzchar(Sys.getenv("PROTONAM_NO_APT"))
}
apt_install <- function(packages) {
  Sys.setenv(DEBIAN_FRONTEND = "noninteractive")
  quiet <- function(...) suppressWarnings(system2(..., stdout = FALSE, stderr = FALSE))
  debian <- paste0("r-cran-", tolower(packages))
  known <- function() vapply(debian, function(name) quiet("apt-cache", c("show", name)) == 0L, NA)
  if (!all(known())) quiet("apt-get", "update")
  debian <- debian[known()]
  if (length(debian)) quiet("apt-get", c("install", "-y", "--no-install-recommends", debian))
}
cran_install <- function(packages) {
  repos <- getOption("repos")
  if (!length(repos) || "@CRAN@" %in% repos) {
    repos[["CRAN"]] <- "https://cloud.r-project.org"
  }
  # testthat needs fs, which needs libuv: its own copy will do where the system has none
  if (!nzchar(Sys.getenv("USE_BUNDLED_LIBUV"))) Sys.setenv(USE_BUNDLED_LIBUV = "1")
  cores <- max(1L, parallel::detectCores(), na.rm = TRUE)
  suppressWarnings(utils::install.packages(packages, lib = target, repos = repos, quiet = TRUE, Ncpus = min(4L, cores)))
}

wanted <- missing_of(c(required, optional))
if (length(wanted)) {
  message("Installing ", paste(wanted, collapse = ", "), " ...")
  if (apt_fits()) apt_install(wanted)
  rest <- missing_of(wanted)
  if (length(rest)) cran_install(rest)
}
failed <- missing_of(required)
if (length(failed)) {
  message("Could not install ", paste(failed, collapse = ", "), ", which is needed. Is there a network connection?")
  quit(status = 3L)
}
left <- missing_of(optional)
if (length(left)) message("Not installed, what uses them is skipped: ", paste(left, collapse = ", "))
cat(target, "\n", sep = "")
