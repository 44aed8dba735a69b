# All shape functions of Housing, with the band of the ensemble, over the middle 99 % of the block groups.
#
#   Rscript figure_housing.R housing.csv.gz
# --ensemble: models, which differ in their seed. Writes figure_housing.png.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "figures.R")) source(file.path(here, file))
arguments <- paper_arguments(ensemble = 10)
check_whole(arguments, "ensemble", 1)
claim_files(arguments, figure_files("figure_housing"))

train <- housing_parts(arguments)$train
kept <- housing_models(arguments, 1, arguments$ensemble)
curves <- trim_shapes(shapes(kept$fit), train)
save_figure(arguments, "figure_housing", list(kept), 9.6, 6.4, plot(curves))
