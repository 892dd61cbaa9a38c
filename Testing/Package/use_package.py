# SPDX-License-Identifier: BSD-3-Clause
"""use_package.py FOLDER VERSION: in a ParaView for which the packages are installed below FOLDER: the plugin is listed, not
loaded; it loads by its name, and says what it is; the filter and the Python package work."""
import os
import sys

from paraview import servermanager, simple
from paraview.modules.vtkRemotingCore import vtkPVPluginTracker

folder, version = sys.argv[1:]
name = "ParallelMarchingBlocks"


def check(value, what):
    if not value:
        sys.exit(f"FAILED: {what}")


def listed():
    """{name: (file, loaded, loaded at the start)} of all plugins that ParaView knows."""
    tracker = vtkPVPluginTracker.GetInstance()
    return {tracker.GetPluginName(i): (tracker.GetPluginFileName(i), tracker.GetPluginLoaded(i),
                                       tracker.GetPluginAutoLoad(i)) for i in range(tracker.GetNumberOfPlugins())}


check(name in listed(), f"{name} is not listed, only {sorted(listed())}")
path, loaded, at_start = listed()[name]
check(os.path.realpath(path).startswith(os.path.realpath(folder)), f"it is listed with {path}")
check(not loaded and not at_start, "it is loaded without being asked for")

simple.LoadDistributedPlugin(name, remote=False, ns=vars(simple))
check(listed()[name][1], "it is not loaded")
information = servermanager.vtkSMProxyManager.GetProxyManager().GetPluginManager().GetLocalInformation()
index = [i for i in range(information.GetNumberOfPlugins()) if information.GetPluginName(i) == name][0]
check(information.GetPluginVersion(index) == version, f"its version is {information.GetPluginVersion(index)}")
check("isosurfaces" in information.GetDescription(index), f"its description is {information.GetDescription(index)}")
check(information.GetRequiredOnServer(index) and information.GetRequiredOnClient(index), "where it is needed")

surface = simple.PMBContour(Input=simple.Wavelet(), ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
surface.UpdatePipeline()
check(surface.GetDataInformation().GetNumberOfCells() > 1000, "the filter makes no surface")
with open("/proc/self/maps", encoding="utf-8") as maps:
    used = {line.split()[-1] for line in maps if "PMBContour.so" in line or f"{name}.so" in line}
import pmb  # noqa: E402: the package's, with the plugin's library
check(pmb.vtkPMBContourFilter().IsA("vtkPMBContourFilter"), "the Python package")
check(type(surface.GetClientSideObject()) is pmb.vtkPMBContourFilter, "the class of the filter's object")
check(pmb.accelerate_contour().GetProperty("AccelerateContour").GetElement(0) == 1, "the switch of ParaView's Contour")
used.add(pmb.__file__)
check(len(used) >= 3 and all(os.path.realpath(file).startswith(os.path.realpath(folder)) for file in used),
      f"these do not come from the packages alone: {used}")
sys.stdout.flush()
os._exit(0)
