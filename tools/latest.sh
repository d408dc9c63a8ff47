#!/bin/sh
# Makes .venv-latest anew with hcviz, its tests, and the newest releases of the packages that are
# named: `tools/latest.sh panel bokeh`. Prints the versions that pip has installed.
set -eu
cd "$(dirname "$0")/.."
python=${HCVIZ_PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "hcviz: $python is older than Python 3.11; name another: HCVIZ_PYTHON=/path/to/python3" >&2
  exit 1
}
rm -rf .venv-latest
"$python" -m venv .venv-latest
.venv-latest/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
.venv-latest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "$@"
.venv-latest/bin/python - "$@" <<'END'
import sys
from importlib.metadata import version

print("hcviz: testing with " + ", ".join(f"{name} {version(name)}" for name in sys.argv[1:]))
END
