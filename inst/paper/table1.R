# What both columns of table 1 share: which models are wanted, and the published numbers beside them. Sourced after the
# others.

own_names <- c("1" = "ProtoNAM", "2" = "ProtoNA2M", "Inf" = "ProtoNAnM")

# The models that --models and --orders ask for, as rows: which, order (of this package's), model (its name in the
# table).
wanted_models <- function(arguments) {
  rows <- lapply(arguments$models, function(which) {
    if (which == "protonam") {
      return(data.frame(which = which, order = arguments$orders, model = own_names[as.character(arguments$orders)]))
    }
    if (which == "nam") {
      return(data.frame(which = which, order = 1, model = "NAM"))
    }
    if (baseline_there(which)) data.frame(which = which, order = NA, model = baselines[[which]]$model)
  })
  do.call(rbind, rows)
}

# Adds the published rows, which no run changes, and prints the table.
finish_table1 <- function(arguments, name, data) {
  file <- result_file(arguments, name)
  measured <- read_result(file, "model")
  numbers <- published("table1", data)
  paper <- measured[rep(NA_integer_, nrow(numbers)), ]
  paper[c("model", "metric", "value", "spread")] <- numbers[c("model", "metric", "value", "spread")]
  paper$source <- "published"
  paper$kind <- "mean"
  write_table(rbind(measured, paper), file)

  single <- measured[measured$kind == "one model", ]
  summary <- do.call(rbind, lapply(numbers$model, function(model) {
    value <- single$value[single$model == model]
    data.frame(
      model = model, measured = if (length(value)) sprintf("%.4f", mean(value)) else "",
      sd = if (length(value) > 1L) sprintf("%.4f", stats::sd(value)) else "", runs = length(value),
      published = numbers$value[numbers$model == model]
    )
  }))
  print(summary, row.names = FALSE)
  cat("written to", file, "\n")
}
