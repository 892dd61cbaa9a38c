#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Docs/VTK_TESTS.md and the tests agree: what it names exists, and every re-stated test is in it. Argument: the root."""
import os
import re
import sys

root = sys.argv[1]
folder = os.path.join(root, "Testing", "Filters", "VTK")
FILES = {part: os.path.join(folder, f"test_vtk_{part}.py") for part in ("filters", "fields", "pipelines", "pieces")}
FILES["plugin"] = os.path.join(root, "Testing", "Plugin", "test_vtk.py")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tests_of(part, path):
    text = read(path)
    if part == "plugin":
        names = re.findall(r"\w+", re.search(r"^run\((.*?)\)", text, re.M | re.S).group(1))
    else:
        names = re.findall(r"^    (?:def )?test_(\w+)(?:\(| =)", text, re.M)
    return {f"{part}.{name}" for name in names}


document = read(os.path.join(root, "Docs", "VTK_TESTS.md"))
named = set(re.findall(rf"`((?:{'|'.join(FILES)})\.\w+)`", document))
existing = set().union(*(tests_of(part, path) for part, path in FILES.items()))
others = set(re.findall(r"`((?:TestPMB\w+|test_\w+)(?:\.\w+)?)`", document))
sources = {os.path.splitext(name)[0]: os.path.join(path, name)
           for path, _, names in os.walk(os.path.join(root, "Testing")) for name in names}
missing = sorted(named - existing) + sorted(
    name for name in others
    if name.split(".")[0] not in sources
    or "." in name and not re.search(rf"\b{name.split('.')[1]}\b", read(sources[name.split('.')[0]])))
unlisted = sorted(existing - named)
for name in missing:
    print(f"Docs/VTK_TESTS.md names {name}, which is no test: mend the name or write the test")
for name in unlisted:
    print(f"{name} is not in Docs/VTK_TESTS.md: list it")
print(f"{len(named)} re-stated tests are listed, {len(existing)} exist")
sys.exit(1 if missing or unlisted or not named else 0)
