#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_install.sh CMAKE BUILD_FOLDER SOURCE_FOLDER [PYTHON PYTHON_FOLDER]: installs, moves the result elsewhere, and uses
# it from there: the plugin in pvpython, the VTK module in Python and (with find_package) in C++, the core in C.
# $PMB_PLUGIN: the plugin, if it is built; only its name is used. PYTHON_FOLDER: the folder of Python modules below the prefix.
set -eu
cmake=$1 build=$2 source=$3 python=${4:-} python_folder=${5:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

logged() { # COMMAND...: shows the output only if the command fails
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "FAILED: $*"; exit 1; }
}

logged "$cmake" --install "$build" --prefix "$work/first"
mv "$work/first" "$work/moved"
bytes=$(find "$work/moved" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
echo "installed: $bytes bytes"
[ "$bytes" -le 30000000 ] || { echo "FAILED: that is more than 30 MB"; exit 1; }
if find "$work/moved" -name libpmb.a -o -name pmb.h | grep .; then
  echo "FAILED: the static core library is installed by default"
  exit 1
fi
files=LICENSE
[ -z "${PMB_PLUGIN:-}" ] || files="LICENSE USER_GUIDE.md session.png Examples/batch.py Examples/VTK/contour.cxx"
for file in $files; do
  [ -f "$work/moved/share/doc/PMB/$file" ] || { echo "FAILED: share/doc/PMB/$file is not installed"; exit 1; }
done

find "$work/moved" -name '*.so*' -type f >"$work/libraries"
libraries=$((1 + ${python:+1} + ${PMB_PLUGIN:+1}))
[ "$(wc -l <"$work/libraries")" -ge "$libraries" ] || { echo "FAILED: fewer than $libraries libraries"; exit 1; }
while read -r library; do
  path=$(readelf -d "$library" | sed -n 's/.*R\(UN\)\{0,1\}PATH.*\[\(.*\)\]/\2/p')
  printf '%s: run path "%s"\n' "${library#"$work/"}" "$path"
  case :$path: in
    *"$build"* | *"$work"*) echo "FAILED: the run path names the build folder"; exit 1 ;;
    ::) ;;
    *::*) echo "FAILED: the run path has an empty entry"; exit 1 ;;
    *:[!/\$]*) echo "FAILED: the run path has a relative entry"; exit 1 ;;
  esac
  if nm -D --defined-only "$library" | grep ' pmb_'; then
    echo "FAILED: the core's symbols leak from $library"
    exit 1
  fi
done <"$work/libraries"

if [ -n "${PMB_PLUGIN:-}" ]; then
  PMB_PLUGIN=$(find "$work/moved" -name ParallelMarchingBlocks.so)
  PYTHONPATH=$source/Testing/Plugin pvpython "$source/Testing/Filters/use_installed.py"
fi
if [ -n "$python" ]; then
  logged env "PYTHONPATH=$work/moved/$python_folder" "$python" "$source/Testing/Filters/test_vtk.py"
fi

config=$(dirname "$(find "$work/moved" -name PMBConfig.cmake)")
printf 'cmake_minimum_required(VERSION 3.18)\nproject(core C CXX)\nfind_package(PMB REQUIRED)\n' >"$work/CMakeLists.txt"
if "$cmake" -S "$work" -B "$work/core" -DPMB_DIR="$config" >"$work/log" 2>&1 || ! grep -q 'without its C library' "$work/log"; then
  cat "$work/log"
  echo "FAILED: find_package(PMB) without the core library does not say so"
  exit 1
fi
logged "$cmake" --install "$build" --prefix "$work/moved" --component development
if grep -rlE --include='*.cmake' --include='*.h' -e "$build" -e "$source" -e "$work" -e '[^ ;"]*/libcudart[^ ;"]*' "$work/moved"; then
  echo "FAILED: these files name the build folder, or a file of this machine's CUDA toolkit"
  exit 1
fi

# Without VTK, and with it.
for contour in OFF ON; do
  logged "$cmake" -S "$source/Testing/Filters/Consumer" -B "$work/consumer$contour" -DWITH_CONTOUR=$contour \
    -DPMB_DIR="$config" -DCMAKE_BUILD_TYPE=Release
  logged "$cmake" --build "$work/consumer$contour"
  "$work/consumer$contour/use_core"
done
"$work/consumerON/use_filter"

# The example in C++: its output file, and its error without data.
logged "$cmake" -S "$source/Docs/Examples/VTK" -B "$work/example" -DCMAKE_PREFIX_PATH="$work/moved" \
  -DCMAKE_BUILD_TYPE=Release
logged "$cmake" --build "$work/example"
logged "$work/example/contour" "$source/Data/ch2.vti" 45.5 "$work/surface.vtp"
if [ -n "${PMB_PLUGIN:-}" ]; then
  PYTHONPATH=$source/Testing/Plugin pvpython "$source/Testing/Filters/use_installed.py" \
    "$source/Data/ch2.vti" 45.5 "$work/surface.vtp"
fi
if "$work/example/contour" gone.vti 45.5 "$work/surface.vtp" >"$work/log" 2>&1 ||
  [ "$(cat "$work/log")" != 'There is no file gone.vti: give the name of a .vti file.' ]; then
  echo "FAILED: the example without its data: $(cat "$work/log")"
  exit 1
fi
echo "1 passed, 0 failed"
