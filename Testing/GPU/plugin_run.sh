#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the plugin in pvpython on a machine with a GPU but without ParaView and a network.
# usage, as root: plugin_run.sh PACKED ROOT SCRIPT [ARG...]
#   PACKED  the folder that plugin_pack.sh wrote
#   ROOT    a folder on the GPU machine: ParaView is unpacked there the first time (about 300 MB), the plugin whenever
#           PACKED has one; afterwards PACKED needs no paraview.*
#   SCRIPT  gpu_plugin_tests.py, bench_gpu.py, or another script, or the program FuzzPMBContourFilter
# The exit code is the script's.
set -euo pipefail

die() {
  echo "plugin_run: $*" >&2
  exit 1
}

[ $# -ge 3 ] || {
  sed -n '4,8s/^# //p' "$0" >&2
  exit 2
}
packed=$1 root=$2 script=$3
shift 3
[ "$(id -u)" = 0 ] || die "chroot needs root: run this as root"
# These mounts end with this script: if /dev stayed mounted in ROOT, removing ROOT would empty this machine's /dev.
if [ "${PMB_PLUGIN_RUN:-}" != $$ ]; then # unshare keeps the process
  PMB_PLUGIN_RUN=$$ exec unshare --mount --propagation slave bash "$0" "$packed" "$root" "$script" "$@"
fi
unset PMB_PLUGIN_RUN

unpack_paraview() {
  [ -e "$packed/paraview.00" ] ||
    die "there is no $packed/paraview.00, nor ParaView in $root; fix: make it with plugin_pack.sh"
  mkdir -p "$root"
  cat "$packed"/paraview.* | xz -dc -T0 | tar -C "$root" -xf -
}

# The driver's own libraries must match this machine's kernel, so they are not packed.
take_driver() {
  local cuda=/usr/local/nvidia/lib64/libcuda.so.1 library
  [ -e "$cuda" ] ||
    cuda=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '/libcuda\.so\.1 .*x86-64/ && !found++ {print $NF}') || true
  [ -n "$cuda" ] || echo "plugin_run: there is no libcuda.so.1 here: the plugin runs without a GPU" >&2
  for library in "$cuda" "$(dirname "$cuda")/libnvidia-ptxjitcompiler.so.1"; do
    [ ! -f "$library" ] || cp -L "$library" "$root/usr/lib/x86_64-linux-gnu/"
  done
}

if [ ! -e "$root/.unpacked" ]; then
  unpack_paraview
  take_driver
  touch "$root/.unpacked"
fi
for folder in proc dev sys; do
  mountpoint -q "$root/$folder" || mount --rbind "/$folder" "$root/$folder"
done
[ ! -e "$packed/plugin.tar.xz" ] || { rm -rf "$root/pmb_gpu"; tar -C "$root" -xf "$packed/plugin.tar.xz"; }
[ -d "$root/pmb_gpu" ] || die "there is no $packed/plugin.tar.xz: make it with plugin_pack.sh"
case $script in
  */*) cp "$script" "$root/pmb_gpu/"; script=$(basename "$script") ;;
esac

plugin=$(cd "$root" && echo pmb_gpu/lib/paraview-*/plugins/*/ParallelMarchingBlocks.so)
chroot=$(command -v chroot) || die 'there is no chroot on PATH'
export LD_LIBRARY_PATH=/pmb_gpu/lib PYTHONPATH=/pmb_gpu:/pmb_gpu/lib/python3/dist-packages PMB_PLUGIN=/$plugin
export PATH=/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
unset DISPLAY PYTHONHOME
case $script in
  *.py) exec "$chroot" "$root" /usr/bin/env -C /pmb_gpu pvpython --no-mpi "$script" "$@" ;;
  *) exec "$chroot" "$root" /usr/bin/env -C /pmb_gpu "./$script" "$@" ;;
esac
