#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_deb.sh CPACK BUILD SOURCE: makes the Debian packages, checks their fields and contents, installs them with
# dpkg into a folder, checks that a ParaView there lists and loads the plugin, and removes them.
set -eu
cpack=$1 build=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0

fail() { echo "FAILED: $*"; exit 1; }
pass() { passed=$((passed + 1)); echo "passed: $*"; }

command -v dpkg >/dev/null || { echo "skipped: no dpkg"; exit 77; }
(umask 002 && cd "$work" && "$cpack" --config "$build/CPackConfig.cmake" -D CPACK_OUTPUT_FILE_PREFIX="$work/debs") >"$work/log" 2>&1 ||
  { cat "$work/log"; fail "cpack"; }
version=$(sed -n 's/^#define PMB_VERSION_M[A-Z]* //p; s/^#define PMB_VERSION_PATCH //p' "$source/Kernels/pmb.h" | paste -sd.)
plugin=$(echo "$work"/debs/paraview-pmb-contour_"$version"-*.deb)
module=$(echo "$work"/debs/libvtk-pmb-contour_"$version"-*.deb)
headers=$(echo "$work"/debs/libvtk-pmb-contour-dev_"$version"-*.deb)
for file in "$plugin" "$module" "$headers"; do
  [ -f "$file" ] || fail "there is no $(basename "$file") among: $(ls "$work/debs")"
done
pass "three packages of version $version"

# says FILE FIELD PATTERN
says() {
  dpkg-deb -f "$1" "$2" | grep -qE -e "$3" || fail "$(basename "$1"): $2 is '$(dpkg-deb -f "$1" "$2")', not '$3'"
}
for file in "$plugin" "$module" "$headers"; do
  says "$file" Version "^$version-1"
  says "$file" Architecture "^$(dpkg --print-architecture)$"
  says "$file" Maintainer .
  says "$file" Description '^Fast isosurfaces of image data: '
  package=$(dpkg-deb -f "$file" Package)
  dpkg-deb -c "$file" >"$work/list"
  for name in copyright changelog.gz changelog.Debian.gz; do
    grep -q " ./usr/share/doc/$package/$name\$" "$work/list" || fail "$package has no $name"
  done
  if awk '$2 != "root/root" || $1 !~ /^l/ && $1 ~ /^.....w|^........w/' "$work/list" | grep .; then
    fail "$package: files not owned by root, or writable by others"
  fi
  dpkg-deb -x "$file" "$work/$package"
done
same="\\(= $(dpkg-deb -f "$module" Version | sed 's/[.~]/\\&/g')\\)"
says "$plugin" Depends "libvtk-pmb-contour $same"
says "$plugin" Depends 'paraview \(>= '
says "$plugin" Depends 'libqt5svg5|qt6-svg-plugins'
says "$plugin" Depends 'paraview \(<< '
says "$module" Depends 'paraview \(<< |libvtk9\.[0-9]' # ParaView's own VTK, or Debian's, which ParaView 6 uses
says "$module" Depends 'libc6 '
says "$module" Conflicts 'libvtk9-pmb-contour'
says "$headers" Depends "libvtk-pmb-contour $same"
says "$plugin" Section science
pass "their fields and owners"

find "$work"/*pmb-contour* -type f | sed "s|$work/[^/]*/||" | sort >"$work/files"
[ -z "$(uniq -d "$work/files")" ] || fail "in two packages: $(uniq -d "$work/files")"
for pattern in 'lib.*/plugins/ParallelMarchingBlocks/ParallelMarchingBlocks\.so' 'lib.*/plugins/pmb\.plugins\.xml' \
  'lib.*/libvtkPMBContour\.so\.[0-9.]*' 'lib.*/libvtkPMBAcceleration\.so\.[0-9.]*' 'lib/python3/dist-packages/pmb/__init__\.py' 'include/pmb\.h' 'lib.*/libpmb\.a' \
  'lib.*/plugins/ParallelMarchingBlocks/panel/ParallelMarchingBlocksPanel\.so' 'lib.*/cmake/PMB/PMBConfig\.cmake' \
  'share/doc/paraview-pmb-contour/USER_GUIDE\.md' 'share/doc/paraview-pmb-contour/Examples/scan\.pvsm'; do
  grep -qx "usr/$pattern" "$work/files" || fail "no package has $pattern"
done
find "$work"/*pmb-contour* -name '*.so*' -type f >"$work/libraries"
while read -r library; do
  # Paths of the build folder from the linker, or in messages from the compiler.
  if strings -a "$library" | grep -F -e "$build" -e "$source/"; then
    fail "$library contains the name of its build folder"
  fi
  if readelf -S --wide "$library" | grep -q '\.symtab'; then
    fail "$library is not stripped"
  fi
done <"$work/libraries"
pass "their files"

# dpkg with another root; the scripts run outside, with DPKG_ROOT. The root has a copy of ParaView, because its programs look for
# plugins relative to their folder.
root=$work/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/usr/bin" "$root/usr/lib/python3/dist-packages"
: >"$root/var/lib/dpkg/status"
: >"$root/usr/lib/python3/dist-packages/other.py" # dpkg takes out folders that have become empty
real=$(readlink -f "$(command -v pvpython)")
cp "$real" "$root/usr/bin/pvpython"
tree() { (cd "$root" && find . -path ./var -prune -o -print | sort); }
in_root() {
  PATH=$PATH:/usr/sbin:/sbin dpkg --root="$root" --log="$work/dpkg.log" --force-depends --force-not-root --force-script-chrootless "$@" \
    >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg $*"; }
}
tree >"$work/before"
in_root -i "$module" "$plugin"
conf=$root/usr/bin/paraview.conf list=/usr/share/paraview/plugins
if [ -e "$root$list" ]; then # ParaView finds itself by the system's folders: test_debian.sh shows that it lists the plugin
  grep -qxF $list /usr/lib/*/paraview-*/paraview.conf || fail "ParaView does not read $list"
else
  in_root -i "$plugin" # again
  [ "$(grep -c pmb.plugins.xml "$conf")" = 1 ] || fail "after a second time paraview.conf is: $(cat "$conf")"
  export PATH="$root/usr/bin:$PATH" LD_LIBRARY_PATH="/nowhere"
  PYTHONPATH="$(dirname "$(find "$root" -path '*/dist-packages/pmb')")" "$root/usr/bin/pvpython" \
    "$source/Testing/Package/use_package.py" "$root" "$version" || fail "ParaView with the packages"
fi
pass "dpkg installs them, and ParaView lists the plugin"

mkdir -p "$root/usr/lib/python3/dist-packages/pmb/__pycache__"
: >"$root/usr/lib/python3/dist-packages/pmb/__pycache__/__init__.cpython-311.pyc"
in_root --purge paraview-pmb-contour libvtk-pmb-contour
tree >"$work/after"
cmp "$work/before" "$work/after" || { diff "$work/before" "$work/after"; fail "files were left or removed"; }
pass "nothing is left"

# Other lines in that file stay, even one without a newline.
printf 'other.xml' >"$conf"
in_root -i "$module" "$plugin"
in_root --purge paraview-pmb-contour
[ "$(cat "$conf")" = other.xml ] || fail "another paraview.conf was changed to: $(cat "$conf")"
pass "the lines of others stay"
echo "$passed passed, 0 failed"
