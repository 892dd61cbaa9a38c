// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBPluginLoading
 * @brief loads the panel's own library; says so where the plugin is loaded twice, or on the client alone
 *
 * ParaView takes a second copy of a plugin, from another folder, without a word, though the first one goes on working.
 * And a script whose server lacks the plugin only learns that there is no PMBContour.
 */
#ifndef vtkPMBPluginLoading_h
#define vtkPMBPluginLoading_h

class vtkPMBPluginLoading
{
public:
  /**
   * Called in each process that loads the plugin, when it does.
   */
  static void Check();
};

#endif
