# SPDX-License-Identifier: BSD-3-Clause
"""The Python package, with VTK's modules and without ParaView's."""
import sys

from pmb import vtkPMBContourAcceleration, vtkPMBContourFilter
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkContourFilter, vtkFlyingEdges3D
from vtkmodules.vtkImagingCore import vtkRTAnalyticSource


def equal(value, expected, what):
    if value != expected:
        raise AssertionError(f"{what}: {value!r}, not {expected!r}")


source = vtkRTAnalyticSource()
source.SetWholeExtent(-20, 20, -20, 20, -20, 20)
source.Update()
source.GetOutput().GetPointData().SetActiveScalars("RTData")

contour = vtkPMBContourFilter()
contour.SetInputConnection(source.GetOutputPort())
contour.SetValue(0, 157.0)
contour.RemoveDegenerateTrianglesOff()
contour.Update()
reference = vtkFlyingEdges3D()
reference.SetInputConnection(source.GetOutputPort())
reference.SetValue(0, 157.0)
reference.Update()
mesh = contour.GetOutput()
equal(mesh.GetNumberOfPolys(), reference.GetOutput().GetNumberOfPolys(), "triangles")
equal(mesh.GetNumberOfPoints(), reference.GetOutput().GetNumberOfPoints(), "points")
equal(vtk_to_numpy(mesh.GetPoints().GetData()).shape, (mesh.GetNumberOfPoints(), 3), "shape of the points")

# The list of isovalues in Python.
contour.GenerateValues(3, 100.0, 200.0)
equal(tuple(contour.GetValues()), (100.0, 150.0, 200.0), "isovalues")
values = [0.0] * 3
contour.GetValues(values)
equal(values, [100.0, 150.0, 200.0], "isovalues in a list")
equal(contour.GetNumberOfBinds(), 1, "volumes read")
contour.Update()
equal(contour.GetNumberOfBinds(), 1, "volumes read after a change of the isovalues")
equal(vtkPMBContourFilter.CPU, 1, "constants of the class")
if "triangles" not in contour.GetLastRunSummary():
    raise AssertionError(f"the summary: {contour.GetLastRunSummary()}")
# VTK's own filter in one script, with and without acceleration.
vtkPMBContourAcceleration.Enable()
stock = vtkContourFilter()
stock.SetInputConnection(source.GetOutputPort())
stock.SetValue(0, 157.5)
triangles = []
for on in (True, False, True):
    (vtkPMBContourAcceleration.Enable if on else vtkPMBContourAcceleration.Disable)()
    before = vtkPMBContourAcceleration.GetNumberOfRuns()
    stock.Update()
    equal(vtkPMBContourAcceleration.GetNumberOfRuns() - before, int(on), f"accelerated executions, {on}")
    triangles.append(stock.GetOutput().GetNumberOfPolys())
equal(len(set(triangles)), 1, f"triangles: {triangles}")
if not triangles[0] or "vtkContourFilter" not in vtkPMBContourAcceleration.GetLastRunSummary():
    raise AssertionError(f"{triangles}, the summary: {vtkPMBContourAcceleration.GetLastRunSummary()}")

if any("paraview" in name for name in sys.modules):
    raise AssertionError("this test is to run without ParaView's modules")
print(f"python: {mesh.GetNumberOfPolys()} triangles")
