# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by run.sh here and by those of the benchmarks.

# Prints a value for PMB_CUDA_ARCHITECTURES: $ARCHITECTURES, or that of this machine's GPUs, which CMake detects from 3.24 on.
gpu_architectures() {
  local version found
  if [[ -n ${ARCHITECTURES:-} ]]; then
    echo "$ARCHITECTURES"
    return
  fi
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  if [[ $(printf '%s\n' 3.24 "$version" | sort -V | head -n 1) == 3.24 ]]; then
    echo native
    return
  fi
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | tr -d . | sort -un | paste -sd ';') || true
  if [[ ! $found =~ ^[0-9]+(;[0-9]+)*$ ]]; then
    echo "CMake $version and nvidia-smi cannot detect the GPU; fix: set ARCHITECTURES (90 for 9.0)" >&2
    return 1
  fi
  echo "$found"
}
