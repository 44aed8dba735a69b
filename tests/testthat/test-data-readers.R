# The readers, on small files of the published formats that are written here.

write_file <- function(lines, name = "x.data", folder = withr::local_tempdir(.local_envir = parent.frame())) {
  file <- file.path(folder, name)
  writeLines(as.character(lines), file)
  file
}

write_gz <- function(lines, file) {
  con <- gzfile(file, "w")
  on.exit(close(con))
  writeLines(lines, con)
  file
}

# Snapshots must not depend on where the temporary folder lies.
hide_folder <- function(lines) gsub("/file[0-9a-f]+", "", gsub("'[^' ]*/Rtmp[^/']*", "'<tmp>", lines))

quietly <- function(expr) suppressMessages(expr, classes = "protonam_message_rows")

# Housing -----------------------------------------------------------------------------------------------------------

housing_lines <- c(
  "-122.230000,37.880000,41.000000,880.000000,129.000000,322.000000,126.000000,8.325200,452600.000000",
  "-122.220000,37.860000,21.000000,7099.000000,1106.000000,2401.000000,1138.000000,8.301400,358500.000000",
  "-122.240000,37.850000,52.000000,1467.000000,190.000000,496.000000,177.000000,7.257400,352100.000000"
)
housing_header <- paste0(
  "longitude,latitude,housing_median_age,total_rooms,total_bedrooms,population,households,median_income,",
  "median_house_value,ocean_proximity"
)

test_that("read_housing() derives the eight features and scales the response", {
  data <- quietly(read_housing(write_file(housing_lines)))
  expect_named(data, housing_derived)
  expect_equal(data$MedInc, c(8.3252, 8.3014, 7.2574))
  expect_equal(data$HouseAge, c(41, 21, 52))
  # values of scikit-learn's fetch_california_housing()
  expect_equal(data$AveRooms, c(6.98412698, 6.23813708, 8.28813559), tolerance = 1e-8)
  expect_equal(data$AveBedrms, c(1.02380952, 0.97188049, 1.07344633), tolerance = 1e-8)
  expect_equal(data$AveOccup, c(2.55555556, 2.10984183, 2.80225989), tolerance = 1e-8)
  expect_equal(data$Population, c(322, 2401, 496))
  expect_equal(data$Latitude, c(37.88, 37.86, 37.85))
  expect_equal(data$Longitude, c(-122.23, -122.22, -122.24))
  expect_equal(data$MedHouseVal, c(4.526, 3.585, 3.521))
})

test_that("read_housing() reads the CSV form, gzipped files and folders alike", {
  raw <- quietly(read_housing(write_file(housing_lines)))
  csv <- write_file(c(housing_header, paste0(housing_lines, ",NEAR BAY")), "housing.csv")
  expect_equal(quietly(read_housing(csv)), raw)
  expect_equal(quietly(read_housing(dirname(csv))), raw)
  camel <- sub("housing_median_age", "housingMedianAge", sub(",ocean.*", "", housing_header))
  expect_equal(quietly(read_housing(write_file(c(camel, housing_lines)))), raw)
  gz <- write_gz(housing_lines, withr::local_tempfile(fileext = ".gz"))
  expect_equal(quietly(read_housing(gz)), raw)
})

test_that("read_housing() keeps missing bedrooms missing", {
  lines <- c(housing_header, "-122.23,37.88,41,880,,322,126,8.3252,452600,NEAR BAY")
  data <- quietly(read_housing(write_file(lines)))
  expect_identical(data$AveBedrms, NA_real_)
  expect_equal(data$AveRooms, 880 / 126)
})

test_that("read_housing() takes the derived form as it is and keeps the split", {
  lines <- c("MedInc,HouseAge,AveRooms,AveBedrms,Population,AveOccup,Latitude,Longitude,MedHouseVal,split",
             "8.3252,41,6.98,1.02,322,2.56,37.88,-122.23,4.526,train",
             "7,21,6.2,0.97,2401,2.1,37.86,-122.22,3.585,test")
  data <- quietly(read_housing(write_file(lines)))
  expect_equal(data$MedHouseVal, c(4.526, 3.585))
  expect_identical(data$split, factor(c("train", "test")))
})

test_that("read_housing() tells when rows are missing", {
  expect_message(read_housing(write_file(housing_lines)), "3 rows.*20640", class = "protonam_message_rows")
})

test_that("read_housing() refuses other files", {
  expect_snapshot(error = TRUE, transform = hide_folder, {
    read_housing(write_file(c(housing_lines, substr(housing_lines[1], 1, 40))))
    read_housing(write_file(sub("880.000000", "many", housing_lines)))
    read_housing(write_file(c(sub("households,", "", housing_header), paste0(housing_lines, ",INLAND"))))
    read_housing(write_file("39, State-gov, 77516, Bachelors, 13"))
    read_housing(write_file(housing_header))
    read_housing(write_file(character()))
    read_housing(write_file(c("", " ")))
    read_housing(withr::local_tempdir())
    read_housing("/no/such/cal_housing.data")
    read_housing(3)
  })
  expect_error(read_housing(write_file("1,2,3")), class = "protonam_error_file")
})

test_that("damaged and binary files are refused", {
  whole <- write_gz(sprintf("%s", rep(housing_lines, 200)), withr::local_tempfile(fileext = ".gz"))
  bytes <- readBin(whole, "raw", file.size(whole))
  cut <- withr::local_tempfile(fileext = ".gz")
  writeBin(bytes[seq_len(length(bytes) %/% 2)], cut)
  expect_error(read_housing(cut), "gzip file", class = "protonam_error_file")
  binary <- withr::local_tempfile()
  writeBin(as.raw(0:255), binary)
  expect_error(read_housing(binary), "not a text file", class = "protonam_error_file")
  latin <- withr::local_tempfile()
  writeBin(as.raw(c(0x31, 0x2c, 0xe9, 0x0a)), latin)
  expect_error(read_housing(latin), "UTF-8", class = "protonam_error_file")
})

test_that("Windows line ends and a missing last newline are read", {
  raw <- quietly(read_housing(write_file(housing_lines)))
  file <- withr::local_tempfile()
  cat(paste(housing_lines, collapse = "\r\n"), file = file)
  expect_message(data <- quietly(read_housing(file)), "cut off", class = "protonam_message_cut_off")
  expect_equal(data, raw)
})

test_that("values that no block group can have are refused", {
  swapped <- sub("^([^,]*),(.*),([^,]*)$", "\\3,\\2,\\1", housing_lines)
  expect_error(quietly(read_housing(write_file(swapped))), "longitude; row 1 has 452600", class = "protonam_error_file")
  empty <- sub("126.000000", "0", housing_lines, fixed = TRUE)
  expect_error(quietly(read_housing(write_file(empty))), "households; row 1 has 0", class = "protonam_error_file")
  for (bad in c("Inf", "0x1F")) {
    expect_error(
      quietly(read_housing(write_file(sub("8.325200", bad, housing_lines, fixed = TRUE)))), bad,
      class = "protonam_error_file"
    )
  }
})

test_that("a gzipped file is found in its folder, and a mark of byte order is skipped", {
  raw <- quietly(read_housing(write_file(housing_lines)))
  folder <- withr::local_tempdir()
  write_gz(housing_lines, file.path(folder, "cal_housing.data.gz"))
  expect_equal(quietly(read_housing(folder)), raw)
  marked <- write_file(c(paste0("\ufeff", housing_lines[1L]), housing_lines[-1L]))
  expect_equal(quietly(read_housing(marked)), raw)
})

# Income ------------------------------------------------------------------------------------------------------------

income_lines <- c(
  paste("39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40,",
        "United-States, <=50K"),
  paste("52, Self-emp-not-inc, 209642, HS-grad, 9, Married-civ-spouse, Exec-managerial, Husband, White, Male, 0, 0,",
        "45, United-States, >50K"),
  "54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, 0, 0, 60, South, >50K"
)

test_that("read_income() names and types the columns and keeps \"?\" as a level", {
  data <- quietly(read_income(write_file(c(income_lines, ""))))
  expect_named(data, income_columns)
  expect_identical(data$Age, c(39, 52, 54))
  expect_identical(levels(data$WorkClass), c("?", "Self-emp-not-inc", "State-gov"))
  expect_identical(as.character(data$Occupation), c("Adm-clerical", "Exec-managerial", "?"))
  expect_identical(data$Income, factor(c("<=50K", ">50K", ">50K"), levels = c("<=50K", ">50K")))
  expect_identical(sum(vapply(data, is.factor, NA)), 9L)
})

test_that("read_income() reads adult.test and files with a header", {
  raw <- quietly(read_income(write_file(income_lines)))
  test <- write_file(c("|1x3 Cross validator", paste0(income_lines, ".")))
  expect_equal(quietly(read_income(test)), raw)
  header <- paste0("age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,",
                   "capital-gain,capital-loss,hours-per-week,native-country,income,fold")
  csv <- write_file(c(header, paste0(gsub(", ", ",", income_lines), ",", 1:3)), "adult.csv")
  data <- quietly(read_income(dirname(csv)))
  expect_equal(data[-16], raw)
  expect_identical(data$fold, 1:3)
})

test_that("read_income() refuses other files", {
  expect_snapshot(error = TRUE, transform = hide_folder, {
    read_income(write_file(housing_lines))
    read_income(write_file(sub("<=50K", "50K", income_lines)))
    read_income(write_file(sub("^39", "old", rev(income_lines))))
    read_income(write_file(c(income_lines, "39, State-gov, 775")))
  })
})

# MIMIC-II ----------------------------------------------------------------------------------------------------------

mimic2_lines <- c(
  "71 15 112 88 1 290 0 28 9.4 24 138 4.1 0.7 2 0 0 0 0",
  "64 6 84 121 2 150 1 61 17.2 17 133 5.3 3.1 1 0 1 0 1",
  "43 10 130 95 1 NA 0 14 8 26 141 3.9 0.4 6 0 0 1 0",
  "88\t15  101 77 10 333 0 40 12.5 22 139 4.4 1.2 2 1 0 0 1"
)

mimic2_folder <- function(train = c(0, 2), test = c(3, 1), env = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = env)
  write_file(mimic2_lines, "mimic2.data", folder)
  write_file(train, "train0.txt", folder)
  write_file(test, "test0.txt", folder)
  folder
}

test_that("read_mimic2() names and types the columns", {
  folder <- mimic2_folder()
  data <- read_mimic2(folder)
  expect_identical(read_mimic2(file.path(folder, "mimic2.data")), data)
  expect_named(data, mimic2_columns)
  expect_identical(names(data)[vapply(data, is.factor, NA)], mimic2_columns[mimic2_columns %in% mimic2_categorical])
  expect_identical(levels(data$GCS), c("6", "10", "15"))
  expect_identical(levels(data$Temperature), c("1", "2", "10"))
  expect_identical(data$PFratio, c(290, 150, NA, 333))
  expect_identical(data$HospitalMortality, c(FALSE, TRUE, FALSE, TRUE))
})

test_that("folds pick rows counted from 0, in the order of the files", {
  folder <- mimic2_folder()
  data <- read_mimic2(folder)
  parts <- read_mimic2(folder, fold = 0)
  expect_named(parts, c("train", "test"))
  expect_identical(parts$train$Age, c(71, 43))
  expect_identical(parts$test$Age, c(88, 64))
  expect_identical(levels(parts$test$GCS), levels(data$GCS))
  expect_identical(rownames(parts$test), c("1", "2"))
})

test_that("bad folds are refused", {
  expect_snapshot(error = TRUE, transform = hide_folder, {
    read_mimic2(mimic2_folder(), fold = 5)
    read_mimic2(mimic2_folder(), fold = -1)
    read_mimic2(mimic2_folder(), fold = "a")
    read_mimic2(write_file(mimic2_lines, "mimic2.data"), fold = 0)
    read_mimic2(mimic2_folder(test = c(3, 4)), fold = 0)
    read_mimic2(mimic2_folder(train = c(0, "x")), fold = 0)
    read_mimic2(mimic2_folder(train = c(0, 0)), fold = 0)
    read_mimic2(mimic2_folder(train = 1:2), fold = 0)
  })
  expect_error(read_mimic2(mimic2_folder(), fold = 9), class = "protonam_error_fold")
})

test_that("read_mimic2() refuses other files", {
  expect_snapshot(error = TRUE, transform = hide_folder, {
    read_mimic2(write_file(c(mimic2_lines, "71 15 112")))
    read_mimic2(write_file(housing_lines))
    read_mimic2(write_file(sub("0$", "2", mimic2_lines)))
    read_mimic2(write_file(sub("88 1", "fast 1", mimic2_lines)))
  })
})

# MIMIC-III ---------------------------------------------------------------------------------------------------------

mimic3_lines <- function(n = 4) {
  set.seed(1)
  features <- matrix(round(stats::runif(n * 57, 1, 100), 2), n)
  id <- seq_len(n)
  c(
    paste(c("subject_id", "hadm_id", "icustay_id", rev(mimic3_features), "mort_icu", "train"), collapse = ","),
    paste(id, id + 100, id + 200, apply(features, 1, paste, collapse = ","), id %% 2, 1, sep = ",")
  )
}

test_that("read_mimic3() picks the 57 features by name and the label", {
  withr::local_preserve_seed()
  folder <- withr::local_tempdir()
  write_gz(mimic3_lines(), file.path(folder, "adult_icu.gz"))
  data <- read_mimic3(folder)
  expect_identical(dim(data), c(4L, 58L))
  expect_named(data, c(mimic3_features, "mort_icu"))
  expect_length(unique(mimic3_features), 57L)
  expect_identical(data$mort_icu, c(TRUE, FALSE, TRUE, FALSE))
  by_base <- utils::read.csv(file.path(folder, "adult_icu.gz"))
  expect_equal(data[mimic3_features], by_base[mimic3_features])
  write_file(0:2, "train1.txt", folder)
  write_file(3, "test1.txt", folder)
  expect_identical(vapply(read_mimic3(folder, fold = 1), nrow, 0L), c(train = 3L, test = 1L))
  expect_error(read_mimic3(folder, fold = 0), "folds? 1", class = "protonam_error_fold")
})

test_that("read_mimic3() reads empty fields as missing, at the end of a line too", {
  withr::local_preserve_seed()
  lines <- mimic3_lines(1)
  fields <- strsplit(lines[2], ",")[[1]]
  fields[c(4, 10)] <- ""
  lines[2] <- paste(c(fields[-62], ""), collapse = ",")
  data <- read_mimic3(write_file(lines))
  expect_identical(data$wbc, NA_real_)
  expect_identical(sum(is.na(data)), 2L)
})

test_that("read_mimic3() refuses other files", {
  withr::local_preserve_seed()
  expect_snapshot(error = TRUE, transform = hide_folder, {
    read_mimic3(write_file(mimic2_lines))
    read_mimic3(write_file(gsub("lactate,|wbc,", "", mimic3_lines())))
    read_mimic3(write_file(sub("mort_icu", "mortality", mimic3_lines())))
    read_mimic3(write_file(c(mimic3_lines(), "5,6,7")))
  })
})

test_that("rows that a fold leaves out are told", {
  expect_message(parts <- read_mimic2(mimic2_folder(0, 1), fold = 0), "out of both", class = "protonam_message_rows")
  expect_identical(c(nrow(parts$train), nrow(parts$test)), c(1L, 1L))
})
