#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: run.sh BUILD PYTEST-ARGUMENT...: runs tests of the package in BUILD by the Python of BUILD/python, or skips them.
set -eu
build=$1
shift
python=$build/python/bin/python
"$python" -c 'import numpy, pytest' 2>/dev/null ||
  { echo "skipped: $python has no numpy and pytest; ./pmb test installs them if it reaches PyPI"; exit 77; }
cd "$(dirname "$0")"
export PYTHONPATH="$build/python_package" PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$@"
