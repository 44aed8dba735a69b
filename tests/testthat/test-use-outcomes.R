data <- jump_data(160)
fit <- own_fit(dead ~ a + b, data)

test_that("outcomes of new data are what was observed and predicted", {
  new <- jump_data(50, seed = 2)
  new$dead[3] <- NA
  expect_message(found <- outcomes_of(fit, new), "1 row", class = "protonam_message_dropped_rows")
  rows <- found$sets$dead
  expect_identical(rows$y, as.double(new$dead == "yes")[-3])
  expect_equal(rows$mean, unname(predict(fit, new))[-3])
  expect_equal(rows$link, stats::qlogis(rows$mean), tolerance = 1e-6)
  expect_identical(rows$event, "yes")
})

test_that("outcomes out of fold are those of the fit", {
  found <- outcomes_of(fit, NULL)
  expect_equal(found$sets$dead$mean, unname(predict(fit, out_of_fold = TRUE)))
  expect_identical(found$source, "out of fold")
})

test_that("bad new data are named", {
  new <- jump_data(30, seed = 2)
  expect_snapshot(error = TRUE, {
    outcomes_of(fit, new[names(new) != "dead"])
    outcomes_of(fit, new[new$dead == "yes", ])
    outcomes_of(fit, new[0, ])
    outcomes_of(fit, transform(new, dead = NA))
    outcomes_of(fit, transform(new, dead = "maybe"))
    outcomes_of(fit, new, by = ~a)
    outcomes_of(fit, new, by = ~nothing)
    outcomes_of(fit, new, dots = list(treads = 1))
    outcomes_of(own_fit(dead ~ a, data, ensemble = 1), NULL)
  })
})

test_that("groups with a missing value have a level", {
  expect_identical(levels(group_factor(c("u", NA, "v"))), c("u", "v", "(missing)"))
})

test_that("the fit of x and y finds its response in a column", {
  own <- own_fit(data[c("a", "b")], data$y)
  new <- cbind(jump_data(30, seed = 2)[c("a", "b")], y = 1:30)
  expect_identical(outcomes_of(own, new)$sets[[1]]$y, as.double(1:30))
  expect_error(outcomes_of(own, new[c("a", "b")]), "lacks", class = "protonam_error_missing_column")
})

test_that("one of several responses or classes is chosen", {
  classes <- own_fit(class ~ a + b, data)
  one <- choose_event(classes, outcomes_of(classes, data), "v")$sets$v
  expect_identical(one$y, as.double(data$class == "v"))
  expect_equal(one$mean, unname(predict(classes, data)[, "v"]))
  numbers <- own_fit(y ~ a, data)
  expect_snapshot(error = TRUE, {
    choose_event(classes, outcomes_of(classes, data), NULL)
    choose_event(classes, outcomes_of(classes, data), "vv")
    choose_event(fit, outcomes_of(fit, data), "dead")
    choose_event(numbers, outcomes_of(numbers, data), NULL)
  })
})
