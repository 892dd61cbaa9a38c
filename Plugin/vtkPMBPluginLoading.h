// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBPluginLoading
 * @brief runs when the plugin is loaded: loads the panel's library and the Python package, and makes three checks
 *
 * Register() lets ParaView make the plugin's objects by their names.
 *
 * Check() warns if the plugin was built for another version, is loaded twice, or on the client alone. ParaView accepts a
 * second copy from another folder silently, though the first one stays in use, and a script whose server lacks the plugin only
 * learns that PMBContour is unknown.
 *
 * ImportPackage() adds the installed Python package pmb to Python's path and imports it. VTK's Python objects keep the class
 * that is known when they are first seen: without the package a filter of the plugin would be a vtkPolyDataAlgorithm.
 */
#ifndef vtkPMBPluginLoading_h
#define vtkPMBPluginLoading_h

class vtkSMSession;

class vtkPMBPluginLoading
{
public:
  ///@{
  /**
   * Called in each process that loads the plugin, when it does.
   */
  static void Register();
  static void Check();
  static void ImportPackage();
  ///@}

  /**
   * Returns whether this process has the panel's widgets.
   */
  static bool HasPanel();

  /**
   * Returns whether the server of a client's session has the plugin.
   */
  static bool IsOnServer(vtkSMSession* session);
};

#endif
