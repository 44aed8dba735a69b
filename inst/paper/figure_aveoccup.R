# The figure of AveOccup: how far the shape function depends on the seed, one curve for each of ten models.
#
#   Rscript figure_aveoccup.R housing.csv.gz
# --ensemble: models, which differ in their seed. Writes figure_aveoccup.png.
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("common.R", "models.R", "figures.R")) source(file.path(here, file))
arguments <- paper_arguments(ensemble = 10)
check_whole(arguments, "ensemble", 2)
claim_files(arguments, figure_files("figure_aveoccup"))

train <- housing_parts(arguments)$train
kept <- housing_models(arguments, 1, arguments$ensemble)
models <- seq_along(kept$fit$members)
curves <- lapply(models, function(m) trim_shapes(shapes(some_members(kept$fit, m), "AveOccup"), train))
names(curves) <- paste("model", models)
save_figure(arguments, "figure_aveoccup", list(kept), 9, 5, {
  plot(stack_shapes(curves), labels = c(AveOccup = "AveOccup (middle 99 % of block groups)"))
})
