# The space from which a random search draws its settings.

#' Ranges for a random search
#'
#' Settings and the values that [tune_protonam()] may draw for them. The defaults are the ranges of the ProtoNAM paper.
#' The result is a list that can be changed: `space$lr <- search_range(1e-4, 1e-2)`; `space$norm <- NULL` leaves a
#' setting as it is in `control`.
#'
#' @param prototypes,layers,predictor_layers,hidden,batch_size,epochs,norm Values to choose from.
#' @param lr,weight_decay,dropout,dropout_output,output_penalty Ranges, from `search_range()`, or values to choose from.
#' @param ... Further settings of [protonam_control()], such as `scaling = c("quantile", "minmax")`.
#' @param from,to Ends of a range. Draws for integer settings are rounded.
#' @param log Draw uniformly on the log scale?
#' @param zero Probability of 0 instead of a draw from the range. The default space uses it for dropout: fits without
#'   dropout compute equal values only once and are many times faster, and most of the published settings have none.
#' @return `protonam_space()`: a list of class `protonam_space`. `search_range()`: one of its elements.
#' @examples
#' space <- protonam_space(epochs = 100, lr = search_range(1e-4, 1e-2))
#' space$dropout <- NULL
#' space
#' @export
protonam_space <- function(prototypes = 2^(0:7), layers = 1:4, predictor_layers = 1:2, hidden = c(32, 64),
                           batch_size = c(512, 1024, 2048), epochs = c(200, 500, 1000),
                           lr = search_range(1e-6, 1e-1), weight_decay = search_range(1e-8, 1e-1),
                           dropout = search_range(0, 0.5, log = FALSE, zero = 0.75),
                           dropout_output = search_range(0, 0.3, log = FALSE, zero = 0.75),
                           output_penalty = search_range(1e-5, 1e-1), norm = c("layer", "batch"), ...) {
  space <- list(
    prototypes = prototypes, layers = layers, predictor_layers = predictor_layers, hidden = hidden,
    batch_size = batch_size, epochs = epochs, lr = lr, weight_decay = weight_decay, dropout = dropout,
    dropout_output = dropout_output, output_penalty = output_penalty, norm = norm, ...
  )
  check_space(Filter(Negate(is.null), space))
}

#' @rdname protonam_space
#' @export
search_range <- function(from, to, log = TRUE, zero = 0) {
  log <- check_flag(log, "log")
  zero <- check_number(zero, "zero", min = 0, below = 1)
  from <- check_number(from, "from")
  to <- check_number(to, "to", min = from)
  if (log && from <= 0) {
    pn_abort("{.arg from} must be above 0 on the log scale, not {from}; or use {.code log = FALSE}.",
      class = "argument", arg = "from"
    )
  }
  structure(list(from = from, to = to, log = log, zero = zero), class = "protonam_range")
}

#' Every element must be a setting with values that protonam_control() takes
#' @noRd
check_space <- function(space) {
  if (!is.list(space) || !length(space)) {
    pn_abort("{.arg space} must come from {.fn protonam_space}, not be {describe(space)}.",
      class = "argument", arg = "space"
    )
  }
  known <- names(formals(protonam_control))
  names <- names(space) %||% rep("", length(space))
  if (any(names == "")) {
    pn_abort("Elements of {.arg space} need names, as in {.code epochs = 100}.", class = "argument", arg = "space")
  }
  for (name in unique(names[!names %in% known])) {
    pn_abort(
      c("{.arg space} has an unknown setting {.val {name}}.", suggest(name, known)),
      class = "unknown_setting", arg = "space"
    )
  }
  for (name in names) check_candidates(space[[name]], name)
  class(space) <- "protonam_space"
  space
}

#' Values, or the ends of a range, go through protonam_control()
#' @noRd
check_candidates <- function(values, name) {
  range <- inherits(values, "protonam_range")
  if (!range && (!is.atomic(values) || !length(values))) {
    pn_abort("{.arg space}: {.field {name}} must be values to choose from or a {.fn search_range}.",
      class = "argument", arg = "space"
    )
  }
  tried <- if (range) c(values$from, values$to, if (values$zero > 0) 0) else as.list(values)
  for (value in tried) do.call(protonam_control, stats::setNames(list(value), name))
}

whole_settings <- c(
  "prototypes", "layers", "predictor_layers", "hidden", "batch_size", "epochs", "bins", "interaction_bins"
)

#' The settings of one trial; they depend only on seed and trial number, and the draw of one setting not on the range of
#' another
#' @noRd
draw_settings <- function(space, seed, trial) {
  known <- names(formals(protonam_control))
  draws <- with_seed(member_seed(seed, trial), stats::setNames(stats::runif(length(known)), known))
  stats::setNames(lapply(names(space), function(name) {
    values <- space[[name]]
    draw <- draws[[name]]
    if (!inherits(values, "protonam_range")) {
      return(values[[1L + floor(draw * length(values))]])
    }
    if (draw < values$zero) {
      return(0)
    }
    draw <- (draw - values$zero) / (1 - values$zero)
    value <- if (values$log) {
      exp(log(values$from) + draw * (log(values$to) - log(values$from)))
    } else {
      values$from + draw * (values$to - values$from)
    }
    if (name %in% whole_settings) round(value) else signif(value, 3L)
  }), names(space))
}

#' @export
print.protonam_space <- function(x, ...) {
  shown <- vapply(unclass(x), function(values) {
    if (inherits(values, "protonam_range")) {
      sprintf(
        "%s to %s%s%s", format(values$from), format(values$to), if (values$log) ", log scale" else "",
        if (values$zero > 0) sprintf("; 0 with probability %s", format(values$zero)) else ""
      )
    } else {
      paste(format(values, trim = TRUE), collapse = ", ")
    }
  }, "")
  cat("Random search over\n")
  cat(paste0("  ", format(names(x)), "  ", shown, "\n"), sep = "")
  invisible(x)
}
