#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: check_format.sh [--fix]: checks that clang-format 14 would change no C or C++ file, that text files end in a newline and
# have no trailing blanks, that lines of Python have at most 125 columns, and that each source file names its licence.
set -eu
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14 || command -v clang-format) ||
  { echo 'check_format: clang-format was not found; fix: apt-get install clang-format'; exit 1; }
case $("$format" --version) in
  *'version 14.'*) ;;
  *) echo "check_format: $("$format" --version) formats differently from version 14; fix: apt-get install clang-format-14"; exit 1 ;;
esac

list=$(mktemp)
trap 'rm -f "$list"' EXIT
failed=0 files=0

# Skips the generated table.
find Filters Kernels Plugin Python Rendering Testing -name '*.[ch]' -o -name '*.cxx' -o -name '*.cu' -o -name '*.cuh' | grep -v '/pmb_tables\.h$' | sort >"$list"
while read -r file; do
  files=$((files + 1))
  if [ "${1:-}" = --fix ]; then
    "$format" -i "$file"
  elif ! "$format" "$file" | diff -u --label "$file" --label "$file as it should be" "$file" -; then
    failed=$((failed + 1))
  fi
done <"$list"

find .ci .clang-format .editorconfig .gitignore ./* -path ./build -prune -o -path ./out -prune -o -type f -print |
  grep -Ev '\.(png|vti|pyc)$' | sort >"$list"
while read -r file; do
  files=$((files + 1))
  if grep -nE '[[:blank:]]+$' "$file" /dev/null; then failed=$((failed + 1)); fi
  if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then
    echo "$file: no newline at the end"
    failed=$((failed + 1))
  fi
  case $file in
    *.py)
      if grep -nE '^.{126}' "$file" /dev/null; then failed=$((failed + 1)); fi
      ;;
  esac
  case $file in
    *.[ch] | *.cxx | *.py | *.sh | *.cmake | *.module | */CMakeLists.txt | ./pmb | .ci/run)
      if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause'; then
        echo "$file: no SPDX-License-Identifier in its first lines"
        failed=$((failed + 1))
      fi
      ;;
  esac
done <"$list"
echo "check_format: $files files checked, $failed faults"
[ "$failed" -eq 0 ] || echo 'check_format: fix: Testing/check_format.sh --fix, and the rest by hand'
[ "$failed" -eq 0 ] && [ "$files" -gt 0 ]
