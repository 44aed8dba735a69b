# Initial weights of several responses: those of the first response, with the sign reversed where the data indicate that
# a component acts on the two in opposite directions. With unrelated signs, a response with few labels would first have
# to undo what the others teach the shared encoders.

#' @param data Encoded training rows.
#' @return NULL unless there are several responses, else 1 or -1, [responses, components]
#' @noRd
response_relation <- function(config, data) {
  if (config$task_kind != "response") {
    return(NULL)
  }
  each <- lapply(data$features, feature_products, data)
  relation <- vapply(seq_len(ncol(config$components)), function(c) {
    parts <- each[config$components[, c]]
    product <- Reduce(`+`, lapply(parts, `[[`, "product"))
    noise <- sqrt(Reduce(`+`, lapply(parts, `[[`, "variance")))
    # reversed only where there is little doubt
    ifelse(product < -2 * noise, -1, 1)
  }, numeric(config$n_tasks))
  matrix(relation, config$n_tasks)
}

#' Do the first and the other responses rise and fall together along a feature?
#' @return list(product = sum over groups of neighbouring values of the products of mean deviations, weighted by labels,
#'   variance = of the product if the two were unrelated), one value per response each
#' @noRd
feature_products <- function(feature, data) {
  value <- feature$values
  group <- ceiling(16 * rank(value) / length(value))
  group[is.nan(value)] <- 17 # missing values form a separate group
  group <- group[encoded_index(feature, data$n)]
  weights <- as_counts(data$weights) %||% rep(1, data$n)
  known <- weights * !is.na(data$y)
  y <- replace(data$y, is.na(data$y), 0)
  labels <- rowsum(known, group)
  y <- y - rep(colSums(known * y) / colSums(known), each = data$n)
  deviation <- rowsum(known * y, group) / ifelse(labels > 0, labels, 1)
  first <- deviation[, 1L]
  list(
    product = colSums(labels * deviation * first),
    variance = colSums(known * y^2) / pmax(colSums(known) - 1, 1) * colSums(labels * first^2)
  )
}
