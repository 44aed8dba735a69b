test_that("training columns through their own encoder are the same", {
  data <- mixed_data()
  for (name in c("age", "lab", "unit", "grade", "male", "day")) {
    for (bins in list(NULL, 8)) {
      first <- fit_encoder(data[[name]], name, bins = bins)
      again <- reencode(first$encoder, data[[name]], NULL)
      expect_identical(again$encoder, first$encoder, info = name)
      decoded <- function(x) x$feature$values[encoded_index(x$feature, nrow(data))]
      expect_identical(decoded(again), decoded(first), info = name)
      at <- match(first$feature$values, again$feature$values)
      expect_equal(again$counts[at], as.double(first$counts), info = name)
    }
  }
})

test_that("more rows keep scaling and bins, and change what describes them", {
  data <- mixed_data()
  first <- fit_encoder(data$age, "age", bins = 8)
  again <- reencode(first$encoder, c(data$age, 1000), rep(2, nrow(data) + 1))
  kept <- c("levels", "scaling", "bins", "has_missing")
  expect_identical(again$encoder[kept], first$encoder[kept])
  expect_equal(sum(again$counts), 2 * (nrow(data) + 1))
  expect_identical(max(again$encoder$support$value), 1000)
})

test_that("what the encoder does not know is an error", {
  data <- mixed_data()
  unit <- fit_encoder(data$unit, "unit")$encoder
  expect_error(reencode(unit, c(data$unit, "home"), NULL), "home", class = "protonam_error_start")
  age <- fit_encoder(data$age, "age")$encoder
  expect_error(reencode(age, c(data$age, NA), NULL), "missing values", class = "protonam_error_start")
})
