# The figures of Longitude: the shape function with the band of the ensemble, what each layer adds, by number of
# prototypes, and without prototypes.
#
#   Rscript figure_longitude.R housing.csv.gz
# --parts: any of overall, layers, prototypes, without; --ensemble: models of the first two; --each: models of every
# case of the other two, as in the ablations, with --bins (0 for exact values). Writes figure_longitude.png and the same
# with _layers, _prototypes and _without; published: a peak near -118.5, jumps near -122.5 and -117.7.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "figures.R")) source(file.path(here, file))
known <- c("overall", "layers", "prototypes", "without")
arguments <- paper_arguments(parts = known, ensemble = 10, each = 3, bins = 256)
check_among(arguments, "parts", known)
check_whole(arguments, "ensemble", 1)
check_whole(arguments, "each", 1)
check_whole(arguments, "bins", 0)
names <- c(overall = "figure_longitude", stats::setNames(paste0("figure_longitude_", known[-1L]), known[-1L]))
claim_files(arguments, figure_files(names[arguments$parts]))

if (any(c("overall", "layers") %in% arguments$parts)) {
  kept <- housing_models(arguments, 1, arguments$ensemble)
}
if ("overall" %in% arguments$parts) {
  save_figure(arguments, names[["overall"]], list(kept), 9, 5, plot(kept$fit, "Longitude"))
}
if ("layers" %in% arguments$parts) {
  save_figure(arguments, names[["layers"]], list(kept), 9, 3.6, plot(kept$fit, "Longitude", layers = TRUE))
}

# fits side by side, the same scale of effects in all panels
draw_beside <- function(part, fits) {
  curves <- lapply(fits, function(one) shapes(one$fit, "Longitude"))
  save_figure(arguments, names[[part]], fits, 9, 3.6, plot(stack_shapes(curves, panels = TRUE)))
}
few <- utils::modifyList(arguments, list(ensemble = arguments$each))
if ("prototypes" %in% arguments$parts) {
  draw_beside("prototypes", list(
    "8 prototypes" = grid_models(few, 4, 8), "32 prototypes" = grid_models(few, 4, 32),
    "128 prototypes" = grid_models(few, 4, 128)
  ))
}
if ("without" %in% arguments$parts) {
  draw_beside("without", list(
    "with prototypes" = component_models(few, 1, "none"), "without prototypes" = component_models(few, 1, "prototypes")
  ))
}
