# The interaction of Longitude and Latitude in the model of order 2: as a heat map and as the paper's coloured scatter,
# alone (what the two main effects do not explain) and jointly with the main effects (as the paper draws it).
#
#   Rscript figure_interaction.R housing.csv.gz
# --ensemble: models, which differ in their seed; --bins: 0 for exact values. Writes figure_interaction.png and
# figure_interaction_scatter.png.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "figures.R")) source(file.path(here, file))
arguments <- paper_arguments(ensemble = 10, bins = 0)
check_whole(arguments, "ensemble", 1)
check_whole(arguments, "bins", 0)
files <- c(heat = "figure_interaction", scatter = "figure_interaction_scatter")
claim_files(arguments, figure_files(files))

kept <- do.call(housing_models, c(list(arguments, 2, arguments$ensemble), bins_change(arguments)))
pure <- shapes(kept$fit, "Longitude:Latitude")
# longitude across, as on a map
if (startsWith(pure$term[1L], "Latitude")) {
  pure$term <- "Longitude:Latitude"
  pure[c("x", "y")] <- pure[c("y", "x")]
}
grid <- list(Longitude = sort(unique(pure$x)), Latitude = sort(unique(pure$y)))
main <- shapes(kept$fit, names(grid), points = grid)
effect_at <- function(name, value) {
  rows <- main[main$term == name, ]
  rows$effect[match(value, rows$x)]
}
# heat maps have no room for bands, and a note on bands would puzzle
pure[c("lower", "upper")] <- NA_real_
joint <- pure
joint$effect <- pure$effect + effect_at("Longitude", pure$x) + effect_at("Latitude", pure$y)
both <- stack_shapes(list("interaction" = pure, "joint effect" = joint))
for (style in names(files)) {
  save_figure(arguments, files[[style]], list(kept), 9.4, 4.6, plot(both, style = style, rug = FALSE))
}
