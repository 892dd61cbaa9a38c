#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_uninstall.sh PMB BUILD: ./pmb install and uninstall leave a folder as it was; other files stay.
set -eu
pmb=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*"; exit 1; }
# A build folder that ./pmb accepts as built: configures and builds nothing here.
mkdir "$work/bin"
cat >"$work/bin/cmake" <<END
#!/bin/sh
[ "\$1" = --install ] || exit 0
exec "$(command -v cmake)" --install "$build" --prefix "\$4"
END
printf '#!/bin/sh\nprintf installed\n' >"$work/bin/dpkg-query"
chmod +x "$work/bin/cmake" "$work/bin/dpkg-query"
mkdir "$work/build"
run() { PATH="$work/bin:$PATH" PMB_BUILD_DIR="$work/build" "$pmb" "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "./pmb $*"; }; }

tree() { (cd "$work" && find tree 2>/dev/null | sort); }
# Into a new folder with new parents.
run install "$work/tree/not/there"
[ -n "$(find "$work/tree" -name ParallelMarchingBlocks.so)" ] || fail "nothing is installed"
run uninstall "$work/tree/not/there"
[ ! -e "$work/tree" ] || fail "left: $(tree)"
echo "passed: a new folder is gone"

# Beside other files: a file, an empty folder that the install uses, a name with a space.
mkdir -p "$work/tree/with space/lib/python3/dist-packages" "$work/tree/with space/include" "$work/tree/with space/share"
echo 1 >"$work/tree/with space/include/other.h"
tree >"$work/before"
run install "$work/tree/with space"
package=$(dirname "$(find "$work/tree" -path '*/pmb/__init__.py')")
mkdir "$package/__pycache__"
: >"$package/__pycache__/__init__.cpython-311.pyc"
run install "$work/tree/with space" # twice: as many files
run uninstall "$work/tree/with space"
tree >"$work/after"
cmp "$work/before" "$work/after" || { diff "$work/before" "$work/after"; fail "files were left or removed"; }
echo "passed: other folders are as they were"
echo "2 passed, 0 failed"
