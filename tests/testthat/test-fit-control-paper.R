# The scripts of inst/paper, run with Rscript as a reader would, on small made-up files of the published formats and for
# three epochs.

paper_script <- function(name) {
  skip_on_cran()
  skip_if_not(nzchar(system.file("Meta", "package.rds", package = "protonam")), "protonam is not installed")
  system.file("paper", name, package = "protonam", mustWork = TRUE)
}

# Output lines of a script; attribute "status" as system2() gives it, NULL for success.
run_script <- function(name, ..., results) {
  file <- paper_script(name)
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), R_TESTS = "", NO_COLOR = "true")
  common <- c("--epochs=3", "--threads=1", if (!missing(results)) paste0("--results=", results))
  suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), shQuote(c("--vanilla", file, ..., common)),
    stdout = TRUE, stderr = TRUE
  ))
}

expect_ran <- function(output) expect_null(attr(output, "status"), info = paste(output, collapse = "\n"))

# `pattern` in the message of a script that failed, whatever its lines.
expect_failed <- function(output, pattern) {
  expect_true(attr(output, "status") != 0)
  expect_match(gsub("[[:space:]]+", " ", paste(output, collapse = " ")), pattern)
}

write_csv <- function(data, folder, name) {
  file <- file.path(folder, name)
  utils::write.csv(data, file, row.names = FALSE, quote = FALSE)
  file
}

# `n` block groups with the published columns and a split.
small_housing <- function(folder, n = 240) {
  i <- seq_len(n)
  data <- data.frame(
    MedInc = 1 + (i * 37) %% 100 / 10, HouseAge = (i * 17) %% 52 + 1, AveRooms = 3 + (i * 7) %% 50 / 10,
    AveBedrms = 1 + (i * 3) %% 11 / 20, Population = 100 + (i * 131) %% 3000, AveOccup = 2 + (i * 29) %% 30 / 10,
    Latitude = 33 + (i * 13) %% 80 / 10, Longitude = -124 + (i * 19) %% 90 / 10
  )
  data$MedHouseVal <- round(0.4 * data$MedInc + (data$Longitude > -120) + 0.2 * sin(i), 3)
  data$split <- c("train", "train", "train", "val", "test")[i %% 5 + 1]
  write_csv(data, folder, "housing.csv")
}

# `n` people with the published columns and three folds.
small_income <- function(folder, n = 240) {
  i <- seq_len(n)
  data <- data.frame(
    Age = 18 + (i * 37) %% 60, WorkClass = c("Private", "State-gov", "?")[i %% 3 + 1],
    fnlwgt = 1e4 + (i * 7919) %% 99991,
    Education = c("HS-grad", "Bachelors")[i %% 2 + 1], EducationNum = 9 + 4 * (i %% 2),
    MaritalStatus = c("Divorced", "Married")[(i * 5) %% 7 %% 2 + 1], Occupation = c("Sales", "Craft")[i %% 2 + 1],
    Relationship = c("Wife", "Husband", "Own-child")[(i * 5) %% 3 + 1],
    Race = c("White", "Black")[(i * 3) %% 8 %% 2 + 1],
    Gender = c("Female", "Male")[(i * 11) %% 5 %% 2 + 1], CapitalGain = ifelse(i %% 9 == 0, 5000, 0),
    CapitalLoss = ifelse(i %% 11 == 0, 1800, 0), HoursPerWeek = 20 + (i * 13) %% 40,
    NativeCountry = c("United-States", "Mexico")[i %% 4 %/% 3 + 1]
  )
  data$Income <- ifelse(data$Age / 10 + data$EducationNum / 3 + 2 * sin(i) > 9, ">50K", "<=50K")
  data$fold <- (i * 7) %% 11 %% 3 + 1
  write_csv(data, folder, "income.csv")
}

result_columns <- c(
  "model", "source", "kind", "member", "seed", "fold", "metric", "value", "spread", "validation", "best_epoch",
  "settings", "seconds", "cpu_seconds", "threads", "machine", "date", "commit"
)

test_that("one command makes table 1 of Housing, part after part, and overwrites nothing unasked", {
  folder <- withr::local_tempdir()
  data <- small_housing(folder)
  results <- file.path(folder, "results")
  run <- function(...) run_script("table1_housing.R", data, ..., results = results)
  read <- function() utils::read.csv(file.path(results, "table1_housing.csv"))
  expect_ran(run("--models=protonam,linear", "--orders=1,Inf", "--ensemble=2"))
  first <- read()
  expect_named(first, result_columns)
  measured <- first[first$source == "measured", ]
  expect_equal(sort(unique(measured$model)), c("Linear", "ProtoNAM", "ProtoNAnM"))
  own <- measured[measured$model == "ProtoNAM", ]
  expect_equal(own$kind, c("one model", "one model", "average of 2 models"))
  expect_true(all(is.finite(measured$value)) && all(measured$seconds >= 0) && all(measured$threads == 1))
  expect_match(own$settings, "epochs=3 ")
  expect_match(own$machine, "protonam [0-9.]+")
  published <- first[first$source == "published", ]
  expect_equal(published$value[published$model == "ProtoNAM"], 0.553)
  expect_equal(nrow(published), 16)

  expect_failed(run("--models=linear,nam"), "has results of Linear and is not overwritten; give --overwrite=yes")
  expect_identical(read(), first)

  expect_ran(run("--models=nam", "--ensemble=1"))
  second <- read()
  expect_setequal(second$model[second$source == "measured"], c("Linear", "ProtoNAM", "ProtoNAnM", "NAM"))
  expect_match(second$settings[second$model == "NAM"][1L], "hierarchical=FALSE use_prototypes=FALSE")
  expect_equal(second$value[second$model %in% "ProtoNAM"], first$value[first$model %in% "ProtoNAM"])

  expect_ran(run("--models=linear", "--overwrite=yes"))
  expect_equal(sum(read()$model == "Linear"), 2)
})

test_that("table 1 of Income and the multitask result run over given folds", {
  folder <- withr::local_tempdir()
  data <- small_income(folder)
  results <- file.path(folder, "results")
  fits <- paste0("--fits=", file.path(folder, "fits"))
  expect_ran(run_script(
    "table1_income.R", data, "--models=protonam,linear", "--orders=1", "--folds=1,2", fits,
    results = results
  ))
  table <- utils::read.csv(file.path(results, "table1_income.csv"))
  expect_named(table, result_columns)
  own <- table[table$source == "measured" & table$model == "ProtoNAM", ]
  expect_equal(own$fold, c(1, 2))
  expect_true(all(own$value >= 0 & own$value <= 1))

  # the fits of table 1 are kept and used again
  output <- run_script("multitask_income.R", data, "--folds=1", fits, results = results)
  expect_ran(output)
  expect_match(output, "^income_order1_fold1_task", all = FALSE)
  expect_false(any(grepl("^income_order1_fold1:", output)))
  groups <- utils::read.csv(file.path(results, "multitask_income.csv"))
  expect_equal(groups$auc[groups$model == "feature" & groups$group == "all"], own$value[1L], tolerance = 1e-12)
  expect_setequal(groups$group, c("all", "Female", "Male"))
  expect_ran(run_script("figure_income.R", data, "--parts=numbers,task", fits, results = results))
  expect_true(all(file.size(file.path(results, paste0("figure_income_", c("numbers", "task"), ".png"))) > 5000))

  output <- run_script("table1_income.R", data, "--folds=1,7", results = results)
  expect_failed(output, "--folds must be among 1, 2, 3, not 7")
})

test_that("ablations, figures and the prototype table run on the same kept fits", {
  folder <- withr::local_tempdir()
  data <- small_housing(folder)
  results <- file.path(folder, "results")
  fits <- paste0("--fits=", file.path(folder, "fits"))
  run <- function(name, ...) run_script(name, data, ..., fits, results = results)
  expect_ran(run("ablation_grid.R", "--layers=4", "--prototypes=8,32", "--ensemble=1"))
  grid <- utils::read.csv(file.path(results, "ablation_grid.csv"))
  expect_named(grid, c("cell", "layers", "prototypes", result_columns, "published"))
  expect_equal(grid$published, c(0.5549, 0.5533))
  expect_match(grid$settings, "bins=256")

  output <- run("ablation_components.R", "--orders=1", "--ensemble=1")
  expect_ran(output)
  expect_false(any(grepl("prototypes32", output)))
  components <- utils::read.csv(file.path(results, "ablation_components.csv"))
  expect_equal(components$without, c("none", "hierarchical", "prototypes"))
  expect_equal(components$value[1L], grid$value[2L])

  expect_ran(run("figure_longitude.R", "--ensemble=2", "--each=1"))
  figures <- paste0("figure_longitude", c("", "_layers", "_prototypes", "_without"))
  expect_true(all(file.size(file.path(results, paste0(figures, ".png"))) > 5000))
  expect_match(readLines(file.path(results, "figure_longitude.txt")), "^commit: ", all = FALSE)
  expect_failed(run("figure_longitude.R", "--ensemble=2"), "figure_longitude.png exists and is not overwritten")

  expect_ran(run("figure_housing.R", "--ensemble=2"))
  expect_ran(run("figure_aveoccup.R", "--ensemble=2"))
  expect_ran(run("figure_interaction.R", "--ensemble=2"))
  figures <- c("figure_housing", "figure_aveoccup", "figure_interaction", "figure_interaction_scatter")
  expect_true(all(file.size(file.path(results, paste0(figures, ".png"))) > 5000))

  expect_ran(run("table_prototypes.R", "--ensemble=2"))
  table <- utils::read.csv(file.path(results, "table_prototypes.csv"))
  expect_equal(nrow(table), 4 * 32)
  expect_equal(table$center, -124 + table$center_processed * 8.9, tolerance = 1e-5)
})

test_that("bad arguments and files are refused with a clear message", {
  folder <- withr::local_tempdir()
  housing <- small_housing(folder)
  income <- small_income(folder)
  run <- function(...) run_script("figure_housing.R", ..., results = folder)
  expect_failed(run(), "the path of the data is missing")
  expect_failed(run(housing, "--overwrite"), "arguments are written --name=value, not --overwrite")
  expect_failed(run(housing, "--sede=1"), "unknown argument --sede; known are --epochs, --seed")
  expect_failed(run(housing, "--seed=-1"), "--seed must be a whole number of at least 0, not -1")
  expect_failed(run(housing, "--seed=1", "--seed=2"), "argument --seed is given twice")
  expect_failed(run(housing, "--ensemble=many"), "--ensemble cannot be many")
  expect_failed(run(file.path(folder, "nothing.csv")), "there is no file or folder")
  expect_failed(run(income), "income.csv")
  raw <- file.path(folder, "cal_housing.data")
  writeLines("-122.23,37.88,41.0,880.0,129.0,322.0,126.0,8.3252,452600.0", raw)
  expect_failed(run(raw), "the published split is needed")
  expect_failed(
    run_script("table_prototypes.R", housing, "--ensemble=2", "--member=3", results = folder),
    "--member must be a whole number between 1 and 2, not 3"
  )
  expect_failed(run_script("figure_housing.R", housing, results = housing), "cannot write to the folder")
})

test_that("seeds can be chosen, and kept fits of other data are refused", {
  folder <- withr::local_tempdir()
  housing <- small_housing(folder)
  fits <- paste0("--fits=", file.path(folder, "fits"))
  run <- function(...) run_script("table_prototypes.R", "--ensemble=1", fits, results = file.path(folder, "r"), ...)
  expect_ran(run(housing))
  first <- utils::read.csv(file.path(folder, "r", "table_prototypes.csv"))
  expect_ran(run(housing, "--seed=4", "--overwrite=yes"))
  other <- utils::read.csv(file.path(folder, "r", "table_prototypes.csv"))
  expect_false(identical(first$slope, other$slope))
  write(readLines(housing)[2L], housing, append = TRUE)
  expect_failed(run(housing, "--overwrite=yes"), "was made from other data; give another folder with --fits")
})
