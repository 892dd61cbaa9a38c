// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSMPMBContourProxy
 * @brief the client's side of PMB Contour: keeps Last Run current, follows the live slider, checks state files
 *
 * ParaView fetches information properties before a pipeline is updated, not after it. Last Run speaks of what the
 * update did, so this proxy fetches it once more when an update is done.
 *
 * Of a state file ParaView passes over properties that the proxy lacks without a word; this one names them in a warning.
 *
 * While the property Live is on, each move of the slider LiveIsovalue becomes the filter's isovalue, and the views that
 * show the surface, or what other filters make of it, are drawn again: ParaView's own panel tells of a slider's moves by
 * unchecked values, and applies them only when the slider is let go, if then. The first of these moves is a step of Edit >
 * Undo, which takes them all back: ParaView remembers ten steps, and a drag has more moves than that.
 */
#ifndef vtkSMPMBContourProxy_h
#define vtkSMPMBContourProxy_h

#include "vtkSMSourceProxy.h"

class vtkSMPMBContourProxy : public vtkSMSourceProxy
{
public:
  static vtkSMPMBContourProxy* New();
  vtkTypeMacro(vtkSMPMBContourProxy, vtkSMSourceProxy);

  /**
   * Makes the class known to ParaView, which creates it for the XML element PMBContourProxy, and likewise
   * vtkSMPMBArrayListDomain, vtkSMPMBHistogramProxy and vtkSIPMBLastRunProperty. Called when the plugin is loaded.
   */
  static void Register();

  int LoadXMLState(vtkPVXMLElement* element, vtkSMProxyLocator* locator) override;

protected:
  vtkSMPMBContourProxy();
  ~vtkSMPMBContourProxy() override;

  int ReadXMLAttributes(vtkSMSessionProxyManager* manager, vtkPVXMLElement* element) override;
  void PostUpdateData(bool using_cache) override;

private:
  vtkSMPMBContourProxy(const vtkSMPMBContourProxy&) = delete;
  void operator=(const vtkSMPMBContourProxy&) = delete;

  void OnSliderMoved();
  void OnIsovaluesChanged();
  bool IsInRange(double isovalue);
  void MoveSlider(double isovalue);
  void DrawViews();

  bool Following = false; // the slider: an update or a change comes from its move
  bool CanUndo = false;   // the moves since the isovalues changed in another way: a step of Undo is there for them
};

#endif
