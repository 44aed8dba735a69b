# Folds: drawn (stratified by class, groups kept together) or given, and checked.

#' Folds of the rows used
#' @param folds A number, or fold ids: vector, column name or formula.
#' @param job From resampling_job().
#' @return list(id = fold number per row used, names = what the folds are called)
#' @noRd
make_folds <- function(folds, job, seed) {
  if (is.null(folds)) {
    pn_abort("{.arg folds} must be a number or a fold for every row, not NULL.", class = "argument", arg = "folds")
  }
  groups <- job$groups[job$rows] %||% copies(job$rows)
  classes <- if (is.null(job$response$names) && !is.null(job$response$levels)) job$response$y[, 1L]
  if (is.numeric(folds) && length(folds) == 1L) {
    k <- check_folds(folds, length(unique(job$rows)), groups)
    id <- if (is.null(groups)) {
      draw_folds(k, classes, length(job$rows), seed)
    } else {
      draw_grouped(k, groups, classes, seed)
    }
    fold <- list(id = id, names = as.character(seq_len(k)))
  } else {
    fold <- given_folds(folds, job)
    divided <- if (!is.null(groups)) names(which(rowSums(table(groups, fold$id) > 0) > 1L))
    if (length(divided)) {
      pn_abort("{.arg folds} splits {length(divided)} of the {.arg groups}: {some(divided)}.",
        class = "folds", arg = "folds"
      )
    }
  }
  check_events(fold, job$response, drawn = is.numeric(folds) && length(folds) == 1L)
  tell_unseen(fold, job$response)
  fold
}

check_folds <- function(folds, n, groups) {
  if (isTRUE(folds > n)) {
    pn_abort("{.arg folds} is {folds}, but there {cli::qty(n)}{?is/are} only {n} row{?s}.",
      class = "folds", arg = "folds"
    )
  }
  k <- check_number(folds, "folds", min = 2, whole = TRUE)
  m <- length(unique(groups))
  if (!is.null(groups) && k > m) {
    pn_abort("{.arg folds} is {k}, but there {cli::qty(m)}{?is/are} only {m} group{?s}.",
      class = "folds", arg = "folds"
    )
  }
  k
}

given_folds <- function(folds, job) {
  value <- resolve_role(folds, job$columns, job$env, "folds", job$n)$value[job$rows]
  if (anyNA(value)) {
    pn_abort("{.arg folds} is missing in {sum(is.na(value))} row{?s}.", class = "folds", arg = "folds")
  }
  names <- if (is.factor(value)) levels(droplevels(value)) else as.character(sort(unique(value), method = "radix"))
  if (length(names) < 2L) {
    pn_abort("{.arg folds} must have at least two different values.", class = "folds", arg = "folds")
  }
  list(id = match(as.character(value), names), names = names)
}

#' Every fold needs both classes: without events a model can be neither fitted nor judged
#' @noRd
check_events <- function(fold, response, drawn) {
  if (response$family$family != "binomial" || is.list(response$levels)) {
    return(invisible())
  }
  counts <- table(factor(fold$id, seq_along(fold$names)), factor(response$y[, 1L], 0:1))
  for (class in 2:1) {
    empty <- fold$names[counts[, class] == 0L]
    if (length(empty)) {
      level <- response$levels[class]
      lack <- if (length(empty) > 1L) c("Folds", "have") else c("Fold", "has")
      shown <- some(empty, quote = "")
      total <- sum(counts[, class])
      pn_abort(
        c(
          "{lack[1L]} {shown} {lack[2L]} no row with {.field {response$name}} {.val {level}}.",
          i = "There {cli::qty(total)}{?is/are} {total} such row{?s} in total; every fold needs one.",
          i = if (drawn) "Use fewer {.arg folds}."
        ),
        class = "folds", arg = "folds"
      )
    }
  }
  invisible()
}

#' A class with all its rows in one fold has probability 0 there: it cannot be learned from the other folds
#' @noRd
tell_unseen <- function(fold, response) {
  if (response$family$family != "multinomial") {
    return(invisible())
  }
  spread <- table(factor(response$y[, 1L], seq_along(response$levels) - 1L), fold$id) > 0
  alone <- response$levels[rowSums(spread) == 1L]
  if (length(alone)) {
    pn_inform(
      c(
        "All rows with {.field {response$name}} {some(alone)} are in one fold{cli::qty(alone)}{?/ each}.",
        i = "There the model, trained on the other folds, gives {cli::qty(alone)}{?it/them} probability 0."
      ),
      class = "unseen_class"
    )
  }
}
