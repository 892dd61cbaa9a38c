#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check_layers.py [--draw]: checks that includes between the folders of Kernels point down, and that no folders
include each other in a circle. --draw prints the folders from the top down, with what each includes.

The public headers (pmb*.h that are installed) belong to no folder: every file may include them."""
import pathlib
import re
import sys

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "Kernels"
PUBLIC = {"pmb.h", "rays/pmb_rays.h", "particles/pmb_particles.h", "visible/pmb_visible.h"}
# From the top down: a folder may include those of the rows below it.
LAYERS = [["backends"], ["gl"], ["particles", "rays", "visible"], ["cpu", "cuda", "explore", "measures"], ["core"], ["shared"]]
LEVEL = {folder: -row for row, layer in enumerate(LAYERS) for folder in layer}
INCLUDE = re.compile(r'^\s*#\s*(?:include|define\s+PMB_EACH_TYPE)\s*"([^"]+)"', re.MULTILINE)


def arrows():
    """{(folder, folder): [(file, include)]}, without includes within a folder."""
    found = {}
    for path in sorted(KERNELS.rglob("*")):
        name = path.relative_to(KERNELS)
        if path.suffix not in (".c", ".h", ".cu", ".cuh", ".in") or len(name.parts) < 2:
            continue
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            to = target.split("/")[0]
            if target not in PUBLIC and to != name.parts[0]:
                found.setdefault((name.parts[0], to), []).append((str(name), target))
    return found


def main():
    found = arrows()
    faults = 0
    for (folder, to), includes in found.items():
        if folder not in LEVEL or to not in LEVEL:
            print(f"{includes[0][0]} includes {includes[0][1]}: add the folder to LAYERS in Testing/check_layers.py")
            faults += 1
        elif LEVEL[to] >= LEVEL[folder]:
            faults += len(includes)
            for name, target in includes:
                print(f"Kernels/{name} includes {target}: {folder}/ must not include {to}/")
    if "--draw" in sys.argv[1:]:
        for layer in LAYERS:
            for folder in layer:
                print(f"{folder}: {', '.join(to for one, to in sorted(found) if one == folder) or '-'}")
    print(f"check_layers: {len(found)} arrows between {len(LEVEL)} folders, {faults} faults")
    return 1 if faults or not found else 0


if __name__ == "__main__":
    sys.exit(main())
