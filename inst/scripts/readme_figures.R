# Rscript inst/scripts/readme_figures.R: makes man/figures/README-shapes.png, the picture in README.md.
# Run from the package's folder with protonam installed; takes about a minute.

library(protonam)

icu <- simulate_icu(20000, seed = 1)
fit <- protonam(died ~ ., data = icu, ensemble = 5, seed = 1, verbose = TRUE)

dir.create("man/figures", recursive = TRUE, showWarnings = FALSE)
grDevices::png("man/figures/README-shapes.png", width = 2100, height = 1150, res = 170, type = "cairo")
plot(fit, terms = c("systolic_bp", "glucose", "age", "lactate", "temperature", "admission_type"))
grDevices::dev.off()
