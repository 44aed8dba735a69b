# The data of a fit, which the fit does not keep: found again through its call, and checked to be the same.

#' Columns of the data of a fit, and the rows that it used
#'
#' @param data NULL to look for them as given in the call of the fit, or the data.
#' @param caller Environment in which the call is evaluated.
#' @return list(columns, n, rows: row numbers of the rows used, data: as found)
#' @noRd
fit_data <- function(fit, data, caller) {
  name <- if (is.null(fit$formula)) "x" else "data"
  found <- if (is.null(data)) call_argument(fit, name, caller) else data
  if (is.null(found)) data_not_found(fit, name)
  columns <- as_columns(found, "data")
  if (is.environment(columns)) {
    pn_abort("{.arg data} must be a data frame.", class = "data", arg = "data")
  }
  n <- data_rows(columns)
  rows <- fit$rows %||% seq_len(fit$nobs)
  observed <- if (is.null(fit$formula)) {
    if (is.null(data)) response_value(call_argument(fit, "y", caller), "y") else new_response(fit, columns)
  } else {
    check_names_exist(stats::as.formula(call("~", fit$formula[[2L]]), fit$env), columns, fit$env)
    evaluate_response(fit$formula[[2L]], columns, fit$env)$value
  }
  same <- n >= max(rows) && (!is.null(fit$rows) || n == fit$nobs) && tryCatch(
    if (isTRUE(fit$response$trials)) {
      same_trials(fit, observed, rows)
    } else {
      isTRUE(all.equal(
        unname(apply_response(fit$response, take_rows(observed, rows, n))), unname(fit$y),
        check.attributes = FALSE
      ))
    },
    error = function(e) FALSE
  )
  if (!same) {
    source <- if (is.null(data)) "The data that the call of the fit names are" else "{.arg data} are"
    pn_abort(
      c(
        paste(source, "not those of the fit: the response differs."),
        i = "Give the data as they were when the model was fitted: {.arg data}."
      ),
      class = "data", arg = "data"
    )
  }
  list(columns = columns, n = n, rows = rows, data = found, response = observed)
}

data_not_found <- function(fit, name) {
  expr <- if (is.call(fit$call)) fit$call[[name]]
  what <- if (is.null(expr)) "the data" else deparse1(expr)[1L]
  pn_abort(
    c(
      "The fit does not keep its data, and {.code {what}} cannot be found here.",
      i = "Give the data to which the model was fitted: {.arg data}."
    ),
    class = "data_not_found", arg = "data"
  )
}

#' An argument of the call of a fit, evaluated; NULL if it was not given
#' @noRd
call_argument <- function(fit, name, caller) {
  expr <- if (is.call(fit$call)) fit$call[[name]]
  if (is.null(expr)) {
    return(NULL)
  }
  value <- tryCatch(list(eval(expr, caller)), error = function(e) NULL)
  # a function of R is not what a fit was made from: `data = df` where no df is left
  if (is.null(value) || is.function(value[[1L]]) && name %in% c("data", "x", "y")) data_not_found(fit, name)
  value[[1L]]
}

#' Linear predictors of the rows of a fit from each of its members
#' @param own From fit_data().
#' @return list of matrices [rows used, visible outputs]
#' @noRd
member_links <- function(fit, own, threads = NULL) {
  threads <- resolve_threads(threads)
  columns <- structure(lapply(unclass(own$columns), take_rows, own$rows, own$n), info = NULL)
  rows <- structure(columns, class = "data.frame", row.names = seq_along(own$rows))
  # the offset is that of the fit
  new <- withCallingHandlers(
    suppressWarnings(encode_newdata(fit, rows, offset = if (!is.null(fit$offset)) 0)),
    # validation rows may go beyond the others
    protonam_message_extrapolation = function(m) invokeRestart("muffleMessage")
  )
  links <- lapply(seq_along(fit$members), function(m) {
    visible_link(fit, engine_link(fit, new$data, new$unknown, threads, members = m), new$task, fit$offset_values)
  })
  gap <- abs(Reduce(`+`, links) / length(links) - fit$fitted)
  if (max(gap, na.rm = TRUE) > 1e-3 * max(1, stats::sd(fit$fitted, na.rm = TRUE))) {
    pn_abort("The data are not those of the fit: its predictions for them differ.", class = "data", arg = "data")
  }
  links
}
