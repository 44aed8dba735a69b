# Settings of a fit: checked here, completed by resolve_control() once the number of training rows is known.

#' Settings of a fit
#'
#' All settings can also be given to [protonam()] directly: `protonam(y ~ ., d, epochs = 100)`.
#'
#' @section Defaults: A setting that is not given adapts to the number of training rows `n` (excluding validation rows),
#' so that training is sensible with 200 rows as well as with 200,000. What matters is the number of optimiser steps: it
#' increases with the number of rows, because more steps would only overfit small data sets.
#'
#' The default fit (`procedure = "crossfit"`) distinguishes two cases. Data are *clean* if they have at least 8000 rows,
#' the smooth layer alone explains more than 60 % of the loss and, with `order = 1`, a larger network predicts left-out
#' rows better than the usual one, by more than two standard errors; these receive the larger network, more steps and a
#' weaker penalty on variation. All other data are *noisy*.
#'
#' | | noisy | clean |
#' |---|---|---|
#' | `prototypes`, `layers`, `hidden` | 16, 2, 32 | 32, 4, 64 |
#' | steps | `1200 * sqrt(n / 4000)`, from 400 to 4000 | 7000; 2400 for `order = 2` and higher |
#' | `batch_size`, at most | 1024 | 2048, or the power of two nearest to `n / 128` if that is larger, up to 16,384 |
#' | `weight_decay` | 0.01 | 0.001 |
#' | `variation` | 0.3 | 0.1 or 0.03, whichever has the smaller loss on left-out rows |
#'
#' Without a smooth layer (`base = "none"`) the settings for clean data apply from 8000 rows on.
#'
#' Fits by the paper's procedure have 32 prototypes, 4 layers and 64 hidden units; `7000 * sqrt(n / 14000)` steps, from
#' 700 to 7000; batches of at most 2048, or of the power of two nearest to `n / 128` if that is larger, up to 16,384; a
#' `weight_decay` of 0.01 below 5000 rows and of 0.001 from there on.
#'
#' Common to all:
#'
#' * `batch_size`: the power of two nearest to `n / 8`, at least 32, at most as above, and never more than `n`;
#' * `epochs`: as many as are needed for these steps, at least 40 and at most 1000;
#' * `lr`: 0.001; in the default procedure with `order = 1` and noisy data 2.4 divided by the number of steps, at most
#'   0.004, so that short runs take longer steps;
#' * `output_penalty`: 0.001;
#' * `tau`: 16, but no more than `epochs / 16`, so that the temperature falls completely even in a short run.
#'
#' The values used are stored in `fit$control`.
#'
#' @param prototypes Prototypes per feature and layer. `NULL`, as for all settings below: see Defaults.
#' @param layers Encoder layers. The first `m` layers give the `m`-th cumulative prediction.
#' @param predictor_layers Number of layers, 1 or 2, of the predictor shared by all components.
#' @param hidden Hidden units.
#' @param epochs,batch_size,lr,weight_decay,output_penalty Number of passes over the data, rows per step, initial
#'   learning rate (with cosine decay), decoupled weight decay, and penalty on the squared outputs of the components. If
#'   `epochs` is given, it applies to the members; the screening uses half as many.
#' @param dropout,dropout_output Probability of dropping a hidden unit, and of dropping a component's output. Available
#'   for `procedure = "paper"` and for higher orders; they cannot be combined with the penalty on variation.
#' @param norm `"layer"` or `"batch"` normalisation in the encoders.
#' @param base Layer 0, below the prototypes: `"smooth"` for splines and random effects, `"linear"` for straight lines
#'   and random effects, `"none"` for prototype layers alone, as in the paper. With `order = 2` and `order = Inf`,
#'   unless `base` is given, the loss on left-out rows decides between members with `"smooth"` and members with
#'   `"none"`: in clean data, interactions can be fitted better without it. Other orders have no layer 0.
#' @param prototypes_for Which features may have prototypes on top of the smooth layer: `NULL` for those for which the
#'   screening finds evidence, `TRUE` for all numeric and ordered features, a vector of names for these features,
#'   `FALSE` for none. Unordered factors and columns with two values never have prototypes: the smooth layer fits their
#'   levels freely.
#' @param variation Strength of the penalty on the variation of the prototype layers, as a multiple of the sampling
#'   variability of the loss (the standard deviation of the score divided by the square root of the number of rows). The
#'   penalty is concave in the height of a step. 0 means no penalty.
#' @param procedure `"crossfit"` for the procedure of this package, see [protonam()]; `"paper"` for the published one: a
#'   single model, whose best epoch is determined by validation rows.
#' @param tau How slowly the temperature of the prototypes falls: at epoch `e` of `E` it is
#'   `1 / (1 + exp((e - E/2) / tau))`.
#' @param scaling How columns are scaled: `"quantile"` to normal scores (robust, the default), `"minmax"` to 0..1, or
#'   `"none"`.
#' @param bins Maximum number of representative values of a numeric column; `NULL` for exact values. Columns with no
#'   more distinct values than that are always exact. If not given, it is 1024 in the default fit and 256 with
#'   `procedure = "paper"`, which makes training on many rows several times faster and changed the test scores of order
#'   1 by less than 0.2 % (`inst/benchmarks/bins_default.R`). New values are mapped to the same representatives.
#' @param patience For `procedure = "paper"`: stop when the validation score has not improved for this many epochs.
#'   Training never stops before the temperature has fallen.
#' @param hierarchical Train the cumulative predictions of all layers (`TRUE`), or only the last one (`FALSE`)?
#' @param use_prototypes `FALSE` passes values to the encoders unchanged.
#' @param scale_response Standardise a numeric response internally? Predictions are always in the original units.
#' @param interaction_bins For `order = 2`: maximum number of bins per feature in the tables that separate main effects
#'   from interactions; see [purification]. Unless given, it is reduced when there are few rows.
#'
#' @return A list of class `protonam_control`.
#' @seealso [paper_control()] for the published settings.
#' @examples
#' protonam_control(prototypes = 16, epochs = 100)
#' @export
protonam_control <- function(prototypes = NULL, layers = NULL, predictor_layers = 2, hidden = NULL, epochs = NULL,
                             batch_size = NULL, lr = NULL, weight_decay = NULL, dropout = 0, dropout_output = 0,
                             output_penalty = NULL, norm = c("layer", "batch"), base = c("smooth", "linear", "none"),
                             prototypes_for = NULL, variation = NULL, procedure = c("crossfit", "paper"), tau = 16,
                             scaling = c("quantile", "minmax", "none"), bins = 256, patience = Inf,
                             hierarchical = TRUE, use_prototypes = TRUE, scale_response = TRUE,
                             interaction_bins = 64) {
  optional <- function(x, ...) if (!is.null(x)) check_number(x, ...)
  control <- list(
    prototypes = optional(prototypes, "prototypes", min = 1, max = 1e5, whole = TRUE),
    layers = optional(layers, "layers", min = 1, max = 100, whole = TRUE),
    predictor_layers = check_number(predictor_layers, "predictor_layers", min = 1, max = 2, whole = TRUE),
    hidden = optional(hidden, "hidden", min = 1, max = 1e5, whole = TRUE),
    epochs = optional(epochs, "epochs", min = 1, max = 1e8, whole = TRUE),
    batch_size = optional(batch_size, "batch_size", min = 1, whole = TRUE),
    lr = optional(lr, "lr", above = 0),
    weight_decay = optional(weight_decay, "weight_decay", min = 0),
    dropout = check_number(dropout, "dropout", min = 0, below = 1),
    dropout_output = check_number(dropout_output, "dropout_output", min = 0, below = 1),
    output_penalty = optional(output_penalty, "output_penalty", min = 0, max = 1e9),
    norm = check_choice(norm, c("layer", "batch"), "norm"),
    base = check_choice(base, c("smooth", "linear", "none"), "base"),
    prototypes_for = prototypes_for,
    variation = optional(variation, "variation", min = 0),
    procedure = check_choice(procedure, c("crossfit", "paper"), "procedure"),
    tau = check_number(tau, "tau", above = 0),
    scaling = check_choice(scaling, c("quantile", "minmax", "none"), "scaling"),
    bins = optional(bins, "bins", min = 2, max = 65536, whole = TRUE),
    patience = check_number(patience, "patience", min = 1, infinite = TRUE),
    hierarchical = check_flag(hierarchical, "hierarchical"),
    use_prototypes = check_flag(use_prototypes, "use_prototypes"),
    scale_response = check_flag(scale_response, "scale_response"),
    interaction_bins = check_number(interaction_bins, "interaction_bins", min = 2, max = 1024, whole = TRUE)
  )
  # which settings were given: the others may adapt to the data, and updates keep the given ones
  structure(control, class = "protonam_control", given = names(match.call())[-1L])
}

#' The published settings
#'
#' Hyperparameters, scaling and response of the ProtoNAM paper (Xiong, Sinha and Zhang, 2024) for its four data sets,
#' and its procedure: a single model without a smooth layer, whose best epoch is chosen by its score on validation rows.
#' How the default of this package differs is described in [protonam()] and in the vignette *What the package does
#' differently from the paper, and why*.
#'
#' @param data Which data set: `"housing"`, `"mimic2"`, `"mimic3"` or `"income"`.
#' @param order 1, 2 or `Inf`.
#' @return A list of class `protonam_control`, see [protonam_control()].
#' @examples
#' paper_control("housing", order = 2)
#' @export
paper_control <- function(data = c("housing", "mimic2", "mimic3", "income"), order = 1) {
  data <- check_choice(data, c("housing", "mimic2", "mimic3", "income"), "data")
  order <- check_number(order, "order", min = 1, whole = TRUE, infinite = TRUE)
  row <- which(paper_settings$data == data & paper_settings$order == order)
  if (!length(row)) {
    pn_abort("The paper has settings for {.arg order} 1, 2 and Inf, not {order}.", class = "argument", arg = "order")
  }
  settings <- as.list(paper_settings[row, setdiff(names(paper_settings), c("order", "data"))])
  housing <- data == "housing"
  do.call(protonam_control, c(settings, list(
    hidden = 64, tau = default_tau(), scaling = if (housing) "minmax" else "quantile", bins = NULL,
    scale_response = !housing,
    base = "none", procedure = "paper"
  )))
}

paper_settings <- stats::setNames(
  utils::read.table(text = "
    1    housing  32  4  2  2048  1000  2e-4  1e-3  0    0    1e-3  layer
    1    mimic2   64  4  2  2048  1000  1e-3  1e-1  0.4  0.1  1e-2  layer
    1    mimic3    1  1  1  2048   200  5e-2  1e-8  0    0    1e-5  batch
    1    income   32  4  2  2048  1000  1e-3  1e-2  0    0    1e-2  layer
    2    housing  32  4  2  2048  1000  2e-3  1e-3  0    0    1e-2  layer
    2    mimic2   64  4  2  2048  1000  4e-3  5e-3  0.5  0    5e-2  layer
    2    mimic3   16  4  2   512   500  1e-2  5e-2  0.4  0    1e-2  layer
    2    income   32  4  2  2048  1000  2e-4  8e-3  0    0    1e-3  layer
    Inf  housing  32  4  2  2048  1000  2e-4  1e-3  0    0    1e-2  layer
    Inf  mimic2   64  4  2  2048  1000  1e-4  1e-2  0.5  0    1e-3  layer
    Inf  mimic3   64  4  2  1024   500  1e-4  1e-3  0.5  0    1e-4  layer
    Inf  income   32  4  2  2048  1000  1e-5  5e-2  0    0    4e-4  layer
  "),
  c(
    "order", "data", "prototypes", "layers", "predictor_layers", "batch_size", "epochs", "lr", "weight_decay",
    "dropout", "dropout_output", "output_penalty", "norm"
  )
)

#' Settings of the paper's procedure that adapt to the data, see section Defaults of ?protonam_control
#' @param n Training rows.
#' @noRd
default_settings <- function(n, batch_size = NULL) {
  # with very many rows a larger batch costs little more: most of its values occur in it several times
  most <- min(max(2048, power_of_two(n / 128)), 16384)
  batch <- batch_size %||% min(max(power_of_two(n / 8), 32), most)
  steps <- min(max(7000 * sqrt(n / 14000), 700), 7000)
  list(
    prototypes = 32, layers = 4, hidden = 64, batch_size = batch, epochs = epochs_for(steps, n, batch), lr = 1e-3,
    weight_decay = if (n < 5000) 1e-2 else 1e-3, output_penalty = 1e-3
  )
}

#' The same for the procedure of this package
#'
#' @param explained Share of the loss that layer 0 explains: many rows with little noise call for a larger network, more
#'   steps and a weaker penalty.
#' @noRd
own_settings <- function(n, explained, batch_size = NULL, pairs = FALSE) {
  clean <- explained > clean_share && n >= clean_rows
  most <- if (clean) max(2048, power_of_two(n / 128)) else 1024
  batch <- batch_size %||% min(max(power_of_two(n / 8), 32), most, 16384)
  steps <- if (clean) if (pairs) 2400 else 7000 else min(max(1200 * sqrt(n / 4000), 400), 4000)
  list(
    prototypes = if (clean) 32 else 16, layers = if (clean) 4 else 2, hidden = if (clean) 64 else 32,
    batch_size = batch, epochs = epochs_for(steps, n, batch),
    # few steps must be longer ones, or jumps remain half formed
    lr = if (clean || pairs) 1e-3 else min(max(2.4 / steps, 1e-3), 4e-3),
    weight_decay = if (clean) 1e-3 else 1e-2, output_penalty = 1e-3, clean = clean
  )
}

found_settings <- "clean" # what a fit's control contains in addition to settings
clean_share <- 0.6
clean_rows <- 8000

power_of_two <- function(x) 2^round(log2(max(x, 1)))

epochs_for <- function(steps, n, batch) {
  per_epoch <- max(round(n / min(batch, n)), 1)
  min(max(ceiling(steps / per_epoch), 40), 1000)
}

#' Fill in the settings that adapt to the data
#' @noRd
resolve_control <- function(control, n) fill_control(control, default_settings(n, control$batch_size), n)

settle_control <- function(control, n, explained, pairs = FALSE) {
  fill_control(control, own_settings(n, explained, control$batch_size, pairs), n)
}

fill_control <- function(control, defaults, n) {
  for (name in names(defaults)) {
    if (is.null(control[[name]])) control[[name]] <- defaults[[name]]
  }
  control$batch_size <- min(control$batch_size, n)
  if (!"tau" %in% attr(control, "given")) control$tau <- short_tau(default_tau(), control$epochs)
  control
}

#' Reject settings with which nothing can be learned from any data
#' @param control From resolve_control().
#' @noRd
check_trainable <- function(control) {
  # a step multiplies the weights by 1 - lr * weight_decay; with lr of 1 or more, lr is to blame
  decay <- control$lr * control$weight_decay
  if (decay >= 1 && control$lr < 1) {
    pn_abort(
      c(
        "{.arg weight_decay} is {control$weight_decay}: with {.arg lr} {control$lr} nothing learned would remain.",
        i = "{.code lr * weight_decay} must be below 1, and is {signif(decay, 4)}; 0.01 is a usual {.arg weight_decay}."
      ),
      class = "argument", arg = "weight_decay"
    )
  }
  # two predictor layers have a layer norm between them
  if (control$hidden == 1 && (control$norm == "layer" || control$predictor_layers == 2)) {
    pn_abort(
      c(
        "{.arg hidden} must be at least 2: normalised over one unit, every value is the same.",
        i = "One unit suffices only with {.code norm = \"batch\"} and {.code predictor_layers = 1}."
      ),
      class = "argument", arg = "hidden"
    )
  }
  control
}

#' A control object from `control =` and further settings given by name
#'
#' @param others Argument names of the caller, for suggestions.
#' @noRd
merge_control <- function(control, dots, others = character()) {
  if (!is.list(control)) {
    pn_abort("{.arg control} must come from {.fn protonam_control}, not be {describe(control)}.",
      class = "argument", arg = "control"
    )
  }
  known <- names(formals(protonam_control))
  own <- inherits(control, "protonam_control")
  given <- if (own) attr(control, "given") else names(control)
  names <- if (own) setdiff(names(control), found_settings) else names(control)
  names <- c(names, names(dots) %||% rep("", length(dots)))
  if (any(names == "")) {
    pn_abort("Settings in {.arg ...} need names, as in {.code epochs = 100}.", class = "argument", arg = "...")
  }
  for (name in setdiff(names, known)) {
    pn_abort(
      c(
        "{.arg {name}} is neither an argument nor a setting.",
        suggest(name, c(known, others)) %||% c(i = "Settings are listed in {.code ?protonam_control}.")
      ),
      class = "unknown_setting", arg = name
    )
  }
  settings <- unclass(control)[setdiff(intersect(given, names(control)), found_settings)]
  settings[names(dots)] <- dots
  do.call(protonam_control, settings)
}

#' @export
print.protonam_control <- function(x, ...) {
  known <- names(formals(protonam_control))
  shown <- vapply(known, function(name) {
    value <- x[[name]]
    if (is.null(value)) {
      if (name == "bins") "none, exact values" else "adapts to the data"
    } else {
      paste(format(value, digits = 4L), collapse = ", ")
    }
  }, "")
  if (!"tau" %in% attr(x, "given") && is.null(x$epochs)) shown[["tau"]] <- paste0(default_tau(), ", less in short runs")
  if (x$procedure == "crossfit") shown[["bins"]] <- format(with_own_bins(x)$bins %||% shown[["bins"]])
  cat("Settings of a protonam fit\n")
  cat(paste0("  ", format(known), "  ", shown, "\n"), sep = "")
  invisible(x)
}

own_bins <- 1024 # of the default procedure: values that matter are not cut

with_own_bins <- function(control) {
  if (control$procedure == "crossfit" && !"bins" %in% attr(control, "given")) control$bins <- own_bins
  control
}

default_tau <- function() formals(protonam_control)$tau

#' The temperature must fall completely in a short run as well
#' @noRd
short_tau <- function(tau, epochs) min(tau, epochs / 16)
