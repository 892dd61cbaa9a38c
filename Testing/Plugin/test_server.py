# SPDX-License-Identifier: BSD-3-Clause
"""A client and a pvserver: the plugin is loaded on both sides and the filter runs on the server.

Without an argument the server is one process. With a number it is that many ranks, and what they make, in pvbatch too, is
compared with the surfaces of one process, bit for bit (mpi_pieces.py). Exits with 77 (skipped) without pvserver or mpirun.
"""
import os
import subprocess
import sys
import tempfile

from paraview import servermanager, simple

from plugin_testing import HERE, counts, equal, load_plugin, output, run, triangles, true
from server_testing import ENVIRONMENT, Server, finish, mpirun, skip_without

PIECES = os.path.join(HERE, "mpi_pieces.py")


def client():
    """The client's steps; the server ends after this process."""
    simple.Connect("127.0.0.1", int(sys.argv[2]))
    true(servermanager.ActiveConnection.IsRemote(), "the connection is not remote")
    simple.LoadPlugin(os.environ["PMB_PLUGIN"], remote=False)  # the class of the proxy
    load_plugin(remote=True)  # the client has the panel's definitions from the server
    wavelet = simple.Wavelet(WholeExtent=[-50, 50, -50, 50, -50, 50])
    proxy = simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0],
                              RemoveDegenerateTriangles=0)
    proxy.UpdatePipeline()
    equal(proxy.GetDataInformation().GetNumberOfCells(), 168292, "triangles on the server")
    equal(counts(output(proxy))[1], 168292, "triangles that came over")
    proxy.Isosurfaces = [200.0]
    proxy.UpdatePipeline()
    changed = proxy.GetDataInformation().GetNumberOfCells()
    true(0 < changed != 168292, f"{changed} triangles after a change of the isovalue")
    true(f" {changed} triangles" in proxy.LastRun, f"{changed} triangles, but the last run is {proxy.LastRun!r}")
    suggested = list(proxy.GetPropertyValue("SuggestedIsovalues"))
    equal(len(suggested), 2, "suggestions on the client")
    proxy.UseSuggestedIsovalue = 1
    proxy.UpdatePipeline()
    true(f"the isovalue {suggested[0]:.6g} was suggested" in proxy.LastRun, f"the last run is {proxy.LastRun!r}")
    proxy.SMProxy.GetProperty("Live").SetUncheckedElement(0, 1)
    proxy.SMProxy.GetProperty("LiveIsovalue").SetUncheckedElement(0, 200.0)  # the panel's slider
    proxy.UpdatePipeline()
    equal(proxy.GetDataInformation().GetNumberOfCells(), changed, "triangles after a move of the slider")
    accelerated(wavelet)


def accelerated(wavelet):
    """The stock Contour on the server: PMB Contour's triangles with the client's setting on, VTK's with it off."""
    from pmb import accelerate_contour
    ours = triangles(output(simple.PMBContour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])))
    contour = simple.Contour(Input=wavelet, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
    for on in (0, 1, 0):
        equal(accelerate_contour(on).GetProperty("AccelerateContour").GetElement(0), on, "the setting")
        contour.Isosurfaces = [158.0]
        contour.UpdatePipeline()
        contour.Isosurfaces = [157.0]
        ids = triangles(output(contour))
        equal(len(ids), len(ours), "triangles of Contour")
        equal(bool((ids == ours).all()), bool(on), f"triangles in the order of PMB Contour with the setting {on}")


def session():
    with Server() as server:
        finish(server, __file__, "client", str(server.port()))


def pieces():
    """pvbatch on several ranks, then a client with a server on as many."""
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["pvpython", PIECES, "write", folder], check=True)
        result = subprocess.run([*mpirun(ranks), "pvbatch", "--symmetric", PIECES, "ranks", folder], capture_output=True,
                                text=True, env={**ENVIRONMENT, "PMB_RANKS": str(ranks)}, check=False)
        said = result.stdout + result.stderr
        equal(result.returncode, 0, f"exit code of pvbatch; it said {said}")
        # mpirun's exit code may differ from the script's.
        equal(sum(name.startswith("passed.") for name in os.listdir(folder)), ranks, f"ranks that passed; they said {said}")
        with Server(ranks) as server:
            said = finish(server, PIECES, "client", folder, str(server.port()))
        true("passed: client" in said, f"the client said {said}")


skip_without("pvserver", *(["mpirun", "pvbatch"] if len(sys.argv) == 2 else []))
run({1: session, 2: pieces, 3: client}[len(sys.argv)])
