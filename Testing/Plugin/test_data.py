# SPDX-License-Identifier: BSD-3-Clause
"""The scan in Data/ is the one whose source and licence are written there.

With the argument "source" its samples are compared with those of the Debian package mricron-data; exits with 77
(skipped) where that is not installed.
"""
import hashlib
import os
import sys

import numpy
from paraview.vtk.util.numpy_support import vtk_to_numpy

from plugin_testing import DATA, SKIPPED, equal, run, true
import make_ch2
import scans


def checksum():
    with open(os.path.join(DATA, "SHA256SUMS"), encoding="ascii") as stream:
        lines = [line.split() for line in stream.read().splitlines()]
    true(lines, "no checksums")
    for expected, name in lines:
        with open(os.path.join(DATA, name), "rb") as stream:
            content = stream.read()
        equal(hashlib.sha256(content).hexdigest(), expected, name)
        true(len(content) <= 5 << 20, f"{name} has {len(content)} bytes")


def samples_of_the_source():
    samples, dims, spacing, origin = make_ch2.read_nifti(make_ch2.SOURCE)
    scan = scans.read_ch2()
    equal(scan.GetDimensions(), tuple(dims), "dims")
    equal(scan.GetSpacing(), tuple(spacing), "spacing")
    equal(scan.GetOrigin(), tuple(origin), "origin")
    shipped = vtk_to_numpy(scan.GetPointData().GetScalars())
    true(numpy.array_equal(shipped, samples), "samples differ")


if sys.argv[1:] == ["source"]:
    if not os.path.exists(make_ch2.SOURCE):
        print(f"skipped: {make_ch2.SOURCE} is not here; it comes with the Debian package mricron-data")
        sys.exit(SKIPPED)
    run(samples_of_the_source)
run(checksum)
