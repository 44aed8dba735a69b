# Rscript flchain_demo.R [FOLDER]
#
# A mortality model from data to figures: 7,874 residents of Olmsted County, their free light chains, and whether they
# died during follow-up (survival::flchain). Creatinine is missing for 1,350 of them; no row is dropped.
# Writes shapes.png, importance.png and history.png into FOLDER (default: protonam_demo).

library(protonam)

arguments <- commandArgs(trailingOnly = TRUE)
folder <- if (length(arguments)) arguments[1L] else "protonam_demo"
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
started <- proc.time()[["elapsed"]]

people <- survival::flchain
people$death <- factor(people$death, levels = 0:1, labels = c("alive", "dead"))
people$mgus <- people$mgus == 1
model <- death ~ age + sex + sample.yr + kappa + lambda + flc.grp + creatinine + mgus

# The fit reports out-of-fold scores. A quarter is kept aside as well, to see whether these can be believed.
set.seed(1)
test <- sample(nrow(people), nrow(people) %/% 4)
fit <- protonam(model, data = people[-test, ], seed = 1, verbose = TRUE)

print(fit)
print(summary(fit))

# The area under the ROC curve: how often a person who died was given the higher risk.
auc <- function(risk, event) {
  (mean(rank(risk)[event]) - (sum(event) + 1) / 2) / sum(!event)
}
risk <- predict(fit, people[test, ])
cat(sprintf("\nAUC on %d people not used in training: %.3f\n", length(test), auc(risk, people$death[test] == "dead")))

figure <- function(name, ..., width = 2000, height = 1200) {
  file <- file.path(folder, name)
  type <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
  grDevices::png(file, width = width, height = height, res = 160, type = type)
  on.exit(grDevices::dev.off())
  plot(fit, ...)
  cat("Wrote", file, "\n")
}
figure("shapes.png", which = "shapes")
figure("importance.png", which = "importance", width = 1200, height = 800)
# there is no training history where all shapes are smooth
if (any(summary(fit)$effects$prototypes)) figure("history.png", which = "history", width = 1600, height = 800)

cat(sprintf("Fit, summary and figures took %.0f s\n", proc.time()[["elapsed"]] - started))
