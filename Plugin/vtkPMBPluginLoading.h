// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBPluginLoading
 * @brief what is done when the plugin is loaded: the panel's own library, the Python package, two checks
 *
 * Check() says so where the plugin is loaded twice, or on the client alone: ParaView takes a second copy of a plugin, from
 * another folder, without a word, though the first one goes on working, and a script whose server lacks the plugin only learns
 * that there is no PMBContour.
 *
 * ImportPackage() makes the Python package pmb, which is installed with the plugin, one that can be imported, and imports it:
 * VTK's Python objects have the class that is known when they are first seen, so that without it a filter of the plugin would
 * be a vtkPolyDataAlgorithm.
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
  static void Check();
  static void ImportPackage();
  ///@}

  /**
   * Returns whether the server of a client's session has the plugin.
   */
  static bool IsOnServer(vtkSMSession* session);
};

#endif
