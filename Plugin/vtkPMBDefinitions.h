// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBDefinitions
 * @brief puts the plugin's representations into ParaView's own definitions of proxies
 *
 * Surfaces get the class vtkPMBGeometryRepresentation, and image data the representations Isosurface and PMB Volume. A process
 * without these classes would crash when it creates one, so with a server the definitions change only if both sides have the
 * plugin. The server changes its own when the client makes it create an object of this class.
 */
#ifndef vtkPMBDefinitions_h
#define vtkPMBDefinitions_h

#include "vtkObject.h"

class vtkPMBDefinitions : public vtkObject
{
public:
  static vtkPMBDefinitions* New();
  vtkTypeMacro(vtkPMBDefinitions, vtkObject);

  /**
   * Changes the definitions of this session, and of those that begin later. An initializer of the plugin.
   */
  static void Register();

protected:
  vtkPMBDefinitions(); // in a server
  ~vtkPMBDefinitions() override = default;
};

#endif
