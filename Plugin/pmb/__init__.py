# SPDX-License-Identifier: BSD-3-Clause
"""In a ParaView that has loaded the plugin: the package pmb that is built and installed with it, found from where the
plugin is. (Without ParaView, put that package's own folder on PYTHONPATH.)"""
import os

from paraview.modules.vtkRemotingCore import vtkPVPluginTracker


def _package_folder():
    tracker = vtkPVPluginTracker.GetInstance()
    for index in range(tracker.GetNumberOfPlugins()):
        if tracker.GetPluginName(index) == "ParallelMarchingBlocks" and tracker.GetPluginFileName(index):
            library = os.path.dirname(os.path.abspath(tracker.GetPluginFileName(index)))
            # <lib>/<ParaView's plugins>/ParallelMarchingBlocks, at whatever depth.
            while library != os.path.dirname(library):
                library = os.path.dirname(library)
                folder = os.path.join(library, "python3", "dist-packages", "pmb")
                if os.path.isdir(folder):
                    return folder
    raise ImportError("the Python package pmb was not found next to the plugin ParallelMarchingBlocks")


__path__ = [_package_folder()]
from pmb.vtkPMBContour import (  # noqa: E402, after __path__
    vtkPMBContourAcceleration, vtkPMBContourFilter, vtkPMBIsovalueHistogram)

__all__ = ["accelerate_contour", "vtkPMBContourAcceleration", "vtkPMBContourFilter", "vtkPMBIsovalueHistogram"]


def accelerate_contour(on=True):
    """Switches the setting "Accelerate stock Contour" of the active session, for all processes of its server, which has to have
    the plugin. Returns the settings' proxy."""
    from paraview import servermanager
    if not servermanager.ActiveConnection:
        raise RuntimeError("there is no session: Connect() first")
    session = servermanager.ActiveConnection.Session
    # Programs without windows do not look for the settings of plugins that are loaded later.
    servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(session)
    proxy = session.GetSessionProxyManager().GetProxy("settings", "PMBContourSettings")
    if not proxy:
        raise RuntimeError("the server does not know the setting: load the plugin there, LoadPlugin(path, remote=True)")
    proxy.GetProperty("AccelerateContour").SetElement(0, int(bool(on)))
    proxy.UpdateVTKObjects()
    return servermanager._getPyProxy(proxy)
