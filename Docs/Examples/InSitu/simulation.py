# SPDX-License-Identifier: BSD-3-Clause
"""A simulation that hands each of its steps to ParaView, where pipeline.py contours it: no file, and no copy of the volume.

    PV_PLUGIN_PATH=FOLDER /usr/bin/python3 simulation.py [--side N] [--steps N] [--pipeline FILE]
    PV_PLUGIN_PATH=FOLDER mpirun -np RANKS /usr/bin/python3 simulation.py ...

FOLDER holds the plugin: ./pmb install prints its name. The Python has to be Debian's, to which ParaView's VTK belongs.
This uses the Catalyst library that comes with Debian's ParaView.
"""
import argparse
import os

import numpy
from mpi4py import MPI
from paraview.catalyst import bridge
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData

SPEED = 0.4  # samples per step


class Wave:
    """Waves along three axes in a periodic box, a part of its slices on each rank: two volumes, of which a step overwrites
    the older one.

    A rank has the cells between slices `first` and `last`, and a slice more on either side from its neighbours."""

    def __init__(self, side, ranks):
        self.ranks, self.side = ranks, side
        self.first, self.last = ((side - 1) * (ranks.rank + n) // ranks.size for n in (0, 1))
        self.below, self.above = max(self.first - 1, 0), min(self.last + 1, side - 1)
        number = 4 * numpy.pi / (side - 2)  # the outermost samples repeat those of the other side
        angle = 2 * numpy.arcsin(SPEED * numpy.sin(number / 2))  # of a step
        phase = number * numpy.arange(side)
        z, y, x = phase[self.below:self.above + 1, None, None], phase[:, None], phase
        self.now, self.before = ((numpy.sin(z - at) + numpy.sin(y - at) + numpy.sin(x - at)).astype(numpy.float32)
                                 for at in (0, -angle))
        self.change = numpy.empty_like(self.now[1:-1, 1:-1, 1:-1])

    def step(self):
        now, after, change, inner = self.now, self.before, self.change, slice(1, -1)
        numpy.multiply(now[inner, inner, inner], 2 / SPEED ** 2 - 6, out=change)
        for axis in range(3):
            for near in (slice(0, -2), slice(2, None)):
                change += now[tuple(near if axis == a else inner for a in range(3))]
        change *= SPEED ** 2
        numpy.subtract(change, after[inner, inner, inner], out=after[inner, inner, inner])
        for sides in (after.transpose(1, 0, 2), after.transpose(2, 0, 1)):
            sides[0], sides[-1] = sides[-2], sides[1]
        self.exchange(after)
        self.now, self.before = after, now

    def exchange(self, volume):
        """The outermost slices come from the neighbours; the last rank and the first are neighbours."""
        after, before = (self.ranks.rank + 1) % self.ranks.size, (self.ranks.rank - 1) % self.ranks.size
        self.ranks.Sendrecv(volume[self.last - 1 - self.below], after, recvbuf=volume[0], source=before)
        self.ranks.Sendrecv(volume[self.first + 1 - self.below], before, recvbuf=volume[-1], source=after)


class Adaptor:
    """Shows the simulation's volumes to VTK where they lie."""

    def __init__(self, wave):
        self.arrays = {}
        for volume in (wave.now, wave.before):
            array = numpy_to_vtk(volume.ravel())  # volume.ravel() is a view, and numpy_to_vtk does not copy it
            array.SetName("wave")
            self.arrays[id(volume)] = array
        end = wave.side - 1
        self.whole = (0, end) * 3
        self.image = vtkImageData()
        self.image.SetExtent(0, end, 0, end, wave.below, wave.above)  # the place of this piece in the whole
        ghosts = numpy.zeros((wave.above - wave.below, end, end), numpy.uint8)
        ghosts[:wave.first - wave.below] = ghosts[wave.last - wave.below:] = 1  # cells that a neighbour has, too
        flags = numpy_to_vtk(ghosts.ravel(), deep=True)
        flags.SetName("vtkGhostType")
        self.image.GetCellData().AddArray(flags)

    def hand_over(self, number, time, volume):
        array = self.arrays[id(volume)]
        array.Modified()  # the samples have changed: without this call VTK and the filter do not know
        self.image.GetPointData().SetScalars(array)
        bridge.coprocess(time, number, self.image, name="grid", wholeExtent=self.whole)


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
    wave = Wave(arguments.side, MPI.COMM_WORLD)
    adaptor = Adaptor(wave)
    for number in range(1, arguments.steps + 1):
        wave.step()
        adaptor.hand_over(number, number * 0.01, wave.now)
    bridge.finalize()
