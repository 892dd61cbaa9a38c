// SPDX-License-Identifier: BSD-3-Clause
#include "vtkSMPMBImageRepresentationProxy.h"

#include "vtkClientServerInterpreter.h"
#include "vtkClientServerInterpreterInitializer.h"
#include "vtkDataObject.h"
#include "vtkObjectFactory.h"
#include "vtkSMArrayListDomain.h"
#include "vtkSMProperty.h"
#include "vtkStdString.h"

vtkStandardNewMacro(vtkSMPMBImageRepresentationProxy);

bool vtkSMPMBImageRepresentationProxy::SetRepresentationType(const char* type)
{
  vtkSMProperty* property = this->GetProperty("ColorArrayName");
  if (type && vtkStdString(type) == "PMB Volume" && property && !this->GetUsingScalarColoring())
  {
    auto* arrays = property->FindDomain<vtkSMArrayListDomain>();
    const unsigned int count = arrays ? arrays->GetNumberOfStrings() : 0;
    unsigned int chosen = 0; // the first of points, else of cells
    while (chosen < count && arrays->GetFieldAssociation(chosen) != vtkDataObject::POINT)
    {
      ++chosen;
    }
    chosen = chosen < count ? chosen : 0;
    if (count > 0 && this->SetScalarColoring(arrays->GetString(chosen), arrays->GetFieldAssociation(chosen)))
    {
      this->RescaleTransferFunctionToDataRange(true);
    }
  }
  return this->Superclass::SetRepresentationType(type);
}

namespace
{
vtkObjectBase* NewProxy(void*)
{
  return vtkSMPMBImageRepresentationProxy::New();
}

void AddToInterpreter(vtkClientServerInterpreter* interpreter)
{
  interpreter->AddNewInstanceFunction("vtkSMPMBImageRepresentationProxy", NewProxy);
}
}

void vtkSMPMBImageRepresentationProxy::Register()
{
  vtkClientServerInterpreterInitializer::GetInitializer()->RegisterCallback(AddToInterpreter);
}
