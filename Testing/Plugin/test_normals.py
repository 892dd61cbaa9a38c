# SPDX-License-Identifier: BSD-3-Clause
"""The picture of normals and its table: the user's guide says what Docs/normals.py prints."""
import os
import re
import tempfile

from plugin_testing import HERE, equal, pixels, run, run_script, true

DOCS = os.path.join(HERE, os.pardir, os.pardir, "Docs")
SEPARATOR = 8  # pixels between the parts of the picture


def guide_table():
    """{choice: its two angles} of the user's guide."""
    with open(os.path.join(DOCS, "USER_GUIDE.md"), encoding="utf-8") as stream:
        rows = re.findall(r"^\| (\w+ \w+) \| ([0-9.]+) \| ([0-9.]+) \|$", stream.read(), re.MULTILINE)
    return {name: angles for name, *angles in rows}


def picture_and_table():
    with tempfile.TemporaryDirectory() as folder:
        lines = run_script("normals.py", folder).splitlines()
        printed = {row[0]: row[1:] for row in (re.split(r" {2,}", line) for line in lines[1:4])}
        picture = pixels(os.path.join(folder, "normals.png"))[:, :, 0].astype(int)
        true(os.path.getsize(os.path.join(folder, "normals.png")) < 300000, "the picture is large")
    equal(len(printed), 3, f"choices in {lines}")
    equal(guide_table(), printed, "angles in the user's guide")
    equal(picture.shape, pixels(os.path.join(DOCS, "normals.png")).shape[:2], "size of the picture in Docs/")
    # Without the titles.
    height, width = ((size - SEPARATOR) // 2 for size in picture.shape)
    parts = [picture[row:row + height - 40, column:column + width]
             for row in (0, height + SEPARATOR) for column in (0, width + SEPARATOR)]
    steps = [abs(part[1:] - part[:-1]).mean() for part in parts]
    central, sobel, none, forward = steps
    true(none > forward > central > sobel, f"steps from pixel to pixel, from the roughest to the smoothest: {steps}")


run(picture_and_table)
