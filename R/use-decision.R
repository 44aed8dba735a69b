# decision_curve(): is it better to decide by the predictions than to treat everyone or no one?

#' Decision curve of a fit for two classes
#'
#' Net benefit of treating the rows whose predicted probability is at least a threshold, compared with treating all and
#' none. The threshold is the probability at which harm and benefit of the treatment balance: whoever treats from 10 %
#' on accepts nine needless treatments for one that is needed. Without `newdata` the out-of-fold predictions of the fit
#' are used.
#'
#' At threshold t the net benefit is the share of rows that are treated events, minus t / (1 - t) times the share of
#' treated rows without event. It is a mean over the rows, and its pointwise band is the normal one, with the rows of a
#' group taken together.
#'
#' @inheritParams discrimination
#' @param thresholds Probabilities from 0 to below 1; by default from 0.01 to about the largest predictions.
#'
#' @return A data frame of class `protonam_decision`: (`group`,) `threshold`, `strategy` (`"model"`, `"all"`, `"none"`),
#'   `net_benefit`, `lower`, `upper`, and for the model its `gain` over the better of the other two strategies, with
#'   `gain_lower` and `gain_upper`.
#' @references Vickers and Elkin (2006), Decision curve analysis: a novel method for evaluating prediction models,
#'   *Medical Decision Making* 26.
#' @seealso [calibration()], [discrimination()]
#' @examples
#' icu <- simulate_icu(400, seed = 1)
#' fit <- protonam(died ~ age + lactate + sex, icu, epochs = 2, ensemble = 4, seed = 1)
#' d <- decision_curve(fit)
#' d
#' plot(d)
#' @export
decision_curve <- function(fit, newdata = NULL, thresholds = NULL, by = NULL, response = NULL, level = 0.95,
                           data = NULL, ...) {
  fit <- need_fit(fit)
  level <- check_number(level, "level", above = 0, below = 1)
  if (!is.null(thresholds)) thresholds <- check_thresholds(thresholds)
  outcomes <- choose_event(fit, outcomes_of(fit, newdata, data, by, parent.frame(), list(...)), response)
  parts <- split_outcomes(fit, outcomes)
  thresholds <- thresholds %||% usual_thresholds(parts[[1L]]$mean)
  table <- bind_parts(lapply(parts, net_benefits, thresholds, level), part_columns(parts))
  structure(table,
    class = c("protonam_decision", "data.frame"), level = level, source = outcomes$source, by = outcomes$by_name,
    name = names(outcomes$sets), event = parts[[1L]]$event, n = outcome_count(parts[[1L]]),
    events = event_count(parts[[1L]]), unit = outcomes$unit
  )
}

#' Up to the probabilities that the model gives to one row in a hundred
#' @noRd
usual_thresholds <- function(mean) {
  most <- min(0.99, max(0.1, ceiling(20 * stats::quantile(mean, 0.99, names = FALSE)) / 20))
  seq_len(round(100 * most)) / 100
}

#' Net benefit of the three strategies
#' @noRd
net_benefits <- function(rows, thresholds, level) {
  z <- stats::qnorm((1 + level) / 2)
  weights <- rows$weights %||% rep(1, length(rows$y))
  average <- function(x) {
    value <- weighted_mean(x, weights)
    c(value, value + c(-1, 1) * z * influence_error(x - value, rows))
  }
  tables <- lapply(thresholds, function(t) {
    # what one treated row is worth
    worth <- rows$y - (1 - rows$y) * t / (1 - t)
    own <- worth * (rows$mean >= t)
    all <- average(worth)
    gain <- average(own - if (all[1L] > 0) worth else 0)
    value <- rbind(average(own), all, 0)
    data.frame(
      threshold = t, strategy = c("model", "all", "none"), net_benefit = value[, 1L], lower = value[, 2L],
      upper = value[, 3L], gain = c(gain[1L], NA, NA), gain_lower = c(gain[2L], NA, NA),
      gain_upper = c(gain[3L], NA, NA)
    )
  })
  table <- do.call(rbind, tables)
  table <- table[order(match(table$strategy, c("model", "all", "none")), table$threshold), ]
  rownames(table) <- NULL
  table
}

# a subset of the table is a plain data frame
#' @export
`[.protonam_decision` <- function(x, ...) plain_frame(NextMethod())

#' @rdname decision_curve
#' @param x From `decision_curve()`.
#' @param digits Number of digits to show.
#' @export
print.protonam_decision <- function(x, digits = 4, ...) {
  if (is.null(attr(x, "source"))) {
    print(as.data.frame(x), digits = digits, ...)
    return(invisible(x))
  }
  words <- list(name = attr(x, "name"), event = attr(x, "event", exact = TRUE))
  cat(
    "Decision curve of predictions of ", event_words(words), ", ", attr(x, "source"), ", ",
    count(attr(x, "n"), attr(x, "unit") %||% "row"), ", ", count(attr(x, "events"), "event"),
    "\nNet benefit, and gain over the better of treating all and none\n\n",
    sep = ""
  )
  table <- as.data.frame(x)
  at <- unique(table$threshold)
  if (length(at) > 10L) at <- at[unique(round(seq(1, length(at), length.out = 10L)))]
  number <- function(v) ifelse(is.na(v), "", formatC(v, digits = digits, format = "f"))
  for (group in unique(table$group) %||% NA) {
    rows <- table[table$threshold %in% at & (is.na(group) | (table$group %||% NA) %in% group), ]
    own <- rows[rows$strategy == "model", ]
    shown <- cbind(
      model = paste0(number(own$net_benefit), " (", number(own$lower), " to ", number(own$upper), ")"),
      all = number(rows$net_benefit[rows$strategy == "all"]),
      gain = paste0(number(own$gain), " (", number(own$gain_lower), " to ", number(own$gain_upper), ")")
    )
    rownames(shown) <- format(own$threshold)
    if (!is.na(group)) cat(group, "\n", sep = "")
    print(shown, quote = FALSE, right = TRUE)
  }
  invisible(x)
}
