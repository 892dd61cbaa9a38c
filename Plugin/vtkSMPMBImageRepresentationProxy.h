// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSMPMBImageRepresentationProxy
 * @brief the client's side of image data's representations, with Isosurface and PMB Volume
 *
 * Where nothing is colored by an array, ParaView chooses one for Volume; this one does so for PMB Volume.
 *
 * Isosurface and Volume share the isovalues. Their range is that of the array at Contour By for Isosurface, else of the array to
 * color by. When SetRepresentationType() chooses Isosurface, the filter's first suggestion replaces ParaView's isovalue, the middle
 * of the range; other isovalues stay. Each move of the slider LiveIsovalue becomes the isovalue: vtkPMBLiveIsovalue.
 */
#ifndef vtkSMPMBImageRepresentationProxy_h
#define vtkSMPMBImageRepresentationProxy_h

#include "vtkNew.h"
#include "vtkPMBLiveIsovalue.h"
#include "vtkSMPVRepresentationProxy.h"

class vtkSMPMBImageRepresentationProxy : public vtkSMPVRepresentationProxy
{
public:
  static vtkSMPMBImageRepresentationProxy* New();
  vtkTypeMacro(vtkSMPMBImageRepresentationProxy, vtkSMPVRepresentationProxy);

  bool SetRepresentationType(const char* type) override;

protected:
  vtkSMPMBImageRepresentationProxy() = default;
  ~vtkSMPMBImageRepresentationProxy() override = default;

  int ReadXMLAttributes(vtkSMSessionProxyManager* manager, vtkPVXMLElement* element) override;

private:
  void ChooseRange();
  bool HasMiddleIsovalue();
  void StartAtSuggestion();

  bool IsToStart = false;
  vtkNew<vtkPMBLiveIsovalue> Slider;
};

#endif
