# The response: family, classes, several responses, standardisation.
#
# A response is a list:
#   family   a stats family object, or one like it for "multinomial"
#   name     what the formula or call calls it
#   names    names of the responses when there are several (task kind "response"), else NULL
#   levels   classes: c(other, event) for binomial, all classes for multinomial; a list of such pairs for several
#            responses; else NULL
#   center, scale   link = center + scale * engine's prediction, one value per response
# and, while fitting, `y`: a double matrix (0/1, class numbers from 0, or numbers), NA where unobserved.

#' A family from a name, a function or an object
#' @noRd
as_family <- function(family) {
  if (is.character(family) && length(family) == 1L) {
    if (identical(family, "multinomial")) {
      return(multinomial_family())
    }
    known <- c("gaussian", "binomial", "poisson", "multinomial")
    refuse_cox(family)
    refuse_if(
      !family %in% known, family, "family", "one of {.or {.val {known}}}", suggest(family, known), class = "family"
    )
    family <- getExportedValue("stats", family)
  }
  if (is.function(family)) family <- family()
  refuse_if(
    !inherits(family, "family"), family, "family", "a family such as {.code binomial()}",
    class = "family"
  )
  links <- c(gaussian = "identity", binomial = "logit", poisson = "log", multinomial = "logit")
  if (!family$family %in% names(links)) {
    pn_abort(
      "{.arg family} must be one of {.or {.val {names(links)}}}, not {.val {family$family}}.",
      class = "family", arg = "family"
    )
  }
  if (family$link != links[[family$family]]) {
    pn_abort(
      "The {family$family} family is fitted with the {links[[family$family]]} link, not with {.val {family$link}}.",
      class = "family", arg = "family"
    )
  }
  family
}

multinomial_family <- function() structure(list(family = "multinomial", link = "logit"), class = "family")

max_classes <- 100L

#' Read the response
#'
#' @param value A vector, factor, matrix, or list of columns.
#' @param family NULL to infer, or what as_family() takes.
#' @return A response list without center and scale.
#' @noRd
read_response <- function(value, name, family = NULL) {
  if (!is.null(family)) family <- as_family(family)
  if (is.list(value) && !inherits(value, "POSIXlt")) {
    columns <- as.list(value)
  } else if (is.matrix(value)) {
    columns <- lapply(seq_len(ncol(value)), function(j) value[, j])
    names(columns) <- colnames(value) %||% paste0(name, seq_len(ncol(value)))
    if (ncol(value) == 1L) names(columns) <- name
  } else {
    columns <- stats::setNames(list(value), name)
  }
  if (length(columns) == 1L) read_one_response(columns[[1L]], name, family) else read_responses(columns, name, family)
}

response_kind <- function(y) {
  if (is.factor(y) || is.character(y) || (is.logical(y) && !all(is.na(y)))) {
    "class"
  } else if ((is.numeric(y) || is.logical(y)) && !inherits(y, c("Date", "POSIXt", "difftime")) && is.null(dim(y))) {
    "number"
  } else {
    "other"
  }
}

read_one_response <- function(y, name, family) {
  kind <- response_kind(y)
  if (kind == "other") {
    pn_abort(
      "The response {.field {name}} must be numeric, logical, a factor or text, not {.cls {class(y)[1]}}.",
      class = "response", arg = name
    )
  }
  if (all(is.na(y)) && length(y)) {
    pn_abort("The response {.field {name}} has only missing values.", class = "no_rows", arg = name)
  }
  if (kind == "class") read_classes(y, name, family) else read_numbers(y, name, family)
}

read_classes <- function(y, name, family) {
  text <- is.character(y)
  if (text) y <- factor(y, levels = sort(unique(y), method = "radix"))
  if (is.logical(y)) y <- factor(y, levels = c(FALSE, TRUE))
  levels <- levels(y)
  y <- as.integer(y) - 1
  present <- tabulate(y + 1, length(levels)) > 0L
  if (sum(present) < 2L) {
    pn_abort(
      "The response {.field {name}} has only one class: {.val {levels[present]}}.",
      class = "one_class", arg = name
    )
  }
  if (!all(present)) {
    pn_inform(
      "No row has {.field {name}} {some(levels[!present])}: {cli::qty(sum(!present))}level{?s} dropped.",
      class = "empty_level"
    )
    y <- (cumsum(present) - 1)[y + 1]
    levels <- levels[present]
  }
  k <- length(levels)
  if (is.null(family)) {
    if (k > max_classes || (k > 20L && k > sum(!is.na(y)) / 2)) {
      hint <- if (all(looks_numeric(levels))) {
        "Its values look like numbers: convert it with {.code {number_code(levels, name)}}."
      } else {
        "If these really are classes, use {.code family = \"multinomial\"}."
      }
      pn_abort(
        c("The response {.field {name}} has {k} different values.", i = hint),
        class = "many_classes", arg = name
      )
    }
    tell_number_classes(levels, name, text)
    family <- if (k == 2L) stats::binomial() else multinomial_family()
  }
  if (!family$family %in% c("binomial", "multinomial")) {
    pn_abort(
      "The {family$family} family needs a numeric response; {.field {name}} has {k} classes.",
      class = "response", arg = name
    )
  }
  if (family$family == "binomial" && k > 2L) {
    pn_abort(
      c("The binomial family needs two classes; {.field {name}} has {k}.", i = "Use {.code family = \"multinomial\"}."),
      class = "response", arg = name
    )
  }
  if (family$family == "multinomial" && k == 2L) family <- stats::binomial()
  list(family = family, name = name, names = NULL, levels = levels, y = matrix(as.double(y), ncol = 1L))
}

read_numbers <- function(y, name, family) {
  y <- replace(as.double(y), is.nan(y), NA)
  seen <- y[!is.na(y)]
  if (any(is.infinite(seen))) {
    pn_abort("The response {.field {name}} has infinite values.", class = "infinite", arg = name)
  }
  binary <- length(seen) && all(seen == 0 | seen == 1)
  if (is.null(family)) {
    family <- stats::gaussian()
    if (binary && any(seen == 0) && any(seen == 1)) {
      pn_inform(
        c(
          "The response {.field {name}} holds only 0 and 1 and is fitted as a number (least squares).",
          i = "For probabilities use {.code family = binomial()} or make it a factor."
        ),
        class = "binary_number"
      )
    }
  }
  tell_numbers(seen, name, family$family)
  levels <- NULL
  if (family$family == "binomial") {
    if (!binary) {
      pn_abort(
        "With {.code family = binomial()} a numeric response must be 0 or 1; {.field {name}} has other values.",
        class = "response", arg = name
      )
    }
    if (length(unique(seen)) < 2L) {
      pn_abort("The response {.field {name}} has only one class: {.val {seen[1]}}.", class = "one_class", arg = name)
    }
    levels <- c("0", "1")
  } else if (family$family == "poisson") {
    if (any(seen < 0)) {
      pn_abort("Counts cannot be negative; {.field {name}} contains {min(seen)}.", class = "response", arg = name)
    }
    if (!any(seen > 0)) {
      pn_abort("All counts in {.field {name}} are zero.", class = "one_class", arg = name)
    }
  } else if (family$family == "multinomial") {
    return(read_classes(factor(y), name, family))
  }
  list(family = family, name = name, names = NULL, levels = levels, y = matrix(y, ncol = 1L))
}

#' Several responses, all numeric or all binary
#' @noRd
read_responses <- function(columns, name, family) {
  kinds <- vapply(columns, response_kind, "")
  if (is.null(family)) refuse_mixed_numbers(columns[kinds == "number"], name)
  if (any(kinds == "other")) {
    bad <- names(columns)[kinds == "other"][1L]
    pn_abort("The response {.field {bad}} must be numeric, logical or a factor.", class = "response", arg = bad)
  }
  if (length(unique(kinds)) > 1L && !identical(family$family, "binomial")) {
    pn_abort(
      c(
        "Several responses must be all numeric or all binary.",
        x = "Numeric: {some(names(columns)[kinds == 'number'])}; classes: {some(names(columns)[kinds == 'class'])}."
      ),
      class = "mixed_responses", arg = name
    )
  }
  if (!is.null(family) && family$family == "multinomial") {
    pn_abort("Several responses can be numeric, binary or counts, not multinomial.", class = "response", arg = name)
  }
  parts <- Map(function(y, label) read_one_response(y, label, family), columns, names(columns))
  families <- vapply(parts, function(part) part$family$family, "")
  if (any(families == "multinomial")) {
    bad <- names(columns)[families == "multinomial"][1L]
    pn_abort("Each of several responses may have two classes; {.field {bad}} has more.", class = "response", arg = bad)
  }
  list(
    family = parts[[1L]]$family, name = name, names = names(columns),
    levels = if (kinds[[1L]] == "class" || families[[1L]] == "binomial") lapply(parts, `[[`, "levels"),
    y = do.call(cbind, unname(lapply(parts, `[[`, "y")))
  )
}

#' Zeros and ones among other numbers are usually events; least squares for all must be requested
#' @noRd
refuse_mixed_numbers <- function(columns, name) {
  binary <- vapply(columns, function(y) setequal(y[!is.na(y)], c(0, 1)), NA)
  if (any(binary) && !all(binary)) {
    pn_abort(
      c(
        "Several responses must be all numeric or all binary.",
        x = "Only 0 and 1: {some(names(columns)[binary])}; other numbers: {some(names(columns)[!binary])}.",
        i = "To fit all of them as numbers, use {.code family = gaussian()}."
      ),
      class = "mixed_responses", arg = name
    )
  }
}

#' Location and scale of the engine's predictions in the units of the response, learned from the training rows
#'
#' A numeric response is standardised (by default), counts start from their mean rate, both given the offset.
#' @param y,weights,offset Of the training rows; weights and offset may be NULL.
#' @return list(center, scale), one value per response
#' @noRd
response_scale <- function(y, family, weights, offset, standardise) {
  weights <- relative_weights(weights) %||% rep(1, nrow(y))
  offset <- offset %||% numeric(nrow(y))
  q <- ncol(y)
  center <- numeric(q)
  scale <- rep(1, q)
  if (family$family == "poisson") {
    # one value for all responses: it enters as the engine's offset, which all responses share
    events <- sum(weights * y, na.rm = TRUE)
    exposure <- sum(weights * exp(offset - max(offset)) * rowSums(!is.na(y)))
    center[] <- log(events / exposure) - max(offset)
  } else if (family$family == "gaussian" && standardise) {
    for (j in seq_len(q)) {
      seen <- !is.na(y[, j])
      w <- weights[seen]
      rest <- (y[, j] - offset)[seen]
      center[j] <- sum(w * rest) / sum(w)
      spread <- sqrt(sum(w * (rest - center[j])^2) / sum(w))
      # a response that is constant, up to rounding, is fitted as it is
      if (spread > 4 * .Machine$double.eps * max(abs(y[seen, j]), abs(offset[seen]))) scale[j] <- spread
    }
  }
  list(center = center, scale = scale)
}

#' Responses and offset in the engine's units
#' @noRd
engine_response <- function(response, y, offset) {
  family <- response$family$family
  n <- nrow(y)
  if (family == "gaussian") {
    # standardise each response; the offset moves it first (one offset serves all responses)
    y <- y - (offset %||% 0)
    y <- (y - rep(response$center, each = n)) / rep(response$scale, each = n)
  }
  largest <- max(abs(y), 0, na.rm = TRUE)
  if (largest > largest_single) {
    pn_abort(
      c(
        "The response {.field {response$name}} reaches {signif(largest, 3)} in the unit in which it is trained.",
        x = "The engine computes in single precision and accepts at most {largest_single}.",
        i = if (family == "gaussian") "Use {.code scale_response = TRUE}, or look for values far from all others."
      ),
      class = "response", arg = response$name
    )
  }
  if (family == "gaussian") {
    list(y = y, offset = NULL)
  } else if (family == "poisson") {
    list(y = y, offset = rep(response$center[1L], n) + (offset %||% 0))
  } else {
    list(y = y, offset = offset)
  }
}

#' New values of a known response as the engine's numbers
#' @return double matrix, NA where unobserved
#' @noRd
apply_response <- function(response, value) {
  columns <- if (is.list(value) && !is.object(value)) {
    value
  } else if (is.matrix(value)) {
    lapply(seq_len(ncol(value)), function(j) value[, j])
  } else {
    list(value)
  }
  levels <- if (is.list(response$levels)) response$levels else list(response$levels)
  coded <- Map(function(y, classes) {
    if (is.null(classes)) {
      if (!is.numeric(y) && !is.logical(y)) {
        pn_abort("The response {.field {response$name}} must be numeric here as well.", class = "response")
      }
      return(as.double(y))
    }
    label <- as.character(y)
    new <- setdiff(label[!is.na(y)], classes)
    if (length(new)) {
      pn_abort(
        "The response {.field {response$name}} has classes that are unknown to the model: {some(new)}.",
        class = "response", arg = response$name
      )
    }
    as.double(match(label, classes) - 1L)
  }, columns, levels)
  do.call(cbind, unname(coded))
}
