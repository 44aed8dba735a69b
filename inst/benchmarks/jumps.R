# Are jumps found where they are, and none where there is none? Data with known curves (curves.R).
#
#   Rscript jumps.R --rows=4000 --seeds=1,2,3,4 --families=binomial,gaussian --curves=first,second,third
#
# Printed per set of curves and family, over the seeds, of jumps() and of those that hold:
#   found     share of the jumps of 0.8 or more (in absolute value) that have one within 2 % of the rows, in rank
#   screening share of them that are not found because their feature has no prototypes
#   smaller   share of the smaller jumps found
#   false     jumps per feature without a jump;  extra  further jumps per feature with one
#   distance  median distance in rank of those found
#   position, size  share of the 95 % intervals of those found that contain the truth
library(protonam)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "common.R"))
source(file.path(folder, "curves.R"))
arguments <- read_arguments(
  rows = 4000, seeds = 1:4, families = c("binomial", "gaussian"), curves = c("first", "second", "third"), threads = 2
)

near <- 0.02 # of the rows
large <- 0.8

one_fit <- function(set, family, seed) {
  data <- draw_response(set, draw_features(set, arguments$rows, seed), family)
  fit <- protonam(y ~ ., data, seed = 1, threads = arguments$threads, verbose = FALSE)
  list(jumps = as.data.frame(jumps(fit)), data = data, prototypes = attr(jumps(fit), "prototypes"))
}

# Each true jump with the nearest one found in its feature.
match_steps <- function(set, one, found) {
  rank <- function(term, x) mean(one$data[[term]] <= x)
  steps <- set$steps
  steps$at <- mapply(rank, steps$term, steps$position)
  parts <- lapply(seq_len(nrow(steps)), function(k) {
    own <- found[found$term == steps$term[k], ]
    distance <- abs(vapply(own$position, rank, 0, term = steps$term[k]) - steps$at[k])
    best <- which.min(distance)
    hit <- length(best) == 1L && distance[best] <= near
    inside <- function(low, high, truth) if (hit) own[[low]][best] <= truth && truth <= own[[high]][best] else NA
    data.frame(
      steps[k, ], hit = hit, screened = steps$term[k] %in% one$prototypes, distance = if (hit) distance[best] else NA,
      in_position = inside("lower", "upper", steps$position[k]),
      in_size = inside("size_lower", "size_upper", steps$size[k])
    )
  })
  do.call(rbind, parts)
}

summarise <- function(set, fits, only_held) {
  each <- lapply(fits, function(one) if (only_held) one$jumps[one$jumps$holds, ] else one$jumps)
  matched <- do.call(rbind, Map(function(one, found) match_steps(set, one, found), fits, each))
  big <- abs(matched$size) >= large
  jumping <- unique(set$steps$term)
  others <- setdiff(names(set$shapes), jumping)
  number <- sum(vapply(each, function(found) sum(found$term %in% jumping), 0L))
  c(
    found = mean(matched$hit[big]), screening = mean(!matched$screened[big]),
    smaller = if (all(big)) NA else mean(matched$hit[!big]),
    false = sum(vapply(each, function(found) sum(found$term %in% others), 0L)) / (length(others) * length(fits)),
    extra = max(number - sum(matched$hit), 0) / (length(jumping) * length(fits)),
    distance = stats::median(matched$distance, na.rm = TRUE), position = mean(matched$in_position, na.rm = TRUE),
    size = mean(matched$in_size, na.rm = TRUE)
  )
}

describe_machine(arguments$threads)
cat("rows", arguments$rows, "; seeds", arguments$seeds, "\n")
for (name in arguments$curves) {
  for (family in arguments$families) {
    set <- curve_sets[[name]]
    fits <- lapply(arguments$seeds, function(seed) one_fit(set, family, seed))
    cat("\n", name, " curves, ", family, "\n", sep = "")
    print(round(rbind(listed = summarise(set, fits, FALSE), held = summarise(set, fits, TRUE)), 3L))
  }
}
