# Members of an ensemble: where they train, and the rows they see.

#' Train the members of an ensemble, on the workers of a future::plan() if there are any
#'
#' Every worker gets the encoded data once and trains its members side by side; without workers all members train in
#' this process (train_members()).
#' @param bootstrap NULL, or list(groups = NULL or group ids of the training rows): members see rows drawn with
#'   replacement.
#' @return As train_members().
#' @noRd
train_ensemble <- function(config, data, validation, centers, control, seeds, threads, verbose, bootstrap = NULL,
                           skip = NULL, base = NULL) {
  plan <- if (length(seeds) > 1L) work_plan() else list(parallel = FALSE)
  threads_here <- resolve_threads(threads)
  check_memory(config, data, validation, control, seeds, threads_here)
  if (!plan$parallel && is.null(bootstrap)) {
    return(train_members(config, data, validation, centers, control, seeds, threads_here, verbose, skip, base))
  }
  numbers <- seq_along(seeds)
  shares <- if (plan$parallel) {
    unname(split(numbers, (numbers - 1L) %% min(plan$workers, length(seeds))))
  } else {
    as.list(numbers)
  }
  trained <- map_work(
    lapply(shares, function(share) list(seeds = seeds[share], skip = skip[share])), train_share,
    config = config, data = data, validation = validation, centers = centers, control = control, bootstrap = bootstrap,
    base = base, threads = threads, labels = vapply(shares, function(share) {
      paste(if (length(share) > 1L) "members" else "member", paste(share, collapse = ", "))
    }, "")
  )
  members <- vector("list", length(seeds))
  for (k in seq_along(shares)) {
    if (!is.null(trained[[k]])) members[shares[[k]]] <- trained[[k]]
  }
  Filter(Negate(is.null), members)
}

#' The members that one worker trains
#' @noRd
train_share <- function(start, threads, config, data, validation, centers, control, bootstrap, base) {
  if (is.null(bootstrap)) {
    return(train_members(
      config, data, validation, centers, control, start$seeds, threads, FALSE, start$skip, base
    ))
  }
  unlist(lapply(start$seeds, function(seed) {
    drawn <- bootstrap_rows(data, bootstrap_counts(data$n, bootstrap$groups, seed))
    train_members(config, drawn, validation, centers, control, seed, threads, FALSE)
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

#' Encoded data with every row as often as it was drawn
#' @noRd
bootstrap_rows <- function(data, counts) {
  rows <- rep(seq_along(counts), counts)
  encoded_data(
    slice_features(data$features, rows, data$n), length(rows), data$y[rows, , drop = FALSE], data$task[rows],
    data$weights[rows], data$offset[rows]
  )
}
