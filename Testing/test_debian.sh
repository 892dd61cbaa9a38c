#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs ./pmb test, or tests the Debian packages, in a separate Debian system: as on a fresh machine, or with a newer ParaView.
# usage, as root: Testing/test_debian.sh FOLDER SUITE [COMMAND [OPTION...]]
#   FOLDER   of that system: made the first time (about 4 GB with ParaView), reused later. Nothing else on this machine
#            changes; to remove the system, remove the folder
#   SUITE    bookworm (Debian 12: ParaView 5.11, VTK 9.2), trixie (Debian 13: ParaView 5.13, VTK 9.3), forky (its successor:
#            ParaView 6.1, VTK 9.6), or a later one
#   COMMAND  of ./pmb, with its options; default: test. Or `packages [DEB...]`, default: those in out/: apt installs them,
#            ParaView lists, loads and uses the plugin, apt removes them, and nothing is left
# DEBIAN_MIRROR: the server for debootstrap; default: this system's. The exit code is that of ./pmb.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd -P)

die() {
  printf 'test_debian: %s\n' "$*" >&2
  exit 1
}

[ $# -ge 2 ] || {
  sed -n '4,11s/^# //p' "$0" >&2
  exit 2
}
folder=$(realpath -m "$1") suite=$2
shift 2
[ $# -gt 0 ] || set -- test
PATH=$PATH:/usr/sbin:/sbin
made=$folder/.pmb_suite # says which suite a finished system is

[ "$(id -u)" = 0 ] || die "making and entering another system needs root, and you are $(id -un); fix: run this as root or with sudo"
for tool in debootstrap unshare chroot git; do
  command -v "$tool" >/dev/null || die "there is no $tool on PATH; fix: apt-get install debootstrap util-linux coreutils git"
done
if [ -e "$made" ]; then
  [ "$(cat "$made")" = "$suite" ] || die "$folder has Debian's $(cat "$made"), not $suite; fix: use another folder, or remove this one"
elif [ -e "$folder" ] && [ -n "$(ls -A "$folder")" ]; then
  die "$folder is not empty and has no finished system of this script; fix: use another folder, or remove this one"
else
  log=$folder/debootstrap.log
  mkdir -p "$folder" && : >"$log" || die "cannot write $folder; fix: use a writable folder"
  echo "test_debian: making $suite in $folder (log: $log)"
  script=$suite # of a suite that is newer than this machine's debootstrap: sid's
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=sid
  # shellcheck disable=SC2016
  mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/\?$' || true)}
  debootstrap --variant=minbase "$suite" "$folder" ${mirror:+"$mirror" "$script"} >"$log" 2>&1 ||
    die "debootstrap failed: $(tail -n 1 "$log"); fix: check the network, the suite's name and DEBIAN_MIRROR; then remove $folder"
  # A mirror may lag behind the date until which a suite in development is valid. The signature is checked all the same.
  echo 'Acquire::Check-Valid-Until "false";' >"$folder/etc/apt/apt.conf.d/pmb"
  printf '%s\n' "$suite" >"$made"
fi
cp -L /etc/resolv.conf "$folder/etc/resolv.conf" # the network may be another than when the system was made

if [ "$1" = packages ]; then
  shift
  [ $# -gt 0 ] || set -- "$top"/out/*.deb
  rm -rf "$folder/root/packages"
  mkdir -p "$folder/root/packages"
  cp "$@" "$top"/Testing/Package/{use_package.py,use_module.py,in_debian.sh} "$top/Data/ch2.vti" "$folder/root/packages/" ||
    die "packages are missing; fix: ./pmb package"
  sed -n 's/^#define PMB_VERSION_M[A-Z]* //p; s/^#define PMB_VERSION_PATCH //p' "$top/Kernels/pmb.h" | paste -sd. \
    >"$folder/root/packages/version"
  set -- bash /root/packages/in_debian.sh
else
  # Copies the project's files, with uncommitted changes. Earlier builds there stay.
  project=usr/src/pmb_contour
  mkdir -p "$folder/$project"
  find "$folder/$project" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git -C "$top" ls-files -z --cached --others --exclude-standard --deduplicate |
    (cd "$top" && xargs -0 ls -d 2>/dev/null | tar -c -T -) | tar -x --no-same-owner -C "$folder/$project"
  set -- "/$project/pmb" "$@"
fi
echo "test_debian: in $suite: $*"
# Private mounts, which end with it.
# shellcheck disable=SC2016
exec unshare --mount --propagation private --pid --fork --kill-child bash -c '
  set -e
  folder=$1
  shift
  mount -t proc proc "$folder/proc"
  mount --rbind /sys "$folder/sys"
  mkdir -p "$folder/dev/shm"
  mount -t tmpfs tmpfs "$folder/dev/shm"
  mount -t devpts devpts "$folder/dev/pts" # for terminals
  exec chroot "$folder" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"' test_debian "$folder" "$@"
