# The figures of README.md: Rscript inst/scripts/readme_figures.R [folder, man/figures by default]
# Needs the installed package; takes about a minute.

library(protonam)

folder <- c(commandArgs(trailingOnly = TRUE), file.path("man", "figures"))[1L]
dir.create(folder, recursive = TRUE, showWarnings = FALSE)

# R writes the time into no PNG, so the same fit gives the same file
figure <- function(name, width, height, code) {
  file <- file.path(folder, paste0("README-", name, ".png"))
  grDevices::png(file, width, height, units = "in", res = 150, type = "cairo")
  on.exit(grDevices::dev.off())
  force(code)
  message(file)
}

icu <- simulate_icu(20000, seed = 1)
labels <- c(
  age = "Age (years)", systolic_bp = "Systolic blood pressure (mmHg)", glucose = "Glucose (mg/dl)",
  lactate = "Lactate (mmol/l)", frailty = "Frailty", temperature = "Temperature (\u00b0C)"
)

fit <- protonam(died ~ ., data = icu, seed = 1, verbose = FALSE)
print(fit)
shown <- c("systolic_bp", "glucose", "age", "temperature", "lactate", "frailty")
figure("shapes", 8.5, 5, plot(fit, terms = shown, labels = labels))
figure("contributions", 8.5, 4.5, plot(contributions(fit, icu[c(7, 12), ])))
