#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the core and its GPU tests with only cmake, a C compiler and nvcc, and runs them.
# usage: run.sh [build] [test] [faults] [sharing] [several] [sanitize] [huge] [bench] ...   (default: all but
# huge, which needs 60 GB of memory and as much GPU memory); BUILD: where
# ARCHITECTURES: compute capabilities to build for, without the dot, as "80;90" (default: those of this machine's GPUs)
# TOOLS: of compute-sanitizer (default: all four)
# PMB_TEST_REAL_FAULT=N: `faults` also traps in a real kernel at call N; the GPU may need a reset afterwards
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=Testing/GPU/architectures.sh
. "$here/architectures.sh"
build=${BUILD:-$here/../../build-gpu}
tools=${TOOLS:-memcheck racecheck initcheck synccheck}
same_bytes=(pmb_test_gpu_{bytes,emit,on_device,particles,cast_rays,find_visible,api,passes})
export PMB_TEST_DEVICE=gpu # for tests of ../Kernels, those of pmb_gpu_kernel_tests (PMBTests.cmake)
same_contracts=(pmb_test_kernels_{bytes,emit,histogram,particles,particles_attributes,particles_parts,particles_sample}
  pmb_test_kernels_{particles_shapes,progress,reference})
sharing=(pmb_test_gpu_{sharing,threads,host_allocate})
programs=("${same_bytes[@]}" "${same_contracts[@]}" "${sharing[@]}" pmb_test_gpu_faults pmb_test_gpu_several pmb_test_gpu_huge pmb_bench_gpu)

gpus=$(nvidia-smi -L 2> /dev/null | grep -c "^GPU" || true)

cases() { # PROGRAM: its cases
  local file=$here/$1.c
  [[ $1 != pmb_test_kernels_* ]] || file=$here/../Kernels/${1/pmb_test_kernels/test}.c
  sed -n 's/^  CASE(\(.*\))$/\1/p' "$file"
}

run() { # PROGRAM CASE: 77 is a skip, which is right only where a case needs another machine, or a variable
  local code=0
  timeout "${LIMIT:-300}" "$build/$1" "$2" || code=$?
  if [[ $code == 77 && $2 =~ ^(unusable_driver|real_fault|path_.*)$ ]]; then code=0; fi
  if [[ $code == 77 && $1 == pmb_test_gpu_several && $gpus -lt 2 ]]; then code=0; fi
  [[ $code == 0 ]] || { echo "FAILED: $1 $2 ($code)"; return 1; }
}

run_all() { # PROGRAM...: all of their cases
  local program case bad=0
  for program in "$@"; do
    for case in $(cases "$program"); do run "$program" "$case" || bad=1; done
  done
  return $bad
}

forbidden() { # a user who may not open the GPU's device; root shows it to nobody in a private mount namespace
  local folder
  if [[ $(id -u) != 0 || ! -e /dev/nvidiactl ]] || ! unshare -m true || ! command -v setpriv > /dev/null; then
    echo "skipped: no permission on the device (needs root, unshare and setpriv)"
    return 0
  fi
  folder=$(mktemp -d)
  cp "$build/pmb_test_gpu_faults" "$folder"
  (umask 077 && touch "$folder/device")
  chmod 755 "$folder" "$folder/pmb_test_gpu_faults"
  unshare -m bash -c 'mount --bind "$0/device" /dev/nvidiactl &&
    PMB_TEST_DRIVER=permission setpriv --reuid 65534 --regid 65534 --clear-groups \
      "$0/pmb_test_gpu_faults" unusable_driver' "$folder" || { echo "FAILED: no permission on the device"; return 1; }
  rm -r "$folder"
}

build_in() { # FOLDER [OPTION...]
  local folder=$1 architectures
  shift
  architectures=$(gpu_architectures)
  mkdir -p "$folder"
  cmake -S "$here" -B "$folder" -DPMB_CUDA_ARCHITECTURES="$architectures" "$@" > "$folder.log" 2>&1 ||
    { cat "$folder.log"; exit 1; }
  cmake --build "$folder" -j"$(nproc)" --target "${programs[@]}" >> "$folder.log" 2>&1 ||
    { grep -E "error|Error" "$folder.log" | head -40; exit 1; }
}

sanitize() { # TOOL PROGRAM CASE [OPTION...]
  local tool=$1 program=$2 case=$3
  shift 3
  PMB_TEST_SHORT=1 timeout "${LIMIT:-300}" compute-sanitizer --tool "$tool" "$@" --error-exitcode 9 \
    "$build/$program" "$case" || { echo "FAILED: $tool $program $case"; return 1; }
}

for step in "${@:-build test faults sharing several sanitize bench}"; do
  for s in $step; do
    case $s in
      build) build_in "$build" ;;
      test)
        run_all "${same_bytes[@]}" "${same_contracts[@]}" || failed=1
        ;;
      sharing) run_all "${sharing[@]}" || failed=1 ;;
      several)
        run_all pmb_test_gpu_several || failed=1
        [[ $gpus -lt 2 ]] || PMB_TEST_DEVICES=255 run_all pmb_test_kernels_{emit,histogram,progress,reference} || failed=1
        ;;
      huge) PMB_TEST_HUGE=1 run_all pmb_test_gpu_huge || failed=1 ;;
      faults)
        run_all pmb_test_gpu_faults || failed=1
        forbidden || failed=1
        ;;
      sanitize) # leaks are counted where CUDA's state is taken down, at the end of the program
        for tool in $tools; do
          all=(pmb_test_gpu_bytes:large pmb_test_kernels_bytes:several_isovalues_are_concatenated
            pmb_test_kernels_emit:attributes_of_every_type pmb_test_gpu_emit:attributes_stay
            pmb_test_gpu_sharing:{idle_contexts_make_room,shared_volume_is_uploaded_once})
          for case in $(cases pmb_test_gpu_passes); do all+=("pmb_test_gpu_passes:$case"); done
          options=()
          if [[ $tool == memcheck ]]; then
            all+=(pmb_test_gpu_sharing:uploads_are_shared pmb_test_gpu_host_allocate:pool_as_output pmb_test_kernels_progress:stop_everywhere
              pmb_test_gpu_threads:{threads_on_one_gpu,one_of_two_binds_is_stopped})
            options=(--leak-check full)
          fi
          for test in "${all[@]}"; do
            sanitize "$tool" "${test%:*}" "${test#*:}" "${options[@]}" || failed=1
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
