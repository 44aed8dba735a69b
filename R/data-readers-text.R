# Text files to checked columns, for the readers in R/data-readers.R.

# The file itself, or the first of `names` that exists, plain or gzipped, in the folder `path`.
find_data_file <- function(path, names) {
  refuse_if(
    !is.character(path) || length(path) != 1L || is.na(path) || !nzchar(path), path, "path",
    "the name of one file or folder"
  )
  if (!file.exists(path)) {
    pn_abort("{.arg path}: there is no file or folder {.path {path}}.", class = "file", arg = "path")
  }
  if (!dir.exists(path)) {
    return(path)
  }
  candidates <- file.path(path, c(names, paste0(names[!endsWith(names, "gz")], ".gz")))
  found <- candidates[file.exists(candidates) & !dir.exists(candidates)]
  if (!length(found)) {
    pn_abort("The folder {.path {path}} has none of the files {.file {names}}.", class = "file", arg = "path")
  }
  found[1L]
}

# A data frame of character columns. `columns` names the fields of a file without a header; `header_forms` lists the
# sets of names that a header may have (spelling compared without case and punctuation, `synonyms` = c(found = meant)).
# Columns that a header has beyond the set are dropped, but `split` and `fold` are kept. A file whose first field is
# not a number has a header. `comment`: a first line that starts with it is skipped. `sep` = "" means white space.
read_fields <- function(file, sep, columns = NULL, header_forms = list(), synonyms = NULL, comment = NULL) {
  lines <- read_text(file)
  first <- if (!is.null(comment) && startsWith(lines[1L], comment)) 2L else 1L
  numbers <- seq_along(lines)
  keep <- numbers >= first & grepl("[^[:space:]]", lines)
  lines <- lines[keep]
  numbers <- numbers[keep]
  if (!length(lines)) abort_file(file, "has no data.")

  fields <- split_fields(lines, sep)
  head <- fields[[1L]]
  named <- length(header_forms) && (is.null(columns) || is.na(suppressWarnings(as.numeric(head[1L]))))
  if (named) {
    columns <- match_header(head, header_forms, synonyms, file)
    fields <- fields[-1L]
    numbers <- numbers[-1L]
    if (!length(fields)) abort_file(file, "has a header but no data.")
  }
  width <- length(columns)
  count <- lengths(fields)
  if (any(count != width)) {
    bad <- which(count != width)[1L]
    cut_off <- bad == length(count) && bad > 1L
    abort_file(
      file, sprintf(
        "must have %d %s per line; line %d has %d.", width, ngettext(width, "field", "fields"), numbers[bad], count[bad]
      ),
      if (cut_off) "The file seems to be cut off." else "It seems to be a different kind of file."
    )
  }
  table <- matrix(unlist(fields, use.names = FALSE), ncol = width, byrow = TRUE)
  table <- stats::setNames(as.data.frame(table, stringsAsFactors = FALSE), columns)
  table[!is.na(columns)]
}

# The lines of a plain or gzipped text file; a damaged archive or a binary file is an error.
read_text <- function(file) {
  bytes <- read_bytes(file)
  if (!length(bytes)) abort_file(file, "is empty.")
  if (any(bytes == as.raw(0L))) abort_file(file, "is not a text file.")
  text <- rawToChar(bytes)
  if (!validUTF8(text)) abort_file(file, "is not a text file in UTF-8.")
  Encoding(text) <- "UTF-8"
  # a last number that lost some of its digits is still a number
  if (!utils::tail(bytes, 1L) %in% charToRaw("\r\n")) {
    pn_inform("{.path {file}} ends within a line; if it was cut off, its last row is wrong.", class = "cut_off")
  }
  strsplit(sub("^\ufeff", "", text), "\r?\n")[[1L]]
}

# All bytes of a file, decompressed. R reads a truncated gzip file without complaint, so the size that the archive
# states in its last four bytes is compared with what came out.
read_bytes <- function(file) {
  packed <- readBin(file, "raw", file.size(file))
  if (length(packed) < 2L || !identical(packed[1:2], as.raw(c(0x1f, 0x8b)))) {
    return(packed)
  }
  con <- gzfile(file, "rb")
  on.exit(close(con))
  parts <- list()
  damaged <- function(cnd) abort_file(file, "is a damaged gzip file.")
  repeat {
    part <- tryCatch(readBin(con, "raw", 2^24), error = damaged, warning = damaged)
    if (!length(part)) break
    parts[[length(parts) + 1L]] <- part
  }
  bytes <- unlist(parts)
  stated <- sum(as.numeric(utils::tail(packed, 4L)) * 256^(0:3))
  if (length(bytes) != stated) abort_file(file, "is an incomplete gzip file.", "The file seems to be cut off.")
  bytes
}

split_fields <- function(lines, sep) {
  if (sep == "") {
    strsplit(trimws(lines), "[[:space:]]+")
  } else {
    # a sentinel keeps the empty last field that strsplit() would drop
    fields <- strsplit(paste0(lines, sep, "."), sep, fixed = TRUE)
    lapply(fields, function(x) trimws(x[-length(x)], whitespace = "[\\s\"]"))
  }
}

# The wanted name of each header field, NA for fields to drop.
match_header <- function(head, forms, synonyms, file) {
  plain <- function(x) tolower(gsub("[^[:alnum:]]", "", x))
  found <- plain(head)
  known <- match(found, plain(names(synonyms)))
  found[!is.na(known)] <- plain(synonyms[known[!is.na(known)]])
  for (form in forms) {
    if (all(plain(form) %in% found)) {
      wanted <- c(form, "split", "fold")
      return(ifelse(duplicated(found), NA, wanted[match(found, plain(wanted))]))
    }
  }
  missing <- lapply(forms, function(form) form[!plain(form) %in% found])
  best <- missing[[which.min(lengths(missing))]]
  abort_file(file, sprintf("lacks the column%s %s.", if (length(best) > 1L) "s" else "", some(best)),
             sprintf("Its first line is %s.", encodeString(substr(paste(head, collapse = ","), 1L, 60L), quote = "\"")))
}

as_missing <- function(x) {
  x[x %in% c("", "NA", "na", "nan", "NaN", "NAN")] <- NA
  x
}

as_numbers <- function(table, name, file) {
  text <- as_missing(table[[name]])
  value <- suppressWarnings(as.numeric(text))
  bad <- which(!is.na(text) & (!is.finite(value) | grepl("x", text, ignore.case = TRUE)))
  if (length(bad)) {
    abort_file(file, sprintf("has %s in row %d of the numeric column %s.",
                             encodeString(text[bad[1L]], quote = "\""), bad[1L], name))
  }
  value
}

# Levels in increasing order: as numbers when all are, otherwise as in the C locale, which is the same everywhere.
as_categories <- function(x) {
  levels <- unique(x[!is.na(x)])
  value <- suppressWarnings(as.numeric(levels))
  factor(x, levels = if (anyNA(value)) sort(levels, method = "radix") else levels[order(value)])
}

check_file_range <- function(x, name, from, to, file) {
  bad <- which(x < from | x > to)
  if (length(bad)) {
    range <- if (is.finite(to)) sprintf("from %g to %g", from, to) else sprintf("of at least %g", from)
    abort_file(
      file, sprintf("must have values %s in the column %s; row %d has %g.", range, name, bad[1L], x[bad[1L]]),
      "Its columns seem to be in another order."
    )
  }
}

as_label <- function(x, name, file) {
  value <- as_numbers(stats::setNames(list(x), name), name, file)
  check_file_values(value, name, c(0, 1), file)
  value == 1
}

check_file_values <- function(x, name, allowed, file) {
  bad <- which(!x %in% allowed)
  if (length(bad)) {
    problem <- sprintf(
      "must have only %s in the column %s; row %d has %s.",
      some(allowed, quote = ""), name, bad[1L], encodeString(as.character(x[bad[1L]]))
    )
    abort_file(file, problem)
  }
}

# A file with fewer or more rows than published may be intended, so this is only a message.
inform_rows <- function(n, published, file) {
  if (!n %in% published) {
    pn_inform("{.path {file}} has {n} row{?s}; the published file has {published[1]}.", class = "rows")
  }
}

abort_file <- function(file, problem, hint = NULL) {
  pn_abort(c("The file {.path {file}} {problem}", if (!is.null(hint)) c(i = "{hint}")), class = "file", arg = "path")
}
