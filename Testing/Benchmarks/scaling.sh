#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: scaling.sh BUILD [VOLUME...]: first extraction and isovalue change with 1, 2, 4 ... and all cores, through VTK, and
# the share of ideal scaling. BUILD: the folder of a build with the benchmark. The machine should do nothing else.
set -eu
[ $# -gt 0 ] || { sed -n 's/^# Usage/usage/p' "$0"; exit 2; }
bench=$1/bin/pmb_bench
shift
[ -x "$bench" ] || { echo "scaling: there is no $bench; build the target pmb_bench"; exit 1; }
[ $# -gt 0 ] || set -- cayley gyroid wavelet
cores=$(nproc)
threads=1 counts=
while [ "$threads" -lt "$cores" ]; do
  counts="$counts $threads"
  threads=$((2 * threads))
done
for volume; do
  for threads in $counts "$cores"; do
    "$bench" --volume "$volume" --type f32 --threads "$threads" | grep ' agree$\|WRONG'
  done
done | awk '
  # volume size type threads triangles | first iso iso-rd | FE Contour | ratios | B/voxel counts
  { key = $1 " " $2
    if (!(key in first)) { first[key] = $7 * $4; iso[key] = $8 * $4; fe[key] = $11 * $4 }
    printf "%-12s %3d threads: first %8.1f ms %3.0f%%, isovalue %8.1f ms %3.0f%%, vtkFlyingEdges3D %8.1f ms %3.0f%%  %s\n",
      key, $4, $7, 100 * first[key] / ($7 * $4), $8, 100 * iso[key] / ($8 * $4), $11, 100 * fe[key] / ($11 * $4), $NF }'
