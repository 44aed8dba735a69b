# What a fit loses out of fold: losses of rows that a member did not see, and how they grow without a term.

#' What the loss of a row is called, by family
#' @noRd
loss_names <- c(
  gaussian = "squared error", binomial = "log-loss", multinomial = "log-loss", poisson = "deviance"
)

#' Losses of rows at their linear predictors
#' @param link,y [rows, visible outputs], [rows, responses].
#' @return matrix [rows, responses], NA where there is no prediction or no response
#' @noRd
link_losses <- function(object, link, y) {
  family <- object$family$family
  known <- !is.na(link[, 1L])
  halves <- if (family %in% c("binomial", "multinomial")) 2 else 1
  out <- matrix(NA_real_, nrow(y), ncol(y))
  mean <- as.matrix(from_link(object, link[known, , drop = FALSE], "response"))
  for (j in seq_len(ncol(y))) {
    seen <- which(!is.na(y[known, j]))
    one <- if (family == "multinomial") mean[seen, , drop = FALSE] else mean[seen, j]
    out[which(known)[seen], j] <- row_deviance(object, y[known, j][seen], one) / halves
  }
  out
}

dropped_numbers <- 2^25 # terms of rows at a time

#' How much the out-of-fold loss grows when a term is left out
#'
#' Each row's term is that of the member that did not see the row; without it, the term is at its average, 0.
#' @param at,groups Of the training rows: positions among all rows, and groups or NULL.
#' @return data frame (term, response = number, increase, error, loss), one row per term and response
#' @noRd
dropped_terms <- function(fields, data, at, task, groups, threads) {
  terms <- shown_terms(fields)
  weights <- data$weights %||% rep(1, data$n)
  groups <- groups %||% seq_len(data$n)
  y <- fields$y[at, , drop = FALSE]
  link <- fields$out_of_fold[at, , drop = FALSE]
  loss <- link_losses(fields, link, y)
  size <- c(length(terms), ncol(y))
  sums <- list(gain = 0, square = 0, cross = 0)
  weight <- whole <- numeric(ncol(y))
  for (m in seq_along(fields$members)) {
    rows <- which(fields$fold == fields$members[[m]]$skip)
    # of very many rows and terms, some will do
    rows <- rows[seq(1L, length(rows), by = ceiling(length(rows) * prod(size) / dropped_numbers))]
    part <- encoded_data(encoded_slice(data$features, rows, data$n), length(rows))
    value <- member_terms(fields, m, list(data = part, unknown = NULL), threads)
    value <- visible_terms(fields, value, list(n = length(rows), task = task[at[rows]]), seq_along(terms))
    value <- array(value, c(length(rows), length(terms), ncol(link)))
    own <- weights[rows] * !is.na(loss[rows, , drop = FALSE])
    by_group <- rowsum(own, groups[rows])
    weight <- weight + colSums(own)
    whole <- whole + colSums(by_group^2)
    for (j in seq_along(terms)) {
      without <- link[rows, , drop = FALSE] - matrix(value[, j, ], length(rows))
      gain <- link_losses(fields, without, y[rows, , drop = FALSE]) - loss[rows, , drop = FALSE]
      total <- rowsum(ifelse(is.na(gain), 0, own * gain), groups[rows])
      sums <- add_sums(sums, j, size, colSums(total), colSums(total^2), colSums(total * by_group))
    }
  }
  increase <- sums$gain / rep(weight, each = size[1L])
  # as mean_error(): rows of a group taken together
  square <- sums$square - 2 * increase * sums$cross + increase^2 * rep(whole, each = size[1L])
  data.frame(
    term = rep(terms, size[2L]), response = rep(seq_len(size[2L]), each = size[1L]), increase = as.vector(increase),
    error = as.vector(sqrt(pmax(square, 0)) / rep(weight, each = size[1L])),
    loss = rep(colSums(loss * weights, na.rm = TRUE) / colSums(weights * !is.na(loss)), each = size[1L])
  )
}

add_sums <- function(sums, j, size, ...) {
  Map(function(sum, new) {
    sum <- matrix(sum, size[1L], size[2L])
    sum[j, ] <- sum[j, ] + new
    sum
  }, sums, list(...))
}
