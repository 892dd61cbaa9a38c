#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs in a Debian system beside packages: apt installs them, they are used, apt removes them, and nothing is left
# (test_debian.sh).
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
  # ParaView's and VTK's Python modules exclude each other: the comparison ignores removed packages.
  tree >before
  dpkg-query -W >before_packages
  # shellcheck disable=SC2086
  install $(for package in $packages; do echo ./"$package"_*.deb; done)
  "$@"
  # shellcheck disable=SC2086
  apt-get -o APT::AutoRemove::RecommendsImportant=false -o APT::AutoRemove::SuggestsImportant=false \
    purge -y --autoremove $packages >log 2>&1 # with what was installed for them, even if others suggest it
  tree >after
  dpkg-query -W >after_packages
  diff before after && diff before_packages after_packages || { echo "FAILED: $name: files were left or removed"; exit 1; }
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
