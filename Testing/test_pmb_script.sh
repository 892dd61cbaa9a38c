#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016
# Usage: test_pmb_script.sh PMB: tests the error messages of ./pmb. Builds and installs nothing.
set -u
pmb=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0

verdict() { # EXIT_CODE NAME: of a check; the first that fails ends the test
  if [ "$1" -ne 0 ]; then
    echo "FAILED: $2; it said:"
    cat "$work/out" "$work/err" "$work/calls" 2>/dev/null
    exit 1
  fi
  passed=$((passed + 1))
}

# expect NAME EXIT_CODE PATTERN COMMAND...: the exit code, and one line on stderr that matches.
expect() {
  name=$1 code=$2 pattern=$3
  shift 3
  "$@" >"$work/out" 2>"$work/err" </dev/null
  [ $? -eq "$code" ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q -- "$pattern" "$work/err"
  verdict $? "$name"
}

check() { # NAME COMMAND...: the command's exit code is 0
  name=$1
  shift
  "$@"
  verdict $? "$name"
}

# A PATH with fake tools: a Debian without any package, a user who is not root.
mkdir "$work/bin"
for tool in sh dirname readlink cat mkdir tail grep head nproc find; do
  ln -s "$(command -v "$tool")" "$work/bin/$tool"
done
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$work/bin/python3"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
chmod +x "$work/bin/dpkg-query" "$work/bin/id"
bare="env PATH=$work/bin PMB_BUILD_DIR=$work/build"

# shellcheck disable=SC2086
{
  expect 'unknown command' 2 "no command 'tset'; ./pmb help" "$pmb" tset
  expect 'no display' 1 'gui needs a display.*fix:' env -u DISPLAY -u WAYLAND_DISPLAY "$pmb" gui
  expect 'no script' 1 'pvpython needs a script' "$pmb" pvpython
  expect 'missing script' 1 "no script 'nowhere.py'" "$pmb" pvpython nowhere.py
  expect 'demo with arguments' 1 "demo takes no arguments, but 'x'" "$pmb" demo x
  expect 'install with two folders' 1 "but 'b' was given too" "$pmb" install a b
  expect 'install into a file' 1 'cannot write .*fix:' "$pmb" install /dev/null/prefix
  expect 'uninstall of nothing' 1 'nothing to remove: there is no .*installed.txt' "$pmb" uninstall "$work"
  expect 'package of something' 1 "package takes no argument or 'vtk', but 'x' was given" "$pmb" package x
  expect 'papers without CUDA' 1 'bench --papers needs CUDA.*fix:.*--cpu' $bare "$pmb" bench --papers --table cayley
  expect 'no root and no sudo' 1 'cannot install g++ make ninja-build.*no sudo; fix: as root' $bare "$pmb" build
  printf '#!/bin/sh\nexit 1\n' >"$work/bin/sudo"
  printf '#!/bin/sh\nexit 1\n' >"$work/bin/env"
  chmod +x "$work/bin/sudo" "$work/bin/env"
  expect 'sudo with a password' 1 'sudo would ask for a password; fix: as root' $bare "$pmb" build
  rm "$work/bin/dpkg-query"
  expect 'not Debian' 1 "not a Debian system and 'c++'" $bare "$pmb" build
}
mkdir "$work/build"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n' >"$work/build/CMakeCache.txt"
printf '#!/bin/sh\nprintf installed\n' >"$work/bin/dpkg-query"
chmod +x "$work/bin/dpkg-query"
expect 'build folder of another checkout' 1 'made for another checkout; fix:' \
  env PATH="$work/bin:$PATH" PMB_BUILD_DIR="$work/build" "$pmb" build

# What only ParaView's icons need is a package like others.
printf '#!/bin/sh\ncase $* in *libqt5svg5) exit 1 ;; esac\nprintf installed\n' >"$work/bin/dpkg-query"
expect 'gui without icons' 1 'cannot install libqt5svg5:' env PATH="$work/bin:$PATH" DISPLAY=:0 PMB_BUILD_DIR="$work/build" "$pmb" gui
printf '#!/bin/sh\nprintf installed\n' >"$work/bin/dpkg-query"

# A build that made nothing, beside packages of an earlier build, which must not be used.
top=$(dirname "$(readlink -f "$pmb")")
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_BUILD_TYPE:STRING=Release\n' "$top" >"$work/build/CMakeCache.txt"
mkdir -p "$work/build/package/lib/plugins" "$work/build/package/lib/dist-packages/pmb"
: >"$work/build/Makefile"
: >"$work/build/package/lib/plugins/ParallelMarchingBlocks.so"
: >"$work/build/package/lib/dist-packages/pmb/vtkPMBContour.so"
for tool in cmake pvpython; do
  printf '#!/bin/sh\nexit 0\n' >"$work/bin/$tool"
  chmod +x "$work/bin/$tool"
done
for command in demo bench; do
  expect "$command without what it runs" 1 'the build made no .*fix: remove that folder' \
    env PATH="$work/bin:$PATH" DISPLAY=:0 PMB_BUILD_DIR="$work/build" "$pmb" "$command"
done

# During a long step the log's last line is shown, with and without a terminal: this step lasts until it is shown.
printf '#!/bin/sh\necho "[ 42%%] Building"\nfor i in $(seq 100); do grep -q 42%% "%s" && exit; sleep 1; done\n' "$work/out" \
  >"$work/bin/cmake"
for terminal in yes no; do
  if [ "$terminal" = yes ]; then
    env PATH="$work/bin:$PATH" PMB_BUILD_DIR="$work/build" script -fqec "'$pmb' build" /dev/null >"$work/out" 2>&1 </dev/null
  else
    env PATH="$work/bin:$PATH" PMB_BUILD_DIR="$work/build" "$pmb" build >"$work/out" 2>&1 </dev/null
  fi
  check "progress is shown (on a terminal: $terminal)" grep -q '42%' "$work/out"
done

# Fake tools that record their calls: configuring, building and running.
cat >"$work/bin/cmake" <<'END'
#!/bin/sh
echo "cmake $*" >>"$CALLS"
[ "$1" = -S ] || exit 0
: >"$4/build.ninja"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$2" >"$4/CMakeCache.txt"
for option; do
  case $option in -DPMB_SETTINGS*) echo "${option#-D}" >>"$4/CMakeCache.txt" ;; esac
done
END
printf '#!/bin/sh\nprintf "9\n" >&3\nexec sleep 600\n' >"$work/bin/Xvfb"
printf '#!/bin/sh\necho "$GPU"\n' >"$work/bin/nvidia-smi"
printf '#!/bin/sh\necho sm_80\necho sm_90\n' >"$work/bin/nvcc"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/ldconfig"
for tool in ctest pvpython; do
  printf '#!/bin/sh\necho "%s $*; HOME=$HOME XDG=${XDG_CONFIG_HOME:-}" >>"$CALLS"\n' "$tool" >"$work/bin/$tool"
done
chmod +x "$work/bin"/*
export CALLS="$work/calls"

# calls BUILD GPU COMMAND...: the tools that ./pmb calls in a build folder, on a machine with a GPU of this compute capability
calls() {
  folder=$work/$1 gpu=$2
  shift 2
  mkdir -p "$folder/lib"
  : >"$folder/lib/ParallelMarchingBlocks.so"
  : >"$CALLS"
  env PATH="$work/bin:$PATH" PMB_BUILD_DIR="$folder" GPU="$gpu" DISPLAY=:0 CUDACXX=nvcc XDG_CONFIG_HOME=/elsewhere \
    "$pmb" "$@" >"$work/out" 2>&1 </dev/null
}
called() { check "$1" grep -q -e "$2" "$CALLS"; }
not_called() { check "$1" sh -c '! grep -q -e "$1" "$2"' - "$2" "$CALLS"; }

calls one 'no driver' demo
vectors=U
! grep -qs ' avx2 ' /proc/cpuinfo || vectors=D
called 'demo without a GPU: no GPU code, no tests' '-DBUILD_TESTING=OFF -DPMB_CUDA=OFF'
called 'demo: vector code for this processor alone' "OFF -${vectors}PMB_VECTORS"
called 'demo builds the plugin alone' '--target ParallelMarchingBlocks$'
called 'demo has settings of its own' "^pvpython .*demo.py.*; HOME=$work/one/home XDG=\$"
calls one 'no driver' demo
not_called 'a second demo configures nothing' 'cmake -S'
rm "$work/one/build.ninja"
calls one 'no driver' demo
called 'after a run of CMake that failed demo configures again' 'cmake -S'
calls one 'no driver' test -R name
called 'tests are configured, with all vector code' '-DBUILD_TESTING=ON -DPMB_CUDA=OFF -UPMB_VECTORS'
called 'test builds the quick tests' '--target quick$'
called 'test runs the quick tests' "^ctest .*--label-regex quick -R name;"
calls one 'no driver' test --all -R name
called 'test --all configures the papers too' '-DBUILD_TESTING=ON -DPMB_PAPERS=ON -DPMB_CUDA=OFF'
called 'test --all builds everything' '--target all$'
not_called 'test --all leaves no test out' 'label-regex'
called 'test --all hands on its options' '^ctest .*-R name;'
calls one 'no driver' demo
not_called 'after the tests demo configures nothing' 'cmake -S'
calls one 9.0 demo
called 'demo with a GPU: code for this one' '-DBUILD_TESTING=ON .*-DPMB_CUDA=ON -DPMB_CUDA_ARCHITECTURES=90-real '
calls one 'no driver' package
called 'package: code for every GPU and processor, folders of Debian' '-DPMB_CUDA=ON -UPMB_CUDA_ARCHITECTURES -UPMB_VECTORS .*-DCMAKE_INSTALL_PREFIX=/usr '
mkdir -p "$work/one/lib/x86_64-linux-gnu"
calls one 'no driver' demo
check 'after package demo does not see its libraries' test ! -e "$work/one/lib/x86_64-linux-gnu"
called 'after package demo has its folders, and code for every GPU' '-DPMB_CUDA=ON -UPMB_CUDA_ARCHITECTURES .*-UCMAKE_INSTALL_PREFIX'
calls two "$(printf '9.0\n8.0\n9.0')" demo
called 'demo with several GPUs' '-DPMB_CUDA_ARCHITECTURES=80-real;90-real '
calls three 12.0 demo
called 'demo with a GPU that nvcc does not know' '-DPMB_CUDA=ON -UPMB_CUDA_ARCHITECTURES'

# Help of the GPU's benchmark works without a build and without a GPU.
printf '#!/bin/sh\nexit 1\n' >"$work/bin/cmake"
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$work/bin/python3"
check 'bench --gpu --help' sh -c 'env PATH="$1/bin" PMB_BUILD_DIR="$1/build" "$2" bench --gpu --help >"$1/out" 2>&1 </dev/null &&
  grep -q "^usage: bench_gpu.py" "$1/out"' - "$work" "$pmb"

"$pmb" help >"$work/out"
for command in demo test build bench pvpython gui install uninstall package help; do
  check "./pmb help names $command" grep -q "^  $command" "$work/out"
done
echo "$passed passed, 0 failed"
