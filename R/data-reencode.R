# Training columns through the encoders of an earlier fit, so that its parameters keep their meaning.

#' Encode a training column with a known encoder: levels, scaling and bins stay, what describes the rows is learned anew
#' @param counts Row weights as from as_counts(), or NULL.
#' @return As fit_encoder(), without centers.
#' @noRd
reencode <- function(encoder, x, counts) {
  encoded <- encode_column(encoder, x)
  name <- encoder$name
  if (encoded$infinite) abort_infinite(name, encoder$scaling$method)
  if (length(encoded$new_levels) || encoded$new_missing) {
    new <- if (length(encoded$new_levels)) some(encoded$new_levels) else "missing values"
    pn_abort(
      c(
        "{.field {name}} has {new}, for which {.arg start} has no parameters.",
        i = "Fit a new model, without {.arg start}."
      ),
      class = "start", arg = "start"
    )
  }
  table <- column_table(x, encoder$type, name, counts, encoder$unit)
  levels <- encoder$levels
  # a missing level comes after the others
  number <- if (is.null(levels)) table$label else match(table$label, levels, nomatch = length(levels) + 1L) - 1
  order <- order(number, na.last = NA)
  feature <- encoded$feature
  index <- encoded_index(feature, length(x))
  weight <- numeric(length(feature$values))
  sums <- rowsum(counts %||% rep(1, length(index)), index)
  weight[as.integer(rownames(sums))] <- sums
  encoder$support <- thin_support(number[order], table$counts[order], sum(table$counts[is.na(table$label)]))
  encoder$typical <- typical_values(scale_values(encoder$scaling, number[order]), table$counts[order])
  list(encoder = encoder, feature = feature, counts = weight)
}

#' As encode_training(), with the encoders of an earlier fit
#' @noRd
reencode_training <- function(encoders, columns, train) {
  counts <- as_counts(train$weights)
  fitted <- unname(Map(function(encoder, x) reencode(encoder, train$columns(x), counts), encoders, columns))
  list(
    encoders = lapply(fitted, `[[`, "encoder"), features = lapply(fitted, `[[`, "feature"),
    counts = lapply(fitted, `[[`, "counts")
  )
}
