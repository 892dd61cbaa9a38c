// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class vtkSMPMBHistogramProxy
 * @brief the client's side of PMB Isovalue Histogram: gives the axes of a chart that shows it their titles
 *
 * Titles typed by the user stay. The chart draws the column of bricks that the title names.
 */
#ifndef vtkSMPMBHistogramProxy_h
#define vtkSMPMBHistogramProxy_h

#include "vtkNew.h"
#include "vtkSMSourceProxy.h"

class vtkCallbackCommand;

class vtkSMPMBHistogramProxy : public vtkSMSourceProxy
{
public:
  static vtkSMPMBHistogramProxy* New();
  vtkTypeMacro(vtkSMPMBHistogramProxy, vtkSMSourceProxy);

  /**
   * Which columns a chart draws to begin with. Called when the plugin is loaded.
   */
  static void HideColumns();

protected:
  vtkSMPMBHistogramProxy();
  ~vtkSMPMBHistogramProxy() override;

  void PostUpdateData(bool using_cache) override;

private:
  static void OnShown(vtkObject* property, unsigned long event, void* self, void*);
  bool IsShownIn(vtkSMProxy* view);
  void NameAxes(vtkSMProxy* view);

  vtkNew<vtkCallbackCommand> Watch; // of what the views show
};

#endif
