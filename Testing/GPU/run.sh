#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the core and its GPU tests with nothing but cmake, a C compiler and nvcc, and runs them.
# usage: run.sh [build] [test] [sanitize] [bench] ...   (default: build test sanitize bench); BUILD: where
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build-gpu}
for step in "${@:-build test sanitize bench}"; do
  for s in $step; do
    case $s in
      build)
        cmake -S "$here" -B "$build" -DPMB_CUDA_ARCHITECTURES="${ARCHITECTURES:-native}" > "$build.log" 2>&1 ||
          { cat "$build.log"; exit 1; }
        cmake --build "$build" -j"$(nproc)" --target pmb_test_gpu pmb_bench_gpu >> "$build.log" 2>&1 ||
          { grep -E "error|Error" "$build.log" | head -40; exit 1; }
        ;;
      test)
        for case in types_and_sizes isovalues_in_turn several_isovalues attributes single_outputs out_of_memory aborting \
          says_what_it_is without_a_gpu large fuzz counts_come_round; do
          code=0
          timeout 300 "$build/pmb_test_gpu" $case || code=$?
          [[ $code == 0 || ($code == 77 && $case == without_a_gpu) ]] || { echo "FAILED: $case"; failed=1; }
        done
        ;;
      sanitize)
        for tool in memcheck racecheck initcheck synccheck; do
          echo "compute-sanitizer $tool"
          for case in types_and_sizes attributes several_isovalues isovalues_in_turn large fuzz; do
            PMB_TEST_SHORT=1 timeout ${LIMIT:-300} compute-sanitizer --tool $tool --error-exitcode 9 "$build/pmb_test_gpu" $case ||
              { echo "FAILED: $tool $case"; failed=1; }
          done
        done
        ;;
      bench) "$build/pmb_bench_gpu" ;;
      *) echo "unknown step $s"; exit 2 ;;
    esac
  done
done
[[ -z ${failed:-} ]] || exit 1
echo "all passed"
