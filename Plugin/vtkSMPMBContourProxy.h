// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSMPMBContourProxy
 * @brief the client's side of PMB Contour: keeps Last Run current, follows the live slider, checks state files
 *
 * ParaView fetches information properties before a pipeline is updated, not after it. Last Run describes the update, so this
 * proxy fetches it again after each update.
 *
 * ParaView silently skips properties of a state file that the proxy lacks; this one names them in a warning.
 *
 * While the property Live is on, each move of the slider LiveIsovalue becomes the filter's isovalue, and the views that
 * show the surface, or results of other filters on it, are drawn again. ParaView's own panel reports a slider's moves as
 * unchecked values and applies them at best when the slider is released. Only the first of these moves is a step of Edit > Undo,
 * which takes them all back: ParaView remembers ten steps, and a drag has more moves.
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
