#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Packs the files of plugin_run.sh for a machine with a GPU but without ParaView and a network.
# usage, on a machine with ParaView, strace, gcc, binutils and xz-utils (Debian 12):
#   plugin_pack.sh plugin BUILD OUT          the plugin of a build folder (-DPMB_TEST_FAULTS=ON) and its tests: OUT/plugin.tar.xz
#   plugin_pack.sh paraview OUT [MEGABYTES]  the parts of ParaView that those scripts use: OUT/paraview.00, .01, ... of at
#                                            most that size (45); run it second: it reads OUT/plugin.tar.xz
# Pack only the plugin again after a change. Needs no display: pvpython draws nothing here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

die() {
  echo "plugin_pack: $*" >&2
  exit 1
}

usage() {
  sed -n '4,8s/^# //p' "$0" >&2
  exit 2
}

need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null ||
      die "'$tool' is not on PATH; fix: apt-get install strace gcc binutils xz-utils python3-paraview"
  done
}

pack_plugin() { # BUILD OUT
  local build=$1 out=$2 stage
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' RETURN
  mkdir -p "$out" "$stage/pmb_gpu"
  (cd "$build" &&
    find lib -type f \( -name ParallelMarchingBlocks.so -o -name 'libvtkPMB*.so*' -o -path '*/pmb/*' \) \
      -exec cp --parents -t "$stage/pmb_gpu" {} +)
  for name in ParallelMarchingBlocks.so 'libvtkPMBContour.so*' vtkPMBContour.so; do
    find "$stage" -name "$name" | grep -q . ||
      die "there is no $name in $build; fix: build the plugin there first, with nvcc"
  done
  find "$stage" -name '*.so*' -exec strip --strip-unneeded {} +
  cp "$here"/gpu_*.py "$here/../Plugin/plugin_testing.py" "$here/../Plugin/test_scenes.py" "$here"/../Benchmarks/bench_{common,gpu}.py "$stage/pmb_gpu/"
  cp "$build/bin/FuzzPMBContourFilter" "$stage/pmb_gpu/" ||
    die "there is no bin/FuzzPMBContourFilter in $build; fix: build it with -DBUILD_TESTING=ON"
  strip "$stage/pmb_gpu/FuzzPMBContourFilter"
  tar -C "$stage" --owner=0 --group=0 -cf - pmb_gpu | xz -6 >"$out/plugin.tar.xz"
  ls -l "$out/plugin.tar.xz"
}

# Runs the programs of plugin_run.sh with the CPU in place of the GPU. The first argument is the plugin's folder.
# shellcheck disable=SC2016
rehearsal='
  set -e
  cd "$0"
  export LD_LIBRARY_PATH="$0/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export PYTHONPATH="$0:$0/lib/python3/dist-packages"
  PMB_PLUGIN=$(echo "$0"/lib/paraview-*/plugins/*/ParallelMarchingBlocks.so)
  export PMB_PLUGIN
  pvpython --no-mpi gpu_plugin_tests.py --rehearse
  pvpython --no-mpi bench_gpu.py --rehearse
  ./FuzzPMBContourFilter --device cpu --rounds 50'

pack_paraview() { # OUT MEGABYTES
  local out=$1 megabytes=$2 work
  need strace gcc readelf xz pvpython
  [ -f "$out/plugin.tar.xz" ] || die "there is no $out/plugin.tar.xz: run plugin_pack.sh plugin BUILD $out first"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  export HOME=$work LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
  unset DISPLAY
  tar -C "$work" -xf "$out/plugin.tar.xz"
  python3 "$here/gpu_stubs.py" "$work/stubs" bash -c "$rehearsal" "$work/pmb_gpu"
  LD_LIBRARY_PATH=$work/stubs strace -f -qq -o "$work/trace" \
    -e trace=open,openat,stat,newfstatat,access,readlink,execve \
    bash -c "$rehearsal" "$work/pmb_gpu" >/dev/null 2>&1
  make_root "$work"
  rm -f "$out"/paraview.*
  tar -C "$work/root" --owner=0 --group=0 -cf - . | xz -T0 --x86 --lzma2=preset=9 |
    split -b "${megabytes}000000" -d - "$out/paraview."
  ls -l "$out"/paraview.*
}

# Copies the traced files to the places where a chroot finds them; then replaces libraries by stubs.
make_root() { # WORK
  local work=$1 root=$1/root path library stub
  mkdir -p "$root"/{usr/bin,usr/lib,usr/lib64,proc,dev,sys,tmp,root,etc}
  for path in bin lib lib64; do ln -s "usr/$path" "$root/$path"; done
  {
    grep -v ' = -1 ' "$work/trace" | grep -oE '"/(usr|etc|lib|lib64|bin)/[^"]*"' | tr -d '"'
    # A shell for chroot's user, and libraries that the GPU's driver needs.
    printf '%s\n' /usr/bin/bash /usr/bin/env /usr/lib64/ld-linux-x86-64.so.2
    printf "/usr/lib/x86_64-linux-gnu/%s\n" libtinfo.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libm.so.6 libc.so.6
  } | sort -u | while read -r path; do
    [ -f "$path" ] || continue
    path=$(cd "$(dirname "$path")" && pwd -P)/$(basename "$path")
    mkdir -p "$root$(dirname "$path")"
    cp -pLn "$path" "$root$path"
  done
  while read -r library stub; do
    library=$(cd "$(dirname "$library")" && pwd -P)/$(basename "$library")
    mkdir -p "$root$(dirname "$library")"
    cp "$work/stubs/$stub" "$root$library"
  done <"$work/stubs/replaced"
}

case ${1:-} in
  plugin) [ $# -eq 3 ] || usage; pack_plugin "$2" "$3" ;;
  paraview) [ $# -ge 2 ] || usage; pack_paraview "$2" "${3:-45}" ;;
  *) usage ;;
esac
