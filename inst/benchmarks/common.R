# What the benchmark scripts share: arguments, machine, scores. Sourced by the others; not a script of its own.

# Arguments as `--name=value`, over defaults; values of several parts are separated by commas. What stands without a
# name is the path of the data.
read_arguments <- function(...) {
  defaults <- list(...)
  given <- commandArgs(trailingOnly = TRUE)
  named <- grepl("^--[a-z]+=", given)
  values <- strsplit(sub("^--[a-z]+=", "", given[named]), ",")
  names(values) <- sub("^--([a-z]+)=.*$", "\\1", given[named])
  unknown <- setdiff(names(values), names(defaults))
  if (length(unknown)) {
    known <- paste0("--", setdiff(names(defaults), "path"))
    stop("unknown argument --", unknown[1L], "; known are ", toString(known), call. = FALSE)
  }
  if (anyDuplicated(names(values))) stop("argument --", names(values)[duplicated(names(values))][1L], " is given twice")
  for (name in names(values)) {
    value <- values[[name]]
    defaults[[name]] <- if (is.numeric(defaults[[name]])) as.numeric(value) else value
  }
  path <- given[!named]
  if ("path" %in% names(defaults) && length(path)) defaults$path <- path[1L]
  if (identical(defaults$path, "")) stop("give the path of the data file")
  defaults
}

# One line that says where figures come from.
machine_line <- function(threads) {
  cpu <- if (file.exists("/proc/cpuinfo")) {
    info <- readLines("/proc/cpuinfo")
    sub("^.*: ", "", grep("^model name", info, value = TRUE)[1L])
  } else {
    Sys.info()[["machine"]]
  }
  sprintf(
    "%s; %d cores, %d %s used; %s kernels; %s; protonam %s; %s", cpu, parallel::detectCores(), threads,
    ngettext(threads, "thread", "threads"),
    .Call(protonam:::ffi_kernel_level, NULL), R.version.string, utils::packageVersion("protonam"), Sys.Date()
  )
}
describe_machine <- function(threads) cat(machine_line(threads), "\n", sep = "")

rmse <- function(prediction, y) sqrt(mean((prediction - y)^2))

# Area under the ROC curve; `event` is logical.
auc <- function(prediction, event) {
  ranks <- rank(prediction)
  events <- sum(event)
  (sum(ranks[event]) - events * (events + 1) / 2) / (events * sum(!event))
}

seconds_of <- function(expr) system.time(expr)[["elapsed"]]

# Shortest of several runs: the machines are noisy, and noise only ever adds.
best_of <- function(times, run) min(vapply(seq_len(times), function(i) run(), 0))
