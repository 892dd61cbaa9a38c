#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_own_home.sh PVPYTHON OWN_HOME: under own_home.sh a ParaView that reads settings and keeps one touches nothing of
# its user's, in whose home the same script does both.
set -eu
pvpython=$1 own_home=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

for user in user other; do
  mkdir -p "$work/$user/.config/ParaView"
  for program in pvpython ParaView; do
    echo '{"sources": {"SphereSource": {"Radius": 7.0}}}' >"$work/$user/.config/ParaView/$program-UserSettings.json"
  done
done
echo "<Plugins><Plugin name=\"ParallelMarchingBlocks\" filename=\"$PMB_PLUGIN\" auto_load=\"1\"/></Plugins>" >"$work/plugins.xml"
cat >"$work/script.py" <<'END'
from paraview.simple import *
from pmb import accelerate_contour
print("radius", Sphere().Radius)
accelerate_contour(True, keep=True)
END
start() { # USER COMMAND...
  user=$1
  shift
  env HOME="$work/$user" XDG_CONFIG_HOME="$work/$user/.config" PV_PLUGIN_CONFIG_FILE="$work/plugins.xml" "$@"
}
state() { (cd "$work/user" && find . -printf '%p %T@\n' | sort && find . -type f -exec md5sum {} + | sort); }

state >"$work/before"
start user "$own_home" "$work/own" "$pvpython" "$work/script.py" >"$work/said"
grep -qx 'radius 0.5' "$work/said" || fail "the user's settings are read: $(cat "$work/said")"
state | cmp - "$work/before" || fail "the user's home has changed"
grep -rq AccelerateContour "$work/own" || fail "the setting is in no file"

# That script sees and changes settings where it may.
start other "$pvpython" "$work/script.py" >"$work/said"
grep -qx 'radius 7.0' "$work/said" || fail "the script does not read settings: $(cat "$work/said")"
grep -rq AccelerateContour "$work/other" || fail "the script does not write settings"
echo "1 passed, 0 failed"
