# SPDX-License-Identifier: BSD-3-Clause
"""A simulation that hands each of its steps to ParaView, where pipeline.py contours it: no file, and no copy of the volume.

    PV_PLUGIN_PATH=FOLDER /usr/bin/python3 simulation.py [--side N] [--steps N] [--pipeline FILE]

FOLDER holds the plugin: ./pmb install prints its name. The Python has to be Debian's, to which ParaView's VTK belongs.
This uses the Catalyst library that comes with Debian's ParaView.
"""
import argparse
import os

import numpy
from paraview.catalyst import bridge
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData

SPEED = 0.4  # samples per step


class Wave:
    """Waves along three axes in a periodic box: two volumes, of which a step overwrites the older one."""

    def __init__(self, side):
        number = 4 * numpy.pi / (side - 2)  # the outermost samples repeat those of the other side
        angle = 2 * numpy.arcsin(SPEED * numpy.sin(number / 2))  # of a step
        phase = number * numpy.arange(side)
        self.now, self.before = (sum(numpy.meshgrid(*[numpy.sin(phase - at)] * 3, indexing="ij")).astype(numpy.float32)
                                 for at in (0, -angle))
        self.change = numpy.empty([side - 2] * 3, numpy.float32)

    def step(self):
        now, after, change, inner = self.now, self.before, self.change, slice(1, -1)
        numpy.multiply(now[inner, inner, inner], 2 / SPEED ** 2 - 6, out=change)
        for axis in range(3):
            for near in (slice(0, -2), slice(2, None)):
                change += now[tuple(near if axis == a else inner for a in range(3))]
        change *= SPEED ** 2
        numpy.subtract(change, after[inner, inner, inner], out=after[inner, inner, inner])
        for axis in range(3):
            sides = numpy.moveaxis(after, axis, 0)
            sides[0], sides[-1] = sides[-2], sides[1]
        self.now, self.before = after, now


class Adaptor:
    """Shows the simulation's volumes to VTK where they lie."""

    def __init__(self, volumes):
        self.arrays = {}
        for volume in volumes:
            array = numpy_to_vtk(volume.ravel())  # volume.ravel() is a view, and numpy_to_vtk does not copy it
            array.SetName("wave")
            self.arrays[id(volume)] = array
        self.image = vtkImageData()
        self.image.SetDimensions(volumes[0].shape[::-1])

    def hand_over(self, number, time, volume):
        array = self.arrays[id(volume)]
        array.Modified()  # the samples have changed: without this call VTK and the filter do not know
        self.image.GetPointData().SetScalars(array)
        bridge.coprocess(time, number, self.image, name="grid", wholeExtent=self.image.GetExtent())


def read_arguments():
    parser = argparse.ArgumentParser(description="A wave that ParaView contours while it is computed.")
    parser.add_argument("--side", type=int, default=128, help="samples along an axis (128)")
    parser.add_argument("--steps", type=int, default=60, help="number of steps (60)")
    parser.add_argument("--pipeline", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "pipeline.py"),
                        help="the script that ParaView runs for each step (pipeline.py)")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = read_arguments()
    bridge.initialize()
    bridge.add_pipeline(arguments.pipeline, 2)
    wave = Wave(arguments.side)
    adaptor = Adaptor([wave.now, wave.before])
    for number in range(1, arguments.steps + 1):
        wave.step()
        adaptor.hand_over(number, number * 0.01, wave.now)
    bridge.finalize()
