# Columns that are probably not what was meant: said, not silent.

number_like <- paste0(
  "^[<>~]?\\s*[-+]?\\s*([0-9]{1,3}([,' ][0-9]{3})+([.,][0-9]+)?|[0-9]*[.,]?[0-9]+)", # 1,200.5 or 12.5
  "([eE][-+]?[0-9]+)?\\s*%?$"
)
few_codes <- 10L # so many values may be codes of categories
many_codes <- 20L # the same for factors, which are categories on purpose
few_ids <- 20L # rows that may have a level each

# Classes of these warnings; a cross-validation gives them once, not for each fold
suspect_warnings <- paste0(
  "protonam_warning_",
  c("text_numbers", "number_classes", "id_column", "empty_column", "constant_response", "fractional_counts")
)

#' Warn of features that are numbers written as text, that identify rows, or that have no values
#' @param columns Features, all rows of the data.
#' @param rows Row numbers that are used.
#' @noRd
tell_suspects <- function(columns, rows, n) {
  rows <- unique(rows)
  for (name in names(columns)) {
    x <- take_rows(columns[[name]], rows, n)
    if (is.atomic(x) && is.null(dim(x))) tell_suspect(x, name)
  }
}

tell_suspect <- function(x, name) {
  if (length(x) > 1L && all(is.na(x))) {
    pn_warn(
      c("Column {.field {name}} has only missing values, so it has no effect.", i = "Leave it out."),
      class = "empty_column", arg = name
    )
  } else if (is.character(x) || is.factor(x)) {
    tell_text(x, name)
  } else if (is_row_number(x, name)) {
    tell_id(name, "value", length(x), length(x))
  }
}

looks_numeric <- function(text) grepl(number_like, trimws(text))

#' Code that makes numbers of text
#' @noRd
number_code <- function(text, name = "x") {
  sprintf(if (any(grepl(",", text))) "as.numeric(gsub(\",\", \"\", %s))" else "as.numeric(%s)", name)
}

tell_text <- function(x, name) {
  known <- if (is.factor(x)) levels(x)[tabulate(x, nlevels(x)) > 0L] else unique(x[!is.na(x)])
  k <- length(known)
  number <- looks_numeric(known)
  if (k > (if (is.factor(x)) many_codes else few_codes) && mean(number) >= 0.8) {
    example <- known[number][which.max(grepl("[^0-9.]", known[number]))]
    kind <- if (is.factor(x)) "a factor" else "text"
    code <- if (is.factor(x)) sprintf("as.numeric(as.character(%s))", name) else number_code(known, name)
    pn_warn(
      c(
        paste(
          "Column {.field {name}} is {kind} that looks like numbers, such as {.val {example}}:",
          "{k} categories are fitted."
        ),
        i = "Convert it first, as in {.code {code}}."
      ),
      class = "text_numbers", arg = name
    )
  } else if (k >= 0.9 * sum(!is.na(x))) {
    tell_id(name, "level", k, sum(!is.na(x)))
  }
}

tell_id <- function(name, what, k, n) {
  if (n > few_ids) {
    pn_warn(
      c(
        "Column {.field {name}} has {k} {what}s in {n} rows: it identifies rows, and nothing can be learned from it.",
        i = "Leave it out. If it says which rows belong together, use {.code groups = ~ {name}}."
      ),
      class = "id_column", arg = name
    )
  }
}

#' Whole numbers that all differ, under the name of an identifier
#' @noRd
is_row_number <- function(x, name) {
  is.numeric(x) && !is.object(x) && grepl("(^|[_. ])(id|ids|key|mrn)$|[a-z]I[Dd]$|^ID$", name) &&
    !anyNA(x) && all(x == round(x)) && !anyDuplicated(x)
}

#' Warn of numeric responses from which there is nothing to learn, and of counts that are not counts
#' @param y Without missing values.
#' @noRd
tell_numbers <- function(y, name, family) {
  constant <- length(y) > 1L && all(y == y[1L])
  if (constant && (family == "gaussian" || (family == "poisson" && y[1L] > 0))) {
    pn_warn(
      "The response {.field {name}} is {signif(y[1], 6)} in every row: there is nothing to learn.",
      class = "constant_response", arg = name
    )
  }
  broken <- y[y != round(y)]
  if (family == "poisson" && length(broken)) {
    pn_warn(
      c(
        "{.field {name}} has {length(broken)} count{?s} that {?is/are} not whole, such as {signif(broken[1], 4)}.",
        i = "For rates, use the counts and {.code offset(log(exposure))}."
      ),
      class = "fractional_counts", arg = name
    )
  }
}

#' A matrix of text in which some columns were numbers: as.matrix() of a data frame
#' @noRd
refuse_text_matrix <- function(data, arg) {
  if (!is.character(data)) {
    return(invisible())
  }
  numbers <- vapply(seq_len(ncol(data)), function(j) {
    known <- unique(data[!is.na(data[, j]), j])
    length(known) > 0L && all(looks_numeric(known))
  }, NA)
  if (any(numbers)) {
    names <- (colnames(data) %||% paste0("V", seq_len(ncol(data))))[numbers]
    pn_abort(
      c(
        "{.arg {arg}} is a matrix of text, but there are numbers in {some(names)}.",
        i = "{.fn as.matrix} of a data frame with text makes all of it text. Give the data frame itself."
      ),
      class = "data", arg = arg
    )
  }
}

#' Warn of classes of a response that look like measurements rather than codes: many, or not whole
#' @param text Was the response text? A factor has levels on purpose, unless they are many.
#' @noRd
tell_number_classes <- function(levels, name, text) {
  k <- length(levels)
  whole <- grepl("^[0-9]+$", trimws(levels))
  if (!all(looks_numeric(levels)) || k < 3L || (k <= (if (text) few_codes else many_codes) && (!text || all(whole)))) {
    return(invisible())
  }
  example <- levels[which.min(whole)]
  code <- if (text) number_code(levels, name) else sprintf("as.numeric(as.character(%s))", name)
  pn_warn(
    c(
      paste(
        "The response {.field {name}} is {if (text) 'text' else 'a factor'} that looks like numbers, such as",
        "{.val {example}}: its {k} values are fitted as classes."
      ),
      i = "If it is a number, convert it first, as in {.code {code}}; {.code family = \"multinomial\"} says it is not."
    ),
    class = "number_classes", arg = name
  )
}

#' Stop at a survival time: there is no Cox model yet
#' @param response From a frame: list(value, expr, name).
#' @noRd
refuse_survival <- function(response) {
  if (!inherits(response$value, "Surv")) {
    return(invisible())
  }
  arg <- if (is.null(response$expr)) "y" else "formula"
  pn_abort(
    c(
      if (arg == "y") {
        "The response {.arg y} is a survival time; there is no Cox model yet."
      } else {
        "The response {.field {response$name}} in {.arg formula} is a survival time; there is no Cox model yet."
      },
      i = "Fit the event within a fixed time instead, e.g. {.code time < 365 & status == 1}.",
      i = "Leave out rows that were censored before that time: what happened to them is not known."
    ),
    class = c("survival", "response"), arg = arg
  )
}

refuse_cox <- function(family) {
  if (tolower(family) %in% c("cox", "coxph", "cox.ph", "survival")) {
    pn_abort(
      c(
        "{.arg family} {.val {family}} is not available: there is no Cox model yet.",
        i = "Fit the event within a fixed time instead, with {.code family = binomial()}."
      ),
      class = c("survival", "family"), arg = "family"
    )
  }
}
