#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# ./pmb test on a Debian system of its own, in a folder: a fresh machine, or a newer ParaView than this machine's.
# usage, as root: Testing/test_debian.sh FOLDER SUITE [COMMAND [OPTION...]]
#   FOLDER   where that system is: made the first time (about 4 GB with ParaView), used again later. Nothing else on this
#            machine is changed; to be rid of it remove the folder
#   SUITE    bookworm (Debian 12: ParaView 5.11, VTK 9.2), trixie (Debian 13: ParaView 5.13, VTK 9.3), or a later one
#   COMMAND  of ./pmb, with its options; default: test. "test --all -L plugin": all those of the plugin
# DEBIAN_MIRROR: where Debian is loaded from; default: where this machine's apt loads it from, or debootstrap's default.
# The exit code is that of ./pmb.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd -P)

die() {
  printf 'test_debian: %s\n' "$*" >&2
  exit 1
}

say() { printf 'test_debian: %s\n' "$*"; }

[ $# -ge 2 ] || {
  sed -n '4,9s/^# //p' "$0" >&2
  exit 2
}
folder=$1 suite=$2
shift 2
[ $# -gt 0 ] || set -- test
PATH=$PATH:/usr/sbin:/sbin
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
made=$folder/.pmb_suite # says which suite a finished system is
project=usr/src/pmb_contour # in that system

check_this_machine() {
  [ "$(id -u)" = 0 ] || die "making and entering another system needs root, and you are $(id -un); mend: run this as root or with sudo"
  local tool
  for tool in debootstrap unshare chroot git; do
    command -v "$tool" >/dev/null || die "there is no $tool on PATH; mend: apt-get install debootstrap util-linux coreutils git"
  done
  git -C "$top" rev-parse --git-dir >/dev/null 2>&1 ||
    die "$top is no git checkout, so it cannot be told which files are the project's"
  if [ -e "$made" ]; then
    [ "$(cat "$made")" = "$suite" ] ||
      die "$folder has Debian's $(cat "$made"), not $suite; mend: another folder, or remove this one"
  elif [ -e "$folder" ] && [ -n "$(ls -A "$folder")" ]; then
    die "$folder is not empty and has no finished system of this script; mend: another folder, or remove this one"
  fi
}

# Debian's own archive as this machine's apt knows it: the first line with the component main of Origin Debian.
find_mirror() {
  apt-get indextargets --format '$(SITE) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null |
    awk '{ print $2; exit }'
}

make_system() {
  local mirror=${DEBIAN_MIRROR:-$(find_mirror || true)} log=$folder/debootstrap.log
  mkdir -p "$folder" 2>/dev/null && : >"$log" || die "cannot write $folder; mend: a folder that can be written"
  say "making $suite in $folder from ${mirror:-the default mirror} (log: $log)"
  # shellcheck disable=SC2086
  if ! debootstrap --variant=minbase "$suite" "$folder" $mirror >"$log" 2>&1; then
    die "debootstrap could not make '$suite': $(tail -n 1 "$log"); mend: the network, the suite's name or DEBIAN_MIRROR; then remove $folder and run this again"
  fi
  printf '%s\n' "$suite" >"$made"
}

# The project's files as they are here, also those changed and not committed. What was built there from files that
# have not changed since stays.
copy_project() {
  mkdir -p "$folder/$project"
  find "$folder/$project" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git -C "$top" ls-files -z --cached --others --exclude-standard --deduplicate |
    (cd "$top" && xargs -0 ls -d 2>/dev/null | tar -c -T -) | tar -x --no-same-owner -C "$folder/$project"
}

# Mounts of its own, which end with it.
enter_system() { # COMMAND...
  # shellcheck disable=SC2016
  exec unshare --mount --propagation private --pid --fork --kill-child bash -c '
    set -e
    folder=$1 project=$2
    shift 2
    mount -t proc proc "$folder/proc"
    mount --rbind /sys "$folder/sys"
    mkdir -p "$folder/dev/shm"
    mount -t tmpfs tmpfs "$folder/dev/shm"
    exec chroot "$folder" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      HOME=/root LC_ALL=C.UTF-8 TERM=dumb "$project/pmb" "$@"' test_debian "$folder" "/$project" "$@"
}

check_this_machine
[ -e "$made" ] || make_system
cp -L /etc/resolv.conf "$folder/etc/resolv.conf" # the network may be another than when the system was made
copy_project
say "in $suite: ./pmb $*"
enter_system "$@"
