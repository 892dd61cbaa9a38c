#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: aarch64.sh BUILD: cross-compiles the core's tests in BUILD, and runs on QEMU those that take seconds there.
set -eu
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
  command -v $tool >/dev/null || { echo "skipped: no $tool; apt-get install gcc-aarch64-linux-gnu qemu-user"; exit 77; }
done
# gcc 12 fails on a test at -O3, which the core's loops have all the same.
cmake -S "$(dirname "$0")" -B "$1" -DPMB_CUDA=OFF -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc '-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG' \
  '-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;/usr/aarch64-linux-gnu'
cmake --build "$1" --parallel 2
cd "$1"
ctest --output-on-failure --parallel 2 -R 'api|emit|case_of_a_cell|limits|pages|ranges|tables|histogram|visible.(same|hidden)'
