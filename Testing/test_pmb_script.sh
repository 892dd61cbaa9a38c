#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_pmb_script.sh PMB: what the script at the top says when it cannot go on. Nothing is built or installed.
set -u
pmb=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# expect NAME EXIT_CODE PATTERN COMMAND...: the exit code, and one line on stderr that matches.
expect() {
  name=$1 code=$2 pattern=$3
  shift 3
  "$@" >"$work/out" 2>"$work/err" </dev/null
  got=$?
  if [ "$got" -eq "$code" ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q -- "$pattern" "$work/err"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: exit code %s, not %s; it said:\n' "$name" "$got" "$code"
    cat "$work/out" "$work/err"
  fi
}

# A PATH with fake tools: a Debian without any package, a user who is not root.
mkdir "$work/bin"
for tool in sh dirname readlink cat mkdir tail grep head nproc find; do
  ln -s "$(command -v "$tool")" "$work/bin/$tool"
done
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
chmod +x "$work/bin/dpkg-query" "$work/bin/id"
bare="env PATH=$work/bin PMB_BUILD_DIR=$work/build"

# shellcheck disable=SC2086
{
  expect 'unknown command' 2 "no command 'tset'; ./pmb help" "$pmb" tset
  expect 'no display' 1 'gui needs a display.*mend:' env -u DISPLAY -u WAYLAND_DISPLAY "$pmb" gui
  expect 'no script' 1 'pvpython needs a script' "$pmb" pvpython
  expect 'missing script' 1 "no script 'nowhere.py'" "$pmb" pvpython nowhere.py
  expect 'demo with arguments' 1 "demo takes no arguments, but 'x'" "$pmb" demo x
  expect 'install with two folders' 1 "but 'b' was given too" "$pmb" install a b
  expect 'install into a file' 1 'cannot write .*mend:' "$pmb" install /dev/null/prefix
  expect 'uninstall of nothing' 1 'nothing to take out: there is no .*installed.txt' "$pmb" uninstall "$work"
  expect 'package of something' 1 "package takes nothing, or 'vtk', but 'x' was given" "$pmb" package x
  expect 'papers without CUDA' 1 'bench --papers needs CUDA.*mend:.*--cpu' $bare "$pmb" bench --papers --table cayley
  expect 'no root and no sudo' 1 'cannot install g++ make.*no sudo; mend: as root' $bare "$pmb" build
  printf '#!/bin/sh\nexit 1\n' >"$work/bin/sudo"
  printf '#!/bin/sh\nexit 1\n' >"$work/bin/env"
  chmod +x "$work/bin/sudo" "$work/bin/env"
  expect 'sudo with a password' 1 'sudo would ask for a password; mend: as root' $bare "$pmb" build
  rm "$work/bin/dpkg-query"
  expect 'not Debian' 1 "not a Debian system and 'c++'" $bare "$pmb" build
}
mkdir "$work/build"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n' >"$work/build/CMakeCache.txt"
printf '#!/bin/sh\nprintf installed\n' >"$work/bin/dpkg-query"
chmod +x "$work/bin/dpkg-query"
expect 'build folder of another checkout' 1 'made for another checkout; mend:' \
  env PATH="$work/bin:$PATH" PMB_BUILD_DIR="$work/build" "$pmb" build

# A build that made nothing, beside packages that an earlier one made: these are not to be run.
top=$(dirname "$(readlink -f "$pmb")")
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_BUILD_TYPE:STRING=Release\n' "$top" >"$work/build/CMakeCache.txt"
mkdir -p "$work/build/package/lib/plugins" "$work/build/package/bin"
: >"$work/build/Makefile"
: >"$work/build/package/lib/plugins/ParallelMarchingBlocks.so"
cp "$work/bin/id" "$work/build/package/bin/pmb_bench"
for tool in cmake pvpython; do
  printf '#!/bin/sh\nexit 0\n' >"$work/bin/$tool"
  chmod +x "$work/bin/$tool"
done
for command in demo bench; do
  expect "$command without what it runs" 1 'the build made no .*mend: remove that folder' \
    env PATH="$work/bin:$PATH" DISPLAY=:0 PMB_BUILD_DIR="$work/build" "$pmb" "$command"
done

# On a terminal the last line of the log is shown while something lasts; elsewhere not.
printf '#!/bin/sh\necho "[ 42%%] Building"\nsleep 3\n' >"$work/bin/cmake"
for terminal in yes no; do
  if [ "$terminal" = yes ]; then
    env PATH="$work/bin:$PATH" PMB_BUILD_DIR="$work/build" script -qec "'$pmb' build" /dev/null >"$work/out" 2>&1 </dev/null
  else
    env PATH="$work/bin:$PATH" PMB_BUILD_DIR="$work/build" "$pmb" build >"$work/out" 2>&1 </dev/null
  fi
  if grep -q '42%' "$work/out"; then shown=yes; else shown=no; fi
  if [ "$shown" = "$terminal" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    printf 'FAILED: on a terminal: %s; the progress is shown: %s; it said:\n' "$terminal" "$shown"
    cat "$work/out"
  fi
done

# Help of the GPU's benchmark: with nothing built, and on a machine without a GPU.
printf '#!/bin/sh\nexit 1\n' >"$work/bin/cmake"
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$work/bin/python3"
if env PATH="$work/bin" PMB_BUILD_DIR="$work/build" "$pmb" bench --gpu --help >"$work/out" 2>&1 </dev/null &&
  grep -q '^usage: bench_gpu.py' "$work/out"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo 'FAILED: bench --gpu --help; it said:'
  cat "$work/out"
fi

"$pmb" help >"$work/out"
for command in demo test build bench pvpython gui install uninstall package help; do
  if grep -q "^  $command" "$work/out"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED: ./pmb help does not name $command"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
