fit_once <- function(data, ...) {
  tiny_fit(y ~ ., data, ...)
  invisible()
}
n <- 60
base <- data.frame(x = sin(1:n), y = cos(1:n))

test_that("columns that are not what they seem are named", {
  dose <- transform(base, dose = format(1000 + 37 * 1:n, big.mark = ","))
  ids <- transform(base, patient = sprintf("P%04d", 1:n), record_id = n:1)
  empty <- transform(base, lab = NA_real_)
  codes <- transform(base, level = factor(rep(101:130, 2)))
  expect_snapshot({
    fit_once(dose)
    fit_once(ids)
    fit_once(empty)
    fit_once(codes)
  })
})

test_that("categories, indices and short data are left alone", {
  data <- transform(base,
    grade = rep(c("1", "2", "3"), 20), index = 1:n, day = as.Date("2020-01-01") + 1:n, id = rep(1:20, 3)
  )
  expect_silent(fit_once(data))
  expect_silent(fit_once(transform(base[1:15, ], name = letters[1:15])))
  expect_silent(fit_once(transform(base, hospital = rep(sprintf("H%02d", 1:30), 2))))
})

test_that("numbers are recognised as people write them", {
  yes <- c("1", "-2.5", "1,200", "1.5e3", "12 %", "<0.1", "1'000", "3,5", ".5", "1,234,567.89", "+4")
  no <- c("", "a1", "1-2", "2020-01-31", "12:30", "A", "-", ".", "1 kg", "P0001")
  expect_true(all(grepl(number_like, yes)))
  expect_false(any(grepl(number_like, no)))
})

test_that("warnings are given once by a cross-validation", {
  data <- transform(base, patient = sprintf("P%04d", 1:n))
  told <- character()
  withCallingHandlers(
    cv_protonam(y ~ ., data, folds = 2, control = tiny(), seed = 1),
    warning = function(w) {
      told <<- c(told, class(w)[1L])
      invokeRestart("muffleWarning")
    }
  )
  expect_identical(sum(told == "protonam_warning_id_column"), 1L)
})

test_that("responses from which there is nothing to learn are named", {
  expect_snapshot({
    fit_once(transform(base, y = 3))
    fit_once(transform(base, y = 1:n / 2), family = poisson())
    fit_once(transform(base, y = 2), family = poisson())
  })
})

test_that("a response that is text and looks like numbers is named", {
  measured <- transform(base, y = format(1000 * round(10 * sin(1:n)), big.mark = ",", trim = TRUE))
  expect_snapshot({
    fit_once(measured)
    fit_once(transform(base, y = factor(rep(1:25, length.out = n))))
    fit_once(transform(base, y = rep(c("1.5", "2", "3"), 20)))
  })
  expect_snapshot(error = TRUE, {
    fit_once(transform(base, y = format(1000 + 37 * 1:n, big.mark = ",")))
  })
  # codes of classes, or classes on purpose
  expect_silent(fit_once(transform(base, y = rep(c("1", "2", "3"), 20))))
  expect_silent(fit_once(transform(base, y = rep(c("0", "1"), 30))))
  expect_silent(fit_once(transform(base, y = factor(rep(c(0.5, 1, 2), 20)))))
  expect_no_warning(fit_once(measured, family = "multinomial"))
})

test_that("survival times, and Cox models, are not there yet", {
  skip_if_not_installed("survival")
  lung <- survival::lung
  expect_snapshot(error = TRUE, {
    protonam(survival::Surv(time, status) ~ age, lung)
    protonam(lung["age"], survival::Surv(lung$time, lung$status))
    cv_protonam(survival::Surv(time, status) ~ age, lung)
    protonam(status ~ age, lung, family = "cox")
  })
  expect_error(
    protonam(survival::Surv(time, status) ~ age, lung),
    class = "protonam_error_response"
  )
})

test_that("what is said of data of other packages", {
  skip_if_not_installed("MASS")
  skip_if_not_installed("survival")
  cars <- transform(mtcars, disp = paste0(disp, " "), model = rownames(mtcars))
  births <- transform(MASS::birthwt, lost = NA, low = factor(low))
  # counts of trials, text with a sign, an identifier, missing columns, broken counts, a matrix of text
  expect_snapshot({
    fit_once(transform(cars, y = mpg)[c("y", "disp", "model", "wt")])
    fit_once(transform(births, y = low)[c("y", "age", "lost")])
    fit_once(transform(MASS::Insurance, y = Claims / 2)[c("y", "Holders")], family = poisson())
    fit_once(transform(survival::veteran, y = 1)[c("age", "y")])
    fit_once(transform(mtcars, y = mpg)[c("y", "wt")], bootstrap = TRUE)
    invisible(predict(tiny_fit(mpg ~ wt + hp, mtcars), data.frame(wt = c(3, 9), hp = c(100, 1000))))
  })
  expect_snapshot(error = TRUE, {
    tiny_fit(mpg ~ ., as.matrix(cars))
    tiny_fit(low ~ s(age), births)
    tiny_fit(lost ~ age, births)
    tiny_fit(low ~ age, transform(births, low = 1), family = binomial())
  })
  counts <- tiny_fit(cbind(ncases, ncontrols) ~ agegp, datasets::esoph, family = binomial())
  expect_identical(sum(counts$weights), as.double(sum(datasets::esoph$ncases + datasets::esoph$ncontrols)))
})

test_that("a single model with bootstrap is named", {
  expect_snapshot({
    fit_once(base, bootstrap = TRUE)
    fit_once(base, bootstrap = TRUE, ensemble = 2)
  })
})

test_that("a matrix of text that was a data frame is refused", {
  frame <- data.frame(age = c(40, 50, 60), sex = c("f", "m", "f"), y = c(1.5, 2, 3))
  fit <- tiny_fit(y ~ age, base |> transform(age = 20 + 1:n))
  expect_snapshot(error = TRUE, {
    tiny_fit(y ~ ., as.matrix(frame))
    tiny_fit(as.matrix(frame[1:2]), frame$y)
    predict(fit, as.matrix(frame))
  })
  # nothing but text is a table of categories
  letters <- as.matrix(data.frame(a = rep(c("u", "v"), 30), b = rep(c("k", "l", "m"), 20)))
  expect_s3_class(tiny_fit(letters, base$y), "protonam")
})

test_that("smooth terms of other packages' formulas are refused", {
  expect_snapshot(error = TRUE, {
    tiny_fit(y ~ s(x), base)
    tiny_fit(y ~ lo(x), base)
  })
})

test_that("predictions beyond the range of the training data say so once", {
  data <- transform(base, age = 20 + 1:n)
  fit <- own_fit(y ~ age + x, data)
  new <- data[1:5, ]
  expect_silent(predict(fit, new))
  new$age[1:3] <- c(19, 200, 300)
  new$x[5] <- 2
  expect_snapshot({
    invisible(predict(fit, new))
    invisible(contributions(fit, new[2, ]))
  })
  seen <- tryCatch(predict(fit, new), message = identity)
  expect_s3_class(seen, "protonam_message_extrapolation")
  expect_identical(seen$columns, c("age", "x"))
  expect_identical(seen$rows, c(3, 1))
})
