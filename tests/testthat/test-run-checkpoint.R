local_checkpoint <- function(file = withr::local_tempfile(.local_envir = envir), envir = parent.frame()) {
  withr::local_options(protonam.checkpoint_seconds = 0, .local_envir = envir)
  store <- open_checkpoint(file, "fit")
  suppressMessages(begin_checkpoint(store, list(data = "d", settings = "s"), 1, "member"))
  store
}

test_that("a digest sees values, names, levels and types, and not how they came about", {
  grown <- list()
  for (k in 1:3) grown[[k]] <- k + 0
  expect_identical(digest(grown), digest(list(1, 2, 3)))
  expect_identical(digest(1:3), digest(c(1L, 2L, 3L)))
  values <- list(
    1L, 1, TRUE, "1", NA, NULL, list(), list(1), c(a = 1), factor("a"), factor("b"), matrix(1), quote(a + b), ~ a + b,
    c(1, 2), list(1, 2), NaN, NA_real_, raw(1), "a", NA_character_, y ~ a
  )
  expect_identical(anyDuplicated(vapply(values, digest, "")), 0L)
  latin <- "\xe9"
  Encoding(latin) <- "latin1"
  expect_identical(digest(latin), digest(enc2utf8(latin)))
})

test_that("units come back, and those within a unit go when it is done", {
  store <- local_checkpoint()
  part <- store_part(store, "fold")
  unit_put(part, "member", 1)
  unit_put(part, "other~", raw(3))
  expect_identical(unit_get(part, "member"), 1)
  again <- local_checkpoint(file = store$core$file)
  expect_identical(unit_get(store_part(again, "fold"), "other~"), raw(3))
  unit_put(again, "fold", list(2))
  expect_setequal(ls(again$core$units), "fold")
  expect_identical(open_checkpoint(store$core$file, "fit")$core$found$seed, 1)
  close_checkpoint(again)
  expect_false(file.exists(store$core$file))
  # without a checkpoint nothing happens
  expect_null(open_checkpoint(NULL, "fit"))
  expect_null(unit_get(NULL, "a"))
  expect_no_error(unit_put(store_part(NULL, "a"), "b", 1))
})

test_that("a later process is told what there is", {
  store <- local_checkpoint()
  unit_put(store, "a", 1)
  unit_put(store, "b~", raw(1))
  again <- open_checkpoint(store$core$file, "fit")
  expect_message(
    begin_checkpoint(again, list(data = "d", settings = "s"), 1, "member"), "1 member is done, and further",
    class = "protonam_message_checkpoint"
  )
})

test_that("paths that cannot be written, and files that are no checkpoints, are errors and stay as they are", {
  folder <- withr::local_tempdir()
  expect_error(open_checkpoint(3, "fit"), "must be NULL or the name of a file", class = "protonam_error_argument")
  expect_error(open_checkpoint(folder, "fit"), "It is a folder", class = "protonam_error_checkpoint_path")
  expect_error(open_checkpoint(file.path(folder, "no", "a"), "fit"), "does not exist",
    class = "protonam_error_checkpoint_path"
  )
  expect_error(open_checkpoint("/proc/a", "fit"), class = "protonam_error_checkpoint_path")
  file <- file.path(folder, "table.csv")
  writeLines("a,b", file)
  expect_error(open_checkpoint(file, "fit"), "is not a checkpoint", class = "protonam_error_checkpoint_file")
  expect_identical(readLines(file), "a,b")
  saveRDS(list(1), file)
  expect_error(open_checkpoint(file, "fit"), class = "protonam_error_checkpoint_file")
})

test_that("a checkpoint of other work says what differs", {
  file <- local_checkpoint()$core$file
  differs <- function(..., kind = "fit") {
    about <- utils::modifyList(list(data = "d", settings = "s"), list(...))
    raised <- tryCatch(begin_checkpoint(open_checkpoint(file, kind), about, 1, "x"), error = identity)
    expect_s3_class(raised, "protonam_error_checkpoint_differs")
    raised$what
  }
  expect_identical(differs(data = "other"), "data")
  expect_identical(differs(settings = "other"), "settings")
  expect_identical(differs(data = "other", settings = "other"), c("data", "settings"))
  expect_identical(differs(kind = "search"), "kind of work")
  old <- readRDS(file)
  saveRDS(replace(old, "version", "0.0.1"), file)
  expect_identical(differs(), "version of protonam")
  saveRDS(replace(old, "about", list(replace(old$about, "endian", "none"))), file)
  expect_identical(differs(), "byte order")
})

test_that("stale parts are removed, and a file is replaced as a whole", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "a [1].rds")
  file.create(paste0(file, ".123.part"))
  store <- local_checkpoint(file = file)
  unit_put(store, "a", 1)
  expect_identical(list.files(folder), "a [1].rds")
})

test_that("a write that fails warns once, and the work goes on", {
  folder <- withr::local_tempfile()
  dir.create(folder)
  store <- local_checkpoint(file = file.path(folder, "a"))
  unlink(folder, recursive = TRUE)
  expect_warning(unit_put(store, "a", 1), "goes on without it", class = "protonam_warning_checkpoint_failed")
  expect_no_warning(unit_put(store, "b", 2))
  expect_identical(unit_get(store, "a"), 1)
})

test_that("a full disk leaves the last complete file", {
  skip_on_cran()
  skip_on_os("windows")
  file <- withr::local_tempfile()
  script <- withr::local_tempfile(fileext = ".R", lines = sprintf("
    library(protonam)
    options(protonam.checkpoint_seconds = 0)
    store <- protonam:::open_checkpoint('%s', 'fit')
    protonam:::begin_checkpoint(store, list(data = 'd', settings = 's'), 1, 'member')
      protonam:::unit_put(store, 'a', 1)
      withCallingHandlers(protonam:::unit_put(store, 'b', runif(1e5)), warning = function(w) {
      cat('warned:', class(w)[1L], '\\n')
      invokeRestart('muffleWarning')
    })
    cat('went on\\n')", file))
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), R_TESTS = "")
  # files of this process end at 200 blocks of 512 bytes, as they would on a disk that is full
  output <- suppressWarnings(system2("sh", c("-c", shQuote(paste(
    "trap '' XFSZ; ulimit -f 200; exec", shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla", shQuote(script)
  ))), stdout = TRUE, stderr = TRUE))
  expect_true(any(grepl("warned: protonam_warning_checkpoint_failed", output)), info = paste(output, collapse = "\n"))
  expect_true("went on" %in% output)
  expect_identical(readRDS(file)$units, list(a = 1))
  expect_length(Sys.glob(paste0(file, ".*")), 0L)
})

test_that("map_work() takes what a checkpoint has, and keeps what it does", {
  store <- local_checkpoint()
  ran <- integer()
  work <- function(item, threads) {
    ran <<- c(ran, item$k)
    if (item$k == 2L && length(ran) < 4L) pn_abort("not now")
    item$k * 10
  }
  items <- list(a = list(k = 1L), b = list(k = 2L), c = list(k = 3L))
  seen <- integer()
  expect_warning(
    first <- map_work(items, work, store = store, each = function(i, value) seen <<- c(seen, i)), "b: not now"
  )
  expect_identical(first, list(10, NULL, 30))
  expect_identical(seen, c(1L, 3L))
  # one failed item among several does not become an error because the others are already there
  again <- local_checkpoint(file = store$core$file)
  second <- map_work(items, work, store = again, each = function(i, value) seen <<- c(seen, i))
  expect_identical(second, list(10, 20, 30))
  expect_identical(ran, c(1:3, 2L))
  expect_identical(seen, c(1L, 3L, 1L, 3L, 2L))
})
