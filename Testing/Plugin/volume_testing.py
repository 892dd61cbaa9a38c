# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of vtkPMBVolumeMapper: an image, properties of volumes, and a window with a renderer."""
import numpy
from paraview.vtk.util.numpy_support import numpy_to_vtk
from plugin_testing import window_pixels
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPiecewiseFunction
from vtkmodules.vtkFiltersSources import vtkSphereSource
from vtkmodules.vtkRenderingCore import (vtkActor, vtkColorTransferFunction, vtkPolyDataMapper, vtkRenderer,
                                         vtkRenderWindow, vtkVolume, vtkVolumeProperty)

SIZE = (200, 160)
ISOVALUE = 0.1


def gyroid(dims=(40, 36, 32), spacing=(1, 1, 1), dtype=numpy.float32):
    z, y, x = numpy.ogrid[0:dims[2], 0:dims[1], 0:dims[0]]
    x, y, z = (2 * numpy.pi / 24 * each for each in (x, y, z))
    values = numpy.sin(x) * numpy.cos(y) + numpy.sin(y) * numpy.cos(z) + numpy.sin(z) * numpy.cos(x)
    if dtype == numpy.uint8:
        values = values * 60 + 100
    values = numpy.ascontiguousarray(values.astype(dtype))
    image = vtkImageData()
    image.SetDimensions(dims)
    image.SetSpacing(spacing)
    image.SetOrigin(-3, 5, 20)
    array = numpy_to_vtk(values.reshape(-1), deep=True)
    array.SetName("s")
    image.GetPointData().SetScalars(array)
    return image


def property_of(isovalue, scale=1, shade=True, opacities=None):
    """opacities: of values below -1, and above 1."""
    made = vtkVolumeProperty()
    colors, opacity = vtkColorTransferFunction(), vtkPiecewiseFunction()
    for value, color in ((-1.5, (0, 0, 1)), (0, (.2, .8, .1)), (1.5, (1, .5, 0))):
        colors.AddRGBPoint(value * scale, *color)
    low, high = opacities or ((0, .1) if isovalue is None else (1, 1))
    opacity.AddPoint(-scale, low)
    opacity.AddPoint(scale, high)
    made.SetColor(colors)
    made.SetScalarOpacity(opacity)
    made.SetInterpolationTypeToLinear()
    made.SetShade(shade)
    if isovalue is not None:
        made.GetIsoSurfaceValues().SetValue(0, isovalue)
    return made


class Scene:
    def __init__(self, *props):
        self.window, self.renderer = vtkRenderWindow(), vtkRenderer()
        self.window.SetOffScreenRendering(1)
        self.window.SetSize(*SIZE)
        self.window.SetMultiSamples(0)
        self.window.AddRenderer(self.renderer)
        self.renderer.SetBackground(.1, .2, .3)
        for prop in props:
            self.renderer.AddViewProp(prop)
        self.renderer.ResetCamera()
        self.camera = self.renderer.GetActiveCamera()
        self.camera.Azimuth(28)
        self.camera.Elevation(17)
        self.renderer.ResetCameraClippingRange()

    def pixels(self):
        self.window.Render()
        return window_pixels(self.window)


def volume_of(mapper, image, mode, properties, matrix=None):
    mapper.SetInputData(image)
    mapper.SetBlendMode(mode)
    mapper.SetSampleDistance(.5)
    if hasattr(mapper, "SetAutoAdjustSampleDistances"):
        mapper.SetAutoAdjustSampleDistances(0)
        mapper.SetUseJittering(0)
    volume = vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(properties)
    if matrix:
        volume.SetScale(1, 2, .7)
        volume.RotateZ(30)
        volume.SetPosition(5, -8, 2)
    return volume


def ball(center, radius):
    source, mapper, actor = vtkSphereSource(), vtkPolyDataMapper(), vtkActor()
    source.SetCenter(center)
    source.SetRadius(radius)
    source.SetThetaResolution(40)
    source.SetPhiResolution(40)
    mapper.SetInputConnection(source.GetOutputPort())
    actor.SetMapper(mapper)
    return actor
