# What a fit reserves it gives back.

test_that("200 fits in a row leave the process as large as the first 20 did", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"), "Linux")
  output <- run_r("
    data <- data.frame(x = sin(1:80), z = cos(3 * 1:80), unit = rep(c('a', 'b', 'c', 'd'), 20))
    data$y <- data$x + (data$unit == 'b')
    data$dead <- data$y > 0.3
    one <- function(...) {
      fit <- suppressMessages(protonam(..., epochs = 2, hidden = 8, prototypes = 3, layers = 1, ensemble = 2, verbose = FALSE))
      predict(fit, data, type = 'link')
    }
    size <- function() {
      gc(full = TRUE)
      line <- grep('^VmRSS', readLines('/proc/self/status'), value = TRUE)
      as.numeric(gsub('[^0-9]', '', line)) / 1024
    }
    kinds <- list(
      function(i) one(y ~ x + z + unit, data, prototypes_for = TRUE, seed = i),
      function(i) one(dead ~ x + z, data, procedure = 'paper', seed = i),
      function(i) one(dead ~ x + z + unit, data, prototypes_for = FALSE, seed = i),
      function(i) one(y ~ x + z + unit, data, order = 2, procedure = 'paper', seed = i)
    )
    for (i in 1:20) kinds[[i %% 4 + 1]](i)
    before <- size()
    for (i in 21:200) kinds[[i %% 4 + 1]](i)
    cat('grown by', size() - before, 'MB')
  ")
  grown <- grep("^grown by", output, value = TRUE)
  expect_length(grown, 1L)
  expect_lt(as.numeric(gsub("[^0-9.-]", "", sub(" MB", "", grown))), 5)
})
