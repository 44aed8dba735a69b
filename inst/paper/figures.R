# What the paper's figures share. Sourced after common.R and models.R.
#
# All curves come from shapes() and are drawn by plot(); the functions here cut them to the range of most rows and put
# those of several fits side by side.

# Draws into <name>.png and writes <name>.txt beside it, which says where the figure comes from. `kept`: the kept fits.
save_figure <- function(arguments, name, kept, width, height, code) {
  dir.create(arguments$results, recursive = TRUE, showWarnings = FALSE)
  file <- result_file(arguments, paste0(name, ".png"))
  grDevices::png(file, width, height, units = "in", res = 150, type = "cairo")
  tryCatch(force(code), finally = grDevices::dev.off())
  write_origin(arguments, name, kept)
  cat("written to", file, "\n")
}

# Files of figures, to be claimed before anything is fitted.
figure_files <- function(names) c(paste0(names, ".png"), paste0(names, ".txt"))

# Curves within the middle 99 % of the training rows: a few block groups with 600 people per household would else leave
# no room for the others. The bars in the background are made anew.
trim_shapes <- function(shapes, data, share = 0.99) {
  facts <- attr(shapes, "terms")
  inside <- rep(TRUE, nrow(shapes))
  for (name in names(facts)[vapply(names(facts), function(name) is.numeric(data[[name]]), NA)]) {
    values <- data[[name]]
    ends <- unname(stats::quantile(values, c(1 - share, 1 + share) / 2, type = 1, na.rm = TRUE))
    # most values of CapitalGain are 0: the ends of the data are then the better ones
    if (ends[1L] == ends[2L]) next
    inside[shapes$term == name & !is.na(shapes$x) & (shapes$x < ends[1L] | shapes$x > ends[2L])] <- FALSE
    count <- table(values[values >= ends[1L] & values <= ends[2L]])
    facts[[name]]$range <- ends
    facts[[name]]$density <- protonam:::density_table(as.numeric(names(count)), as.vector(count))
  }
  out <- shapes[inside, ]
  attr(out, "terms") <- facts
  out
}

# Shapes of the same terms from several sources, a named list: as curves in one panel, or (for a single term) as panels.
stack_shapes <- function(sources, panels = FALSE) {
  parts <- Map(function(shapes, label) {
    rows <- as.data.frame(unclass(shapes), stringsAsFactors = FALSE)
    if (panels) rows$term <- label else rows$task <- label
    rows
  }, sources, names(sources))
  out <- do.call(rbind, unname(parts))
  for (name in setdiff(names(attributes(sources[[1L]])), c("names", "row.names"))) {
    attr(out, name) <- attr(sources[[1L]], name)
  }
  if (panels) {
    attr(out, "terms") <- stats::setNames(lapply(sources, function(one) attr(one, "terms")[[1L]]), names(sources))
    strength <- unlist(lapply(sources, function(one) unname(attr(one, "importance")[1L])))
    attr(out, "importance") <- stats::setNames(strength, names(sources))
  }
  out
}
