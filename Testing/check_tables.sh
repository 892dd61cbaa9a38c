#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: check_tables.sh: checks that Kernels/shared/pmb_tables.h is its generator's output.
set -eu
cd "$(dirname "$0")/../Kernels/shared"
made=$(mktemp)
trap 'rm -f "$made"' EXIT
python3 generate_tables.py >"$made"
if cmp -s "$made" pmb_tables.h; then
  echo 'check_tables: pmb_tables.h is what generate_tables.py writes'
else
  diff -u pmb_tables.h "$made" | head -n 40
  echo 'check_tables: pmb_tables.h differs; fix: python3 Kernels/shared/generate_tables.py > Kernels/shared/pmb_tables.h'
  exit 1
fi
