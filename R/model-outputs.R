# What a fit shows of its outputs: names, links and responses.

#' Outputs that a row has: its group's, for group tasks
#' @param link [rows, task x output]
#' @return [rows, visible outputs], with the offset added
#' @noRd
visible_link <- function(object, link, task, offset) {
  if (!is.null(object$task)) {
    n <- nrow(link)
    o <- object$config$n_outputs
    link <- matrix(link[cbind(rep(seq_len(n), o), rep((task - 1L) * o, o) + rep(seq_len(o), each = n))], n, o)
  }
  colnames(link) <- visible_names(object)
  if (is.null(offset)) link else link + offset
}

n_visible <- function(object) {
  if (!is.null(object$task)) object$config$n_outputs else object$config$n_tasks * object$config$n_outputs
}

#' Names of the engine's outputs: responses, classes, groups, or group:class
#' @noRd
output_names <- function(object) {
  classes <- if (object$family$family == "multinomial") object$response$levels
  tasks <- object$task$levels %||% object$response$names
  if (is.null(tasks)) {
    classes %||% object$response$name
  } else if (is.null(classes)) {
    tasks
  } else {
    paste(rep(tasks, each = length(classes)), classes, sep = ":")
  }
}

visible_names <- function(object) {
  if (object$family$family == "multinomial") object$response$levels else object$response$names
}

#' From the link to the requested scale
#' @param link [rows, visible outputs]
#' @noRd
from_link <- function(object, link, type) {
  family <- object$family$family
  levels <- object$response$levels
  if (type == "link") {
    value <- link
  } else if (family == "multinomial") {
    shifted <- exp(link - do.call(pmax, as.data.frame(link)))
    value <- shifted / rowSums(shifted)
  } else {
    value <- link
    if (length(link)) value[] <- object$family$linkinv(as.vector(link)) # refuses an empty vector
  }
  several <- is.list(levels)
  if (type == "prob" && family == "binomial" && !several) {
    value <- matrix(c(1 - value, value), ncol = 2L, dimnames = list(NULL, levels))
  } else if (type == "class") {
    pick <- function(code, classes) factor(classes[code], levels = classes)
    if (family == "multinomial") {
      return(pick(max.col(value, ties.method = "first"), levels))
    } else if (several) {
      return(as.data.frame(Map(function(j, classes) pick((value[, j] > 0.5) + 1L, classes), seq_along(levels), levels),
        col.names = object$response$names, optional = TRUE
      ))
    }
    return(pick((value[, 1L] > 0.5) + 1L, levels))
  }
  if (ncol(value) == 1L) value[, 1L] else value
}

several_responses <- function(contributions) {
  !identical(attr(contributions, "family"), "multinomial") && NCOL(attr(contributions, "prediction")) > 1L
}

#' Variance of a response by its mean, up to a dispersion
#' @noRd
variance <- function(family, mean) {
  switch(family,
    gaussian = 1 + 0 * mean,
    poisson = mean,
    mean * (1 - mean)
  )
}
