#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check_labels.py CTEST BUILD

Each test of the folder BUILD must have one tier, one subject, and a home folder of its own if it may start ParaView."""
import json
import subprocess
import sys

TIERS = {"quick", "full", "gpu"}
SANITIZERS = {"asan", "tsan"}
STARTS_PARAVIEW = {"plugin", "package"}

if len(sys.argv) != 3:
    sys.exit("check_labels: usage: check_labels.py CTEST BUILD; the test script.labels calls it with both")
ctest, build = sys.argv[1:]
listed = json.loads(subprocess.run([ctest, "--show-only=json-v1"], cwd=build, check=True, capture_output=True).stdout)
wrong, counts = [], dict.fromkeys(sorted(TIERS), 0)
for test in listed["tests"]:
    properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
    labels = set(properties.get("LABELS", []))
    tiers, subjects = labels & TIERS, labels - TIERS - SANITIZERS
    if len(tiers) != 1 or len(subjects) != 1:
        wrong.append(f"{test['name']} has the labels {sorted(labels)}; give it one subject and one of {sorted(TIERS)}")
    for tier in tiers:
        counts[tier] += 1
    command = test.get("command", ["not built yet"])
    if subjects & STARTS_PARAVIEW and not command[0].endswith("own_home.sh"):
        wrong.append(f"{test['name']} runs {command[0]} in the user's home; add it with pmb_add_home_test")
print(*wrong, *(f"{name}: {count} tests" for name, count in counts.items()), sep="\n")
sys.exit(1 if wrong or not counts["quick"] else 0)
