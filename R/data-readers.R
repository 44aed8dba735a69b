# Readers of the raw files of the paper's four data sets.
#
# Each reader finds its file, reads it as text (read_fields() in R/data-readers-text.R), and turns every field into its
# type; anything that is not as published stops with a classed error that names file, line or column. Data are returned
# as published: nothing is imputed, scaled or encoded here.

#' California Housing
#'
#' Reads the 1990 census data of Pace and Barry (1997), 20,640 Californian block groups, and derives the eight features
#' in common use.
#'
#' @details Three forms of the file are accepted, plain or gzipped:
#' * `cal_housing.data` from StatLib (archive `cal_housing.tgz`,
#'   <https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.html>): comma-separated, no header, columns longitude,
#'   latitude, housing median age, total rooms, total bedrooms, population, households, median income, median house
#'   value;
#' * the common CSV form `housing.csv`: the same columns under a header (`longitude`, `latitude`, `housing_median_age`,
#'   ...), further columns such as `ocean_proximity` ignored, empty fields missing;
#' * a CSV file with the derived columns below under their names, as scikit-learn writes it.
#'
#' From the raw forms the features are derived as `AveRooms` = rooms / households, `AveBedrms` = bedrooms / households,
#' `AveOccup` = population / households, and `MedHouseVal` = value / 100,000. A column `split` of a CSV file is kept as
#' a factor.
#'
#' @param path The file, or the folder that holds it.
#' @return A data frame with the numeric columns `MedInc`, `HouseAge`, `AveRooms`, `AveBedrms`, `Population`,
#'   `AveOccup`, `Latitude`, `Longitude` and the response `MedHouseVal` in units of $100,000. A message is given if the
#'   file does not have the published number of rows.
#' @references Pace, R. K. and Barry, R. (1997). Sparse spatial autoregressions. *Statistics & Probability Letters*, 33,
#'   291--297.
#' @family readers
#' @examples
#' file <- tempfile(fileext = ".data")
#' writeLines("-122.23,37.88,41.0,880.0,129.0,322.0,126.0,8.3252,452600.0", file)
#' suppressMessages(read_housing(file))
#' @export
read_housing <- function(path) {
  file <- find_data_file(path, c("cal_housing.data", "CaliforniaHousing/cal_housing.data", "housing.csv"))
  table <- read_fields(file, sep = ",", columns = housing_raw, header_forms = list(housing_raw, housing_derived))
  number <- function(name) as_numbers(table, name, file)
  if ("MedHouseVal" %in% names(table)) {
    data <- lapply(stats::setNames(nm = housing_derived), number)
  } else {
    households <- number("households")
    check_file_range(households, "households", 1, Inf, file)
    data <- list(
      MedInc = number("median_income"), HouseAge = number("housing_median_age"),
      AveRooms = number("total_rooms") / households, AveBedrms = number("total_bedrooms") / households,
      Population = number("population"), AveOccup = number("population") / households,
      Latitude = number("latitude"), Longitude = number("longitude"),
      MedHouseVal = number("median_house_value") / 1e5
    )
  }
  check_file_range(data$Latitude, "latitude", -90, 90, file)
  check_file_range(data$Longitude, "longitude", -180, 180, file)
  if ("split" %in% names(table)) data$split <- as_categories(table$split)
  inform_rows(nrow(table), 20640L, file)
  as.data.frame(data)
}

housing_raw <- c(
  "longitude", "latitude", "housing_median_age", "total_rooms", "total_bedrooms", "population", "households",
  "median_income", "median_house_value"
)
housing_derived <- c(
  "MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude", "MedHouseVal"
)

#' Income (UCI Adult)
#'
#' Reads the census income data of Kohavi and Becker: 32,561 people, 14 features, and whether they earn more than
#' $50,000 a year.
#'
#' @details The file is `adult.data` of the UCI repository (<https://archive.ics.uci.edu/dataset/2/adult>): fields
#' separated by a comma and a space, no header. `adult.test`, with its first comment line and the full stop after each
#' label, and CSV files with a header are accepted as well, plain or gzipped. `"?"` is a separate level, as in the
#' paper. A column `fold` of a CSV file is kept as an integer.
#'
#' @param path The file, or the folder that holds `adult.data`.
#' @return A data frame with the numeric columns `Age`, `fnlwgt`, `EducationNum`, `CapitalGain`, `CapitalLoss`,
#'   `HoursPerWeek`, the factors `WorkClass`, `Education`, `MaritalStatus`, `Occupation`, `Relationship`, `Race`,
#'   `Gender`, `NativeCountry` (levels sorted), all in the order of the file, and the response `Income`, a factor with
#'   levels `<=50K` and `>50K`. A message is given if the file does not have a published number of rows.
#' @family readers
#' @examples
#' file <- tempfile(fileext = ".data")
#' writeLines(paste("39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical,",
#'                  "Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K"), file)
#' suppressMessages(read_income(file))
#' @export
read_income <- function(path) {
  file <- find_data_file(path, c("adult.data", "adult.csv"))
  table <- read_fields(
    file, sep = ",", columns = income_columns, header_forms = list(income_columns),
    synonyms = c(sex = "Gender", class = "Income"), comment = "|"
  )
  numeric <- c("Age", "fnlwgt", "EducationNum", "CapitalGain", "CapitalLoss", "HoursPerWeek")
  data <- lapply(stats::setNames(nm = income_columns[-15L]), function(name) {
    if (name %in% numeric) as_numbers(table, name, file) else as_categories(table[[name]])
  })
  label <- sub("\\.$", "", table$Income)
  check_file_values(label, "Income", c("<=50K", ">50K"), file)
  data$Income <- factor(label, levels = c("<=50K", ">50K"))
  if ("fold" %in% names(table)) data$fold <- as.integer(as_numbers(table, "fold", file))
  inform_rows(nrow(table), c(32561L, 16281L), file)
  as.data.frame(data)
}

income_columns <- c(
  "Age", "WorkClass", "fnlwgt", "Education", "EducationNum", "MaritalStatus", "Occupation", "Relationship", "Race",
  "Gender", "CapitalGain", "CapitalLoss", "HoursPerWeek", "NativeCountry", "Income"
)

#' ICU mortality: the MIMIC-II and MIMIC-III files of the additive-model literature
#'
#' `read_mimic2()` reads `mimic2.data`, 17 features of the first days of an ICU stay and hospital mortality;
#' `read_mimic3()` reads `adult_icu.gz`, 57 features of the first day and ICU mortality. Both can return the folds that
#' come with the files.
#'
#' @details
#' The files hold patients' data and may be shared only with credentialed users: complete the training and sign the data
#' use agreement at PhysioNet (<https://physionet.org/content/mimiciii/>), then derive the files from the database or
#' get them from a colleague with the same credentials. They are not part of this package.
#'
#' `mimic2.data` is separated by spaces and has no header; its 18 columns are `Age`, `GCS`, `SBP`, `HR`, `Temperature`,
#' `PFratio`, `Renal`, `Urea`, `WBC`, `CO2`, `Na`, `K`, `Bilirubin`, `AdmissionType`, `AIDS`, `MetastaticCancer`,
#' `Lymphoma` and the 0/1 label `HospitalMortality`. `adult_icu.gz` is a gzipped CSV file with a header; the 57 features
#' are selected by name in the order used in the literature, identifiers (`subject_id`, `hadm_id`, `icustay_id`) and the
#' column `train` are left out, and the 0/1 label is `mort_icu`. A plain file works as well as a gzipped one. Empty
#' fields, `NA` and `nan` are missing values.
#'
#' The folder of the data also contains `train0.txt`, `test0.txt`, `train1.txt`, ...: one row number per line, counted
#' from 0.
#'
#' @param path The data file, or the folder that holds it under its published name (`mimic2.data`, `adult_icu.gz`).
#' @param fold `NULL` for all rows, or the number of a fold whose files `train{fold}.txt` and `test{fold}.txt` lie in
#'   the folder of the data; the published files have folds 0 to 4.
#' @return A data frame, or with `fold` a list of two, `train` and `test`. Features come first, the label last, as
#'   a logical that is `TRUE` for patients who died. In the MIMIC-II data `GCS`, `Temperature`, `AdmissionType`, `AIDS`,
#'   `MetastaticCancer`, `Lymphoma` and `Renal` are factors, with levels in increasing order, and the other features
#'   numeric; in the MIMIC-III data all features are numeric.
#' @seealso [simulate_icu()] for freely available data of this kind, and [paper_control()] for the published settings.
#' @family readers
#' @examples
#' # two made-up patients in the format of mimic2.data
#' folder <- tempfile()
#' dir.create(folder)
#' writeLines(c("71 15 112 88 1 290 0 28 9.4 24 138 4.1 0.7 2 0 0 0 0",
#'              "64 6 84 121 2 150 1 61 17.2 17 133 5.3 3.1 1 0 1 0 1"),
#'            file.path(folder, "mimic2.data"))
#' writeLines("1", file.path(folder, "train0.txt"))
#' writeLines("0", file.path(folder, "test0.txt"))
#' read_mimic2(folder)
#' read_mimic2(folder, fold = 0)$test
#' @export
read_mimic2 <- function(path, fold = NULL) {
  file <- find_data_file(path, c("mimic2.data", "mimic2/mimic2.data"))
  table <- read_fields(file, sep = "", columns = mimic2_columns)
  data <- lapply(stats::setNames(nm = mimic2_columns[-18L]), function(name) {
    if (name %in% mimic2_categorical) as_categories(as_missing(table[[name]])) else as_numbers(table, name, file)
  })
  data$HospitalMortality <- as_label(table$HospitalMortality, "HospitalMortality", file)
  split_fold(as.data.frame(data), fold, dirname(file))
}

mimic2_columns <- c(
  "Age", "GCS", "SBP", "HR", "Temperature", "PFratio", "Renal", "Urea", "WBC", "CO2", "Na", "K", "Bilirubin",
  "AdmissionType", "AIDS", "MetastaticCancer", "Lymphoma", "HospitalMortality"
)
mimic2_categorical <- c("GCS", "Temperature", "AdmissionType", "AIDS", "MetastaticCancer", "Lymphoma", "Renal")

#' @rdname read_mimic2
#' @export
read_mimic3 <- function(path, fold = NULL) {
  file <- find_data_file(path, c("adult_icu.gz", "mimic3/adult_icu.gz", "adult_icu.csv", "adult_icu"))
  columns <- c(mimic3_features, "mort_icu")
  table <- read_fields(file, sep = ",", header_forms = list(columns))
  data <- lapply(stats::setNames(nm = mimic3_features), function(name) as_numbers(table, name, file))
  data$mort_icu <- as_label(table$mort_icu, "mort_icu", file)
  split_fold(as.data.frame(data), fold, dirname(file))
}

mimic3_features <- c(
  "age", "first_hosp_stay", "first_icu_stay", "adult_icu", "eth_asian", "eth_black", "eth_hispanic", "eth_other",
  "eth_white", "admType_ELECTIVE", "admType_EMERGENCY", "admType_NEWBORN", "admType_URGENT",
  paste0(
    rep(c("heartrate", "sysbp", "diasbp", "meanbp", "resprate", "tempc", "spo2", "glucose"), each = 3L),
    c("_min", "_max", "_mean")
  ),
  "aniongap", "albumin", "bicarbonate", "bilirubin", "creatinine", "chloride", "glucose", "hematocrit", "hemoglobin",
  "lactate", "magnesium", "phosphate", "platelet", "potassium", "ptt", "inr", "pt", "sodium", "bun", "wbc"
)

# Folds -------------------------------------------------------------------------------------------------------------

# `data`, or list(train, test) by the row files of `fold` in `folder`.
split_fold <- function(data, fold, folder) {
  if (is.null(fold)) {
    return(data)
  }
  fold <- check_number(fold, "fold", min = 0, max = 1e6, whole = TRUE)
  parts <- c(train = "train", test = "test")
  files <- lapply(parts, function(part) file.path(folder, sprintf("%s%d.txt", part, as.integer(fold))))
  if (!all(file.exists(unlist(files)))) {
    have <- sort(as.integer(sub("^train([0-9]+)[.]txt$", "\\1", list.files(folder, "^train[0-9]+[.]txt$"))))
    have <- have[file.exists(file.path(folder, sprintf("test%d.txt", have)))]
    folds <- if (length(have)) {
      paste(ngettext(length(have), "It has fold", "It has the folds"), some(have, quote = ""))
    } else {
      "It has no such files"
    }
    pn_abort(
      c(
        "{.arg fold} {fold} needs the files {.file train{fold}.txt} and {.file test{fold}.txt} in {.path {folder}}.",
        i = "{folds}."
      ),
      class = "fold", arg = "fold"
    )
  }
  rows <- lapply(files, read_rows, n = nrow(data))
  both <- intersect(rows$train, rows$test)
  if (length(both)) {
    pn_abort(
      "Fold {fold} in {.path {folder}} has {length(both)} row{?s} in both its training and its test set.",
      class = "file", arg = "fold"
    )
  }
  unused <- nrow(data) - length(unlist(rows))
  if (unused) {
    pn_inform(
      "Fold {fold} in {.path {folder}} leaves {unused} of {nrow(data)} row{?s} out of both its sets.",
      class = "rows"
    )
  }
  lapply(rows, function(i) {
    part <- data[i, , drop = FALSE]
    rownames(part) <- NULL
    part
  })
}

# 1-based rows of a file with one 0-based row number per line, for data of n rows.
read_rows <- function(file, n) {
  rows <- as_numbers(read_fields(file, sep = "", columns = "row"), "row", file)
  bad <- is.na(rows) | rows != round(rows) | rows < 0 | rows >= n
  if (any(bad)) {
    pn_abort(
      c(
        "{.path {file}} must hold row numbers from 0 to {n - 1}, one per line.",
        x = "Line {which(bad)[1]} is {rows[bad][1]}."
      ),
      class = "file", arg = "fold"
    )
  }
  if (anyDuplicated(rows)) {
    pn_abort("{.path {file}} holds row {rows[anyDuplicated(rows)]} more than once.", class = "file", arg = "fold")
  }
  as.integer(rows) + 1L
}
