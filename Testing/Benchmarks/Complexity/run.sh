#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How the times of the GPU's passes grow, with nothing but cmake, a C compiler and nvcc.
# usage: run.sh [build] [bench] ...   (default: both)
# BUILD: where (build-complexity at the top). ARCHITECTURES: as in Testing/GPU/run.sh. CSV: where the figures go (complexity.csv in
# BUILD). OPTIONS: of pmb_bench_complexity (--device gpu --max 1024, which takes 8 GB of memory and as much of the GPU's)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=Testing/GPU/architectures.sh
. "$here/../../GPU/architectures.sh"
build=${BUILD:-$here/../../../build-complexity}

for step in "${@:-build bench}"; do
  for s in $step; do
    case $s in
      build)
        mkdir -p "$build"
        architectures=$(gpu_architectures)
        cmake -S "$here" -B "$build" -DPMB_CUDA_ARCHITECTURES="$architectures" > "$build/build.log" 2>&1 ||
          { cat "$build/build.log"; exit 1; }
        cmake --build "$build" -j"$(nproc)" --target pmb_bench_complexity >> "$build/build.log" 2>&1 ||
          { grep -E "error|Error" "$build/build.log" | head -40; exit 1; }
        ;;
      bench)
        # shellcheck disable=SC2086
        "$build/pmb_bench_complexity" --out "${CSV:-$build/complexity.csv}" ${OPTIONS:---device gpu --max 1024}
        ;;
      *) echo "unknown step $s"; exit 2 ;;
    esac
  done
done
