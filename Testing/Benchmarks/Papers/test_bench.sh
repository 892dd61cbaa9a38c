#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_bench.sh PROGRAM UNOPTIMISED [PLOT]: what pmb_bench_papers refuses, and a run so small that its times mean nothing.
set -u
bench=$1 slow=$2 plot=${3:-}
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

refuses 2 "no option '--tabel'" "$bench" --tabel cayley
refuses 2 "no option 'cayley'" "$bench" cayley
refuses 2 "no option ''" "$bench" ''
refuses 2 "no option '--help'" "$bench" --cpu --help
refuses 2 '--out needs a value' "$bench" --out
refuses 2 '--out needs a value' "$bench" --out ''
refuses 2 "no table 'teapot'" "$bench" --cpu --table teapot
refuses 2 "no system 'mc33'" "$bench" --cpu --system mc33
for number in 0 101 -1 x 3x 1e2 99999999999999999999; do
  refuses 2 "--repeats takes a number from 1 to 100, not '$number'" "$bench" --cpu --repeats $number
done
refuses 2 "--reduce takes a number from 0 to 6, not '7'" "$bench" --cpu --reduce 7
refuses 2 "--rows takes a number from 1 to 1000, not '0'" "$bench" --cpu --rows 0
refuses 2 'scans: .*/nowhere/scans.txt: No such file' "$bench" --cpu --scans "$work/nowhere"
refuses 1 'no GPU can be used.*mend:.*--cpu' env PMB_GPU=off "$bench" --table cayley
for line in 'head 2 2 2 u8 1' 'head 2 2 2 u8 1 a.raw b' 'head 0 2 2 u8 1 a.raw' 'head 2 2 2 f64 1 a.raw' \
  'head 2 2 5000 u8 1 a.raw' 'head 2 2 2 u8 nan a.raw' ''; do
  printf 'good 2 2 2 u8 1 good.raw\n%s\n' "$line" >"$work/scans.txt"
  refuses 2 "scans.txt:2: not 'name nx ny nz" "$bench" --cpu --scans "$work"
done
rm "$work/scans.txt"
refuses 2 'without optimisation' "$slow" --cpu --table cayley
refuses 2 "no option '--x'" "$slow" --x

# A scan that is as it is said to be, and one that is not.
printf 'abcdefgh' >"$work/good.raw"
printf 'good 2 2 2 u8 100.5 good.raw\nshort 2 2 3 u8 100.5 good.raw\n' >"$work/scans.txt"
"$bench" --cpu --table scans --table cayley --table memory --table densities --reduce 6 --repeats 1 --scans "$work" \
  --out "$work/out.csv" >"$work/out" 2>"$work/err"
count $? 'a small run'
grep -q 'short (scan).* 2 x 2 x 3 u8' "$work/out" && grep -q 'left out: .*less than the 12 bytes' "$work/out"
count $? 'a scan that is too short'
grep -q '^  *512  *8192  *1365.3 .*  148.6 ' "$work/out"
count $? "the OpenCL paper's table 3, 512: 1365 and 148 MB"
# Every line has as many columns as the first; on each volume all systems have the same number of triangles.
awk -F, 'NR == 1 { columns = NF } NF != columns { bad = 1; print "columns: " $0 } NR > 1 && $1 != "memory" {
    if ($12 != "ok") { bad = 1; print "not ok: " $0 }
    volume = $1 $2 $3 $5 $6 $7
    if (volume in triangles && triangles[volume] != $19) { bad = 1; print "triangles: " $0 }
    triangles[volume] = $19
    if ($1 == "cayley") lines++
    if ($11 == "pmb") volumes++
  } END { exit bad || !lines || lines % 8 || volumes < 8 + 5 + 16 + 20 }' "$work/out.csv" >>"$work/err"
count $? 'the file'
if [ -n "$plot" ]; then
  {
    python3 "$plot" "$work/out.csv" "$work/out.svg" && python3 "$plot" --check "$work/out.csv" "$work/out.svg" &&
      [ "$(grep -c '<circle' "$work/out.svg")" -gt 20 ]
  } >"$work/out" 2>"$work/err"
  count $? 'the plot'
  printf '\n' >>"$work/out.svg"
  refuses 1 'out.svg does not follow from .*mend:' python3 "$plot" --check "$work/out.csv" "$work/out.svg"
fi
refuses 2 '--out: /dev/null/x: ' "$bench" --cpu --table memory --out /dev/null/x

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
