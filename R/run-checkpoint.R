# Checkpoints: finished pieces of work, and the state of unfinished ones, in a file from which a later call resumes.
#
# Everything in this package is determined by data, settings and seed, so a piece of work that was finished before a
# process died is read back instead of being repeated, and the result has the same bits. A store is list(core, prefix):
# the core is an environment (file, kind, about, units, ...), common to all parts of a run; the prefix is that of the
# part's keys. Keys of work within a unit begin with the unit's key and "/", the state of an unfinished unit is
# stored under its key and "~"; both are removed when the unit is finished. Without a checkpoint the store is NULL.

checkpoint_format <- "protonam checkpoint 2"

#' Open a checkpoint, before any work is done
#'
#' @param file NULL for none, or a path.
#' @param kind "fit", "cross-validation" or "search".
#' @return NULL or a store
#' @noRd
open_checkpoint <- function(file, kind) {
  if (is.null(file)) {
    return(NULL)
  }
  refuse_if(
    !is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file), file, "checkpoint",
    "NULL or the name of a file"
  )
  # the working directory may change meanwhile
  file <- file.path(normalizePath(dirname(file), mustWork = FALSE), basename(file))
  core <- new.env(parent = emptyenv())
  core$file <- file
  core$kind <- kind
  core$units <- new.env(parent = emptyenv())
  every <- getOption("protonam.checkpoint_seconds", 10)
  core$every <- check_number(every, "options(protonam.checkpoint_seconds)", min = 0)
  core$written <- -Inf # when, in seconds of proc.time()
  core$cost <- 0 # seconds that the last write took
  core$given_up <- FALSE
  check_checkpoint_path(file)
  core$found <- read_checkpoint(file, kind)
  list(core = core, prefix = "")
}

check_checkpoint_path <- function(file) {
  reason <- if (dir.exists(file)) {
    "It is a folder."
  } else if (!dir.exists(dirname(file))) {
    "Its folder does not exist."
  } else {
    unlink(Sys.glob(paste0(glob_escape(file), ".*.part"))) # left by processes that were killed while writing
    trial <- part_name(file)
    on.exit(unlink(trial))
    if (!suppressWarnings(file.create(trial))) "No file can be made in its folder."
  }
  if (!is.null(reason)) {
    pn_abort(c("{.arg checkpoint} cannot be written: {.file {file}}.", x = reason),
      class = "checkpoint_path", arg = "checkpoint"
    )
  }
}

# a name of this process, so that no two processes write to the same file
part_name <- function(file) paste0(file, ".", Sys.getpid(), ".part")

glob_escape <- function(x) gsub("([][*?\\\\])", "\\\\\\1", x)

#' What an earlier process left in the file
#' @return NULL, or list(format, version, kind, about, seed, units)
#' @noRd
read_checkpoint <- function(file, kind) {
  if (!file.exists(file) || file.size(file) == 0) {
    return(NULL)
  }
  found <- suppressWarnings(tryCatch(readRDS(file), error = function(e) NULL))
  if (!is.list(found) || !identical(found$format, checkpoint_format)) {
    pn_abort(
      c(
        "{.file {file}} exists and is not a checkpoint that this version of protonam can read.",
        i = "Nothing was changed. Give {.arg checkpoint} the name of a new file, or delete this one."
      ),
      class = "checkpoint_file", arg = "checkpoint"
    )
  }
  found
}

#' Compare a checkpoint with the work to be done, and take over its contents
#'
#' @param about list of digests: data, settings.
#' @param what What its units are called, in the singular.
#' @noRd
begin_checkpoint <- function(store, about, seed, what) {
  if (is.null(store)) {
    return(invisible())
  }
  core <- store$core
  core$about <- c(about, list(endian = .Platform$endian))
  core$seed <- seed
  found <- core$found
  core$found <- NULL
  if (!is.null(found)) {
    check_same_work(core, found)
    list2env(found$units, core$units)
    tell_continuing(core, what)
  }
  failure <- write_checkpoint(core)
  if (!is.null(failure)) {
    pn_abort(c("{.arg checkpoint} cannot be written: {.file {core$file}}.", x = escape_braces(failure)),
      class = "checkpoint_path", arg = "checkpoint"
    )
  }
  invisible()
}

check_same_work <- function(core, found) {
  version <- own_version()
  differs <- if (!identical(found$kind, core$kind)) {
    "kind of work"
  } else if (!identical(found$version, version)) {
    "version of protonam"
  } else {
    labels <- c(data = "data", settings = "settings", endian = "byte order")
    labels[!vapply(names(labels), function(name) identical(found$about[[name]], core$about[[name]]), NA)]
  }
  if (!length(differs)) {
    return(invisible())
  }
  core_kind <- core$kind
  reason <- switch(differs[[1L]],
    "kind of work" = "It belongs to a {found$kind}, and this is a {core_kind}.",
    "version of protonam" = "It was written by version {found$version} of protonam, and this is {version}.",
    "It was made with other {.and {differs}}."
  )
  pn_abort(
    c(
      "{.file {core$file}} is the checkpoint of other work.",
      x = reason,
      i = "Repeat the call that it belongs to, give {.arg checkpoint} another name, or delete the file."
    ),
    class = "checkpoint_differs", arg = "checkpoint", what = unname(differs)
  )
}

tell_continuing <- function(core, what) {
  keys <- ls(core$units, all.names = TRUE)
  done <- sum(!grepl("[/~]", keys))
  started <- if (length(keys) > done) ", and further work has begun"
  pn_inform("Continuing from {.file {core$file}}: {done} {what}{?s} {?is/are} done{started}.", class = "checkpoint")
}

#' The part of a store that belongs to one unit of work
#' @noRd
store_part <- function(store, key) {
  if (!is.null(store)) store$prefix <- paste0(store$prefix, key, "/")
  store
}

unit_get <- function(store, key) if (!is.null(store)) store$core$units[[paste0(store$prefix, key)]]

#' Keep a finished unit or, if the key ends in "~", the state of an unfinished one; the file is written when it is due
#' @noRd
unit_put <- function(store, key, value) {
  if (is.null(store)) {
    return(invisible())
  }
  core <- store$core
  key <- paste0(store$prefix, key)
  if (!endsWith(key, "~")) {
    keys <- ls(core$units, all.names = TRUE)
    rm(list = keys[keys == paste0(key, "~") | startsWith(keys, paste0(key, "/"))], envir = core$units)
  }
  assign(key, value, envir = core$units)
  # finished work is worth more than a state; writing to a slow disk must not take more than a tenth of the time
  gap <- if (endsWith(key, "~")) core$every else min(core$every, 1)
  if (gap > 0) gap <- max(gap, 10 * core$cost)
  if (core$given_up || now() - core$written < gap) {
    return(invisible())
  }
  failure <- write_checkpoint(core)
  if (!is.null(failure)) {
    core$given_up <- TRUE
    pn_warn(
      c(
        "The checkpoint {.file {core$file}} could not be written.", x = escape_braces(failure),
        i = "The work goes on without it; what was written before, if anything, is still there."
      ),
      class = "checkpoint_failed"
    )
  }
  invisible()
}

now <- function() proc.time()[["elapsed"]]

own_version <- function() as.character(utils::packageVersion("protonam"))

#' Write to a temporary file and rename it: a checkpoint is complete or absent
#' @return NULL, or the reason for a failure
#' @noRd
write_checkpoint <- function(core) {
  started <- now()
  part <- part_name(core$file)
  on.exit(unlink(part))
  failure <- tryCatch(
    {
      bytes <- serialize(list(
        format = checkpoint_format, version = own_version(), kind = core$kind,
        about = core$about, seed = core$seed, units = as.list(core$units, all.names = TRUE)
      ), NULL, xdr = FALSE)
      writeBin(bytes, part)
      if (!identical(file.size(part), as.double(length(bytes)))) {
        "The file is shorter than what was written into it; the disk may be full."
      } else if (!file.rename(part, core$file)) {
        "The file could not be renamed."
      }
    },
    error = function(e) conditionMessage(e), warning = function(w) conditionMessage(w)
  )
  core$written <- now()
  core$cost <- core$written - started
  failure
}

#' The work is done: a later call starts afresh
#' @noRd
close_checkpoint <- function(store) {
  if (!is.null(store)) unlink(store$core$file)
  invisible()
}

#' A checksum of all bits of a value, as text (src/r_checksum.c)
#' @noRd
digest <- function(x) sprintf("%.0f", .Call(ffi_checksum, list(x), TRUE))
