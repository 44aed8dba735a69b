# Sourced by the scripts beside it, after they have set `root` to the package's folder. POSIX sh.
#
# need_tools           stops unless R and a C compiler are there
# make_work            makes the temporary folder $work, removed at exit
# copy_tree            copies the package's folder, which may be read-only, to $work/protonam
# install_tree LIB     copies the tree, builds the package from the copy and installs it into LIB
# install_missing JOB  installs what is missing for run, test or check (install.R), sets $lib to its library

# On a busy machine libgomp's waiting threads burn the time slices that the working ones need (five times the time for
# small fits); sleeping soon costs next to nothing on an idle one.
GOMP_SPINCOUNT="${GOMP_SPINCOUNT:-1000}"
export GOMP_SPINCOUNT

need_tools() {
  for tool in R Rscript; do
    command -v "$tool" >/dev/null 2>&1 || { echo "protonam: $tool is needed and not on the PATH" >&2; exit 2; }
  done
  # R knows which compiler it builds packages with; only its first word is a program
  cc=$(R CMD config CC | cut -d ' ' -f 1)
  command -v "$cc" >/dev/null 2>&1 || { echo "protonam: the C compiler $cc is needed and not on the PATH" >&2; exit 2; }
  command -v make >/dev/null 2>&1 || { echo "protonam: make is needed and not on the PATH" >&2; exit 2; }
}

make_work() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/protonam.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
}

install_missing() {
  output=$(Rscript "$root/.ci/install.R" "$root" "$1") || exit $?
  lib=$(printf '%s\n' "$output" | tail -n 1)
}

copy_tree() {
  mkdir "$work/protonam"
  (cd "$root" && tar cf - --exclude=./.git .) | (cd "$work/protonam" && tar xf -)
  chmod -R u+w "$work/protonam"
}

install_tree() {
  mkdir -p "$1" "$work/build"
  copy_tree
  (cd "$work/build" && R CMD build --no-build-vignettes --no-manual "$work/protonam" >"$work/build.log" 2>&1) ||
    { cat "$work/build.log" >&2; exit 1; }
  MAKEFLAGS="${MAKEFLAGS:--j2}" R CMD INSTALL --no-test-load --library="$1" "$work"/build/protonam_*.tar.gz \
    >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 1; }
}
