features <- c("a", "b", "c", "log(d)")

test_that("a formula picks pairs, and features in none keep an effect of their own", {
  choose <- function(pairs) choose_pairs(pairs, features, 2, function(n) stop("not asked"))
  expect_identical(choose(~ a:b + c:log(d)), rbind(c(1L, 3L), c(2L, 4L)))
  expect_identical(choose(~ log(d):a), rbind(c(1L, 2L, 3L), c(4L, 2L, 3L)))
  expect_identical(choose(~ a:b + a), rbind(c(1L, 1L, 3L, 4L), c(1L, 2L, 3L, 4L)))
})

test_that("a number finds the strongest pairs", {
  n <- 2000
  i <- seq_len(n)
  x <- data.frame(
    a = (i * 7919) %% n / n, b = (i * 104729) %% n / n, c = (i * 1299709) %% n / n, d = (i * 15485863 + 5) %% n / n,
    e = c("u", "v", "w")[(i * 31) %% 3 + 1]
  )
  x$c[i %% 9 == 0] <- NA
  y <- 3 * x$a + sin(6 * x$b) + 2 * (x$a - 0.5) * (x$d - 0.5) * 4 + (x$e == "u") * (x$b > 0.5) + sin(i) / 3
  encoded <- lapply(names(x), function(name) fit_encoder(x[[name]], name))
  data <- encoded_data(lapply(encoded, `[[`, "feature"), n, matrix(y))
  counts <- lapply(encoded, `[[`, "counts")
  found <- screen_pairs(data, counts, 2, NULL, 1)
  expect_setequal(paste(found[1, ], found[2, ]), c("1 4", "2 5"))
  classes <- encoded_data(data$features, n, matrix((x$a > 0.5) + (x$a > 0.5) * (x$d > 0.5)))
  expect_identical(screen_pairs(classes, counts, 1, 3, 1)[, 1], c(1L, 4L))
  data$weights <- rep(c(1, 2), length.out = n)
  expect_identical(dim(screen_pairs(data, counts, 10, NULL, 1)), c(2L, 10L))
})

test_that("pairs that cannot be meant are refused", {
  choose <- function(pairs, order = 2) choose_pairs(pairs, features, order, function(n) stop("not asked"))
  expect_snapshot(error = TRUE, {
    choose(~ a:bb)
    choose(~ a:b:c)
    choose(y ~ a:b)
    choose("a:b")
    choose(0)
    choose(7)
    choose(3, order = 1)
  })
})
