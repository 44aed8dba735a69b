# Which rows are used in a fit, with their weights, offset, task groups and strata.

#' Are these all n rows in their original order? A bootstrap sample or a permutation has the same length, but is not.
#' @param rows Row numbers from 1 to n.
#' @noRd
are_all_rows <- function(rows, n) length(rows) == n && !is.unsorted(rows, strictly = TRUE)

#' Some rows of a vector, matrix, or list of columns; nothing is copied when all rows are requested
#' @noRd
take_rows <- function(x, rows, n) {
  if (are_all_rows(rows, n)) {
    x
  } else if (is.list(x) && !is.object(x)) {
    lapply(x, take_rows, rows, n)
  } else if (length(dim(x)) == 2L) {
    x[rows, , drop = FALSE]
  } else {
    x[rows]
  }
}

#' Rows left by subset, na.action, and missing responses or task groups
#'
#' @return list(index = row numbers of the data, as ordered and as often as `subset` names them, kept = the same or NULL
#'   when all rows are used in their original order, omitted = na.action attribute as lm() keeps it, or NULL)
#' @noRd
used_rows <- function(frame, task, weights, offset, subset, na_action, family = NULL) {
  n <- frame$n
  check_length(weights, n, "weights")
  check_length(offset, n, "offset")
  rows <- subset_rows(subset, n)
  omitted <- NULL
  action <- resolve_na_action(na_action)
  if (!identical(action, stats::na.pass)) {
    parts <- c(frame$columns, list("(response)" = frame$response$value, "(weights)" = weights, "(offset)" = offset))
    missing <- Reduce(`|`, lapply(Filter(Negate(is.null), parts), function(x) missing_any(take_rows(x, rows, n))))
    if (identical(action, stats::na.fail)) {
      if (any(missing)) {
        pn_abort("{.code na.action = na.fail}: {sum(missing)} row{?s} {?has/have} missing values.", class = "missing")
      }
    } else if (any(missing)) {
      class <- if (identical(action, stats::na.exclude)) "exclude" else "omit"
      omitted <- which(missing)
      names(omitted) <- frame$row_names[rows[omitted]] %||% as.character(rows[omitted])
      class(omitted) <- class
      rows <- rows[!missing]
    }
  }
  rows <- drop_unlabelled(rows, missing_all(take_rows(frame$response$value, rows, n)), "response", frame$response$name)
  if (!is.null(task)) rows <- drop_unlabelled(rows, is.na(take_rows(task$value, rows, n)), "task", task$name)
  rows <- drop_unweighted(rows, class_labels(frame$response$value, family), weights, n, frame$response$name)
  if (!is.null(task)) rows <- drop_unweighted(rows, as.character(task$value), weights, n, task$name)
  if (!length(rows)) {
    pn_abort("There are no rows to fit.", class = "no_rows", arg = "data")
  }
  list(index = rows, kept = if (!are_all_rows(rows, n)) rows, omitted = omitted)
}

subset_rows <- function(subset, n) {
  if (is.null(subset)) {
    return(seq_len(n))
  }
  refuse_if(
    is.logical(subset) && length(subset) != n || !is.logical(subset) && !is.numeric(subset), subset, "subset",
    "a logical vector of length {n} or row numbers", class = "subset"
  )
  if (is.logical(subset)) {
    return(which(as.vector(subset)))
  }
  if (any(subset < 0, na.rm = TRUE) && (anyNA(subset) || any(subset > 0))) {
    pn_abort(
      "{.arg subset} must have positive row numbers to use or negative ones to leave out; it has both.",
      class = "subset", arg = "subset"
    )
  }
  rows <- seq_len(n)[as.vector(subset)]
  if (anyNA(rows)) {
    pn_abort("{.arg subset} has row numbers beyond the {n} rows of the data.", class = "subset", arg = "subset")
  }
  rows
}

resolve_na_action <- function(action) {
  known <- list(
    na.pass = stats::na.pass, na.omit = stats::na.omit, na.exclude = stats::na.exclude, na.fail = stats::na.fail
  )
  given <- action %||% stats::na.pass
  if (is.character(given) && length(given) == 1L) given <- known[[match(given, names(known))]]
  refuse_if(!any(vapply(known, identical, NA, given)), action, "na.action", "{.or {.fn {names(known)}}}")
  given
}

#' Rows in which some, or all, of the columns are missing
#' @param x A vector, a matrix, or a list of columns.
#' @noRd
missing_any <- function(x) missing_rows(x, `|`)
missing_all <- function(x) missing_rows(x, `&`)

missing_rows <- function(x, combine) {
  if (is.matrix(x)) x <- lapply(seq_len(ncol(x)), function(j) x[, j])
  if (is.list(x) && !is.object(x)) Reduce(combine, lapply(x, is.na)) else is.na(x)
}

drop_unlabelled <- function(rows, missing, what, name) {
  if (any(missing)) {
    pn_inform(
      "{sum(missing)} row{?s} {?is/are} left out because the {what} {.field {name}} is missing.",
      class = "dropped_rows"
    )
    rows <- rows[!missing]
  }
  rows
}

check_length <- function(x, n, arg) {
  if (NCOL(x) > 1L) {
    pn_abort("{.arg {arg}} must have one value for each row; it is {describe(x)}.", class = arg, arg = arg)
  }
  if (!is.null(x) && NROW(x) != n) {
    pn_abort("{.arg {arg}} has length {NROW(x)}, the data have {n} row{?s}.", class = arg, arg = arg)
  }
}

#' Case weights of the rows used, or NULL if all are 1
#' @noRd
check_weights <- function(weights, n, rows) {
  if (is.null(weights)) {
    return(NULL)
  }
  refuse_if(!is.numeric(weights), weights, "weights", "numbers", class = "weights")
  weights <- as.double(take_rows(weights, rows, n))
  if (anyNA(weights) || any(weights < 0) || any(is.infinite(weights))) {
    bad <- sum(is.na(weights) | weights < 0 | is.infinite(weights))
    pn_abort(
      "{.arg weights} must be finite and not negative; {bad} of them {?is/are} missing, negative or infinite.",
      class = "weights", arg = "weights"
    )
  }
  if (is.infinite(sum(weights))) {
    pn_abort(
      c("The sum of {.arg weights} is infinite.", i = "Divide them, for instance by their largest value."),
      class = "weights", arg = "weights"
    )
  }
  if (all(weights == 0)) {
    pn_abort("All {.arg weights} are zero.", class = "weights", arg = "weights")
  }
  if (all(weights == 1)) NULL else weights
}

#' Offset of the rows used: offset() terms and the argument added up, or NULL
#' @param data Columns in which the terms are evaluated.
#' @noRd
check_offset <- function(offset, terms, data, env, n, rows) {
  parts <- c(lapply(terms, evaluate, data, env), if (!is.null(offset)) list(offset))
  if (!length(parts)) {
    return(NULL)
  }
  for (part in parts) {
    check_length(part, n, "offset")
    refuse_if(!is.numeric(part), part, "offset", "numbers", class = "offset")
  }
  total <- as.double(take_rows(Reduce(`+`, parts), rows, n))
  if (any(!is.finite(total))) {
    pn_abort(
      "{.arg offset} must be finite; {sum(!is.finite(total))} row{?s} {?has/have} a missing or infinite one.",
      class = "offset", arg = "offset"
    )
  }
  total
}

#' Group ids of the rows used
#' @noRd
check_groups <- function(groups, n, rows) {
  if (is.null(groups)) {
    return(NULL)
  }
  value <- take_rows(groups$value, rows, n)
  if (anyNA(value)) {
    pn_abort("{.arg groups} is missing in {sum(is.na(value))} row{?s}.", class = "groups", arg = "groups")
  }
  if (is.factor(value)) as.integer(value) else value
}

#' Copies of a row, as in a bootstrap, are a group: what is learned from one cannot be judged by another
#' @return NULL if no row occurs twice
#' @noRd
copies <- function(rows) if (anyDuplicated(rows)) rows

max_group_values <- 10L

#' A number with many values does not define groups
#' @noRd
refuse_numbers <- function(value, name, arg) {
  count <- length(unique(value[!is.na(value)]))
  if (!is.factor(value) && !is.character(value) && !is.logical(value) && count > max_group_values) {
    # breaks are written out: cut(x, 3) would find different ones in new data
    middle <- if (is.numeric(value)) signif(stats::median(value, na.rm = TRUE), 3L)
    breaks <- if (is.null(middle)) "breaks" else sprintf("c(-Inf, %s, Inf)", format(middle))
    pn_abort(
      c(
        "{.arg {arg}} {.field {name}} is a {if (is.numeric(value)) 'number' else class(value)[1]} with {count} values.",
        i = "Make groups of it, e.g. {.code {arg} = ~ cut({name}, {breaks})}, or use {.fn factor}."
      ),
      class = arg, arg = arg
    )
  }
}

#' The task variable of the rows used
#' @return NULL or list(name, expr, levels, id = group number per row)
#' @noRd
read_task <- function(task, n, rows, response) {
  if (is.null(task)) {
    return(NULL)
  }
  if (!is.null(response$names)) {
    pn_abort("{.arg task} cannot be combined with several responses.", class = "task", arg = "task")
  }
  value <- take_rows(task$value, rows, n)
  refuse_numbers(value, task$name, "task")
  levels <- if (is.factor(value)) {
    levels(droplevels(value))
  } else if (is.numeric(value)) {
    as.character(sort(unique(value)))
  } else {
    sort(unique(as.character(value)), method = "radix")
  }
  if (length(levels) < 2L) {
    pn_abort("{.arg task} {.field {task$name}} has only one group: {.val {levels}}.", class = "task", arg = "task")
  }
  if (length(levels) > 20L && length(levels) > length(value) / 2) {
    pn_abort(
      "{.arg task} {.field {task$name}} has {length(levels)} groups in {length(value)} rows.",
      class = "task", arg = "task"
    )
  }
  list(name = task$name, expr = task$expr, levels = levels, id = match(as.character(value), levels))
}

few_rows <- 10L

#' Classes (and groups) by which a random split is stratified
#' @noRd
strata_of <- function(response, task) {
  classes <- if (is.null(response$names) && !is.null(response$levels)) response$y[, 1L]
  if (is.null(task)) classes else task$id + length(task$levels) * (classes %||% 0)
}

#' Report which classes have a single row, and which have none to learn from
#' @noRd
tell_rare_classes <- function(response, train) {
  count <- function(y) tabulate(y + 1, length(response$levels))
  trained <- count(response$y[train, 1L])
  single <- response$levels[trained == 1L & count(response$y[, 1L]) == 1L]
  if (length(single)) {
    pn_inform(
      "{.field {response$name}} has only one row of {cli::qty(single)}class{?es} {some(single)}, used for training.",
      class = "rare_class"
    )
  }
  unseen <- response$levels[trained == 0L]
  if (length(unseen)) {
    pn_inform(
      "No training row has {.field {response$name}} {some(unseen)}; it cannot be learned.",
      class = "unseen_class"
    )
  }
}

#' Every response and group must occur in training, with at least two classes
#' @noRd
check_training_rows <- function(response, task, train) {
  y <- response$y[train, , drop = FALSE]
  for (j in seq_len(ncol(y))) {
    name <- if (is.null(response$names)) response$name else response$names[j]
    values <- unique(y[!is.na(y[, j]), j])
    if (!length(values)) {
      pn_abort("No training row has a value of {.field {name}}.", class = "no_rows", arg = name)
    }
    if (response$family$family == "poisson" && all(values == 0)) {
      pn_abort("All counts of {.field {name}} in the training rows are zero.", class = "one_class", arg = name)
    }
    if (!is.null(response$levels) && length(values) < 2L) {
      pn_abort("The training rows have only one class of {.field {name}}.", class = "one_class", arg = name)
    }
  }
  if (is.null(response$names) && !is.null(response$levels)) tell_rare_classes(response, train)
  absent <- setdiff(seq_along(task$levels), task$id[train])
  if (length(absent)) {
    pn_abort(
      "No training row has {.field {task$name}} {some(task$levels[absent])}.",
      class = "task", arg = "task"
    )
  }
  size <- tabulate(as.integer(task$id[train]), length(task$levels))
  small <- size < few_rows
  if (any(small)) {
    listed <- sprintf("%s (%d)", encodeString(task$levels[small], quote = "\""), size[small])
    pn_inform(
      "{cli::qty(sum(small))}Group{?s} of {.field {task$name}} with few training rows: {some(listed, quote = '')}.",
      class = "small_group"
    )
  }
}
