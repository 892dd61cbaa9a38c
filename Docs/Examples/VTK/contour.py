# SPDX-License-Identifier: BSD-3-Clause
"""An isosurface in plain VTK, without ParaView's programs: reads a .vti file, writes a .vtp file.

    PYTHONPATH=PREFIX/lib/python3/dist-packages /usr/bin/python3 contour.py SCAN ISOVALUE OUTPUT

PREFIX is the folder that ./pmb install was given. The Python has to be the one that ParaView's VTK belongs to: Debian's.
"""
import argparse
import os
import sys

from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPolyDataWriter

try:
    from pmb import vtkPMBContourFilter
except ImportError as error:
    sys.exit(f"The Python package pmb cannot be imported ({error}): set PYTHONPATH to its folder.")


def main():
    parser = argparse.ArgumentParser(description="An isosurface in plain VTK.")
    parser.add_argument("scan", help="a .vti file; its active point scalars, or its first point array, are contoured")
    parser.add_argument("isovalue", type=float)
    parser.add_argument("output", help="the .vtp file to write")
    arguments = parser.parse_args()
    if not os.path.isfile(arguments.scan):
        sys.exit(f"There is no file {arguments.scan}: give the name of a .vti file.")

    reader = vtkXMLImageDataReader()
    reader.SetFileName(arguments.scan)
    reader.Update()
    if reader.GetErrorCode() or reader.GetOutput().GetPointData().GetNumberOfArrays() == 0:
        sys.exit(f"{arguments.scan} holds no image data with point arrays.")

    contour = vtkPMBContourFilter()
    contour.SetInputConnection(reader.GetOutputPort())
    contour.SetInputArrayToProcess(0, 0, 0, 0, reader.GetOutput().GetPointData().GetArrayName(0))
    contour.SetValue(0, arguments.isovalue)
    contour.ComputeScalarsOff()
    contour.Update()
    print(contour.GetLastRunSummary())
    if contour.GetOutput().GetNumberOfPolys() == 0:
        sys.exit(f"No surface at {arguments.isovalue:g}.")

    writer = vtkXMLPolyDataWriter()
    writer.SetInputConnection(contour.GetOutputPort())
    writer.SetFileName(arguments.output)
    writer.SetDataModeToBinary()
    writer.Write()
    if writer.GetErrorCode():
        sys.exit(f"Cannot write {arguments.output}.")


main()
