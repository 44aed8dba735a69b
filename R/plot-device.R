# The device that a figure is drawn on in base graphics: its room, and its parameters before and after.
#
# abline() and its kin should add to the panel drawn last, and the next plot should find the parameters that the user
# had. A figure therefore leaves par() as its last panel needs it. When the next plot begins, a hook brings the user's
# parameters back, except those that were changed in between.

#' The room of a page: inches, rows and columns of panels, and whether a layout of the user's is filled
#' @param size Width and height in inches.
#' @noRd
new_room <- function(size, taken = FALSE) {
  limits <- as.integer(pmin(pmax(floor(size[2:1] / c(1.25, 1.5)), 1), c(4, 3)))
  # letters become smaller with the page, down to a legible size
  list(size = size, limits = limits, taken = taken, cex = min(1, max(0.62, min(size / c(5, 3.6)))))
}

default_size <- c(7, 5)

#' The room of the open device; a new device is opened if there is none
#' @noRd
device_limits <- function() {
  restore_device()
  grid <- graphics::par("mfrow")
  taken <- any(grid > 1L) || any(abs(graphics::par("fig") - c(0, 1, 0, 1)) > 1e-6)
  if (!taken) {
    return(new_room(graphics::par("din")))
  }
  # each panel fills a figure of the layout
  room <- new_room(graphics::par("fin") * grid[2:1], taken = TRUE)
  room$cex <- graphics::par("cex")
  room$limits <- as.integer(grid)
  room
}

# Parameters ----------------------------------------------------------------------------------------------------------

# what figures set
set_parameters <- c("cex", "oma", "mar", "mgp", "tcl", "las", "bty", "xpd", "xlog", "ylog")

left_devices <- new.env(parent = emptyenv())

#' Go back to the panel drawn last, and remember what the user had
#' @param old Parameters of the user.
#' @param last From panel_place(): fig, mar, usr, xlog, ylog of the panel.
#' @param taken Is it a figure of the user's layout, which must not be moved?
#' @noRd
leave_device <- function(old, last, taken) {
  if (!taken) {
    graphics::layout(1L)
    graphics::par(fig = last$fig)
  }
  graphics::par(cex = last$cex, mar = last$mar, xpd = FALSE)
  graphics::par(xlog = last$xlog, ylog = last$ylog, usr = last$usr)
  assign(
    as.character(grDevices::dev.cur()),
    list(old = old, now = graphics::par(set_parameters), fig = if (!taken) graphics::par("fig")),
    envir = left_devices
  )
  setHook("before.plot.new", restore_device, "append")
}

#' The user's parameters, as far as they are still those that a figure left
#' @noRd
restore_device <- function() {
  device <- as.character(grDevices::dev.cur())
  state <- left_devices[[device]]
  gone <- setdiff(ls(left_devices), as.character(grDevices::dev.list()))
  rm(list = union(gone, if (!is.null(state)) device), envir = left_devices)
  if (!length(ls(left_devices))) {
    hooks <- getHook("before.plot.new")
    own <- vapply(hooks, identical, NA, restore_device)
    if (any(own)) setHook("before.plot.new", hooks[!own], "replace")
  }
  if (is.null(state)) {
    return(invisible())
  }
  now <- graphics::par(set_parameters)
  alike <- function(a, b) vapply(set_parameters, function(name) identical(a[[name]], b[[name]]), NA)
  # some parameters would begin a new page: only what differs is set
  back <- set_parameters[alike(now, state$now) & !alike(now, state$old)]
  moved <- !identical(graphics::par("fig"), state$fig) || any(graphics::par("mfrow") > 1L)
  if (!is.null(state$fig) && !moved) graphics::layout(1L)
  graphics::par(state$old[back])
  invisible()
}

#' The position of the panel just drawn, so that low-level functions can add to it
#' @param x,y Axes, in drawing coordinates: natural logarithms on a logarithmic axis.
#' @noRd
panel_place <- function(x, y) {
  ends <- function(axis) if (isTRUE(axis$ratio)) axis$limits / log(10) else axis$limits
  c(
    graphics::par("fig", "mar", "cex"),
    list(usr = c(ends(x), ends(y)), xlog = isTRUE(x$ratio), ylog = isTRUE(y$ratio))
  )
}

# Files ---------------------------------------------------------------------------------------------------------------

#' A message if a file keeps only one page of several
#' @param squeezes Does the figure have the option `pages`?
#' @noRd
tell_one_page <- function(count, squeezes) {
  file <- if (count > 1L) one_page_file()
  if (!is.null(file)) {
    numbered <- sub("([.][^.]*)?$", "%03d\\1", basename(file))
    pn_inform(
      c(
        "The figure has {count} pages, of which the file {.val {basename(file)}} keeps only the last.",
        i = if (squeezes) "{.code pages = 1} draws all panels on one page.",
        i = "A name such as {.val {numbered}} gives a file per page."
      ),
      class = "pages"
    )
  }
}

one_page_devices <- c("png", "jpeg", "tiff", "bmp", "svg", "PNG", "JPEG", "TIFF", "BMP")

#' The file of the open device, if each new page replaces the one before
#' @noRd
one_page_file <- function() {
  number <- grDevices::dev.cur()
  file <- attr(.Devices[[number]], "filepath")
  if (names(number) %in% one_page_devices && is.character(file) && !grepl("%[0-9]*[di]", file)) file
}
