#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_bench.sh PROGRAM PLOT: tests what pmb_bench_papers refuses, and a small run on the emulator, without its times.
set -u
bench=$1 plot=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

count() { # RESULT WHAT
  if [ "$1" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s; it said:\n' "$2"
    cat "$work/out" "$work/err"
  fi
}

# refuses EXIT_CODE PATTERN COMMAND...: the exit code, and one line on stderr that matches.
refuses() {
  code=$1 pattern=$2
  shift 2
  "$@" >"$work/out" 2>"$work/err" </dev/null
  [ $? -eq "$code" ] && [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ] && grep -q -- "$pattern" "$work/err"
  count $? "$*"
}

while IFS='|' read -r pattern options; do
  # shellcheck disable=SC2086
  refuses 2 "$pattern" "$bench" $options
done <<'END'
no option '--tabel'|--tabel cayley
no option 'cayley'|cayley
no option '--help'|--cpu --help
--out needs a value|--out
no table 'teapot'|--cpu --table teapot
no system 'mc33'|--cpu --system mc33
--repeats takes a number from 1 to 100, not '0'|--cpu --repeats 0
--repeats takes a number from 1 to 100, not '101'|--cpu --repeats 101
--repeats takes a number from 1 to 100, not '3x'|--cpu --repeats 3x
--repeats takes a number from 1 to 100, not '99999999999999999999'|--cpu --repeats 99999999999999999999
--reduce takes a number from 0 to 6, not '7'|--cpu --reduce 7
--rows takes a number from 1 to 1000, not '0'|--cpu --rows 0
--memory takes a number from 1 to 1000, not '0'|--cpu --memory 0
scans: .*/nowhere/scans.txt: No such file|--cpu --scans /nowhere
--out: /dev/null/x: |--cpu --table memory --out /dev/null/x
END
refuses 2 '--out needs a value' "$bench" --out ''
refuses 1 'no GPU can be used.*fix:.*--cpu' env PMB_GPU=off "$bench" --table cayley
for line in 'head 2 2 2 u8 1' 'head 2 2 2 u8 1 a.raw b' 'head 0 2 2 u8 1 a.raw' 'head 2 2 2 f64 1 a.raw' \
  'head 2 2 5000 u8 1 a.raw' 'head 2 2 2 u8 nan a.raw' ''; do
  printf 'good 2 2 2 u8 1 good.raw\n%s\n' "$line" >"$work/scans.txt"
  refuses 2 "scans.txt:2: not 'name nx ny nz" "$bench" --cpu --scans "$work"
done

# A scan of the size in the list, and one of another.
printf 'abcdefgh' >"$work/good.raw"
printf 'good 2 2 2 u8 100.5 good.raw\nshort 2 2 3 u8 100.5 good.raw\n' >"$work/scans.txt"
"$bench" --cpu --table scans --table cayley --table memory --table densities --reduce 6 --rows 6 --scans "$work" \
  --out "$work/out.csv" >"$work/out" 2>"$work/err"
count $? 'a small run'
grep -q 'left out: .*less than the 12 bytes' "$work/out"
count $? 'a scan that is too short'
awk '/^MiB/ { on = NR } on && NR > on + 1 && NR < on + 8 { good += int($2) == $3 && int($4) == $5 } END { exit good != 6 }' \
  "$work/out" >>"$work/err"
count $? "the OpenCL paper's table 3"
# All lines have the same number of columns; on each volume all systems have the same number of triangles.
awk -F, 'NR == 1 { columns = NF } NF != columns { bad = 1; print "columns: " $0 } NR > 1 && $1 != "memory" {
    if ($12 != "ok") { bad = 1; print "not ok: " $0 }
    volume = $1 $2 $3 $5 $6 $7
    if (volume in triangles && triangles[volume] != $19) { bad = 1; print "triangles: " $0 }
    triangles[volume] = $19
    lines++
    if ($11 == "pmb") volumes++
  } END { exit bad || volumes != 17 || lines != 10 * volumes }' "$work/out.csv" >>"$work/err"
count $? 'the file'
printf 'long 2 2 1 u8 1 good.raw\n' >"$work/scans.txt"
"$bench" --cpu --table scans --rows 1 --scans "$work" >"$work/out" 2>"$work/err"
grep -q 'left out: .*more than the 4 bytes' "$work/out"
count $? 'a scan that is too long'
PMB_EMULATOR_MEMORY=2000000 "$bench" --cpu --table cayley --rows 3 --system scan >"$work/out" 2>"$work/err"
grep -q 'scan *fail: 2[.]6 MB asked for' "$work/out"
count $? 'too little memory'
# In 6 GB, by what each system keeps: 20 bytes a sample, 1.42 and a mesh a cell, 12 bytes a block; samples that are stored take 4 more.
"$bench" --cpu --table limits --memory 6 --out "$work/limits.csv" >"$work/out" 2>"$work/err"
awk -F, '$12 == "ok" { samples[$3 " " $11] = $5 * $6 * $7; mesh[$5 $6 $7 " " $19] = 1; sizes[$5 $6 $7] = 1 }
  $12 == "fail" { failed++ }
  END { for (m in mesh) meshes++; for (s in sizes) volumes++
    exit failed < 15 || meshes != volumes || samples["evaluated pmb2016"] < 8 * samples["evaluated scan"] ||
      samples["evaluated pmb2016"] <= samples["stored pmb2016"] || samples["stored pmb"] < samples["stored scan"] ||
      samples["evaluated hpmc_chunks"] <= samples["evaluated hpmc"] }' "$work/limits.csv" >>"$work/err"
count $? 'the largest volumes'
sed 1d "$work/limits.csv" >>"$work/out.csv"
printf '<!-- from here on by python3 Docs/papers.py -->\nold\n<!-- to here -->\nkept\n' >"$work/page.md"
{
  set -- "$work/out.csv" "$work/out.svg" "$work/page.md"
  python3 "$plot" "$@" && python3 "$plot" --check "$@" && [ "$(grep -c '<circle' "$work/out.svg")" -gt 20 ] &&
    grep -q '^| pmb2016_forward against hpmc_fetch | 1[0-9] ' "$work/page.md" && grep -q '^| 6 GB, evaluated |' "$work/page.md" &&
    grep -q '^kept$' "$work/page.md" && ! grep -q '^old$' "$work/page.md"
} >"$work/out" 2>"$work/err"
count $? 'the plot and the page'
sed 's/pmb2016 against/PMB against/' "$work/page.md" >"$work/other.md"
refuses 1 'other.md does not follow from .*fix:' python3 "$plot" --check "$work/out.csv" "$work/out.svg" "$work/other.md"
printf '\n' >>"$work/out.svg"
refuses 1 'out.svg does not follow from .*fix:' python3 "$plot" --check "$work/out.csv" "$work/out.svg"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
