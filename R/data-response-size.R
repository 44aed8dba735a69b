# Numbers that the engine can represent: offsets and responses that are too large.

# Beyond these, squares (and sums of them) overflow or vanish: in doubles, and in the engine's single precision
largest_number <- 1e150

largest_single <- 1e18

# exp(80) is finite in single precision; a logit beyond 36 is a probability of 0 or 1 in doubles
widest_log_offset <- 80

largest_logit <- 36

#' Stop before training at an offset whose loss could not be computed
#' @noRd
check_offset_size <- function(family, offset) {
  if (is.null(offset)) {
    return(invisible())
  }
  if (max(abs(offset)) > largest_number) {
    pn_abort("{.arg offset} reaches {signif(max(abs(offset)), 3)}, which is too large.",
      class = "offset", arg = "offset"
    )
  }
  if (family == "poisson" && diff(range(offset)) > widest_log_offset) {
    pn_abort(
      c(
        "{.arg offset} ranges from {signif(min(offset), 4)} to {signif(max(offset), 4)} on the log scale.",
        i = "It may vary by at most {widest_log_offset}. Was its logarithm intended?"
      ),
      class = "offset", arg = "offset"
    )
  }
  if (family %in% c("binomial", "multinomial") && all(abs(offset) > largest_logit)) {
    pn_abort(
      c(
        "{.arg offset} is at least {signif(min(abs(offset)), 4)} in size in every row.",
        i = "On the logit scale this is a probability of 0 or 1, regardless of the features."
      ),
      class = "offset", arg = "offset"
    )
  }
}

#' Stop before training at a numeric response whose squares could not be computed
#' @param y,offset Of the rows used; offset may be NULL.
#' @noRd
check_response_size <- function(response, y, offset) {
  if (response$family$family != "gaussian") {
    return(invisible())
  }
  for (j in seq_len(ncol(y))) {
    rest <- range(y[, j] - (offset %||% 0), na.rm = TRUE)
    size <- if (max(abs(rest)) > largest_number) max(abs(rest)) else diff(rest)
    if (size > largest_number || (size > 0 && size < 1 / largest_number)) {
      name <- if (is.null(response$names)) response$name else response$names[j]
      less <- if (is.null(offset)) "" else ", less its offset,"
      what <- if (size > 1) "has values up to" else "varies by no more than"
      pn_abort(
        c(
          "The response {.field {name}}{less} {what} {signif(size, 3)}; its square is not a finite number above 0.",
          i = "Give it in other units, such as {.code {name} / {signif(size, 1)}}."
        ),
        class = "response", arg = name
      )
    }
  }
}
