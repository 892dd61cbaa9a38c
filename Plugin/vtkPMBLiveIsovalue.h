// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkPMBLiveIsovalue
 * @brief makes each move of a proxy's slider LiveIsovalue its isovalue, and draws at once
 *
 * ParaView's own panel reports a slider's moves as unchecked values and applies them at best when the slider is released.
 *
 * The first move is a step of Edit > Undo, which takes them all back: ParaView remembers ten steps, and a drag has more moves than
 * that. A proxy with the property Live moves its isovalue only while that is on.
 */
#ifndef vtkPMBLiveIsovalue_h
#define vtkPMBLiveIsovalue_h

#include "vtkObject.h"
#include "vtkWeakPointer.h"

class vtkSMProxy;

class vtkPMBLiveIsovalue : public vtkObject
{
public:
  static vtkPMBLiveIsovalue* New();
  vtkTypeMacro(vtkPMBLiveIsovalue, vtkObject);

  /**
   * Begins for a proxy that has its properties. isovalues: the name of the list that the slider replaces. Without that or a slider
   * nothing happens.
   */
  void Begin(vtkSMProxy* proxy, const char* isovalues);

  /**
   * Whether an update or a change of the proxy comes from a move.
   */
  bool IsFollowing() const { return this->Following; }

  void MoveSlider(double isovalue);

protected:
  vtkPMBLiveIsovalue() = default;
  ~vtkPMBLiveIsovalue() override = default;

private:
  void OnSliderMoved();
  void OnIsovaluesChanged();
  bool IsInRange(double isovalue);
  void DrawViews();

  vtkWeakPointer<vtkSMProxy> Proxy;
  const char* Isovalues = nullptr; // the property's name
  bool Following = false;
  bool CanUndo = false; // the moves since the isovalues changed in another way: a step of Undo is there for them
};

#endif
