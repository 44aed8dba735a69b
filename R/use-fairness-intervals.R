# Intervals of the measures of fairness(): those of sampling the rows of a group, given the fit.

#' Intervals of one group's measures
#' @return data frame: measure, lower, upper
#' @noRd
group_intervals <- function(prediction, event, threshold, level = 0.95) {
  z <- stats::qnorm((1 + level) / 2)
  selected <- prediction > threshold
  share <- function(x) unlist(wilson_interval(if (length(x)) mean(x) else NA_real_, length(x), level))
  ends <- rbind(
    base_rate = share(event), predicted = mean_interval(prediction, level),
    calibration = mean_interval(prediction - event, level), auc = auc_interval(event, prediction, NULL, z)[2:3],
    selection_rate = share(selected), tpr = share(selected[event]), fpr = share(selected[!event])
  )
  data.frame(measure = rownames(ends), lower = ends[, 1L], upper = ends[, 2L], row.names = NULL)
}
