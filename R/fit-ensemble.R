# Members of an ensemble: where they train, and the rows they see.

#' Train the members of an ensemble, on the workers of a future::plan() if there are any
#'
#' Every worker gets the encoded data once and trains its members side by side; without workers all members train in
#' this process (train_members()).
#' @param training list(config, data, validation, centers, control, base, bootstrap, store), the last three NULL for
#'   none: what all members share. base: layer 0 (R/fit-smooth.R). bootstrap: list(groups = NULL or group ids of the
#'   training rows), members see rows drawn with replacement. store: a checkpoint (R/run-checkpoint.R).
#' @param seeds,skip,threads,verbose See train_members().
#' @return As train_members().
#' @noRd
train_ensemble <- function(training, seeds, skip, threads, verbose) {
  plan <- if (length(seeds) > 1L) work_plan() else list(parallel = FALSE)
  threads_here <- resolve_threads(threads)
  check_memory(training, seeds, threads_here)
  if (!plan$parallel && is.null(training$bootstrap)) {
    return(train_members(training, seeds, skip, threads_here, verbose))
  }
  numbers <- seq_along(seeds)
  store <- training$store
  training["store"] <- list(NULL) # workers do not write
  shares <- if (plan$parallel && is.null(store)) {
    unname(split(numbers, (numbers - 1L) %% min(plan$workers, length(seeds))))
  } else {
    as.list(numbers)
  }
  items <- lapply(shares, function(share) list(seeds = seeds[share], skip = skip[share]))
  names(items) <- vapply(shares, function(share) {
    paste(if (length(share) > 1L) "members" else "member", paste(share, collapse = ", "))
  }, "")
  if (!is.null(store)) store <- store_part(store, member_keys(training, 0, 0L))
  trained <- map_work(items, train_share, training = training, threads = threads, store = store)
  members <- vector("list", length(seeds))
  for (k in seq_along(shares)) {
    if (!is.null(trained[[k]])) members[shares[[k]]] <- trained[[k]]
  }
  Filter(Negate(is.null), members)
}

#' The members that one worker trains
#' @noRd
train_share <- function(start, threads, training) {
  training$store <- start$store
  if (is.null(training$bootstrap)) {
    return(train_members(training, start$seeds, start$skip, threads, FALSE))
  }
  data <- training$data
  unlist(lapply(start$seeds, function(seed) {
    training$data <- bootstrap_rows(data, bootstrap_counts(data$n, training$bootstrap$groups, seed))
    train_members(training, seed, NULL, threads, FALSE)
  }), recursive = FALSE)
}

#' How often each row, or each row of a group, is drawn
#' @noRd
bootstrap_counts <- function(n, groups, seed) {
  if (is.null(groups)) {
    return(tabulate(with_seed(seed, sample.int(n, replace = TRUE)), n))
  }
  id <- match(groups, unique(groups))
  m <- max(id)
  tabulate(with_seed(seed, sample.int(m, replace = TRUE)), m)[id]
}

#' Encoded data in which every row occurs as often as it was drawn
#' @noRd
bootstrap_rows <- function(data, counts) {
  rows <- rep(seq_along(counts), counts)
  encoded_data(
    encoded_slice(data$features, rows, data$n), length(rows), data$y[rows, , drop = FALSE], data$task[rows],
    data$weights[rows], data$offset[rows]
  )
}
