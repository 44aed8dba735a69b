# Scores of each group or response, computed at the end of a fit and shown by summary().

#' Scores by group (task) or response, of the training and the validation rows
#'
#' @param object Fields of a fit with members, family and response.
#' @param parts List of list(link [rows, visible outputs], y [rows, responses], task (group numbers or NULL), weights),
#'   named "training" and "validation".
#' @return NULL without tasks, or a data frame: task, rows, n, and two scores that depend on the family; n counts observed
#'   values, scores of none are NA
#' @noRd
task_scores <- function(object, parts) {
  tasks <- object$task$levels %||% object$response$names
  if (is.null(tasks)) {
    return(NULL)
  }
  parts <- Filter(function(part) nrow(part$y) > 0L, parts)
  scores <- lapply(names(parts), function(rows) {
    part <- parts[[rows]]
    each <- lapply(seq_along(tasks), function(u) {
      group <- !is.null(object$task)
      column <- if (group) 1L else u
      y <- part$y[, column]
      at <- which(!is.na(y) & if (group) part$task == u else TRUE)
      # several responses: this one's column; classes of a group: all columns
      link <- part$link[at, if (group) seq_len(ncol(part$link)) else u, drop = FALSE]
      weights <- if (is.null(part$weights)) rep(1, length(at)) else part$weights[at]
      data.frame(task = tasks[u], rows = rows, n = length(at), family_scores(object$family, link, y[at], weights))
    })
    do.call(rbind, each)
  })
  out <- do.call(rbind, scores)
  out <- out[order(match(out$task, tasks)), ]
  rownames(out) <- NULL
  out
}

#' Two scores of one group or response
#' @param link [rows, outputs]; one output but for several classes, which `y` numbers from 0.
#' @noRd
family_scores <- function(family, link, y, weights) {
  mean_of <- function(x) if (length(x)) sum(weights * x) / sum(weights) else NA_real_
  name <- family$family
  if (name == "multinomial") {
    top <- do.call(pmax, as.data.frame(link))
    own <- link[cbind(seq_along(y), y + 1)]
    loss <- log(rowSums(exp(link - top))) + top - own
    best <- if (length(y)) max.col(link, ties.method = "first") - 1 else y
    return(data.frame(log_loss = mean_of(loss), accuracy = mean_of(best == y)))
  }
  link <- link[, 1L]
  if (name == "binomial") {
    # log(1 + exp(-link)) for events, without overflow
    signed <- ifelse(y == 1, -link, link)
    loss <- pmax(signed, 0) + log1p(exp(-abs(signed)))
    data.frame(auc = roc_area(link, y == 1, weights), log_loss = mean_of(loss))
  } else if (name == "poisson") {
    data.frame(deviance = mean_of(unit_deviance("poisson", y, exp(link))), ratio = mean_of(y) / mean_of(exp(link)))
  } else {
    error <- mean_of((y - link)^2)
    spread <- mean_of((y - mean_of(y))^2)
    data.frame(rmse = sqrt(error), r_squared = if (isTRUE(spread > 0)) 1 - error / spread else NA_real_)
  }
}

#' Area under the ROC curve, ties counting half; NA with one class
#' @param event Logical.
#' @noRd
roc_area <- function(prediction, event, weights = rep(1, length(event))) {
  if (!any(event) || all(event)) {
    return(NA_real_)
  }
  at <- match(prediction, sort(unique(prediction)))
  size <- max(at)
  sum_at <- function(x) {
    out <- numeric(size)
    sums <- rowsum(x, at)
    out[as.integer(rownames(sums))] <- sums
    out
  }
  events <- sum_at(weights * event)
  others <- sum_at(weights * !event)
  sum(events * (cumsum(others) - others / 2)) / (sum(events) * sum(others))
}

score_titles <- c(
  rmse = "RMSE", r_squared = "R squared", auc = "AUC", log_loss = "log-loss", accuracy = "accuracy",
  deviance = "mean deviance", ratio = "observed/expected"
)

#' Print scores by group or response
#' @noRd
print_task_scores <- function(scores, what) {
  cat("\nScores by ", what, "\n", sep = "")
  measures <- setdiff(names(scores), c("task", "rows", "n"))
  text <- lapply(measures, function(measure) {
    # errors are in units of the response, the others around 1
    decimals <- if (measure == "rmse") max(0, 3 - floor(log10(max(scores$rmse, 1e-300, na.rm = TRUE)))) else 4
    value <- formatC(scores[[measure]], digits = decimals, format = "f", big.mark = ",")
    format(ifelse(is.na(scores[[measure]]), "", value), justify = "right")
  })
  shown <- data.frame(task = scores$task, rows = scores$rows, n = format(scores$n, big.mark = ","), text)
  names(shown) <- c("", "rows", "n", score_titles[measures])
  print(shown, row.names = FALSE, right = FALSE)
}
