# SPDX-License-Identifier: BSD-3-Clause
"""From a change to the drawn picture of a volume: vtkPMBVolumeMapper beside VTK's two volume mappers. Runs in pvpython with
a display. float32, 1024 x 1024 pixels, sample distance half a voxel, light on, milliseconds.

Columns: `first`, the first picture; `turn`, a picture after the camera moved; `change`, after another isovalue or
opacity."""
from bench_common import ISOVALUES, milliseconds, parser_of, volume

parser = parser_of(__doc__)
parser.add_argument("--size", type=int, help="samples per side (512 with a GPU, else 256)")
parser.add_argument("--pixels", type=int, default=1024, help="of the picture, per side (1024)")
parser.add_argument("--changes", type=int, default=5, help="of which the median is printed (5)")
options = parser.parse_args()

import numpy  # noqa: E402
from paraview import simple  # noqa: E402, F401: loads the plugin, which knows where pmb is
from pmb.vtkPMBRendering import vtkPMBVolumeMapper  # noqa: E402
from vtkmodules.util.numpy_support import numpy_to_vtk  # noqa: E402
from vtkmodules.vtkCommonDataModel import vtkPiecewiseFunction  # noqa: E402
from vtkmodules.vtkRenderingCore import (vtkColorTransferFunction, vtkRenderer, vtkRenderWindow, vtkVolume,  # noqa: E402
                                         vtkVolumeProperty)
from vtkmodules.vtkRenderingVolume import vtkFixedPointVolumeRayCastMapper, vtkVolumeMapper  # noqa: E402
from vtkmodules.vtkRenderingVolumeOpenGL2 import vtkOpenGLGPUVolumeRayCastMapper  # noqa: E402

def look_of(image, isovalue, isosurface):
    """Colors over the range; one color for an isosurface. Composite: opaque above the isovalue only."""
    low, high = image.GetScalarRange()
    colors, opacity, made = vtkColorTransferFunction(), vtkPiecewiseFunction(), vtkVolumeProperty()
    colors.AddRGBPoint(low, .2, .3, .9)
    colors.AddRGBPoint(high, .9, .5, .2)
    for value, alpha in ((low, 1), (high, 1)) if isosurface else ((low, 0), (isovalue, 0), (high, .2)):
        opacity.AddPoint(value, alpha)
    made.SetColor(colors)
    made.SetScalarOpacity(opacity)
    made.SetInterpolationTypeToLinear()
    made.ShadeOn()
    made.GetIsoSurfaceValues().SetValue(0, isovalue)
    return made, opacity


def open_window(mapper, image, look, isosurface):
    """A window that shows the volume, not drawn yet, and its renderer."""
    mapper.SetInputData(image)
    mapper.SetBlendMode(vtkVolumeMapper.ISOSURFACE_BLEND if isosurface else vtkVolumeMapper.COMPOSITE_BLEND)
    mapper.SetSampleDistance(.5)
    for name in ("SetAutoAdjustSampleDistances", "SetUseJittering"):
        getattr(mapper, name, lambda _: None)(0)
    shown, renderer, window = vtkVolume(), vtkRenderer(), vtkRenderWindow()
    shown.SetMapper(mapper)
    shown.SetProperty(look)
    window.SetSize(options.pixels, options.pixels)
    window.SetMultiSamples(0)
    window.SetOffScreenRendering(1)
    window.AddRenderer(renderer)
    window.Render()
    renderer.AddViewProp(shown)
    renderer.ResetCamera()
    return window, renderer


def measure(what, mapper, image, isovalue, isosurface):
    look, opacity = look_of(image, isovalue, isosurface)
    window, renderer = open_window(mapper, image, look, isosurface)
    pixel = numpy_to_vtk(numpy.zeros(4, numpy.uint8), deep=True)

    def draw():
        window.Render()
        window.GetPixelData(0, 0, 0, 0, 0, pixel, 0)  # waits for OpenGL

    first, turns, changes = milliseconds(draw), [], []
    for number in range(options.changes):
        renderer.GetActiveCamera().Azimuth(3)
        turns.append(milliseconds(draw))
        look.GetIsoSurfaceValues().SetValue(0, isovalue + 1e-4 * (number + 1))
        opacity.AddPoint(image.GetScalarRange()[1], 1 if isosurface else .2 + .01 * number)
        changes.append(milliseconds(draw))
    print(f"| {what} | {first:.1f} | {numpy.median(turns):.1f} | {numpy.median(changes):.1f} |", flush=True)


def main():
    probe = vtkPMBVolumeMapper()
    measure("a volume of 16^3", probe, volume("cayley", 16), -0.012, True)
    print("vtkPMBVolumeMapper computes on", probe.GetLastDevice())
    on_gpu = probe.GetLastDevice().startswith("GPU")
    size = options.size or (512 if on_gpu else 256)
    print("| volume, blend mode, mapper | first | turn | change |\n|---|---|---|---|")
    for name, isovalue in ISOVALUES.items():
        image = volume(name, size)
        for isosurface in (True, False):
            mappers = [vtkPMBVolumeMapper(), vtkOpenGLGPUVolumeRayCastMapper()]
            if not isosurface and not on_gpu:  # of the CPU
                mappers.append(vtkFixedPointVolumeRayCastMapper())
            for mapper in mappers:
                mode = "isosurface" if isosurface else "composite"
                measure(f"{name} {size}^3, {mode}, {mapper.GetClassName()}", mapper, image, isovalue, isosurface)


main()
