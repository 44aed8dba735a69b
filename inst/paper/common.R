# What the paper's scripts share: arguments, kept fits, and results that say where they come from. Not a script.
#
# Every script takes the path of the data and, as --name=value:
#   --epochs    0 for the published number; anything else makes a quick run whose figures mean nothing
#   --seed      added to the seeds of this package's models, so that they can be made again with others
#   --threads   threads of a fit; figures do not depend on them
#   --fits      a folder that keeps fitted models, so that several tables and figures need each of them once
#   --results   the folder for CSV and PNG files; by default a new one under the working directory
#   --overwrite yes to replace results that are there already
# Sourced by the scripts with `here`, the folder of the scripts, set.
library(protonam)
source(file.path(dirname(normalizePath(here)), "benchmarks", "common.R"))

stop_script <- function(...) stop(..., call. = FALSE)

# Arguments -----------------------------------------------------------------------------------------------------------

# The arguments above, and those in ..., with their defaults.
paper_arguments <- function(...) {
  given <- commandArgs(trailingOnly = TRUE)
  named <- grepl("^--[a-z]+=", given)
  malformed <- given[!named & startsWith(given, "-")]
  if (length(malformed)) stop_script("arguments are written --name=value, not ", malformed[1L])
  if (sum(!named) == 0L) stop_script("the path of the data is missing: Rscript <script> <data> --name=value")
  if (sum(!named) > 1L) stop_script("one path is needed, not ", sum(!named), ": ", toString(given[!named]))
  # warnings of as.numeric() say less than the check below
  arguments <- suppressWarnings(read_arguments(
    path = "", epochs = 0, seed = 0, threads = 2, fits = "", results = "paper-results", overwrite = "no", ...
  ))
  for (name in names(arguments)) {
    value <- arguments[[name]]
    text <- sub("^[^=]*=", "", given[startsWith(given, paste0("--", name, "="))])
    if (!length(value) || anyNA(value)) stop_script("--", name, " cannot be ", if (any(nzchar(text))) text else "empty")
  }
  check_whole(arguments, "epochs", 0)
  check_whole(arguments, "seed", 0)
  check_whole(arguments, "threads", 1)
  check_among(arguments, "overwrite", c("yes", "no"))
  arguments
}

check_whole <- function(arguments, name, least, most = Inf, several = FALSE) {
  value <- arguments[[name]]
  if ((!several && length(value) != 1L) || any(value < least | value > most | value != round(value))) {
    range <- if (is.finite(most)) sprintf("between %g and %g", least, most) else sprintf("of at least %g", least)
    stop_script("--", name, if (several) " must be whole numbers " else " must be a whole number ", range, ", not ",
      toString(value))
  }
}

check_among <- function(arguments, name, known) {
  unknown <- setdiff(arguments[[name]], known)
  if (length(unknown)) stop_script("--", name, " can be ", toString(known), ", not ", toString(unknown))
}

# Kept fits -----------------------------------------------------------------------------------------------------------

# The commit of the package's sources, where they stand in a repository.
source_commit <- function() {
  commit <- suppressWarnings(tryCatch(
    system2("git", c("-C", shQuote(here), "rev-parse", "--short", "HEAD"), stdout = TRUE, stderr = FALSE),
    error = function(e) character()
  ))
  if (length(commit) == 1L) commit else NA_character_
}

# The file in --fits that keeps what is called `name`, NULL without --fits.
fit_file <- function(name, arguments) {
  if (arguments$seed > 0) name <- paste0(name, "_from", arguments$seed)
  if (arguments$epochs > 0) name <- paste0(name, "_epochs", arguments$epochs)
  if (nzchar(arguments$fits)) file.path(arguments$fits, paste0(name, ".rds"))
}

data_checksum <- function(arguments) unname(tools::md5sum(arguments$path))

# What a file of --fits keeps, NULL where there is none; it must have been made from the same data.
read_kept <- function(file, arguments) {
  if (is.null(file) || !file.exists(file)) {
    return(NULL)
  }
  kept <- readRDS(file)
  if (!identical(kept$data, data_checksum(arguments))) {
    stop_script(file, " was made from other data; give another folder with --fits")
  }
  kept
}

# A fitted model by name: read from --fits when it is there, else fitted by `expr` and kept there.
# Returns list(fit, seconds, cpu_seconds, threads, machine, commit, date, data); seconds are those of the clock, and CPU
# seconds those of all threads, which other work on the machine leaves alone; data is the checksum of the data file.
keep_fit <- function(name, expr, arguments) {
  file <- fit_file(name, arguments)
  kept <- read_kept(file, arguments)
  if (!is.null(kept)) {
    return(kept)
  }
  commit <- source_commit()
  time <- system.time(fit <- expr)
  seconds <- time[["elapsed"]]
  kept <- list(
    fit = fit, seconds = seconds, cpu_seconds = time[["user.self"]] + time[["sys.self"]], threads = arguments$threads,
    machine = machine_line(arguments$threads), commit = commit, date = format(Sys.Date()),
    data = data_checksum(arguments)
  )
  if (!is.null(file)) {
    dir.create(arguments$fits, recursive = TRUE, showWarnings = FALSE)
    # a run that is stopped while it writes leaves no half file under the name
    saveRDS(kept, paste0(file, ".part"))
    file.rename(paste0(file, ".part"), file)
  }
  cat(sprintf("%s: %.0f s\n", name, seconds))
  kept
}

# Results -------------------------------------------------------------------------------------------------------------

result_file <- function(arguments, name) file.path(arguments$results, name)

refuse <- function(what) {
  stop_script(what, " and is not overwritten; give --overwrite=yes to replace it, or another folder with --results")
}

# A folder that cannot be written to is found before anything is fitted.
claim_folder <- function(arguments) {
  dir.create(arguments$results, recursive = TRUE, showWarnings = FALSE)
  if (!dir.exists(arguments$results) || file.access(arguments$results, 2L) != 0L) {
    stop_script("--results: cannot write to the folder ", arguments$results)
  }
}

# Called before anything is fitted: result files that are there already stay as they are.
claim_files <- function(arguments, names) {
  claim_folder(arguments)
  there <- names[file.exists(result_file(arguments, names))]
  if (length(there) && arguments$overwrite != "yes") refuse(paste(result_file(arguments, there[1L]), "exists"))
}

# The same for a table that is made in parts: rows of other parts are kept, rows of these `parts` are refused. `part` is
# the column that tells them apart.
claim_rows <- function(arguments, name, part, parts) {
  claim_folder(arguments)
  file <- result_file(arguments, name)
  if (!file.exists(file)) {
    return(invisible())
  }
  there <- intersect(parts, read_result(file, part)[[part]])
  if (length(there) && arguments$overwrite != "yes") refuse(paste0(file, " has results of ", toString(there)))
}

# A table without its published rows, which are added anew by every run.
read_result <- function(file, part) {
  table <- utils::read.csv(file, stringsAsFactors = FALSE, na.strings = c("", "NA"))
  if (!all(c(part, "commit") %in% names(table))) stop_script(file, " is no result of this script")
  table$commit <- as.character(table$commit)
  table[!table$source %in% "published", ]
}

# Adds rows to a table, in place of those of the same parts.
add_rows <- function(arguments, name, part, rows) {
  file <- result_file(arguments, name)
  if (file.exists(file)) {
    old <- read_result(file, part)
    if (!setequal(names(old), names(rows))) stop_script(file, " has other columns than this script writes")
    rows <- rbind(old[!old[[part]] %in% rows[[part]], names(rows)], rows)
  }
  write_table(rows, file)
}

write_table <- function(table, file) {
  dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
  utils::write.csv(table, file, row.names = FALSE, na = "")
  invisible(table)
}

# Where a result comes from, as columns. `share` of the time of the kept fit is that of the result.
provenance <- function(kept, share = 1) {
  cpu_seconds <- if (is.null(kept$cpu_seconds)) NA else kept$cpu_seconds
  data.frame(
    seconds = round(kept$seconds * share, 2), cpu_seconds = round(cpu_seconds * share, 2), threads = kept$threads,
    machine = kept$machine, date = kept$date, commit = kept$commit
  )
}

# The same in a text file, for results that have no room for columns. `kept`: list of kept fits.
write_origin <- function(arguments, name, kept, ...) {
  lines <- unlist(lapply(kept, function(one) {
    origin <- provenance(one)
    c(
      sprintf("models: %d of order %s, seed %s", length(one$fit$members), one$fit$order, one$fit$seed),
      sprintf("settings: %s", settings_line(one$fit)), sprintf("%s: %s", names(origin), vapply(origin, format, "")), ""
    )
  }))
  writeLines(c(..., lines[-length(lines)]), result_file(arguments, paste0(name, ".txt")))
}

# The settings of a fit in one line.
settings_line <- function(fit) {
  control <- unclass(fit$control)
  control <- control[!vapply(control, is.null, NA)]
  paste(sprintf("%s=%s", names(control), vapply(control, format, "")), collapse = " ")
}

# The paper's numbers of one of its tables, see published.csv.
published <- function(table, data = "housing") {
  numbers <- utils::read.csv(file.path(here, "published.csv"), stringsAsFactors = FALSE)
  numbers[numbers$table == table & numbers$data == data, ]
}
