#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages on a machine that has nothing of this project: apt installs them, ParaView lists, loads and uses the
# plugin, apt takes them out, and nothing is left. Not a part of ./pmb test: it loads about 500 MB.
# usage, as root: Testing/Package/test_second_machine.sh FOLDER [DEB...]
#   FOLDER  where that machine is: a Debian of this machine's release, made the first time, used again later. Nothing
#           else on this machine is changed
#   DEB     the packages; default: what ./pmb package has put into out/
# DEBIAN_MIRROR: where Debian is loaded from; default: debootstrap's.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd -P)

die() {
  printf 'test_second_machine: %s\n' "$*" >&2
  exit 1
}

[ $# -ge 1 ] || {
  sed -n '3,9s/^# //p' "$0" >&2
  exit 2
}
folder=$(realpath -m "$1")
shift
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || die "making and entering another system needs root; mend: run this as root or with sudo"
[ $# -gt 0 ] || set -- "$top"/out/*.deb
for deb in "$@"; do
  [ -f "$deb" ] || die "there is no $deb; mend: ./pmb package"
done

inside() { # COMMAND...: mounts of its own, which end with it
  # shellcheck disable=SC2016
  unshare --mount --propagation private --pid --fork --kill-child sh -c '
    set -e
    folder=$1
    shift
    mount -t proc proc "$folder/proc"
    mount --rbind /sys "$folder/sys"
    exec chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
      DEBIAN_FRONTEND=noninteractive "$@"' sh "$folder" "$@"
}

if [ ! -e "$folder/etc/debian_version" ]; then
  command -v debootstrap >/dev/null || die "there is no debootstrap; mend: apt-get install debootstrap"
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  mkdir -p "$folder"
  echo "making $suite in $folder"
  debootstrap --variant=minbase "$suite" "$folder" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$folder/debootstrap.log" 2>&1 ||
    die "debootstrap failed: $(tail -n 1 "$folder/debootstrap.log"); mend: the network or DEBIAN_MIRROR; then remove $folder"
fi
cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
rm -rf "$folder/root/packages"
mkdir -p "$folder/root/packages"
cp "$@" "$top/Testing/Package/use_package.py" "$top/Testing/Package/use_module.py" "$top/Data/ch2.vti" "$folder/root/packages/"
sed -n 's/^#define PMB_VERSION_M[A-Z]* //p; s/^#define PMB_VERSION_PATCH //p' "$top/Kernels/pmb.h" | paste -sd. \
  >"$folder/root/packages/version"
cat >"$folder/root/packages/run.sh" <<'END'
set -eu
cd /root/packages
install() { apt-get install -y --no-install-recommends "$@" >log 2>&1 || { tail -n 20 log; exit 1; }; }
tree() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /var -o -path /root -o -path /tmp \) -prune -o -print | sort; }
# check NAME BEFORE_INSTALLING PACKAGES SCRIPT [ARG...]
check() {
  name=$1 before=$2 packages=$3
  shift 3
  # shellcheck disable=SC2086
  install $before
  # ParaView's and VTK's Python modules cannot be there both: what has gone is out of the comparison.
  tree >before
  dpkg-query -W >before_packages
  # shellcheck disable=SC2086
  install $(for package in $packages; do echo ./"$package"_*.deb; done)
  "$@"
  # shellcheck disable=SC2086
  apt-get purge -y $packages >log 2>&1
  tree >after
  dpkg-query -W >after_packages
  diff before after && diff before_packages after_packages || { echo "FAILED: $name: something is left, or gone"; exit 1; }
  echo "passed: $name: installed, used, and nothing is left"
}
apt-get update >log 2>&1 || { tail -n 3 log; exit 1; }
install xvfb
Xvfb :7 >/dev/null 2>&1 &
export DISPLAY=:7
if ls paraview-pmb-contour_*.deb >/dev/null 2>&1; then
  check 'the plugin' 'paraview python3-paraview' 'libvtk-pmb-contour paraview-pmb-contour' \
    pvpython use_package.py / "$(cat version)"
fi
if ls libvtk9-pmb-contour_*.deb >/dev/null 2>&1; then
  check "the VTK module for Debian's VTK" 'python3-vtk9 python3-numpy' libvtk9-pmb-contour python3 use_module.py
fi
END
inside bash /root/packages/run.sh
