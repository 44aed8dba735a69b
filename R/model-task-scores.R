# Scores of each group or response, and of an ensemble's average, computed at the end of a fit and shown by summary().

# of the scores that suit a family, two (R/scores.R)
summary_scores <- list(
  gaussian = c("rmse", "r2"), binomial = c("auc", "logloss"), multinomial = c("logloss", "accuracy"),
  poisson = c("deviance", "rmse")
)

#' Scores by group (task) or response, of the training rows (also out of fold) and of the validation rows
#'
#' @param object Fields of a fit with members, family and response.
#' @param parts List of list(link [rows, visible outputs], y [rows, responses], task (group numbers or NULL), weights),
#'   named "training", "out of fold" and "validation"; NULL, or no rows, where there are none.
#' @return NULL without tasks, or a data frame: task, rows, n, and two scores that depend on the family; n counts
#'   observed values, scores of none are NA
#' @noRd
task_scores <- function(object, parts) {
  tasks <- object$task$levels %||% object$response$names
  if (is.null(tasks)) {
    return(NULL)
  }
  group <- !is.null(object$task)
  family <- object$family$family
  parts <- Filter(function(part) !is.null(part) && nrow(part$y) > 0L, parts)
  scores <- lapply(names(parts), function(rows) {
    part <- parts[[rows]]
    mean <- as.matrix(from_link(object, part$link, "response"))
    each <- lapply(seq_along(tasks), function(u) {
      y <- part$y[, if (group) 1L else u]
      at <- which(!is.na(y) & !is.na(mean[, 1L]) & if (group) part$task == u else TRUE)
      # of several responses this one's column; of several classes all
      own <- mean[at, if (family == "multinomial") seq_len(ncol(mean)) else if (group) 1L else u]
      data.frame(task = tasks[u], rows = rows, n = length(at), some_scores(family, y[at], own, part$weights[at]))
    })
    do.call(rbind, each)
  })
  out <- do.call(rbind, scores)
  out <- out[order(match(out$task, tasks)), ]
  rownames(out) <- NULL
  out
}

some_scores <- function(family, y, mean, weights) {
  names <- summary_scores[[family]]
  if (!length(y)) {
    return(as.data.frame(as.list(stats::setNames(rep(NA_real_, length(names)), names))))
  }
  # a single row of class probabilities is still a matrix
  if (family == "multinomial") mean <- matrix(mean, length(y))
  as.data.frame(as.list(score_predictions(family, y, mean, weights)[names]))
}

#' Validation score of an ensemble's average, by the measure that judged its members
#' @param part As in task_scores().
#' @return NULL for one model, several responses, or without validation rows
#' @noRd
ensemble_score <- function(object, part) {
  if (length(object$members) < 2L || !is.null(object$response$names) || !nrow(part$y)) {
    return(NULL)
  }
  name <- sub("mse", "rmse", object$members[[1L]]$score_name)
  mean <- from_link(object, part$link, "response")
  score_predictions(object$family$family, part$y[, 1L], mean, part$weights)[[name]]
}

#' Print scores by group or response
#' @noRd
print_task_scores <- function(scores, what) {
  cat("\nScores by ", what, "\n", sep = "")
  measures <- setdiff(names(scores), c("task", "rows", "n"))
  text <- lapply(measures, function(measure) {
    value <- scores[[measure]]
    # errors are in units of the response, the others around 1
    largest <- max(abs(value), 1e-300, na.rm = TRUE)
    decimals <- if (measure == "rmse") min(max(0, 3 - floor(log10(largest))), 15) else 4
    format(ifelse(is.na(value), "", formatC(value, digits = decimals, format = "f", big.mark = ",")), justify = "right")
  })
  shown <- data.frame(task = scores$task, rows = scores$rows, n = format(scores$n, big.mark = ","), text)
  names(shown) <- c("", "rows", "n", score_labels[measures])
  print(shown, row.names = FALSE, right = FALSE)
}
