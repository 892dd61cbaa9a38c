#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the systems of the papers, tests them and measures the rows of the papers' tables, with only cmake, a C compiler and nvcc.
# usage: run.sh [build] [test] [sanitize] [bench] ...   (default: build test bench)
# BUILD: build folder (default: build-papers at the top). ARCHITECTURES: as in Testing/GPU/run.sh. OPTIONS: of pmb_bench_papers.
# SCANS: folder of real scans, written by Data/scans.py; without it those rows are omitted.
# CSV: output file of bench (default: papers.csv in BUILD)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=Testing/GPU/architectures.sh
. "$here/../GPU/architectures.sh"
build=${BUILD:-$here/../../build-papers}

run() { # CASE PROGRAM [COMMAND...]: nothing may be skipped here
  local case=$1 program=$2 code=0
  shift 2
  timeout "${LIMIT:-300}" "$@" "$build/$program" "$case" > "$build/$case.log" 2>&1 || code=$?
  [[ $code != 0 ]] || { echo "passed: $program $case"; return 0; }
  cat "$build/$case.log"
  echo "FAILED: $program $case ($code)"
  failed=1
}

for step in "${@:-build test bench}"; do
  for s in $step; do
    case $s in
      build)
        mkdir -p "$build"
        architectures=$(gpu_architectures)
        { cmake -S "$here" -B "$build" -DPMB_CUDA_ARCHITECTURES="$architectures" &&
          cmake --build "$build" -j"$(nproc)" --target pmb_test_papers pmb_bench_papers pmb_bench_papers_rays; } \
          > "$build/build.log" 2>&1 || { tail -n 40 "$build/build.log"; exit 1; }
        ;;
      test)
        for case in $(sed -n 's/^  CASE(\(.*\))$/\1/p' "$here/pmb_test_papers.c"); do run "$case" pmb_test_papers; done
        ;;
      sanitize)
        for tool in ${TOOLS:-memcheck racecheck synccheck}; do
          for case in types_and_sizes surfaces; do
            PMB_TEST_SHORT=1 run $case pmb_test_papers compute-sanitizer --tool "$tool" --error-exitcode 9
          done
        done
        ;;
      bench)
        # shellcheck disable=SC2086
        "$build/pmb_bench_papers" ${SCANS:+--scans "$SCANS"} --out "${CSV:-$build/papers.csv}" ${OPTIONS:-}
        "$build/pmb_bench_papers_rays"
        ;;
      *) echo "unknown step $s"; exit 2 ;;
    esac
  done
done
[[ -z ${failed:-} ]] || exit 1
