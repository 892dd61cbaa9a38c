# SPDX-License-Identifier: BSD-3-Clause
"""Isosurfaces of regular grids by Parallel Marching Blocks, for use with VTK's Python modules: vtkPMBContourFilter;
vtkPMBIsovalueHistogram, which shows what isovalues are worth a look; vtkPMBParticleSurface, the surface of particles; and
vtkPMBContourAcceleration, which lets vtkContourFilter do its work by vtkPMBContourFilter. In ParaView, which
imports this package when it loads the plugin: accelerate_contour()."""
from .vtkPMBAcceleration import vtkPMBContourAcceleration
from .vtkPMBContour import vtkPMBContourFilter, vtkPMBIsovalueHistogram, vtkPMBParticleSurface

__all__ = ["accelerate_contour", "vtkPMBContourAcceleration", "vtkPMBContourFilter", "vtkPMBIsovalueHistogram",
           "vtkPMBParticleSurface"]


def accelerate_contour(on=True, keep=False):
    """Lets ParaView's Contour run on this filter, or no longer, in all processes of the active session's server, which has
    to have the plugin. It lasts as long as they run. keep=True also writes it into the user's settings ("Accelerate stock
    Contour"), for what is started later. Returns the proxy of the switch."""
    from paraview import servermanager
    import paraview.simple  # noqa: F401: makes a session when it is first imported, as in every script
    if not servermanager.ActiveConnection:
        raise RuntimeError("there is no session: Connect() first")
    session = servermanager.ActiveConnection.Session
    manager = session.GetSessionProxyManager()
    group, name = ("settings", "PMBContourSettings") if keep else ("misc", "PMBContourSwitch")
    if not manager.GetProxyDefinitionManager().HasDefinition(group, name):
        raise RuntimeError("the server does not know the setting: load the plugin there, LoadPlugin(path, remote=True)")
    if keep:
        # Programs without windows do not look for the settings of plugins that are loaded later.
        servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(session)
        proxy = manager.GetProxy(group, name)
    else:
        proxy = manager.NewProxy(group, name)
    switch = proxy.GetProperty("AccelerateContour")
    switch.SetElement(0, int(bool(on)))
    switch.Modified()  # also where the proxy has that value already: another one may have switched since
    proxy.UpdateVTKObjects()
    return servermanager._getPyProxy(proxy)
