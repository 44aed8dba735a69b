# Many pieces of work (members, folds, trials): one after the other, or on the workers of a future::plan().
#
# Contract: a piece is fun(item, threads = , ...), a function of this package whose result depends on its arguments
# alone. Seeds are part of the items, so results are the same under every plan. Shared arguments are sent to each
# worker once. future.apply would lose all results when one worker dies, so futures are created here, one per worker.

#' Process a list of work
#'
#' @param items List; each item holds all that makes it differ from the others, its seed included. Its names, such as
#'   "fold 3", are used in messages.
#' @param fun Function(item, threads = , ...) of this package.
#' @param ... Arguments that all items share (the data).
#' @param threads As given by the user.
#' @param each NULL, or function(i, value) called in this process as results come in.
#' @param packages Names of packages that the workers must attach.
#' @param progress From work_progress(); one of the caller's spans several calls.
#' @param store NULL, or the checkpoint (R/run-checkpoint.R) that results are kept in as they come. What it already has
#'   is not done again. Items done in this process have the store of their part as `item$store`.
#' @return list of results, in the order of the items; NULL for an item that failed, which a warning names. When all
#'   fail, the first error is raised.
#' @noRd
map_work <- function(items, fun, ..., threads = NULL, each = NULL, packages = character(),
                     progress = work_progress(length(items)), store = NULL) {
  plan <- work_plan()
  plan$packages <- packages
  labels <- names(items) %||% as.character(seq_along(items))
  items <- unname(items)
  keys <- if (!is.null(store)) vapply(items, digest, "")
  take <- function(i, one) {
    if (!is.null(store)) unit_put(store, keys[i], one)
    if (!is.null(each)) each(i, one$value)
  }
  way <- list(plan = plan, threads = threads, labels = labels, each = take, progress = progress, store = store)
  done <- lapply(seq_along(items), function(i) unit_get(store, keys[i]))
  for (i in which_done(done)) {
    progress(labels[i])
    if (!is.null(each)) each(i, done[[i]]$value)
  }
  left <- setdiff(seq_along(items), which_done(done))
  done[left] <- do_work(items[left], fun, list(...), part_of_way(way, left))
  again <- left[vapply(done[left], should_repeat, NA)]
  if (any(vapply(done[again], is_lost, NA))) {
    pn_warn("A worker was lost; repeating {paste(labels[again], collapse = '; ')}.", class = "lost_worker")
    renew_workers()
  }
  if (length(again)) {
    # one worker each: whatever kills a worker must not affect the others
    done[again] <- do_work(items[again], fun, list(...), part_of_way(way, again), alone = TRUE)
  }
  if (any(vapply(done[again], is_lost, NA))) renew_workers() # the plan is the user's: no dead worker stays in it
  tell_collected(lapply(done, `[[`, "told"), labels)
  tell_failed(done, labels)
  lapply(done, `[[`, "value")
}

which_done <- function(done) which(!vapply(done, function(one) is.null(one$value), NA))

#' How some of the items are processed
#' @noRd
part_of_way <- function(way, at) {
  way$labels <- way$labels[at]
  way$each <- local({
    each <- way$each
    function(i, one) each(at[i], one)
  })
  way
}

#' A warning that names what failed; an error if all did
#' @noRd
tell_failed <- function(done, labels) {
  failed <- vapply(done, function(one) !is.null(one$error), NA)
  if (all(failed) && length(failed)) {
    stop(done[[1L]]$error)
  }
  if (any(failed)) {
    reasons <- vapply(done[failed], function(one) {
      if (is_lost(one)) "its worker was lost twice." else sub("\n.*", "", conditionMessage(one$error))
    }, "")
    bullets <- paste0(labels[failed], ": ", reasons)
    names(bullets) <- rep("x", length(bullets))
    few <- sum(failed)
    pn_warn(
      c("{few} of {length(failed)} failed and {cli::qty(few)}{?is/are} left out.", escape_braces(bullets)),
      class = "left_out", items = labels[failed]
    )
  }
}

#' Did a worker die?
#' @noRd
is_lost <- function(one) inherits(one$error, "FutureError")

#' An error raised by this package reports what is wrong with the input, and would recur
#' @noRd
should_repeat <- function(one) !is.null(one$error) && !inherits(one$error, "protonam_error")

#' @param shared Arguments that all items share.
#' @param way list(plan, threads, labels, each, progress, store), see map_work()
#' @param alone Every item on a separate worker?
#' @return list of list(value =, told =) or list(error =, told =), see attempt_quietly()
#' @noRd
do_work <- function(items, fun, shared, way, alone = FALSE) {
  plan <- way$plan
  tell <- function(i, one) {
    if (is.null(one$error)) way$each(i, one)
  }
  if (plan$parallel) {
    n <- length(items)
    # results that a checkpoint keeps are returned one by one
    alone <- alone || !is.null(way$store)
    chunks <- if (alone) as.list(seq_len(n)) else split(seq_len(n), (seq_len(n) - 1L) %% min(plan$workers, n))
    # threads of idle workers are given to the others
    plan$sharing <- min(plan$sharing, max(length(chunks), 1))
    work <- list(
      run = run_chunk, fun = fun, threads = worker_threads(way$threads, plan), sharing = plan$sharing, shared = shared,
      progress = way$progress
    )
    return(on_workers(items, chunks, work, way$labels, tell, plan))
  }
  threads <- resolve_threads(way$threads)
  lapply(seq_along(items), function(i) {
    item <- items[[i]]
    if (!is.null(way$store)) item$store <- store_part(way$store, digest(item))
    one <- do_piece(item, list(fun = fun, shared = shared, progress = way$progress), threads, way$labels[i])
    tell(i, one)
    one
  })
}

#' One future per chunk of items, as many at a time as there are workers; results are taken as they come
#' @param work What all chunks share, see worker_entry().
#' @noRd
on_workers <- function(items, chunks, work, labels, tell, plan) {
  # the limit guards against globals found by accident; these are sent on purpose
  old <- options(future.globals.maxSize = Inf)
  on.exit(options(old))
  work <- serialize(work, NULL)
  libraries <- .libPaths()
  launch <- function(chunk) {
    globals <- list(
      worker_entry = worker_entry, work = work, libraries = libraries, items = items[chunk], labels = labels[chunk]
    )
    attempt(future::future(
      worker_entry(work, libraries, items, labels),
      globals = globals, packages = plan$packages, seed = NULL
    ))
  }
  futures <- vector("list", length(chunks))
  done <- vector("list", length(items))
  waiting <- seq_along(chunks)
  running <- integer()
  while (length(waiting) || length(running)) {
    while (length(waiting) && length(running) < plan$workers) {
      futures[[waiting[1L]]] <- launch(chunks[[waiting[1L]]])
      running <- c(running, waiting[1L])
      waiting <- waiting[-1L]
    }
    k <- next_resolved(futures, running)
    running <- setdiff(running, k)
    result <- if (is.null(futures[[k]]$error)) attempt(future::value(futures[[k]]$value)) else futures[[k]]
    chunk <- chunks[[k]]
    done[chunk] <- if (is.null(result$error)) result$value else rep(list(result), length(chunk))
    for (i in chunk) tell(i, done[[i]])
    futures[k] <- list(NULL)
  }
  done
}

#' The first of the running futures to finish, with a result or with an error
#' @noRd
next_resolved <- function(futures, running) {
  repeat {
    for (k in running) {
      made <- futures[[k]]
      if (!is.null(made$error) || !isFALSE(attempt(future::resolved(made$value))$value)) {
        return(k)
      }
    }
    Sys.sleep(0.02)
  }
}

#' Where a worker starts
#'
#' Its library paths may differ from this session's, so they are set before anything of this package is unpacked.
#' @noRd
worker_entry <- function(work, libraries, items, labels) {
  .libPaths(unique(c(.libPaths(), libraries)))
  work <- unserialize(work)
  work$run(items, work, labels)
}
environment(worker_entry) <- baseenv()

#' What a worker does with its share
#' @param work list(fun, threads (NULL: by the worker's own machine), sharing, shared, progress)
#' @noRd
run_chunk <- function(items, work, labels) {
  threads <- work$threads %||% share_of(future::availableCores(), work$sharing)
  Map(function(item, label) do_piece(item, work, threads, label), unname(items), labels)
}

do_piece <- function(item, work, threads, label) {
  one <- attempt_quietly(do.call(work$fun, c(list(item, threads = threads), work$shared), quote = TRUE))
  work$progress(label)
  one
}

#' A value, or the error that occurred instead
#' @noRd
attempt <- function(expr) tryCatch(list(value = expr), error = function(e) list(error = e))

#' The current plan
#'
#' Only a session that uses the future package can have a plan, so the package is not loaded otherwise.
#' @return list(parallel, workers, sharing = workers that share a machine, local = is it this machine?)
#' @noRd
work_plan <- function() {
  wanted <- isNamespaceLoaded("future") || nzchar(Sys.getenv("R_FUTURE_PLAN")) || !is.null(getOption("future.plan"))
  if (!wanted || !requireNamespace("future", quietly = TRUE)) {
    return(list(parallel = FALSE, workers = 1, sharing = 1, local = TRUE))
  }
  strategy <- future::plan("next")
  workers <- future::nbrOfWorkers()
  local <- inherits(strategy, c("multisession", "multicore", "multiprocess"))
  hosts <- if (inherits(strategy, "cluster") && !local) worker_hosts(strategy)
  # jobs of a scheduler have a machine, or a share of one, to themselves
  sharing <- if (local) workers else if (length(hosts)) max(table(hosts)) else 1
  list(parallel = !inherits(strategy, "sequential"), workers = workers, sharing = sharing, local = local)
}

#' Machines of a cluster plan, one per worker; NULL when the plan does not contain them
#' @noRd
worker_hosts <- function(strategy) {
  workers <- tryCatch(eval(formals(strategy)$workers), error = function(e) NULL)
  if (inherits(workers, "cluster")) {
    unlist(lapply(workers, function(node) node$host %||% "localhost"))
  } else if (is.character(workers)) {
    workers
  } else if (is.numeric(workers)) {
    rep("localhost", workers)
  }
}

#' Threads for each worker: those of the machine, divided by the workers on it
#' @return NULL where this is known only on another machine
#' @noRd
worker_threads <- function(threads, plan) {
  set <- !is.null(threads) || nzchar(Sys.getenv("PROTONAM_THREADS")) || !is.null(getOption("protonam.threads"))
  if (set || plan$local) share_of(if (set) resolve_threads(threads) else future::availableCores(), plan$sharing)
}

share_of <- function(total, sharing) as.integer(max(1, total %/% sharing))

#' Replace lost workers by new ones, under the same plan
#' @noRd
renew_workers <- function() {
  strategies <- future::plan("list")
  future::plan("sequential")
  # before new connections are opened: finalizers of the old ones would close connections that reuse their numbers; they
  # warn about connections that the lost worker left open
  suppressWarnings(gc())
  future::plan(strategies)
  invisible()
}

#' A function that reports one finished piece to progressr, if it is loaded; the user decides how progress is shown
#' @noRd
work_progress <- function(n, envir = parent.frame()) {
  if (!isNamespaceLoaded("progressr") || n < 2L) {
    return(no_progress)
  }
  report <- progressr::progressor(steps = n, envir = envir)
  function(label) report(message = label)
}

# defined in the namespace, so that no environment is sent with it
no_progress <- function(label) NULL

#' A formula that can be sent to workers, with everything that it needs from outside the data
#' @return list(formula, packages = names of attached packages that it needs)
#' @noRd
portable_formula <- function(formula, data_names) {
  slim <- new.env(parent = globalenv())
  packages <- character()
  open <- setdiff(all.names(formula, unique = TRUE), data_names)
  while (length(open)) {
    name <- open[1L]
    open <- open[-1L]
    home <- home_of(name, environment(formula))
    if (is.null(home)) next
    if (startsWith(home$name, "package:")) {
      packages <- union(packages, sub("^package:", "", home$name))
      next
    }
    value <- get(name, envir = home$env, inherits = FALSE)
    if (is.function(value) && identical(environment(value), globalenv())) {
      # a worker's global environment is empty: what the function uses is sent with it
      used <- setdiff(all.names(body(value), unique = TRUE), names(formals(value)))
      open <- union(open, setdiff(used, ls(slim, all.names = TRUE)))
      environment(value) <- slim
    }
    assign(name, value, envir = slim)
  }
  environment(formula) <- slim
  list(formula = formula, packages = setdiff(packages, c("base", getOption("defaultPackages"))))
}

#' Where a name is found: list(env, name), NULL for nowhere and for R itself
#' @noRd
home_of <- function(name, env) {
  while (!identical(env, emptyenv()) && !identical(env, baseenv()) && !isNamespace(env)) {
    if (exists(name, envir = env, inherits = FALSE)) {
      return(list(env = env, name = attr(env, "name") %||% ""))
    }
    env <- parent.env(env)
  }
}

#' Evaluate with R's generator in a separate state, and restore the old state
#' @noRd
with_seed <- function(seed, expr) {
  kinds <- RNGkind()
  before <- globalenv()[[".Random.seed"]]
  on.exit({
    do.call(RNGkind, as.list(kinds))
    if (is.null(before)) {
      suppressWarnings(rm(".Random.seed", envir = globalenv()))
    } else {
      assign(".Random.seed", before, envir = globalenv())
    }
  })
  set.seed(seed %% 2147483647, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  expr
}
