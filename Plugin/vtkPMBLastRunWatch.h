// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBLastRunWatch
 * @brief the client's side of Last Run of the stock Contour
 *
 * Registers Contours that were made before the plugin was loaded with vtkPMBContourAcceleration.
 *
 * ParaView fetches information properties before a pipeline is updated, not after it: with this, each Contour that is made
 * from now on fetches its Last Run once more after each update. A class for the property in the XML would do it too, but
 * a client without the plugin could not make it.
 */
#ifndef vtkPMBLastRunWatch_h
#define vtkPMBLastRunWatch_h

class vtkPMBLastRunWatch
{
public:
  /**
   * In all sessions, those to come among them. Called when the plugin is loaded; does nothing in servers.
   */
  static void Begin();
};

#endif
