#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_bench.sh PROGRAM PLOT: a small run of pmb_bench_papers on the emulator, without its times, and the plot of it.
# Stops at the first command that fails.
set -eux
bench=$1 plot=$2
work=$(mktemp -d)
trap 'cat "$work"/out* || true; rm -rf "$work"' EXIT

# A word that is no option's value is refused, with one line.
! "$bench" --cpu --table teapot 2>"$work/err" || exit 1
grep "no table 'teapot'" "$work/err"

# A scan of the size in the list, and one of another.
printf 'abcdefgh' >"$work/good.raw"
printf 'good 2 2 2 u8 100.5 good.raw\nshort 2 2 3 u8 100.5 good.raw\n' >"$work/scans.txt"
"$bench" --cpu --table scans --table cayley --table memory --table densities --reduce 6 --rows 6 --scans "$work" \
  --out "$work/out.csv" >"$work/out"
grep -q 'left out: .*less than the 12 bytes' "$work/out"
# The screen has the file's lines. The OpenCL paper's table 3, in MiB.
grep -v '^#' "$work/out" | cmp - "$work/out.csv"
[ "$(awk -F, '$1 == "memory" { printf "%d ", $15 / 1048576 }' "$work/out.csv")" = '87381 9509 5461 1188 1365 148 85 18 21 2 1 0 ' ]
# All lines have the same number of columns; on each volume all systems have the same number of triangles.
awk -F, 'NR == 1 { columns = NF } NF != columns { bad = 1; print "columns: " $0 } NR > 1 && $1 != "memory" {
    if ($12 != "ok") { bad = 1; print "not ok: " $0 }
    volume = $1 $2 $3 $5 $6 $7
    if (volume in triangles && triangles[volume] != $19) { bad = 1; print "triangles: " $0 }
    triangles[volume] = $19
    lines++
    if ($11 == "pmb") volumes++
  } END { exit bad || volumes != 17 || lines != 10 * volumes }' "$work/out.csv"
PMB_EMULATOR_MEMORY=2000000 "$bench" --cpu --table cayley --rows 3 --system scan | grep ',scan,fail,,,,,26[0-9]*,'
# In 6 GB, by what each system keeps: 20 bytes a sample, 1.42 and a mesh a cell, 12 bytes a block; samples that are stored take 4 more.
"$bench" --cpu --table limits --memory 6 --out "$work/limits.csv" >"$work/out_limits"
awk -F, '$12 == "ok" { samples[$3 " " $11] = $5 * $6 * $7; mesh[$5 $6 $7 " " $19] = 1; sizes[$5 $6 $7] = 1 }
  $12 == "fail" { failed++ }
  END { for (m in mesh) meshes++; for (s in sizes) volumes++
    exit failed < 15 || meshes != volumes || samples["evaluated pmb2016"] < 8 * samples["evaluated scan"] ||
      samples["evaluated pmb2016"] <= samples["stored pmb2016"] || samples["stored pmb"] < samples["stored scan"] ||
      samples["evaluated hpmc_chunks"] <= samples["evaluated hpmc"] }' "$work/limits.csv"

# Particles: all five systems have as many triangles.
"$bench" --cpu --table clouds --reduce 3 --out "$work/clouds.csv" >"$work/out_clouds"
[ "$(awk -F, '$12 == "ok" { print $5, $19 }' "$work/clouds.csv" | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = '5 5 ' ]

# The plot and the page follow from the files, and a changed page does not.
sed -s 1d "$work/limits.csv" "$work/clouds.csv" >>"$work/out.csv"
printf '<!-- from here on by python3 Docs/papers.py -->\nold\n<!-- to here -->\nkept\n' >"$work/page.md"
set -- "$work/out.csv" "$work/out.svg" "$work/page.md"
python3 "$plot" "$@"
python3 "$plot" --check "$@"
[ "$(grep -c '<circle' "$work/out.svg")" -gt 20 ]
grep -q '^| pmb2016_forward against hpmc_fetch | 1[0-9] ' "$work/page.md"
grep -q '^kept$' "$work/page.md"
! grep '^old$' "$work/page.md" || exit 1
sed -i 's/pmb2016 against/PMB against/' "$work/page.md"
! python3 "$plot" --check "$@" || exit 1
