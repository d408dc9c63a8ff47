#!/bin/sh
# Makes .venv with hcviz: `tools/venv.sh` for the app, `tools/venv.sh docs` for the documentation,
# `tools/venv.sh test` for all of it and the tests.
# It does nothing if .venv is up to date, and makes it again if pyproject.toml has changed. Packages for
# the documentation or the tests are added to it, so a server that runs from it goes on.
set -eu
cd "$(dirname "$0")/.."
extra=${1:-}
made_from=.venv/.made-from
now=$(cksum <pyproject.toml)

install() {
  echo "hcviz: pip installs packages into .venv: a few minutes without a message"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".${extra:+[$extra]}" || {
    echo "hcviz: pip could not install the packages in pyproject.toml; see its messages above." >&2
    exit 1
  }
  echo "$now $extra" >"$made_from"
}

if [ -f "$made_from" ] && .venv/bin/python -c '' 2>/dev/null; then
  case "$(cat "$made_from")" in
  "$now test" | "$now $extra") exit 0 ;;
  "$now "*)
    if [ -n "$extra" ]; then install; fi
    exit 0
    ;;
  esac
fi

found= without=
for python in ${HCVIZ_PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
  if "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    found=$python
    break
  fi
  without=$python
done
if [ -z "$found" ]; then
  if [ -n "$without" ]; then
    version=$("$without" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "hcviz: $without has no venv or no ensurepip module, so .venv cannot be made. On Debian and Ubuntu, install them with 'apt-get install python3-venv' (or python$version-venv)." >&2
  else
    echo "hcviz: no Python 3.11 or newer was found. Install one, or name it: HCVIZ_PYTHON=/path/to/python3 make ..." >&2
  fi
  exit 1
fi

echo "hcviz: making .venv with $found (once; again only when pyproject.toml changes)"
rm -rf .venv
"$found" -m venv .venv || {
  rm -rf .venv
  echo "hcviz: $found could not make .venv; see its messages above." >&2
  exit 1
}
install
